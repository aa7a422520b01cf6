"""From limits to decoding, from a middle to an answer, and which documents the engine holds."""

from __future__ import annotations

import pytest
from fimlsp.lsp_server import engine_documents
from fimlsp.lsp_server.backend import decode_settings, is_one_line, to_completion
from fimlsp.lsp_server.engine_documents import EngineDocuments
from fimlsp.lsp_server.messages import Limits
from fimlsp.models.middle import DecodeSettings, Middle

ONE_LINE = [
    ("x = <|>\n", True),
    ("<|>x\n", True),
    ("f(<|>)", True),
    ("a\n    <|>\nb", False),
    ("a\n    <|>  \r\nb", False),
    ("a\r<|>\rb", False),
    ("<|>", False),
    ("\n\n<|>", False),
]


@pytest.mark.parametrize(("marked", "one_line"), ONE_LINE)
def test_a_completion_ends_with_its_line_unless_the_line_is_blank(marked, one_line):
    left, right = marked.encode().split(b"<|>")
    assert is_one_line("auto", left, right) is one_line
    assert is_one_line("always", left, right) is True
    assert is_one_line("never", left, right) is False


def test_limits_become_settings_of_the_decoding():
    limits = Limits(max_tokens=7, deadline_ms=1500, one_line="auto")
    assert decode_settings(limits, b"x = ", b"") == DecodeSettings(tokens=7, lines=1, seconds=1.5)
    assert decode_settings(limits, b"", b"") == DecodeSettings(tokens=7, lines=None, seconds=1.5)


ANSWERS = [
    (b"x", True, "end", "x", None),
    ("é".encode(), True, "deadline", "é", None),
    (b"", True, "end", "", "the model has nothing to add here"),
    (b"x(", False, "dead_end", "", "nothing that connects was found (dead_end)"),
    (b"x", True, "cancelled", "", "nothing that connects was found (cancelled)"),
    (b"\xc3", False, "cancelled", "", "nothing that connects was found (cancelled)"),
]


@pytest.mark.parametrize(("text", "complete", "stop", "shown", "reason"), ANSWERS)
def test_only_what_connects_is_shown(text, complete, stop, shown, reason):
    written = Middle(text, complete, 3, 2, False, stop, -1.0, 0.0, 0.0)
    completion = to_completion(written, "right")
    assert (completion.text, completion.reason) == (shown, reason)
    assert (completion.relaxed, completion.tokens, completion.rejected) == ("right", 3, 2)


class ScriptedDocument:
    def __init__(self, data):
        self.data = data
        self.prepared = False

    def prepare(self):
        self.prepared = True

    def edit(self, start, end, replacement):
        if replacement == b"!":
            raise AssertionError("the script says so")
        self.data = self.data[:start] + replacement + self.data[end:]


class ScriptedEngine:
    """Counts the documents made."""

    def __init__(self):
        self.made = []

    def document(self, data):
        self.made.append(data)
        return ScriptedDocument(data)


@pytest.fixture
def documents(monkeypatch):
    monkeypatch.setattr(engine_documents, "MOST_BYTES", 10)
    return EngineDocuments(ScriptedEngine)


def test_a_document_is_made_once_and_edited_in_place(documents):
    documents.open("a", 1, b"x = 1")
    first = documents.document("a")
    documents.edit("a", 2, 4, 5, b"22")
    assert documents.document("a") is first
    assert (first.data, documents.version("a")) == (b"x = 22", 2)
    documents.open("a", 3, b"new")
    assert documents.document("a").data == b"new"
    assert documents.version("b") is None


def test_idle_time_prepares_the_document_touched_last(documents):
    assert not documents.prepare_newest()
    documents.open("a", 1, b"a")
    documents.open("b", 1, b"b")
    documents.edit("a", 2, 0, 1, b"aa")
    assert documents.prepare_newest()
    assert not documents.prepare_newest()
    assert documents.document("a").prepared
    documents.close("a")
    assert documents.prepare_newest()
    assert documents.document("b").prepared


def test_the_least_recently_used_are_given_up(documents):
    for name in "abc":
        documents.open(name, 1, name.encode() * 4)
    made = {name: documents.document(name) for name in "abc"}
    assert documents.document("c") is made["c"]
    assert documents.document("b") is made["b"]
    assert documents.document("a") is not made["a"]


def test_a_document_larger_than_the_budget_is_kept_alone(documents):
    documents.open("large", 1, b"x" * 50)
    assert documents.document("large") is documents.document("large")


def test_an_edit_that_fails_makes_the_document_anew(documents):
    documents.open("a", 1, b"x")
    documents.document("a")
    with pytest.raises(AssertionError):
        documents.edit("a", 2, 1, 1, b"!")
    assert (documents.document("a").data, documents.version("a")) == (b"x!", 2)
