"""What `docs/adding-a-language.md` says: its blocks run, one after another."""

import re
from pathlib import Path

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
    known = {"languages/calculator/"}
    assert [path for path in named if path not in known and not (PAGE.parents[1] / path).exists()] == []
