"""Names around a cursor that are used and not bound, or bound and not used."""

from __future__ import annotations

import textwrap

import pytest

from fimlsp.languages.python import Python
from fimlsp.languages.python.missing_names.unbound_names import NONE, unbound_names
from fimlsp.languages.python.names.code_state import state_at_end
from fimlsp.quotient.engine import Engine

ENGINE = Engine(Python())


def unbound(text):
    left, right = (part.encode() for part in text.split("<|>"))
    start = ENGINE.document(left + right).middle(len(left), len(left), may_escape=False, relax=True).start
    return unbound_names(left, right, start, state_at_end(left))


def in_function(code):
    return "def f(a):\n" + textwrap.indent(code, "    ") + "\n\n\nf(1)\n"


# a cursor, and the missing names that could be bound there, by their first use
MISSING = {
    "a variable": (in_function("a()\n<|>\nreturn total + a"), "total"),
    "two, in the order of their use": (in_function("<|>\nreturn second(first), first"), "second first"),
    "one that is read before it is bound": (in_function("<|>\nfor x in a:\n    n += x"), "n"),
    "one that is bound first": (in_function("<|>\nn = 0\nreturn n"), ""),
    "one that is bound above": (in_function("n = 0\n<|>\nreturn n"), ""),
    "one that is used above as well": (in_function("a(n)\n<|>\nreturn n"), ""),
    "a target of a loop": (in_function("for <|> in a:\n    print(item)"), "item"),
    "what with binds": (in_function("with a as <|>:\n    return file.read()"), "file"),
    "a parameter": ("def f(<|>):\n    return path\n", "path"),
    "of a method, the object first in use": (
        "class A:\n    def f(<|>):\n        return self.x(path)\n",
        "self path",
    ),
    "a parameter of a lambda": ("f = lambda <|>: x + 1\n", "x"),
    "an import": ("import os\n<|>\nos.remove(urlsplit(json.loads(x))[0])\nx = 1\n", "urlsplit json"),
    "an import that functions use": ("<|>\n\n\ndef f():\n    return re.compile('x')\n", "re"),
    "within an import": ("from typing import <|>\n\nx: Any = 1\n", "Any"),
    "in a begun word": ("fro<|>\n\nx: Any = 1\n", "Any"),
    "in a class": ("class A:\n    <|>\n    y = x\n", "x"),
    "builtins": (in_function("<|>\nreturn len(a)"), ""),
    "attributes": (in_function("<|>\nreturn a.b"), ""),
    "a module-wide name that a function lacks as well": (
        in_function("<|>\nreturn unicode(a)") + "def g(b):\n    return unicode(b)\n",
        "",
    ),
    "in a string": (in_function("x = '<|>'\nreturn y"), ""),
    "only named in a comment": (in_function("<|>\n# total\nreturn a"), ""),
    "only used in a long string with fields": (in_function('<|>\nreturn f"""{total}"""'), "total"),
    "only named in a long string": (in_function('<|>\nreturn """total"""'), ""),
    "where a value stands": (in_function("x = <|>\nreturn y"), ""),
    "where names are open": ("from os import *\n<|>\nx = y\n", ""),
    "a global of another function": (
        "def f():\n    <|>\n    return n\n\n\ndef g():\n    global n\n    n = 1\n",
        "",
    ),
    "a global that functions bind": (
        "<|>\n\n\ndef f():\n    return n\n\n\ndef g():\n    global n\n    n = 1\n",
        "",
    ),
    "one that is only added to": (in_function("<|>\nfor x in a:\n    n += x\nreturn n"), "n"),
    "one that is declared": (in_function("<|>\nn: int\nn = a"), ""),
}


@pytest.mark.parametrize("name", MISSING)
def test_what_is_missing(name):
    text, expected = MISSING[name]
    assert b" ".join(unbound(text).missing).decode() == expected


STATEMENTS = [name for name, (text, missing) in MISSING.items() if missing and "<|>\n" in text]


@pytest.mark.parametrize("name", STATEMENTS)
def test_once_bound_a_name_is_missing_no_more(name):
    text, _ = MISSING[name]
    first = unbound(text).missing[0].decode()
    line = text[text.rfind("\n", 0, text.index("<|>")) + 1 : text.index("<|>")]
    indent = line[: len(line) - len(line.lstrip())]
    bound = text.replace(line + "<|>", f"{indent}{first} = 1\n{indent}<|>")
    assert first.encode() not in unbound(bound).missing


