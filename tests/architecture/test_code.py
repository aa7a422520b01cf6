"""Habits that cost a reader or a user much, looked for in the syntax trees of all rooms."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import pytest

from .test_packages import FOLDERS, PYPROJECT, ROOMS, ROOT

MODULES = sorted(path for folder in FOLDERS for path in folder.rglob("*.py"))
OF_NAMED_TUPLES = frozenset(("_asdict", "_fields", "_replace"))
IMPORTED_AS = {"markdown_it": "markdown_it_py"}


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def foreign_privates(tree: ast.Module) -> Iterator[str]:
    """The private attributes that are used in a module and belong to what another one defines."""
    own = {"_exit"}  # of `os`, where it is documented
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.AnnAssign(target=ast.Name(id=name)):
                own.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                own.add(name)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not re.match(r"_[^_]", node.attr):
            continue
        is_inherited = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        if not is_inherited and node.attr not in own | OF_NAMED_TUPLES:
            yield ast.unparse(node)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_module_uses_the_private_parts_of_another(path):
    assert [*foreign_privates(tree_of(path))] == []


MOST_LOOKS_INSIDE = 30
"""Of tests at what is kept in memory, or started, which nobody else may see; some of it is of libraries."""


def test_only_few_tests_use_private_parts():
    found = [each for path in (ROOT / "tests").rglob("*.py") for each in foreign_privates(tree_of(path))]
    assert len(found) <= MOST_LOOKS_INSIDE, found


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_loop_goes_over_a_list_that_it_makes_longer(path):
    loops = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.For)]
    assert [ast.unparse(loop.iter) for loop in loops if isinstance(loop.iter, ast.NamedExpr)] == []


def names_of(requirements: Iterable[str]) -> set[str]:
    """The packages that *requirements* name, spelt as in an import."""
    return {re.match(r"[\w-]+", requirement)[0].replace("-", "_").lower() for requirement in requirements}


def imported_packages() -> set[str]:
    """The packages that the wheel imports anywhere, by the names under which they are declared."""
    paths = [*MODULES, *(ROOT / "src" / "fimlsp").glob("*.py")]
    return {IMPORTED_AS.get(name, name) for path in paths for name in imports(tree_of(path))}


def test_each_imported_package_is_declared():
    project = PYPROJECT["project"]
    declared = names_of([*project["dependencies"], *chain(*project["optional-dependencies"].values())])
    known = declared | sys.stdlib_module_names | {"fimlsp", "typing_extensions"}  # the latter for mypy alone
    known |= {"sglang", "vllm"}  # they import the adapters, not the other way round
    assert imported_packages() <= known


def test_each_base_dependency_is_imported():
    assert names_of(PYPROJECT["project"]["dependencies"]) <= imported_packages()


def imports(tree: ast.Module) -> Iterator[str]:
    """The packages that a module imports, by the first part of their names."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (each.name.partition(".")[0] for each in names)
            case ast.ImportFrom(module=str(name), level=0):
                yield name.partition(".")[0]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("def f(a):\n    return a._b", ["a._b"]),
        ("class A:\n    def f(self, other):\n        self._b = other._b", []),
        ("class A(B):\n    def f(self):\n        return self._b", []),
        ("a._replace(b=1)", []),
        ("a.__dict__", []),
    ],
)
def test_what_is_private(code, found):
    assert [*foreign_privates(ast.parse(code))] == found


PROGRAMS = sorted(
    path
    for folder in ("src", "tests", "benchmarks", "editors", "examples", *ROOMS)
    for path in (ROOT / folder).rglob("*.py")
    if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("path", PROGRAMS, ids=name_of)
def test_a_program_starts_after_its_last_definition(path):
    starts = [
        number
        for number, node in enumerate(tree_of(path).body, 1)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"
    ]
    assert starts in ([], [len(tree_of(path).body)])
