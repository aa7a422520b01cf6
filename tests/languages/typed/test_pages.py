"""The examples of docs/typed.md and docs/sql.md are correct."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def blocks(page, kind):
    return re.findall(rf"```{kind}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def run(page, **names):
    for text in blocks(page, "python"):
        exec(compile(text, page, "exec"), names)


def test_a_language_as_data(capsys):
    run("typed.md")
    assert capsys.readouterr().out == "b'sent)=0'\nNone\nb'0;'\n"


def test_queries(capsys):
    (schema,) = blocks("sql.md", "sql")
    run("sql.md", schema_text=schema)
    assert capsys.readouterr().out == "b', orders GROUP BY name'\nNone\nTrue\n"
