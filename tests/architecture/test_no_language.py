"""The lexer and the engine know no language: they import none, and name nothing that only one has."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for room in ("lexing", "quotient") for path in (ROOT / room).rglob("*.py"))

WORDS = re.compile(
    r"f-?string|FSTRING|FIELD_|\\N(?![a-z])|\bdigits?\b|match statement|`match`|C?Python"
    r"|\bpy\d+\b|(?<![\d.])[23]\.\d{1,2}(?![\d.]*[%\w])|\(3, \d+\)"
)


def test_the_words_are_found():
    said = [
        "an f-string",
        "FIELD_OPEN",
        r"\N{DASH}",
        "a digit",
        "since 3.12",
        "CPython's",
        "(3, 8)",
        "a match statement",
    ]
    assert [text for text in said if not WORDS.search(text)] == []
    assert not WORDS.search(r"a regex that matches \n, section 2 of 3 parts")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_names_nothing_of_one_language(path):
    source = path.read_text(encoding="utf-8")
    assert [line for line in source.splitlines() if WORDS.search(line)] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_no_language(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert not {name for name in imported if name.startswith("fimlsp.languages")}
