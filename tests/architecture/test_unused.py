"""What is defined is used: by the product, by a library that it extends, or by readers of its documents."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pytest

from .test_code import MODULES, name_of, tree_of
from .test_packages import ROOT

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
GRAMMARS = sorted((ROOT / "languages").rglob("*.lark"))


CALL_NOTHING = frozenset(("Exception", "Generic", "NamedTuple", "Protocol", "dict"))
"""Base classes that call no methods of their subclasses by name."""


class Defined(NamedTuple):
    """A function or class; *is_called* by a library: it has a decorator with arguments, or a foreign base."""

    name: str
    is_called: bool


def own_classes(trees: Iterable[ast.Module]) -> frozenset[str]:
    return frozenset(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def is_own(base: str, own: frozenset[str]) -> bool:
    """Whether no library calls methods of a class because it has this *base*."""
    module, _, name = base.rpartition(".")
    return name in own | CALL_NOTHING and module not in sys.stdlib_module_names


def definitions(tree: ast.AST, own: frozenset[str], *, is_foreign: bool = False) -> Iterator[Defined]:
    """All functions and classes of a module; a class that extends a library may be called by it."""
    for node in ast.iter_child_nodes(tree):
        within = is_foreign
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            decorated = any(isinstance(each, ast.Call) for each in node.decorator_list)
            if not re.fullmatch("__.*__", node.name):
                yield Defined(node.name, is_foreign or decorated)
        if isinstance(node, ast.ClassDef):
            bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
            within = not all(is_own(ast.unparse(base), own) for base in bases)
        yield from definitions(node, own, is_foreign=within)


def uses(tree: ast.Module) -> Iterator[str]:
    """All names that are mentioned other than by their definition, or an import."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.Constant(value=str(name)) if name.isidentifier():
                yield name


def unused(trees: list[ast.Module], told: str = "") -> list[str]:
    """What is defined in *trees* and used neither there nor in the text *told*."""
    used = {name for tree in trees for name in uses(tree)} | set(re.findall(r"\w+", told))
    own = own_classes(trees)
    return sorted(
        defined.name
        for tree in trees
        for defined in definitions(tree, own)
        if not defined.is_called and defined.name not in used
    )


def test_nothing_is_defined_that_nobody_uses():
    told = "\n".join(path.read_text(encoding="utf-8") for path in (*DOCUMENTS, *GRAMMARS))
    assert unused([tree_of(path) for path in MODULES], told) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("def f(): ...", ["f"]),
        ("def f(): ...\nf()", []),
        ("class A:\n    def f(self): ...\nA()", ["f"]),
        ("class A:\n    def f(self): ...\nA().f", []),
        ("class A:\n    def __len__(self): ...\nA()", []),
        ("class A(logging.Handler):\n    def emit(self): ...\nA()", []),
        ("class A: ...\nclass B(A):\n    def f(self): ...\nB()", ["f"]),
        ("@command()\ndef f(): ...", []),
        ("@cache\ndef f(): ...", ["f"]),
        ("__all__ = ['f']\ndef f(): ...", []),
    ],
)
def test_what_is_unused(code, found):
    assert unused([ast.parse(code)]) == found


KEPT_FOR_EVER = {
    "lexing/automata/regex.py": ["_bytes"],
}
"""Functions of the engine whose results are kept for ever: of which there are few, whatever is opened."""


def caches_without_bounds(tree: ast.Module) -> Iterator[str]:
    """The functions with arguments that remember all that they ever gave."""
    unbounded = ("cache", "lru_cache(None)", "lru_cache(maxsize=None)")
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or not node.args.args:
            continue
        if any(ast.unparse(each) in unbounded for each in node.decorator_list):
            yield node.name


@pytest.mark.parametrize(
    "path", [path for path in MODULES if name_of(path).startswith(("lexing/", "quotient/"))], ids=name_of
)
def test_the_engine_keeps_nothing_for_ever(path):
    assert [*caches_without_bounds(tree_of(path))] == KEPT_FOR_EVER.get(name_of(path), [])
