"""Reads the numbered paths of a document, such as ``1. `folder/module.py` `Class.method`: ...``.

Every reference to a definition, a file and then a name, is held against the code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_STEP = re.compile(r"^(\d+)\. (.*(?:\n {2,}\S.*)*)", re.MULTILINE)
REFERENCE = re.compile(r"`([\w/]+\.py)` `([\w.]+)`")


@dataclass(frozen=True)
class Step:
    """One numbered item."""

    number: int
    text: str


def section(document: str, title: str) -> str:
    """The text under the heading of second order with this *title*; empty if there is none."""
    return f"\n{document}".partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def steps(text: str) -> list[Step]:
    """The numbered items of *text*, each with the lines that continue it."""
    return [Step(int(item[1]), item[2]) for item in _STEP.finditer(text)]


def faults(text: str, root: Path) -> list[str]:
    """What a reader could not follow in the numbered items of *text*, whose files are below *root*."""
    found = []
    for place, step in enumerate(steps(text), 1):
        if step.number != place:
            found.append(f"step {step.number} stands where {place} should")
        if not REFERENCE.match(step.text):
            found.append(f"step {step.number} does not begin with a file and a name")
        found += [f"step {step.number}: {fault}" for fault in dangling(step.text, root)]
    return found


def dangling(text: str, root: Path) -> list[str]:
    """The references in *text* to files that are not below *root*, or to names that they do not define."""
    found = []
    for file, name in REFERENCE.findall(text):
        if not (root / file).is_file():
            found.append(f"there is no {file}")
        elif name not in definitions(root / file):
            found.append(f"{file} does not define {name}")
    return found


@cache
def definitions(path: Path) -> frozenset[str]:
    """The classes, functions and variables that a module defines, those in a class with its name in front."""
    return frozenset(_names(ast.parse(path.read_text(encoding="utf-8")).body, ""))


def _names(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield prefix + name
            case ast.ClassDef(name=name, body=inner):
                yield prefix + name
                yield from _names(inner, f"{prefix}{name}.")
            case ast.Assign(targets=targets):
                yield from (prefix + target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield prefix + name
