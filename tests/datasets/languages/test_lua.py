"""Lua as replayed: bodies, statements, suites, and the errors of its own `load`."""

import random
from pathlib import Path

import pytest

pytest.importorskip("lupa", reason="Lua's reference parser: pip install lupa")

from fimlsp.datasets.languages import lua

FILES = sorted((Path(__file__).parents[3] / "editors" / "neovim").rglob("*.lua"))

TEXT = """local function add(a, b) -- two
  if a then return a + b elseif b then return [[
  ]] else print('x') end
end
for i = 1, 2 do add(i, {1, 2}) end
"""


def texts(spans):
    return [TEXT[start:end].strip() for start, end in spans]


def test_errors_of_load():
    assert lua.syntax_error(TEXT) is None
    assert lua.syntax_error("a =\n= 1") == "unexpected symbol near '=' (line 2)"


def test_bodies():
    assert texts(lua.LUA_PLACES.bodies_of(TEXT)) == [
        texts([(TEXT.index("-- two"), TEXT.index("end\nfor"))])[0],
        "return a + b",
        "return [[\n  ]]",
        "print('x')",
        "add(i, {1, 2})",
    ]


def test_statements_are_lines():
    assert texts(lua.LUA_PLACES.statements_of(TEXT))[0] == "local function add(a, b)"
    assert len(lua.LUA_PLACES.statements_of(TEXT)) == 4


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_real_files(file):
    text = file.read_text(encoding="utf-8")
    assert lua.syntax_error(text) is None
    suites = lua.LUA_PLACES.suites_of(text)
    spans = sorted(span for suite in suites for stretch in suite for span in stretch)
    assert spans == lua.LUA_PLACES.tokens_of(text)
    rng = random.Random(1)
    bodies = lua.LUA_PLACES.bodies_of(text)
    for start, end in rng.sample(bodies, min(5, len(bodies))):
        assert lua.syntax_error(text[:start] + " " + text[end:]) is None
