"""Measures the cost of holding a model to a schema: `python benchmarks/sql.py`.

Beginnings of queries are read, and their next tokens and shortest completions computed. The schemas have some
sizes, and their tables share names of columns. Times are CPU times, medians over schemas.
"""

from __future__ import annotations

from random import Random
from statistics import median
from time import process_time

import click
from rich.console import Console
from rich.table import Table

from fimlsp.languages.sql.queries import QueryState, begin
from fimlsp.languages.sql.schema import read_schema

SIZES = (5, 20, 100)
COLUMNS = 14
SUBJECTS = ("first", "last", "full", "order", "user", "item", "ship", "bill", "tax", "net")
KINDS = {"name": "TEXT", "id": "INTEGER", "date": "DATE", "code": "TEXT", "total": "REAL", "city": "TEXT"}
BEGINNINGS = (
    b"SELECT ",
    b"SELECT u.id, ",
    b"SELECT u.id, u.name, a.name, o.created_on, ",
    b"SELECT u.id, u.name FROM ",
    b"SELECT u.id FROM table_1 u JOIN table_2 t ON ",
    b"SELECT id, name FROM table_1 WHERE ",
    b"SELECT name, count(*) FROM table_1 GROUP BY ",
)


def schema_of(tables: int, rng: Random) -> str:
    """The statements of a schema of *tables*; one column in ten has an unusual type."""
    names = [f"{subject}_{kind}" for subject in SUBJECTS for kind in KINDS]
    statements = []
    for number in range(tables):
        columns = [
            f"{name} {KINDS[name.partition('_')[2]] if rng.random() < 0.9 else 'BLOB'}"
            for name in rng.sample(names, COLUMNS)
        ]
        shared = "id INTEGER, name TEXT, created_on DATE"
        statements.append(f"CREATE TABLE table_{number} ({shared}, {', '.join(columns)});")
    return "\n".join(statements)


def measured(start: QueryState, beginning: bytes) -> tuple[float, float]:
    """Milliseconds to read *beginning* and find the next tokens, and then for the shortest completion."""
    began = process_time()
    state = start.feed(beginning)
    assert state is not None, beginning
    state.machine.expected()
    read = process_time()
    assert state.shortest_completion
    return 1000 * (read - began), 1000 * (process_time() - read)


@click.command(help=__doc__)
@click.option("--schemas", default=5, show_default=True, help="Schemas of each size.")
@click.option("--seed", default=1, show_default=True)
def main(schemas: int, seed: int) -> None:
    """Print the table."""
    table = Table("beginning", *(f"{size} tables: tokens, completion (ms)" for size in SIZES))
    texts = {size: [schema_of(size, Random(f"{seed} {n}")) for n in range(schemas)] for size in SIZES}
    for beginning in BEGINNINGS:
        row = []
        for size in SIZES:
            times = [measured(begin(read_schema(text)), beginning) for text in texts[size]]
            row.append(", ".join(f"{median(column):.1f}" for column in zip(*times, strict=True)))
        table.add_row(beginning.decode(), *row)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
