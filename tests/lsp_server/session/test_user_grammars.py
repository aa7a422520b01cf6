"""Grammars of the user's own, as the option `grammars` names them."""

import asyncio

import pytest

from fimlsp.languages.custom import LarkLanguage
from fimlsp.lsp_server.documents import CompletionRules, OpenDocuments
from fimlsp.lsp_server.messages import Close, Open
from fimlsp.lsp_server.session.workspace_reads import UserGrammars, language_of

from ..waiting import finished


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sums.lark").write_text('start: "1" ("+" "1")*\n')
    return tmp_path


def test_a_file_is_found_in_the_workspace_or_by_its_path(folder):
    found = language_of("sums.lark", [str(folder)])
    assert isinstance(found, LarkLanguage)
    assert found == language_of(str(folder / "sums.lark"), [])


@pytest.mark.parametrize("file", ["missing.lark", "../sums.lark", "."])
def test_what_cannot_be_read_is_said(folder, file):
    inner = folder / "inner"
    inner.mkdir()
    said = language_of(file, [str(folder / "elsewhere")])
    assert isinstance(said, str)
    assert "option grammars" in said
    assert "no folder" in language_of(file, [])


async def test_they_are_read_beside_the_event_loop(folder):
    changed = asyncio.Event()
    grammars = UserGrammars(changed.set)
    grammars.read({"sums": "sums.lark", "other": "missing.lark"}, [str(folder)])
    await finished(changed.wait())
    assert isinstance(grammars.languages["sums"], LarkLanguage)
    assert "missing.lark" in grammars.languages["other"]


def test_documents_are_read_in_their_grammar(folder):
    sent = []
    documents = OpenDocuments(1, sent.append, lambda _: (3, 11))
    language = language_of("sums.lark", [str(folder)])
    documents.follow(CompletionRules(("sums", "other"), grammars={"sums": language, "other": "it is broken"}))
    documents.open("file:///a.sums", "sums", 1, "1+1")
    documents.open("file:///a.other", "other", 1, "1+1")
    opened, closed = sent
    assert isinstance(opened, Open)
    assert opened.grammar == language
    assert isinstance(closed, Close)
    assert documents.get("file:///a.other").refusal == "it is broken"
