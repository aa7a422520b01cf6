"""Names are looked up where the cursor is after an edit, before any request."""

from __future__ import annotations

import pytest

from fimlsp.languages.python import Python
from fimlsp.lsp_server.messages import DocumentId
from fimlsp.lsp_server.worker.engine_documents import EngineDocuments
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.engine import Engine

FILE = DocumentId(0, "file:///a.py")


class Names:
    """Remembers the texts left of the cursors at which names are looked up."""

    def __init__(self):
        self.lefts = []

    def look_up(self, document, path, left, right):
        del document, path
        self.lefts.append((left + b"|" + right).decode())


# the text with the cursor, the text typed there, and the text with the next cursor
TYPED = [
    ("a|", "b", "ab|"),
    ("f|\n", "(", "f(|\n"),
    ("f(|)\n", "\n    \n", "f(\n    |\n)\n"),
    ("f(|)\r\n", "\r\n    \r\n", "f(\r\n    |\r\n)\r\n"),
    ("  f(|)\n", "\n      \n  ", "  f(\n      |\n  )\n"),
    ("f(|)\n", "\na\n", "f(\na\n|)\n"),
    ("|\n", "\n", "\n|\n"),
    ("|x\n", "\n    ", "\n    |x\n"),
]


@pytest.mark.parametrize(("before", "typed", "after"), TYPED)
def test_names_are_looked_up_at_the_cursor_of_the_next_request(before, typed, after):
    names, (left, right) = Names(), before.encode().split(b"|")
    documents = EngineDocuments(Engine, names)
    documents.open(FILE, 0, left + right, Python())
    documents.edit(FILE, 1, Replacement(len(left), len(left), typed.encode()))
    assert names.lefts[-1] == after
