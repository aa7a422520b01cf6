"""ARCHITECTURE.md agrees with the code: what it refers to exists, and it names every sub-room."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .numbered_paths import dangling, faults, section, steps

ROOT = Path(__file__).parents[2]
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROOMS = ("lexing", "quotient", "languages", "models", "lsp_server", "datasets")
FOLDERS = {f"{room}/": ROOT / room for room in ROOMS} | {
    f"src/fimlsp/{name}/": ROOT / "src" / "fimlsp" / name for name in ("processes", "testing")
}


@pytest.mark.parametrize("title", ["From a keystroke to what is shown", "From a byte to a verdict"])
def test_a_reader_can_follow_the_path(title):
    path = section(ARCHITECTURE, title)
    assert len(steps(path)) >= 8
    assert faults(path, ROOT) == []


def test_all_that_is_referred_to_exists():
    assert dangling(ARCHITECTURE, ROOT) == []


@pytest.mark.parametrize("title", FOLDERS)
def test_the_map_names_every_sub_room_and_every_module_beside_them(title):
    text, folder = section(ARCHITECTURE, title), FOLDERS[title]
    folders = [f"`{init.parent.name}/`" for init in folder.glob("*/__init__.py")]
    modules = [f"`{path.name}`" for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert [name for name in folders + modules if name not in text] == []


@pytest.mark.parametrize("title", FOLDERS)
def test_the_map_names_nothing_else(title):
    rows = re.findall(r"^\| (`.*?) \|", section(ARCHITECTURE, title), re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"`([\w/]+(?:/|\.py))`", row)]
    assert [name for name in names if not (FOLDERS[title] / name).exists()] == []


def test_each_module_that_is_named_without_its_folder_is_there():
    folders = (*ROOMS, "src/fimlsp", "tests", "benchmarks")
    modules = {path.name for folder in folders for path in (ROOT / folder).rglob("*.py")}
    assert set(re.findall(r"`(\w+\.py)`", ARCHITECTURE)) - modules == set()


CODE = """
LIMIT = 1
kept: int = 2

class A:
    field: int

    def method(self): ...

    class B:
        async def inner(self): ...

def function(): ...
"""

PATHS = {
    "1. `a/code.py` `A`: one\n2. `a/code.py` `A.method`: two": [],
    "1. `a/code.py` `A.B.inner`, `a/code.py` `LIMIT`,\n   `a/code.py` `A.field`\n2. `a/code.py` `kept`": [],
    "1. `a/none.py` `A`": ["step 1: there is no a/none.py"],
    "1. `a/code.py` `method`": ["step 1: a/code.py does not define method"],
    "1. `a/code.py` `A.function`": ["step 1: a/code.py does not define A.function"],
    "1. `a/code.py` `A`, then\n   `a/code.py` `A.none`": ["step 1: a/code.py does not define A.none"],
    "1. `a/code.py` `A`\n3. `a/code.py` `A`": ["step 3 stands where 2 should"],
    "1. nothing": ["step 1 does not begin with a file and a name"],
    "Text with `a/none.py` `A`.": [],
}


@pytest.mark.parametrize("text", PATHS)
def test_what_cannot_be_followed_is_told(text, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "code.py").write_text(CODE)
    assert faults(text, tmp_path) == PATHS[text]


def test_a_section_ends_with_the_next_heading():
    document = "# A\n\n## B\n1. b\n\n## C\n1. c\n"
    assert section(document, "B") == "1. b\n"
    assert section(document, "D") == ""
