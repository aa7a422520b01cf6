"""Suggested texts have the line ends of their document, and no white space at the end of a line."""

from __future__ import annotations

import pytest

from fimlsp.languages import LANGUAGES
from fimlsp.lsp_server.worker.document_form import in_document_form
from fimlsp.quotient.engine import Engine

# language, left<|suggestion|>right, the text that is shown
FORMED = [
    ("python", "class E(Exception):<|\n    pass|>\r\n", "\r\n    pass"),
    ("python", "x = 1\r\nclass E(Exception):<|\n    pass\n\n\n|>\r\n", "\r\n    pass"),
    ("python", "x = 1\r\n<|y = 2\r|>\r\n", "y = 2"),
    ("python", "x = 1\r\n<|y = 2\nz = 3|>\n", "y = 2\r\nz = 3"),
    ("python", "x = 1\n<|y = 2\r\nz = 3|>\n", "y = 2\nz = 3"),
    ("python", "x = <|f(a,\r  b)|>", "f(a,\n  b)"),
    ("python", "x = 1\n<|y = 2  |>\n", "y = 2"),
    ("python", "x = 1\n<|y = 2\n\n|>", "y = 2"),
    ("python", "x = <|not |>y\n", "not "),
    ("python", "if a:\r\n    <|x = 1\n    |>y = 2\r\n", "x = 1\r\n    "),
    ("python", "x = <|1 |>  # one\n", "1 "),
    ("python", "x = 'a\\<|\nb|>'\r\n", "\r\nb"),
    (
        "python",
        "if a:\n\tb\nclass A:<|\n    x = 1\n    if x:\n        y = 2|>\n",
        "\n\tx = 1\n\tif x:\n\t\ty = 2",
    ),
    ("python", "if a:\n  b\nclass A:<|\n    x = f(\n          1)|>\n", "\n  x = f(\n        1)"),
    ("python", "if a:\n\tif b:<|\n\t\tif c:\n\t\t\t\t\t\td|>\n", "\n\t\tif c:\n\t\t\td"),
    ("python", "if a:\n\tif b:<|\n\t\t\t\t\tc\n\td|>\n", "\n\t\tc\n\td"),
    (
        "python",
        "if a:\n  if b:\n    <|if c:\n        d\n    else:\n        e|>\n",
        "if c:\n      d\n    else:\n      e",
    ),
    ("python", "if a:\n\tb = <|[\n    1,\n]|>\n", "[\n    1,\n]"),
    ("python", "<|class A:\n    x = 1|>\nif a:\r\n\tb\n", "class A:\n\tx = 1"),
    ("python", "if a:\n    b\nclass A:<|\n    x = 1|>\n", "\n    x = 1"),
    ("python", "if a:\n\tb\n<|x = f(\n    1)|>\n", "x = f(\n    1)"),
    ("python", "class A:<|\n    x = 1|>\n", "\n    x = 1"),
    ("python", "class A:\n\tdef f(self):<|\n\t\tx = 1|>\n", "\n\t\tx = 1"),
    ("go", "package p\n\nfunc f() {\n\tg()\n}\n\nfunc g() {<|\n    h()\n}|>\n", "\n\th()\n}"),
    ("json", '{<|\n  "a": 1\n|>\r\n}', '\r\n  "a": 1'),
    ("lua", "if a then<|\n  b()\nend\n|>\r\n", "\r\n  b()\r\nend"),
    ("go", "package p\r\n\r\nfunc f() {<|\n\tg()\n}\n|>\r\n", "\r\n\tg()\r\n}"),
]


def test_a_header_has_that_form_although_it_lacks_a_body():
    left, text, right = b"x = 1\r\n", b"y = 2\nif x: ", b"\r\n"
    start = (
        Engine(LANGUAGES["python"].language())
        .document(left + right)
        .middle(len(left), len(left), relax=True)
        .start
    )
    assert in_document_form(left, text, right, start, b" ...") == b"y = 2\r\nif x:"
    assert in_document_form(left, text, right, start) == text


@pytest.mark.parametrize(("name", "marked", "shown"), FORMED)
def test_a_text_has_the_form_of_its_document(name, marked, shown):
    left, rest = marked.encode().split(b"<|")
    text, right = rest.split(b"|>")
    start = (
        Engine(LANGUAGES[name].language())
        .document(left + right)
        .middle(len(left), len(left), relax=True)
        .start
    )
    assert in_document_form(left, text, right, start).decode() == shown
