"""Answers that come later, while a model reads, and the cursor around which it reads ahead."""

from __future__ import annotations

import asyncio

import pytest

from fimlsp.lsp_server.messages import Cancel, Complete, DocumentId, Read, Reading, Rest
from fimlsp.lsp_server.session import requests

from ..local_editor import URI, LocalEditor, LocalPool
from ..waiting import finished

OTHER = "file:///project/b.py"


@pytest.fixture
async def editor():
    pool = LocalPool()
    editor = LocalEditor(pool, {"minLength": 0})
    await editor.start()
    (worker,) = pool.workers.values()
    editor.process = worker.process
    yield editor
    await editor.session.close()


def sent(editor, kind):
    return [message for message in editor.process.seen if isinstance(message, kind)]


async def in_peace():
    """Let everything happen that waits for nothing."""
    for _ in range(20):
        await asyncio.sleep(0)


def tell_read(editor, uri=URI):
    editor.process.on_report(Read(DocumentId(editor.session.number, uri)))


async def test_a_request_waits_while_the_model_reads_and_is_sent_again(editor):
    editor.open("# later<|>")
    asked = editor.ask()
    await in_peace()
    assert not asked.future.done()
    assert editor.session.status.now.state == "thinking"
    tell_read(editor, OTHER)
    await in_peace()
    assert not asked.future.done(), "another text was read"
    tell_read(editor)
    assert (await finished(asked.future)).text == "scripted v1 '# later' ''"
    assert len(sent(editor, Complete)) == 2
    tell_read(editor)
    await in_peace()
    assert len(sent(editor, Complete)) == 2, "nobody waits"


async def test_the_menu_does_not_wait(editor):
    editor.open("# later<|>")
    done = await finished(editor.ask(trigger="menu").future)
    assert (done.reason, done.later) == ("the script reads", True)


async def test_nobody_waits_for_ever(editor, monkeypatch):
    monkeypatch.setattr(requests, "LATER_S", 0.05)
    editor.open("# later<|>")
    done = await finished(editor.ask().future)
    assert (done.reason, done.later) == ("the script reads", True)


ENDS = {
    "the text is changed": lambda editor: editor.type("x"),
    "the document is closed": lambda editor: editor.session.close_document(URI),
    "the worker ends": lambda editor: editor.session.worker_ended("it ended", None),
    "another request comes": lambda editor: editor.ask(character=0),
    "nobody listens": lambda editor: editor.asked.future.cancel(),
}


@pytest.mark.parametrize("case", ENDS)
async def test_a_request_that_waits_ends_when(editor, case):
    editor.open("# later<|>")
    editor.asked = editor.ask()
    await in_peace()
    ENDS[case](editor)
    await in_peace()
    assert editor.asked.future.done()
    before = len(sent(editor, Complete))
    tell_read(editor)
    await in_peace()
    assert len(sent(editor, Complete)) == before


def places(editor):
    return [(rest.document.uri, rest.version, rest.offset) for rest in sent(editor, Rest)]


async def test_the_start_of_an_opened_document_counts_until_the_editor_tells_the_cursor(editor):
    editor.open("x = 1\ny = 2\n<|>")
    editor.open("é = 1\n", uri=OTHER)
    assert places(editor) == [(URI, 1, 0), (OTHER, 2, 0)]
    editor.session.rest(OTHER, 0, 1)
    editor.session.rest(URI, 1, 4)
    assert places(editor)[2:] == [(OTHER, 2, 2), (URI, 1, 10)]
    editor.open("z", uri="file:///project/c.py")
    assert len(places(editor)) == 4


async def test_the_cursor_may_be_told_before_the_document_is_opened(editor):
    editor.session.rest(URI, 0, 2)
    assert not places(editor)
    editor.open("x = 1\n")
    assert places(editor) == [(URI, 1, 2)]


NOWHERE = [("file:///closed.py", 0, 0), (URI, 7, 0)]


@pytest.mark.parametrize("place", NOWHERE)
async def test_a_place_that_is_not_there_is_ignored(editor, place):
    editor.open("x = 1\n")
    editor.process.seen.clear()
    editor.session.rest(*place)
    assert not places(editor)


async def test_a_new_worker_is_told_the_cursor_unless_the_text_was_changed(editor):
    editor.open("x = <|>")
    editor.session.rest(URI, 0, 4)
    editor.process.seen.clear()
    editor.session.worker_started()
    assert places(editor) == [(URI, 1, 4)]
    editor.type("1")
    editor.process.seen.clear()
    editor.session.worker_started()
    assert not places(editor)


async def test_only_the_client_of_the_document_is_told_of_its_reading(editor):
    other = LocalEditor(editor.pool, {"minLength": 0})
    await other.start()
    document = DocumentId(other.session.number, URI)
    editor.process.on_report(Reading(document, 40))
    editor.process.on_report(Read(document))
    assert (editor.readings, other.readings) == ([], [Reading(document, 40), None])
    await other.session.close()


def unhurried(editor):
    return [message for message in sent(editor, Complete) if message.is_unhurried]


async def test_the_rest_of_a_text_that_was_cut_off_is_written_while_one_looks(editor):
    editor.open("# cut 'a', 'ab', 'c'<|>")
    assert await editor.suggestion() == "a"
    await in_peace()
    assert [message.limits.candidates for message in unhurried(editor)] == [3]
    assert (await editor.offer(trigger="invoked")).texts == ("a", "ab", "c")
    assert len(sent(editor, Complete)) == 2, "the invoked request finds them written"


async def test_an_invoked_request_waits_for_the_rest_that_is_being_written(editor):
    editor.open("# cut 'a', 'ab', 'c'<|>")
    assert await editor.suggestion() == "a"
    assert (await editor.offer(trigger="invoked")).texts == ("a", "ab", "c")
    assert len(sent(editor, Complete)) == 2


NO_REST = {  # texts, how they are requested, and the number of texts shown
    "the text is whole": ("# say 'a', 'b'<|>", "automatic", 1),
    "the menu shows it": ("# cut 'a', 'b'<|>", "menu", 1),
    "nothing is shown": ("# nothing<|>", "automatic", 0),
}


@pytest.mark.parametrize("case", NO_REST)
async def test_there_is_no_rest_if(editor, case):
    text, trigger, shown = NO_REST[case]
    editor.open(text)
    assert len((await editor.offer(trigger=trigger)).texts) == shown
    await in_peace()
    assert not unhurried(editor)


async def test_a_key_ends_the_writing_of_the_rest(editor):
    editor.open("# cut 'a', 'ab'<|>")
    assert (await editor.completer.result(editor.ask())).texts == ("a",)
    (rest,) = unhurried(editor)
    editor.type("x")
    assert sent(editor, Cancel)[-1].id == rest.id
