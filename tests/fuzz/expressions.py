"""Finds every regular expression of the code, and the methods with which it is used."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("src/fimlsp/processes", "lexing", "quotient", "languages", "models", "lsp_server", "datasets")
PACKAGES = (*ROOMS, "editors/environment")
METHODS = frozenset(["match", "search", "fullmatch", "sub", "subn", "findall", "finditer", "split"])
_MENTIONED = re.compile(rf"\.(?:{'|'.join(METHODS)}|compile)\b")
_OFFSET = {"match": 1, "search": 1, "fullmatch": 1}
"""The number of the argument that is an offset; a pattern with an offset reads a text piece by piece."""


@dataclass(frozen=True)
class Expression:
    """An expression at *place*: its *source* in the code, and the *methods* with which it is used.

    `match at` is a `match` at an offset, as of a lexer.
    """

    place: str
    source: str
    methods: frozenset[str]
    path: Path
    call: ast.Call = field(compare=False)

    @property
    def variables(self):
        """The names in its source."""
        names = {node.id for node in ast.walk(self.call) if isinstance(node, ast.Name)}
        return names - {"re"}

    def compiled(self, **values):
        """The expression with the globals of its module, and with *values*. NameError if it needs others."""
        known = vars(import_module(name_of(self.path))) if self.variables else {}
        call = self.call
        if call.func.attr != "compile":
            flags = [keyword for keyword in call.keywords if keyword.arg == "flags"]
            call = ast.Call(ast.parse("re.compile", mode="eval").body, call.args[:1], flags)
        code = ast.fix_missing_locations(ast.Expression(call))
        return eval(compile(code, self.place, "eval"), {"re": re, **known, **values})


@cache
def expressions():
    """All expressions of the code, in order."""
    texts = {path: path.read_text(encoding="utf-8") for path in modules()}
    trees = {path: ast.parse(text) for path, text in texts.items() if _MENTIONED.search(text)}
    used = {path: _uses(tree) for path, tree in trees.items()}
    everywhere = defaultdict(set)
    for uses in used.values():
        for name, methods in uses.items():
            everywhere[name] |= methods
    return [
        found for path, tree in trees.items() for found in _written_in(path, tree, used[path], everywhere)
    ]


def modules():
    """The modules of the code."""
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def name_of(path):
    """The dotted name of a module."""
    inside = path.is_relative_to(ROOT / "src")
    parts = path.relative_to(ROOT / "src" / "fimlsp" if inside else ROOT).with_suffix("").parts
    return ".".join(("fimlsp", *parts)).removesuffix(".__init__")


def _written_in(path, tree, own, everywhere):
    if "re" not in {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}:
        return
    owners = {call: (name, is_local) for call, name, is_local in _owners(tree, None, False)}
    named = {name for call, (name, _) in owners.items() if call.func.attr == "compile"}
    unclear = set[str]().union(*(methods for name, methods in own.items() if name not in named))
    for call, (name, is_local) in owners.items():
        place = f"{path.relative_to(ROOT).as_posix()} {ast.unparse(call.args[0])}"
        if call.func.attr != "compile":
            methods = {call.func.attr}
        else:
            known = own if is_local or str(name).startswith("_") else everywhere
            methods = known.get(name) or unclear - {"split"} or {"match", "fullmatch", "finditer"}
        yield Expression(place, ast.unparse(call.args[0]), frozenset(methods), path, call)


def _owners(node, owner, is_local):
    """Each call with the name of its result, and true if that is local to a function.

    The name is that of the variable, argument or function around the call.
    """
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            owner = name
        case ast.FunctionDef(name=name):
            owner, is_local = name, True
        case ast.keyword(arg=name):
            owner, is_local = name, False
        case ast.Call() if _is_of_re(node):
            yield node, owner, is_local
    for child in ast.iter_child_nodes(node):
        yield from _owners(child, owner, is_local)


def _uses(tree):
    """The methods that are called, or passed on, by the name of their object."""
    uses = defaultdict(set)
    nodes = list(ast.walk(tree))
    offsets = {
        node.func: len(node.args) > _OFFSET.get(node.func.attr, len(node.args))
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in METHODS and _name(node.value) != "re":
            uses[_name(node.value)].add(f"{node.attr} at" if offsets.get(node) else node.attr)
    return uses


def _name(node):
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=inner) | ast.Call(func=inner):
            return _name(inner)
    return None


def _is_of_re(node):
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name)):
            return name == "compile" or name in METHODS
    return False
