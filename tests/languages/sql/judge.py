"""The independent judge: SQLite prepares a statement against the schema."""

import sqlite3
from pathlib import Path

SCHEMA = Path(__file__).with_name("shop.sql").read_text(encoding="utf-8")


class Judge:
    """SQLite with the tables of *schema*."""

    def __init__(self, schema=SCHEMA):
        self._database = sqlite3.connect(":memory:")
        self._database.executescript(schema)

    def fault(self, text):
        """The reason that SQLite cannot prepare the query *text*; None if it can."""
        try:
            self._database.execute(f"EXPLAIN {text}")
        except (sqlite3.Error, sqlite3.Warning) as error:
            return str(error)
        return None
