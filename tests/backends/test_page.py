"""The programs of docs/backends.md: those without a server run, the others name what exists."""

import ast
import re
from pathlib import Path

import pytest

import fimlsp

PAGE = Path(__file__).parents[2] / "docs" / "backends.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
NEEDS_A_SERVER = ("vllm", "urlopen")


def needs_a_server(program):
    return any(word in program for word in NEEDS_A_SERVER)


def test_there_is_a_program_for_each_engine():
    assert sum(map(needs_a_server, PROGRAMS)) == len(NEEDS_A_SERVER)


@pytest.mark.parametrize("program", [each for each in PROGRAMS if not needs_a_server(each)])
def test_a_program_runs(program, capsys):
    exec(program, {})
    assert capsys.readouterr().out.startswith(("{'x-fimlsp': {'kind': 'language'", "hel True [101, 108"))


@pytest.mark.parametrize("program", [each for each in PROGRAMS if needs_a_server(each)])
def test_a_program_for_a_server_names_what_exists(program):
    imports = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.ImportFrom)]
    names = [alias.name for node in imports if node.module == "fimlsp" for alias in node.names]
    assert names == ["fill_in_middle"]
    assert set(names) <= set(fimlsp.__all__)
