"""Edits in an editor's positions and the same edits in bytes lead to the same texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.lsp_server.documents import (
    LARGEST_DOCUMENT,
    LONGEST_LINE,
    NoSuggestion,
    OpenDocuments,
    TextChange,
)
from fimlsp.lsp_server.messages import Close, Edit, Open
from fimlsp.quotient.contexts.replacement import Replacement

TEXTS = st.text(alphabet="aé😋\n\r", max_size=8)
UNITS = {"utf-8": lambda text: len(text.encode()), "utf-16": lambda text: len(text.encode("utf-16-le")) // 2}
UNITS["utf-32"] = len


class Replica:
    """The worker's texts, by the messages to it."""

    def __init__(self):
        self.texts = {}

    def take(self, message):
        match message:
            case Open((_, uri), version, data):
                self.texts[uri] = version, data
            case Edit((_, uri), version, edit):
                data = self.texts[uri][1]
                self.texts[uri] = version, data[: edit.start] + edit.text + data[edit.end :]
            case Close((_, uri)):
                self.texts.pop(uri, None)


def documents_of(send):
    return OpenDocuments(1, send, lambda _: (3, 11))


def position(text, index, encoding):
    """The editor's (line, character) of *index*, which does not stand between \\r and \\n."""
    lines = text[:index].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return len(lines) - 1, UNITS[encoding](lines[-1])


def boundaries(text):
    return [n for n in range(len(text) + 1) if text[n - 1 : n + 1] != "\r\n" or n == 0]


@given(
    st.sampled_from(sorted(UNITS)),
    TEXTS,
    st.lists(st.tuples(st.integers(0), st.integers(0), TEXTS), max_size=6),
)
def test_the_worker_knows_what_the_editor_shows(encoding, text, edits):
    replica = Replica()
    documents = documents_of(replica.take)
    documents.encoding = encoding
    documents.open("a", "python", 0, text)
    for version, (one, other, new) in enumerate(edits, 1):
        places = boundaries(text)
        start, end = sorted((places[one % len(places)], places[other % len(places)]))
        span = position(text, start, encoding), position(text, end, encoding)
        list(documents.change("a", version, [TextChange(span, new)]))
        text = text[:start] + new + text[end:]
        assert replica.texts["a"] == (version, text.encode())
    assert documents.find("a").text.data == text.encode()


@pytest.mark.parametrize(
    ("language", "text", "reason"),
    [
        ("rust", "", "rust is not completed"),
        ("python", "x\n" * (LARGEST_DOCUMENT // 2 + 1), "larger than 8,000,000 bytes"),
        ("python", "\n" + "x" * (LONGEST_LINE + 1), "line 2 of the file is longer than 50,000 bytes"),
    ],
)
def test_documents_without_completions_are_kept_from_the_worker(language, text, reason):
    replica = Replica()
    documents = documents_of(replica.take)
    documents.open("a", "python", 1, "known")
    documents.open("a", language, 2, text)
    assert replica.texts == {}
    with pytest.raises(NoSuggestion, match=reason):
        documents.find("a")


def test_a_span_whose_end_precedes_its_start_is_an_insertion():
    replica = Replica()
    documents = documents_of(replica.take)
    documents.open("a", "python", 1, "abc")
    assert list(documents.change("a", 2, [TextChange(((0, 2), (0, 1)), "-")])) == [
        (b"abc", Replacement(2, 2, b"-"))
    ]
    assert replica.texts["a"] == (2, b"ab-c")


def test_all_documents_are_told_to_a_new_worker():
    first, second = Replica(), Replica()
    documents = documents_of(lambda message: target.take(message))
    target = first
    documents.open("a", "python", 1, "a")
    documents.open("b", "rust", 1, "b")
    target = second
    documents.send_all()
    assert second.texts == first.texts == {"a": (1, b"a")}


@pytest.mark.parametrize(
    ("uri", "is_cell"), [("file:///a.py", False), ("vscode-notebook-cell:/a.ipynb#1", True)]
)
def test_statements_of_cells_may_wait(uri, is_cell):
    documents = documents_of(lambda _: None)
    documents.open(uri, "python", 1, "await x")
    assert documents.find(uri).grammar.top_level_await == is_cell


def test_a_script_of_cells_is_read_as_a_notebook():
    """A marker makes a file one, and its removal a plain file again; the worker gets the whole text then."""
    replica = Replica()
    documents = documents_of(replica.take)
    documents.open("a", "python", 1, "%pylab\n")
    assert not documents.find("a").grammar.top_level_await
    list(documents.change("a", 2, [TextChange(((0, 0), (0, 0)), "# %%\n")]))
    assert documents.find("a").grammar.top_level_await
    assert replica.texts["a"] == (2, b"# %%\n0#ylab\n")
    list(documents.change("a", 3, [TextChange(((2, 0), (2, 0)), "!ls")]))
    assert replica.texts["a"] == (3, b"# %%\n0#ylab\n0#s")
    list(documents.change("a", 4, [TextChange(((0, 0), (1, 0)), "")]))
    assert replica.texts["a"] == (4, b"%pylab\n!ls")
    assert not documents.find("a").grammar.top_level_await


@pytest.mark.parametrize(("uri", "version"), [("file:///a.py", (3, 9)), ("file:///a.pyi", (3, 15))])
def test_stubs_have_the_newest_syntax(uri, version):
    documents = OpenDocuments(1, lambda _: None, lambda _: (3, 9))
    documents.open(uri, "python", 1, "")
    assert documents.find(uri).grammar.version == version
