"""The server over a real process and pipe, its engine and model scripted (see scripted_worker.py)."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled

from fimlsp.languages import IDENTIFIERS
from fimlsp.lsp_server.protocol.server import snippet

UTF8, UTF16, UTF32 = (
    types.PositionEncodingKind.Utf8,
    types.PositionEncodingKind.Utf16,
    types.PositionEncodingKind.Utf32,
)


async def test_the_capability_is_announced_with_its_options(start_editor):
    editor = await start_editor()
    result = await editor.initialize()
    assert result.capabilities.inline_completion_provider == types.InlineCompletionOptions()
    assert result.capabilities.text_document_sync.change == types.TextDocumentSyncKind.Incremental


async def test_open_type_request(editor):
    editor.open("a = 1\nb = <|>)\n")
    assert await editor.suggestion() == "scripted v1 'a = 1\\nb = ' ')'"
    editor.type("f(")
    editor.edit((0, 4), (0, 5), "22")
    result = await editor.request()
    assert result.items[0].insert_text == "scripted v3 'a = 22\\nb = f(' ')'"
    assert result.items[0].range == types.Range(editor.position, editor.position)
    assert editor.last_status().state == "suggestion"


@pytest.mark.parametrize(
    ("experimental", "text"),
    [
        ({"inlineCompletionSnippets": True}, types.StringValue("total($0)")),
        ({"inlineCompletionSnippets": False}, "total()"),
        ({"inlineCompletionSnippets": "yes"}, "total()"),
        ({}, "total()"),
        (["inlineCompletionSnippets"], "total()"),
        (True, "total()"),
        (None, "total()"),
    ],
)
async def test_a_call_is_left_open_by_a_snippet_for_clients_that_take_them(start_editor, experimental, text):
    editor = await start_editor()
    await editor.initialize(experimental=experimental)
    editor.open("# call 'total()'<|>\n")
    assert await editor.suggestion() == text


@pytest.mark.parametrize(
    ("text", "closing", "expected"),
    [
        ("f()", ")", "f($0)"),
        ("f(g())", "))", "f(g($0))"),
        ('f("${a}\\", g())', "))", 'f("\\${a\\}\\\\", g($0))'),
    ],
)
def test_a_snippet_has_nothing_but_the_text_and_the_cursor(text, closing, expected):
    assert snippet(text, closing) == expected


@pytest.mark.parametrize(("encoding", "units"), [(UTF8, 10), (UTF16, 7), (UTF32, 6)])
async def test_positions_in_each_encoding(start_editor, encoding, units):
    editor = await start_editor()
    result = await editor.initialize(encodings=[encoding])
    assert result.capabilities.position_encoding == encoding
    editor.open("\x0c\né = '😋'\n")
    where = types.Position(1, units)
    assert await editor.suggestion(where) == "scripted v1 " + repr("\x0c\né = '😋") + " " + repr("'")
    editor.edit((1, units), (1, units), "é")
    assert await editor.suggestion(types.Position(1, 99)) == "scripted v2 " + repr("\x0c\né = '😋é'") + " ''"


async def test_a_change_without_a_range_is_the_whole_text(editor):
    editor.open("old")
    editor.client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=7, uri="file:///project/a.py"),
            [types.TextDocumentContentChangeWholeDocument("new")],
        )
    )
    assert await editor.suggestion(types.Position(0, 3)) == "scripted v7 'new' ''"


FAILED = "completing failed unexpectedly (ValueError); the log has the details"
REASONS = [
    ("", "", "python", "suggestion", None),
    ("# nothing<|>", "", "python", "none", "the script has nothing to say"),
    (
        "# raise<|>",
        "",
        "python",
        "none",
        "completing failed unexpectedly (ValueError); the log has the details",
    ),
    (
        "x<|>",
        "",
        "rust",
        "none",
        f"rust is not completed, only Python, {', '.join(IDENTIFIERS[1:])} (option languages)",
    ),
    ("x" * 50_001 + "<|>", "", "python", "none", "line 1 of the file is longer than 50,000 bytes"),
    ("x = 1\n" * 1_400_000 + "<|>", "", "python", "none", "the file is larger than 8,000,000 bytes"),
]


async def test_each_answer_has_its_state_and_reason(editor):
    for marked, _, language, state, reason in REASONS:
        editor.open(marked, language=language)
        suggestion = await editor.suggestion()
        assert (suggestion is None) == (state == "none")
        await editor.until(
            lambda: editor.statuses and editor.last_status().state not in ("thinking", "loading")
        )
        assert (editor.last_status().state, editor.last_status().reason) == (state, reason)


async def test_positions_and_documents_that_do_not_exist(editor):
    editor.open("x = 1<|>\n")
    assert await editor.suggestion(types.Position(99, 0)) is None
    assert editor.last_status().reason == "the document has no line 100"
    assert await editor.suggestion(types.Position(0, 99)) == "scripted v1 'x = 1' ''"
    assert await editor.suggestion(uri="file:///project/unknown.py") is None
    assert editor.last_status().reason == "the document is not open in this server"
    editor.edit((0, 0), (0, 0), "y", uri="file:///project/unknown.py")
    editor.client.text_document_did_close(
        types.DidCloseTextDocumentParams(types.TextDocumentIdentifier("file:///project/unknown.py"))
    )
    assert await editor.suggestion() is not None
    assert editor.client.messages == []


async def test_a_file_that_grows_too_large_and_shrinks_again(editor):
    editor.open("x<|>")
    editor.edit((0, 1), (0, 1), "y" * 50_000)
    assert await editor.suggestion() is None
    editor.edit((0, 1), (0, 50_001), "z")
    assert await editor.suggestion(types.Position(0, 2)) == "scripted v3 'xz' ''"


async def test_a_file_of_a_hundred_thousand_lines(editor):
    lines = "x = 'é😋'  # a line of some length\n" * 50_000
    editor.open(f"{lines}# say 'abcdef', 'xyz'<|>\n{lines}")
    assert await editor.suggestion() == "abcdef"
    for typed, rest in (("a", "bcdef"), ("b", "cdef")):
        editor.type(typed)
        assert await editor.suggestion() == rest
    editor.edit((50_000, 0), (50_000, 99), "# told\n# say 'uvwxyz'")
    assert await editor.suggestion(types.Position(50_001, 14)) == "uvwxyz"
    editor.edit((99_999, 7), (99_999, 8), "")
    assert await editor.suggestion(types.Position(50_001, 14)) == "uvwxyz"


async def test_cancelling_stops_the_decoding(lone_editor, capfd):
    editor = lone_editor
    told = []

    def worker_says(words):
        told.append(capfd.readouterr().err)
        return words in "".join(told)

    editor.open("# slow<|>\n")
    pending = editor.request(msg_id="first")
    # Cancelled before the worker takes it up, a request is answered without any decoding.
    await editor.until(lambda: worker_says("decoding 1"))
    editor.client.cancel_request(types.CancelParams(id="first"))
    with pytest.raises(JsonRpcRequestCancelled):
        await pending
    await editor.until(lambda: editor.last_status().state == "idle")
    await editor.until(lambda: worker_says("stopped 1"))
    assert await editor.suggestion(types.Position(1, 0)) is not None


async def test_a_newer_request_answers_the_older_at_once(editor):
    editor.open("# slow<|>\n")
    older = editor.request()
    await editor.until_status("thinking")
    assert await editor.suggestion(types.Position(1, 0)) is not None
    assert not (await older).items
    assert editor.last_status().state == "suggestion"


async def test_typing_answers_the_running_request_at_once(editor):
    editor.open("# slow<|>\n")
    running = editor.request()
    await editor.until_status("thinking")
    editor.type("er")
    assert not (await running).items
    assert await editor.suggestion() == "scripted v2 '# slower' ''"


async def test_requests_for_two_documents_do_not_supersede_each_other(editor):
    editor.open("a<|>", uri="file:///a.py")
    editor.open("b<|>", uri="file:///b.py")
    both = await asyncio.gather(editor.suggestion(uri="file:///a.py"), editor.suggestion(uri="file:///b.py"))
    assert both == ["scripted v1 'a' ''", "scripted v2 'b' ''"]


@pytest.mark.parametrize(
    ("end", "words"), [("die", "ended with exit code 3"), ("kill", "was ended by SIGKILL")]
)
async def test_a_worker_that_dies_is_replaced_and_its_request_answered(lone_editor, end, words):
    editor = lone_editor
    editor.open("x = <|>\n", uri="file:///b.py")
    editor.open(f"# {end}<|>\n")
    assert not (await editor.request()).items
    await editor.until_status("loading", f"the worker process {words}; it is restarted")
    await editor.until(lambda: editor.last_status().state == "idle")
    assert await editor.suggestion(types.Position(0, 4), uri="file:///b.py") == "scripted v1 'x = ' ''"


@pytest.mark.slow
async def test_a_worker_that_dies_again_and_again_is_started_after_a_pause(lone_editor):
    """At another document each time; the same one would be left out."""
    editor = lone_editor
    uris = (f"file:///project/{number}.py" for number in itertools.count())

    async def die():
        editor.open("# die<|>\n", uri=(uri := next(uris)))
        assert not (await editor.request(uri=uri)).items

    await die()
    await editor.until(lambda: editor.last_status().state == "idle")
    await die()
    await editor.until_status("loading", "it is restarted in 1 s")
    reason = None
    while reason != "the worker process has ended and will be restarted":  # pauses grow while it dies again
        await die()
        reason = editor.last_status().reason
    await editor.until(lambda: editor.last_status().state == "idle")
    editor.open("<|>", uri=(uri := next(uris)))
    assert await editor.suggestion(uri=uri) is not None


async def test_a_document_at_which_the_worker_dies_again_is_left_out(lone_editor):
    editor = lone_editor
    editor.open("# die<|>\n")
    for _ in range(2):
        assert not (await editor.request()).items
        await editor.until_status("loading", "the worker process ended with exit code 3; it is restarted")
        await editor.until(lambda: editor.last_status().state == "idle")
        editor.statuses.clear()
    assert not (await editor.request()).items
    await editor.until_status("none", "this file is left out: the worker process did not survive reading it")
