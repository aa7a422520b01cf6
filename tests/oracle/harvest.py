"""Snippets of Python out of an interpreter's own tests, each with that interpreter's verdict.

A program for every interpreter from 3.8 on: `pythonX.Y harvest.py OUT TESTS` reads the folder TESTS and
writes one JSON object a line. Its keys are `source`, `origin`, `message` (None if the source is valid) and
`kinds` (those of its syntax nodes).
"""

from __future__ import annotations

import ast
import doctest
import json
import re
import sys
import textwrap
import tokenize
import warnings
from pathlib import Path

from cpython import INVALID, VALID, tree_of, verdict

LONGEST_STATEMENT = 12
LONGEST_STRING = 4000
RUNNING = re.compile("compile|exec|eval|parse|check|syntax|valid|run|assert|round|trip", re.IGNORECASE)
"""Names of functions that may be called with Python text."""

_SUBJECTS = """
    __all__ ast asyncgen augassign bdb builtin bytes cmd_line code code_module codeop codecs compile
    compileall coroutines crashers dataclasses decorators descr dictcomps dictviews dis doctest
    doctest2 dynamic dynamicclassattribute enum eof except_star exception_group exception_hierarchy
    exception_variations exceptions extcall finalization float flufl fstring frame funcattrs
    functools future future3 future4 future5 generator_stop generators genexps genericalias
    genericclass genericpath global grammar import inspect int_literal keyword keywordonlyarg
    lib2to3 linecache listcomps long longexp metaclass module monitoring named_expressions
    numeric_tower opcodes operator parser patma peepholer peg_generator pdb pep646_syntax
    positional_only_arg print property pyclbr pydoc raise re repl richcmp scope setcomps sax
    source_encoding str string_literals structseq subclassinit support symtable syntax sys_settrace
    tabnanny textwrap tokenize trace traceback tuple type_aliases type_annotations type_cache
    type_comments type_params typechecks types typing unicode_identifiers unpack unpack_ex unparse
    utf8source with yield_from
"""
SUBJECTS = frozenset(f"test_{name}" for name in _SUBJECTS.split())
"""Tests of which all strings are taken, since most of them are Python, or nearly."""


class Harvest:
    """Snippets by their text; the first origin counts."""

    def __init__(self):
        self.origins: dict[bytes, str] = {}

    def add(self, text, origin):
        """Add *text*, unless it is blank or cannot be the text of a file."""
        try:
            data = text if isinstance(text, bytes) else text.encode()
        except UnicodeEncodeError:
            return
        if data.strip() and b"\0" not in data:
            self.origins.setdefault(data, origin)

    def add_string(self, text, origin):
        """Add *text*, the text without its indentation, and the examples in it."""
        if isinstance(text, bytes):
            self.add(text, origin)
            return
        if ">>> " in text:
            try:
                for example in doctest.DocTestParser().get_examples(text):
                    self.add(example.source, origin)
            except ValueError:
                pass
        elif len(text) <= LONGEST_STRING:
            self.add(text, origin)
            self.add(textwrap.dedent(text), origin)


def harvest(tests: Path) -> Harvest:
    """All snippets of the *tests* of an interpreter."""
    harvest = Harvest()
    for path in sorted(tests.rglob("*.py")):
        if "bad" in path.stem:
            harvest.add(path.read_bytes(), f"file {path.name}")
        else:
            add_file(harvest, path)
    for path in sorted(tests.rglob("*.txt")):
        text = path.read_bytes().decode("utf-8", "replace")
        if ">>> " in text:
            harvest.add_string(text, f"doctest {path.name}")
    return harvest


def add_file(harvest, path):
    """Add the snippets of a test file."""
    try:
        with tokenize.open(path) as file:
            source = file.read()
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = [line.encode() for line in source.split("\n")]
    about_syntax = path.stem in SUBJECTS or path.parent.name in SUBJECTS
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            if node.end_lineno - node.lineno < LONGEST_STATEMENT:
                harvest.add(statement(node, lines), f"statement {path.name}")
        elif isinstance(node, ast.Call) and RUNNING.search(called(node)):
            for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
                add_constants(harvest, argument, f"argument {path.name}")
        elif is_text(node) and (about_syntax or ">>> " in str(node.value)):
            harvest.add_string(node.value, f"string {path.name}")


def add_constants(harvest, argument, origin):
    """Add the string, or the strings of the list, that a call is given."""
    for node in getattr(argument, "elts", [argument]):
        if is_text(node):
            harvest.add_string(node.value, origin)


def is_text(node):
    """True if *node* is a string, also of bytes."""
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def called(node):
    """The last name of the called function."""
    return getattr(node.func, "attr", "") or getattr(node.func, "id", "")


def statement(node, lines):
    """The text of a statement with its decorators, less its indentation."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    begin = node.col_offset
    text = [line + b"\n" for line in lines[first - 1 : node.end_lineno]]
    text[-1] = lines[node.end_lineno - 1][: node.end_col_offset] + b"\n"
    text[0] = text[0][begin:]
    margin = b" " * begin
    return b"".join([text[0], *(line[begin:] if line.startswith(margin) else line for line in text[1:])])


def kinds(data):
    """The kinds of nodes in the tree of *data*."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nodes = ast.walk(tree_of(data))
    return sorted({type(node).__name__ for node in nodes} - {"Module", "Load", "Store", "Expr"})


def main():
    """Write all snippets with their verdicts."""
    warnings.simplefilter("ignore")
    with Path(sys.argv[1]).open("w", encoding="ascii") as file:
        for data, origin in harvest(Path(sys.argv[2])).origins.items():
            answer = verdict(data)
            if answer.kind not in (VALID, INVALID):
                continue
            snippet = {
                "source": data.decode("utf-8", "surrogateescape"),
                "origin": origin,
                "message": answer.message if answer.kind == INVALID else None,
                "kinds": kinds(data) if answer.kind == VALID else [],
            }
            file.write(json.dumps(snippet) + "\n")


if __name__ == "__main__":
    main()