# names that are bound above the cursor and used nowhere
UNUSED = {
    "a variable": (in_function("x = a\n<|>"), "x"),
    "a parameter": (in_function("<|>\nreturn 1"), "a"),
    "several": (in_function("x = 1\n<|>"), "a x"),
    "one that is used below": (in_function("x = a\n<|>\nreturn x"), ""),
    "one that a function within uses": (in_function("x = a\n\ndef g():\n    return x\n<|>"), "g"),
    "one that is bound below": (in_function("print(a)\n<|>\nx = 1"), ""),
    "the object of a method": ("class A:\n    def f(self, b):\n        <|>\n", "b"),
    "private ones": (in_function("_x = a\n<|>"), ""),
    "in a module": ("x = 1\n<|>\n", ""),
    "while its line is written": (in_function("x = a\nreturn <|>"), "x"),
}


@pytest.mark.parametrize("name", UNUSED)
def test_what_is_unused(name):
    text, expected = UNUSED[name]
    assert sorted(unbound(text).unused) == expected.encode().split()


# names that are imported above the cursor and mentioned nowhere else
UNUSED_IMPORTS = {
    "a module": ("import os\n\n\n<|>\n", "os"),
    "in a function": ("import os\n\n\ndef f():\n    <|>\n", "os"),
    "several": ("from os import path, sep as s\nimport json\n\n\n<|>\n", "json path s"),
    "one whose letters are in other words": ("import re\n\n\ndef f():\n    <|>\n    return 1\n", "re"),
    "the outermost package": ("import os.path\n\n\n<|>\n", "os"),
    "one that is used above": ("import os\n\nos.remove('x')\n<|>\n", ""),
    "one that is used below": ("import os\n\n<|>\nos.remove('x')\n", ""),
    "one that is named in a string": ("import os\n\n__all__ = ['os']\n<|>\n", ""),
    "one that is imported as itself": ("from os import path as path\n\n<|>\n", ""),
    "one with a comment for linters": ("import os  # noqa: F401\n\n<|>\n", ""),
    "one below": ("<|>\nimport os\n", ""),
    "features": ("from __future__ import annotations\n\n<|>\n", ""),
}


@pytest.mark.parametrize("name", UNUSED_IMPORTS)
def test_what_is_imported_and_unused(name):
    text, expected = UNUSED_IMPORTS[name]
    assert sorted(unbound(text).unused_imports) == expected.encode().split()


# targets that the next branch binds, and that of the cursor does not
TARGETS = {
    "else": (in_function("if a:\n    <|>\nelse:\n    x = 2\nreturn x"), "x"),
    "several names": (in_function("try:\n    <|>\nexcept E:\n    x, y = a\nreturn y(x)"), "x, y"),
    "with an annotation": (in_function("if a:\n    <|>\nelif b:\n    x: int = 2\nreturn x"), "x"),
    "after blank lines and comments": (
        in_function("if a:\n    b()\n    <|>\n\n    # c\nelse:\n    # d\n    x = 2\nreturn x"),
        "x",
    ),
    "in a begun word": (in_function("if a:\n    x<|>\nelse:\n    xs = 2\nreturn xs"), "xs"),
    "bound in this branch below": (in_function("if a:\n    <|>\n    x = 1\nelse:\n    x = 2\nreturn x"), ""),
    "bound above": (in_function("x = 0\nif a:\n    <|>\nelse:\n    x = 2\nreturn x"), ""),
    "used in the other branch only": (in_function("if a:\n    <|>\nelse:\n    x = 2\nreturn 1"), ""),
    "attributes": (in_function("if a:\n    <|>\nelse:\n    a.x = 2\nreturn a.x"), ""),
    "no branch": (in_function("if a:\n    <|>\nfor x in a:\n    y = x\nreturn y"), ""),
    "the end of a file": ("def f(a):\n    if a:\n        <|>", ""),
}


@pytest.mark.parametrize("name", TARGETS)
def test_what_the_next_branch_binds(name):
    text, expected = TARGETS[name]
    assert unbound(text).branch_targets == expected.encode()


@pytest.mark.parametrize("text", ["# <|>\n", "x = 1\n" * 40_000 + "<|>\ny\n", "exec('y = 1')\n<|>\ny\n"])
def test_where_nothing_is_known(text):
    assert unbound(text) == NONE
