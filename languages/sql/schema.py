"""The tables of a schema, as SQLite itself reads its `CREATE` statements, with types for their columns.

`described` makes a text of them, for a model that writes queries.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from enum import Enum

from fimlsp.errors import UserError
from fimlsp.languages.sql.lexemes import KEYWORDS


class Type(Enum):
    """The type of a value. Values of different types do not compare."""

    NUMBER = "number"
    TEXT = "text"
    BOOLEAN = "boolean"
    BLOB = "blob"


Types = frozenset[Type]
ANY: Types = frozenset(Type)

_DECLARED = (
    (re.compile("bool"), Type.BOOLEAN),
    (re.compile("date|time|json|uuid"), Type.TEXT),
    (re.compile("int"), Type.NUMBER),
    (re.compile("char|clob|text|string"), Type.TEXT),
    (re.compile(r"blob|any|^\Z"), Type.BLOB),
)
"""The types of columns by their declarations; the first that matches counts, and otherwise it is a number."""

_MOST_STEPS = 10_000_000
"""Steps of SQLite's machine for a schema, which may be a whole dump."""

_ALLOWED = frozenset(
    (
        *(sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_VIEW, sqlite3.SQLITE_CREATE_INDEX),
        *(sqlite3.SQLITE_CREATE_TRIGGER, sqlite3.SQLITE_ALTER_TABLE, sqlite3.SQLITE_REINDEX),
        *(sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT),
        *(sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_FUNCTION),
    )
)


class SchemaError(UserError, ValueError):
    """A schema cannot be used."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table, view or query with a name: its columns and their types, by tokens."""

    name: str
    columns: Mapping[str, Type]


@dataclass(frozen=True, eq=False)
class Schema:
    """The tables that queries may use.

    Attributes:
        tables: by their tokens.
        statements: those that create the tables.
        spellings: tables and columns by their tokens, as the schema spells them.
    """

    tables: Mapping[str, Table]
    statements: tuple[str, ...] = ()
    spellings: Mapping[str, str] = field(default_factory=dict)

    def with_table(self, table: Table) -> Schema:
        """With *table* added."""
        return replace(self, tables={**self.tables, table.name: table})


def read_schema(text: str, name: str = "schema") -> Schema:
    """The schema that the `CREATE` statements *text* define; *name* is that of their file.

    Raises:
        SchemaError: SQLite refuses a statement, or no query can name a table or column.
    """
    with closing(sqlite3.connect(":memory:")) as database:
        try:
            return _read(database, text)
        except sqlite3.Error as error:
            raise SchemaError(
                f"Cannot read {name}: {error}. Give it statements that SQLite accepts, such as CREATE TABLE."
            ) from None
        except _UnusableNameError as error:
            raise SchemaError(
                f"Cannot use {name}: no query can write the name {error}. Use letters, digits and spaces."
            ) from None


class _UnusableNameError(ValueError):
    """A name with characters that queries cannot write."""


def _read(database: sqlite3.Connection, text: str) -> Schema:
    database.set_authorizer(_authorize)
    database.set_progress_handler(lambda: 1, _MOST_STEPS)
    database.executescript(text)
    database.set_authorizer(lambda *_: sqlite3.SQLITE_OK)
    named = "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'"
    tables, spellings = dict[str, Table](), dict[str, str]()
    found = database.execute(named).fetchall()
    for name, _ in found:
        columns = dict[str, Type]()
        for column, declared, hidden in database.execute(
            "SELECT name, type, hidden FROM pragma_table_xinfo(?)", (name,)
        ):
            if hidden != 1:
                columns[_token(column, spellings)] = _type(declared)
        token = _token(name, spellings)
        tables[token] = Table(token, columns)
    return Schema(tables, tuple(statement for _, statement in found), spellings)


def _authorize(action: int, *_: object) -> int:
    if action == sqlite3.SQLITE_PRAGMA:
        return sqlite3.SQLITE_IGNORE
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _token(name: str, spellings: dict[str, str]) -> str:
    """The token of *name*, whose spelling is noted."""
    if not re.fullmatch(r"[ !#-~]+", name):
        raise _UnusableNameError(name)
    is_plain = re.fullmatch(r"[A-Za-z_]\w*", name) and name.lower() not in KEYWORDS
    spelled = name if is_plain else f'"{name}"'
    return spellings.setdefault(spelled.lower(), spelled).lower()


def _type(declared: str) -> Type:
    found = (type_ for pattern, type_ in _DECLARED if pattern.search(declared.lower()))
    return next(found, Type.NUMBER)


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
