"""The state before a query, and after each byte of it."""

from __future__ import annotations

from fimlsp.languages.sql.clauses import SEMICOLON
from fimlsp.languages.sql.machine import Machine, QueryEnd
from fimlsp.languages.sql.queries import Start, query_tasks
from fimlsp.languages.sql.schema import Schema, SchemaError
from fimlsp.languages.sql.scopes import Environment
from fimlsp.languages.typed.state import TextState


class QueryState(TextState[Machine]):
    """The state after the first bytes of a query."""


def begin(schema: Schema) -> QueryState:
    """The state before a query over *schema*.

    Raises:
        SchemaError: it has no tables.
    """
    if not schema.tables:
        raise SchemaError("Cannot write queries: the schema has no tables. Give it CREATE TABLE statements.")
    return QueryState(Machine(None, Environment(schema), query_tasks).push(Start(), SEMICOLON, QueryEnd()))
