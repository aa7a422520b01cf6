"""The server over a real process and pipe, its engine and model scripted (see scripted_worker.py)."""

from __future__ import annotations

from lsprotocol import types


async def test_the_capability_is_announced_with_its_options(start_editor):
    editor = await start_editor()
    result = await editor.initialize()
    assert result.capabilities.inline_completion_provider == types.InlineCompletionOptions()
    assert result.capabilities.text_document_sync.change == types.TextDocumentSyncKind.Incremental


async def test_open_type_request(editor):
    editor.open("a = 1\nb = <|>)\n")
    assert await editor.suggestion() == "scripted v1 'a = 1\\nb = ' ')'"
    editor.type("f(")
    result = await editor.request()
    assert result.items[0].insert_text == "scripted v2 'a = 1\\nb = f(' ')'"
    assert result.items[0].range == types.Range(editor.position, editor.position)
