"""The Neovim plugin in real Neovims: one that shows inline completions itself, and one that does not."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.neovim

SCRIPTED = [sys.executable, str(Path(__file__).with_name("suggesting_server.py"))]


def lua_list(items):
    return "{ " + ", ".join(json.dumps(item) for item in items) + " }"


def script(*candidates, text="x = <|>\n"):
    return f"# {json.dumps(candidates)}\n{text}"


@pytest.fixture(params=["native", "fallback"])
def kind(request):
    return request.param


@pytest.fixture
def neovim(start_neovim, kind):
    return start_neovim(kind, f"{{ cmd = {lua_list(SCRIPTED)}, settings = {{ debounceMs = 20 }} }}")


def test_each_version_shows_its_own_way(neovim, kind):
    assert neovim.lua("return require('fimlsp.config').is_native()") == (kind == "native")


def test_ghost_text_appears_in_front_of_what_follows(neovim):
    neovim.open(script("1 + 2", text="f(<|>)\n"))
    neovim.shows("f(1 + 2)")
    assert neovim.text().endswith("\nf()\n")


def test_accepted_with_tab(neovim):
    neovim.open(script("1 + 2", text="f(<|>)\n"))
    neovim.shows("f(1 + 2)")
    neovim.type("<Tab>!")
    neovim.until(lambda: neovim.text().endswith("\nf(1 + 2!)\n"), neovim.text)
    neovim.until(lambda: ("accepted", "0") in neovim.heard(), neovim.heard)
