"""Schemas are read by SQLite; columns get types from their declarations."""

import pytest

from fimlsp.languages.sql.queries import begin
from fimlsp.languages.sql.schema import SchemaError, Type, read_schema


@pytest.mark.parametrize(
    ("declared", "type_"),
    [
        ("INTEGER", Type.NUMBER),
        ("DECIMAL(10, 2)", Type.NUMBER),
        ("VARCHAR(10)", Type.TEXT),
        ("TIMESTAMP", Type.TEXT),
        ("DATE", Type.TEXT),
        ("JSON", Type.TEXT),
        ("BOOLEAN", Type.BOOLEAN),
        ("BLOB", Type.BLOB),
        ("", Type.BLOB),
        ("MONEY", Type.NUMBER),
    ],
)
def test_types_of_columns(declared, type_):
    (table,) = read_schema(f"CREATE TABLE t (a {declared})").tables.values()
    assert dict(table.columns) == {"a": type_}


def test_tables_views_and_dumps():
    schema = read_schema(
        """
        PRAGMA foreign_keys = OFF;
        BEGIN TRANSACTION;
        CREATE TABLE "Big Table" (Id INTEGER PRIMARY KEY, "select" TEXT, twice AS (Id * 2));
        INSERT INTO "Big Table" VALUES (1, 'a');
        CREATE INDEX by_text ON "Big Table" ("select");
        CREATE VIEW names AS SELECT "select" AS name FROM "Big Table";
        COMMIT;
        """
    )
    assert {name: [*table.columns] for name, table in schema.tables.items()} == {
        '"big table"': ["id", '"select"', "twice"],
        "names": ["name"],
    }
    assert begin(schema).feed(b"SELECT Id").shortest_completion == b' FROM "Big Table"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE TABLE", "Cannot read shop.sql: incomplete input. Give it statements that SQLite accepts"),
        ("CREATE TABLE t (a, a)", "duplicate column name: a"),
        ("ATTACH 'other.db' AS other", "Cannot read shop.sql: not authorized"),
        ("CREATE TABLE t (größe TEXT)", "no query can write the name größe. Use letters, digits and spaces."),
        ("CREATE VIEW v AS SELECT a FROM missing", "no such table: main.missing"),
        (
            "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9);"
            "CREATE TABLE u AS SELECT a.a FROM t a, t b, t c, t d, t e, t f, t g, t h",
            "interrupted",
        ),
    ],
)
def test_schemas_that_cannot_be_used(text, message):
    with pytest.raises(SchemaError) as raised:
        read_schema(text, "shop.sql")
    assert message in str(raised.value)


def test_a_schema_without_tables():
    with pytest.raises(SchemaError, match="has no tables"):
        begin(read_schema(""))
