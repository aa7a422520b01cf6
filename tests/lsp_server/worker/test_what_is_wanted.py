"""The bundled model writes texts that are likely for other reasons: missing names, changes made again."""

from __future__ import annotations

import time
from dataclasses import replace
from threading import Event

import pytest

from fimlsp.languages.json import json
from fimlsp.languages.python import Python
from fimlsp.lsp_server.messages import (
    NO_EDITS,
    Complete,
    DocumentId,
    Limits,
    Load,
    Pending,
    Recent,
    Substitution,
    Workspace,
)
from fimlsp.lsp_server.worker.answers import DELETED
from fimlsp.lsp_server.worker.backend import Backend
from fimlsp.lsp_server.worker.names import NameLookup

from ..local_files import write

LIMITS = Limits(deadline_ms=600_000, confidence=0.5, neighbour_tokens=512, min_length=2)
PROJECT = {
    "shop/__init__.py": "from shop.orders import Order\n",
    "shop/orders.py": "from decimal import Decimal\n\n\nclass Order:\n    total: Decimal\n",
    "here.py": "",
}


@pytest.fixture(scope="module")
def backend(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    write(folder, PROJECT)
    names = NameLookup()
    backend = Backend(names)
    backend.load(Load(), lambda *_: None)
    backend.enter(Workspace(1, (str(folder),), ()))
    yield backend, folder
    backend.leave(1)
    names._analysis.close()


def completed(backend, marked, grammar=None, recent=NO_EDITS):
    backend, folder = backend
    left, right = (part.encode() for part in marked.split("<|>"))
    document = DocumentId(1, (folder / "here.py").as_uri())
    backend.open(document, 1, left + right, grammar or Python())

    def answer():
        request = Complete(1, document, 1, len(left), LIMITS, time.monotonic(), recent)
        return backend.complete(request, lambda: False)

    answer()  # starts to index the project
    backend._other_files[1]._project.wait()
    return answer()


# a cursor, and the start of the suggestion
CASES = {
    "an import": (
        "import os\n<|>\n\n\nprint(Order(os))\n",
        "from shop.orders import Order",
    ),
    "a begun one": ("from deci<|>\n\n\ndef f(a):\n    return Decimal(a)\n", "mal import Decimal"),
    "two": (
        "from decimal import <|>\n\n\ndef f(a):\n    return Decimal(a), ROUND_UP\n",
        "Decimal, ROUND_UP",
    ),
    "a list": (
        "def f(items):\n    <|>\n    for item in items:\n        found.append(item)\n    return found\n",
        "found = []",
    ),
    "a parameter": ("def area(<|>):\n    return width * 2\n", "width"),
    "arguments": (
        "def area(width, height): ...\n\n\ndef draw(width, height):\n    return area(<|>)\n",
        "width, height",
    ),
    "a target": ("def f(orders):\n    for <|> in orders:\n        print(order)\n", "order"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_the_code_below_lacks(backend, name):
    marked, expected = CASES[name]
    answer = completed(backend, marked)
    assert answer.text.startswith(expected), answer


def test_a_change_is_made_again(backend):
    renamed = Substitution(b"print(", b"old", b"newest", b")")
    recent = Recent(pending=Pending(b"old"), substitutions=(renamed,))
    code = "newest, other = [], 2\nprint(other)\nsize = len(<|>)\n"
    assert completed(backend, code, recent=recent).text == "newest"


def test_deleted_text_is_not_written_again(backend):
    marked, expected = CASES["a list"]
    answer = completed(backend, marked, recent=Recent(deleted=(expected.encode(),)))
    assert (answer.text, answer.reason) == ("", DELETED)


def test_other_languages_have_no_such_names(backend):
    assert completed(backend, '{"a": <|>}', json).reason is not None


# the cells of a notebook with a cursor, and the start of the suggestion
NOTEBOOKS = {
    "a name of a cell above": (["def weekly_revenue(orders):\n    return 1\n", "x = weekly_<|>"], "revenue"),
    "the nearest binding": (
        ["unit_price = 1", "unit_prices = [3]\n", "for price in unit_pri<|>:\n    print(price)"],
        "ces",
    ),
    "a name of a cell below": (["x = weekly_<|>", "def weekly_revenue(orders):\n    return 1\n"], "revenue"),
    "what the cells below lack": (
        ["import os\n<|>\n", "print(Order(os))\n"],
        "from shop.orders import Order",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_other_cells_of_the_notebook(backend, name):
    backend, folder = backend
    cells, expected = NOTEBOOKS[name]
    documents = [
        DocumentId(1, f"vscode-notebook-cell:{folder}/{name.replace(' ', '')}.ipynb#{number}")
        for number in range(len(cells))
    ]
    for document, text in zip(documents, cells, strict=True):
        backend.open(document, 1, text.replace("<|>", "").encode(), Python())
    backend.arrange(1, name, [document.uri for document in documents])
    ((document, offset),) = (
        (document, text.index("<|>"))
        for document, text in zip(documents, cells, strict=True)
        if "<|>" in text
    )
    limits = replace(LIMITS, confidence=0.0)

    def answer():
        request = Complete(1, document, 1, offset, limits, time.monotonic())
        return backend.complete(request, lambda: False)

    answer()  # starts to look up the names
    looked_up = Event()
    if not backend.has_names(looked_up.set):
        looked_up.wait()
    assert answer().text.startswith(expected), answer()
