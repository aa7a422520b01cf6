"""Checks many random queries: `python -m tests.languages.sql --cases 50000 --seed 1`.

They are random walks of the parser, here and over other schemas, and queries as people write them. Others
are beginnings of these, with a walk or with the shortest completion. SQLite has to prepare each. The parser
has to accept those that people write. For each of them there are two mutants, one of them with an unknown
name. The parser has to refuse a mutant that SQLite refuses, and an unknown name within that name.
"""

import random
import sys
from collections import Counter

import click

from fimlsp.languages.sql.queries import begin
from fimlsp.languages.sql.schema import read_schema

from ..slua.mutants import mutant
from .judge import SCHEMA, Judge
from .properties import accepts, check_mutant, completed, continued, with_unknown_name
from .walks import some_schema, walk
from .writer import Writer

KINDS = ("walks", "written", "continued", "completed", "walks over other schemas")


@click.command(help=__doc__)
@click.option("--cases", default=50_000, show_default=True, help="Queries, not counting mutants.")
@click.option("--seed", type=int, help="Repeats a run; it is printed, and random by default.")
def main(cases, seed):
    """Check, and print the counts, or the first query that fails."""
    seed = random.randrange(1 << 32) if seed is None else seed
    schema, judge = read_schema(SCHEMA), Judge()
    start, counted = begin(schema), Counter(seed=seed)
    with click.progressbar(range(cases), file=sys.stderr) as numbers:
        for number in numbers:
            rng = random.Random(f"{seed} {number}")
            kind = KINDS[number % len(KINDS)]
            written = Writer(schema, rng).query()
            other = some_schema(rng) if kind == "walks over other schemas" else None
            began = start if other is None else begin(read_schema(other))
            text = generated(kind, began, written, rng)
            counted[kind] += 1
            if fault := (judge if other is None else Judge(other)).fault(text):
                sys.exit(f"seed {seed}, case {number}: {fault}\n{text}\n{other or SCHEMA}")
            if kind != "written":
                continue
            if not accepts(start, written):
                sys.exit(f"seed {seed}, case {number}: the parser refuses\n{written}")
            counted["mutants that SQLite refuses"] += check_mutant(start, judge, mutant(written, rng))
            if unknown := with_unknown_name(schema, written, rng):
                counted["unknown names"] += check_mutant(start, judge, *unknown)
    print(*(f"{name}: {count:,}" for name, count in counted.items()), sep="\n")


def generated(kind, start, written, rng):
    """A query of one *kind*; *written* is one as people write it."""
    if kind.startswith("walks"):
        return walk(start, rng, rng.choice((5, 15, 30, 60, 120)))
    if kind == "continued":
        return continued(start, written, rng)
    return completed(start, written, rng) if kind == "completed" else written


if __name__ == "__main__":
    main()
