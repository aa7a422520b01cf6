"""The texts for missing names at a cursor, and after the first bytes of one."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from fimlsp.languages.python import Python
from fimlsp.languages.python.missing_names.at_cursor import missing_at_cursor
from fimlsp.languages.python.missing_names.import_table import ImportTable
from fimlsp.quotient.engine import Engine

ENGINE = Engine(Python())
OTHER = b"from typing import Any, Callable\nfrom urllib.parse import urlsplit\nimport json\n"
TABLE = ImportTable.of({PurePath("other.py"): OTHER})


def at(text, path="here.py"):
    left, right = (part.encode() for part in text.split("<|>"))
    start = ENGINE.document(left + right).middle(len(left), len(left), may_escape=False, relax=True).start
    return left, missing_at_cursor(left, right, start, PurePath(path), lambda: [TABLE])


def likeliest(text, written=""):
    """The likeliest text after *written* at the cursor of *text*; None if there is none."""
    left, missing = at(text)
    if missing is None:
        return None
    texts = missing.after(left[len(left) - missing.back :] + written.encode())
    assert 0 <= sum(texts.values()) < 1
    return max(texts, key=texts.__getitem__).decode() if texts else None


# a cursor, the bytes written there, and the likeliest text after them
CASES = [
    ("def f(a):\n    <|>\n    return total + a\n", "", "total ="),
    ("def f(a):\n    <|>\n    return total + a\n", "tot", "al ="),
    ("def f(a):\n    <|>\n    return total + a\n", "total =", None),
    ("def f(a):\n    <|>\n    return total + a\n", "if", None),
    ("def f(a):\n    to<|>\n    return total + a\n", "", "tal ="),
    ("def f(a):\n    <|>\n    return x, y\n", "", "x ="),
    ("def f(a):\n    <|>\n    for x in a:\n        y.append(x)\n", "", "y = []\n"),
    ("def f(a):\n    <|>\n    for x in a:\n        y[x] = 1\n", "y =", " {}\n"),
    ("def f(a):\n    <|>\n    for x in a:\n        y.add(x)\n", "", "y = set()\n"),
    ("def f(a):\n    <|>\n    for x in a:\n        y += 1\n", "", "y = 0\n"),
    ("def f(a):\n    <|>\n    for x in a:\n        print(y[x])\n", "y =", None),
    ("def f(a):\n    a,<|>\n    return y\n", "", " y ="),
    ("<|>\n\nx = urlsplit(y)\ny = 1\n", "", "from urllib.parse import urlsplit\n"),
    ("from urllib<|>\n\nx = urlsplit(y)\ny = 1\n", "", ".parse import urlsplit\n"),
    ("from urllib.parse import <|>\n\nx = urlsplit(y)\ny = 1\n", "", "urlsplit"),
    ("from os import <|>\n\nx = unknown(y)\ny = 1\n", "", "unknown"),
    ("im<|>\n\nx = json.loads(y)\ny = 1\n", "", "port json\n"),
    ("<|>\n\nx = zlib.crc32(y)\ny = 1\n", "", "import zlib"),
    ("<|>\n\nx: Callable[[], Any]\n", "", "from typing import Any, Callable\n"),
    ("def f():\n    <|>\n    return json.loads(x)\n\n\nx = 1\n", "", "import json\n"),
    ("def g():\n    pass\n\n\n<|>\n\n\nh(g)\n", "", "def h("),
    ("import os\n<|>\n\n\nprint(os, LIMIT)\n", "", "LIMIT ="),
    ("def f(a):\n    if a:\n        <|>\n    else:\n        x = 2\n    return x\n", "", "x ="),
    ("def g():\n    pass\n\n\n<|>\n\n\ng(json)\n", "", None),
    ("def g():\n    pass\n\n\n<|>\n\n\ng(Shape)\n", "", "class Shape"),
    ("def g():\n    pass\n\n\n<|>\n\n\ng(LIMIT)\n", "", "LIMIT ="),
    ("def f(<|>):\n    return path\n", "", "path"),
    ("def f(<|>):\n    return print(*args, **kwargs)\n", "", "*args, **kwargs"),
    ("def f(*<|>):\n    return print(*args)\n", "", "args"),
    ("class A:\n    def f(<|>):\n        return path(self.x)\n", "", "self, path"),
    ("class A:\n    def f(<|>):\n        return path(self.x)\n", "self", ", path"),
    ("def f(a,<|>):\n    return a + path\n", "", " path"),
    ("def f(a):\n    for <|> in a:\n        print(item)\n", "", "item"),
    # names that nothing uses yet
    ("def f(a):\n    <|>\n", "return", " a"),
    ("def f(a):\n    <|>\n", "return ", "a"),
    ("def f(abc):\n    <|>\n", "return a", "bc"),
    ("def f(a):\n    <|>\n", "print(", "a"),
    ("def f(a):\n    <|>\n", "print(1,", " a"),
    ("def f(a):\n    <|>\n", "print(end=", "a"),
    ("def f(a):\n    <|>\n", "self.a =", " a"),
    ("def f(a):\n    <|>\n", "print(a, ", None),
    ("def f(a):\n    <|>\n", "x.", None),
    ("def f(a):\n    <|>\n", "print('", None),
    ("def f(a):\n    return <|>\n", "", "a"),
    # names that are imported and not used
    ("import os\n\n\ndef f(a):\n    <|>\n    return a\n", "x =", " os"),
    ("import os\n\n\ndef f(a):\n    return <|>\n", "", "os"),
    ("import os\n\n\ndef f(a):\n    return <|>\n", "os.path(", "a"),
    ("import json\n\n\ndef f(a):\n    return <|>\n", "js", "on"),
    ("import os\n\n\ndef f(a):\n    return a.<|>\n", "", None),
    # nothing
    ("def f(a):\n    <|>\n    return a\n", "", None),
    ("x = 1\n<|>\nprint(x)\n", "", None),
]


@pytest.mark.parametrize(("text", "written", "expected"), CASES)
def test_what_is_wanted_most(text, written, expected):
    assert likeliest(text, written) == expected


@pytest.mark.parametrize("path", ["pkg/__init__.py", "pkg/here.pyi"])
def test_what_a_file_imports_for_others_is_not_wanted(path):
    text = "import os\n\n\ndef f():\n    return <|>\n"
    assert at(text)[1].unused_imports == (b"os",)
    assert at(text, path)[1] is None


@pytest.mark.parametrize("text", [text for text, written, _ in CASES if not written])
def test_what_is_begun_is_as_good_as_sure(text):
    left, missing = at(text)
    for each in missing.texts if missing is not None else ():
        begun = left[len(left) - missing.back :] if missing.back else each[:1]
        if each.startswith(begun) and len(each) > len(begun) > 0:
            assert sum(missing.after(begun).values()) > 0.8
