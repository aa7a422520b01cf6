"""A description of the queries and a schema, as a text for a model that writes queries."""

from __future__ import annotations

from fimlsp.languages.sql.schema import Schema

LANGUAGE = """\
Write one SELECT query in SQLite's dialect. End it with a semicolon.

- Use only the tables and columns below. Where two tables share a column, write its table before it.
- Names of tables in the query have at most three characters, such as u or t1. Join with JOIN ... ON.
- Compare numbers with numbers and texts with texts. Dates are texts.
- Columns beside an aggregate stand in GROUP BY.
- Queries within queries stand in WITH, IN (...), EXISTS (...), FROM (...), or in brackets as one value.
- There are no comments, no UNION and no window functions.
"""


def described(schema: Schema) -> str:
    """The queries over *schema*."""
    statements = "".join(f"{statement};\n" for statement in schema.statements)
    return f"{LANGUAGE}\nThe schema:\n\n{statements}"
