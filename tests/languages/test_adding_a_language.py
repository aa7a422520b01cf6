"""The code blocks of `docs/adding-a-language.md` run, one after another."""

import re
from pathlib import Path
from typing import Any

from fimlsp.quotient.engine import Engine
from fimlsp.quotient.language.tables import LanguageTables

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-language.md"


def test_the_blocks_of_the_page_run():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 6
    scope: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"{PAGE.name}, block {number}", "exec"), scope)


def test_the_page_names_what_there_is():
    named = re.findall(r"`((?:languages|tests|quotient)/[\w/.]+)`", PAGE.read_text(encoding="utf-8"))
    assert named
    known = {"languages/calculator.py", "languages/calculator.lark"}
    assert [path for path in named if path not in known and not (PAGE.parents[1] / path).exists()] == []


def test_what_an_engine_has_read_before_changes_no_answer():
    """A stretch at the end of one text was taken for a whole line in another, where its comment goes on."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    scope: dict[str, Any] = {"__name__": "page"}
    for block in blocks[:4]:
        exec(block, scope)
    language = scope["Calculator"]()
    engine = Engine(language, LanguageTables(language))
    starts = [engine.document(b")#;a").middle(1, 1, relax=True).start for _ in range(3)]
    assert [start.shortest_completion for start in starts if start] == [b"print 0;"] * 3
