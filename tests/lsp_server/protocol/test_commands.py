"""Commands over the wire, items of both kinds of completion, notebooks, and log messages."""

from __future__ import annotations

import re
import sys

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fimlsp.lsp_server.protocol.commands import ModelListError, local_models

from ...models.gguf_files import QWEN, write_gguf
from ..wire import SCRIPTED, children, did_open, inline, tcp_server

URI = "file:///a.py"
FOUND = "fimlsp.lsp_server.protocol.commands"
HAND = types.InlineCompletionTriggerKind.Invoked
NO_SENSE = [
    ("accept", []),
    ("dismiss", [1]),
    ("toggle", ["on"]),
    ("no", []),
    ("accept", ["1", "2"]),
    ("rest", [URI]),
    ("rest", [URI, -1, 0]),
    ("rest", [URI, 0, "x"]),
]


async def test_commands(editor):
    editor.open("x<|>")
    (item,) = (await editor.request()).items
    assert item.command.command == "fimlsp.server.accept"
    assert await editor.command("accept", *item.command.arguments) is None
    assert await editor.command("dismiss", *item.command.arguments) is None
    counted = await editor.command("statistics")
    assert (counted.requests, counted.accepted, counted.dismissed) == (1, 1, 0)
    assert (await editor.command("toggle")).automatic is False
    assert await editor.suggestion() is None
    assert await editor.suggestion(kind=HAND)
    assert (await editor.command("status")).automatic is False
    assert (await editor.command("toggle", True)).automatic is True
    assert (await editor.command("names")).known is True
    assert await editor.command("reload") is None
    assert await editor.command("rest", URI, 0, 1) is None
    for name, arguments in NO_SENSE:
        with pytest.raises(JsonRpcException):
            await editor.command(name, *arguments)
    assert (await editor.command("status")).state


async def test_the_models_on_this_machine(start_editor, scripted_server, tmp_path, monkeypatch):
    monkeypatch.setenv("LLAMA_CACHE", str(tmp_path))
    for variable in ("HOME", "OLLAMA_MODELS", "HF_HUB_CACHE"):
        monkeypatch.setenv(variable, str(tmp_path / "none"))
    write_gguf(tmp_path / "coder.gguf", QWEN, "qwen2", general__name="Qwen2.5 Coder")
    editor = await start_editor(*scripted_server)
    await editor.initialize()
    found = (await editor.command("models")).models
    bundled, coder = [item for item in found if not item["name"].startswith("http")]
    assert (bundled["name"], bundled["fills_in"]) == ("", True)
    told = {"name": "coder", "program": "llama.cpp", "family": "Qwen-Coder", "fills_in": True}
    assert told.items() <= coder.items()


async def test_models_that_cannot_be_found_out(monkeypatch):
    for code in ("", "print('[]')", "print('{}')", "raise SystemExit(1)", "print('x' * 10**8)"):
        monkeypatch.setattr(f"{FOUND}.LIST_MODELS_COMMAND", (sys.executable, "-c", code))
        with pytest.raises(ModelListError, match="Run `fimlsp models list`"):
            await local_models()
    monkeypatch.setattr(f"{FOUND}.LIST_MODELS_COMMAND", (sys.executable, "-c", "import time; time.sleep(60)"))
    monkeypatch.setattr(f"{FOUND}.LIST_MODELS_S", 0.1)
    with pytest.raises(ModelListError):
        await local_models()


async def test_the_commands_are_announced(start_editor):
    result = await (await start_editor()).initialize()
    names = ["accept", "dismiss", "toggle", "reload", "status", "statistics", "models", "names", "rest"]
    announced = result.capabilities.execute_command_provider.commands
    assert [*announced] == [f"fimlsp.server.{name}" for name in names]
    assert result.capabilities.completion_provider is None


async def test_the_menu_gets_the_word_and_what_follows_it(start_editor):
    editor = await start_editor()
    result = await editor.initialize({"completion": True})
    assert result.capabilities.completion_provider is not None
    editor.open("x = '😋'; # ü<|>\n")
    here = types.Position(0, len("x = '##'; # ü"))  # in UTF-16
    params = types.CompletionParams(types.TextDocumentIdentifier("file:///project/a.py"), here)
    (item,) = (await editor.client.text_document_completion_async(params)).items
    assert item.text_edit.range == types.Range(types.Position(0, here.character - 1), here)
    assert item.text_edit.new_text.startswith("üscripted v1")
    assert item.label.startswith("üscripted v1")
    assert item.command.command == "fimlsp.server.accept"


async def test_the_menu_gets_plain_text_where_a_call_is_left_open(start_editor):
    editor = await start_editor()
    await editor.initialize({"completion": True}, experimental={"inlineCompletionSnippets": True})
    editor.open("# call 'total()'<|>\n")
    params = types.CompletionParams(types.TextDocumentIdentifier("file:///project/a.py"), editor.position)
    (item,) = (await editor.client.text_document_completion_async(params)).items
    assert item.text_edit.new_text == "total()"


async def test_the_menu_may_be_wanted_later(start_editor):
    editor = await start_editor()
    await editor.initialize()
    editor.client.workspace_did_change_configuration(
        types.DidChangeConfigurationParams(settings={"fimlsp": {"completion": True}})
    )
    await editor.until(lambda: types.TEXT_DOCUMENT_COMPLETION in editor.registered)
    editor.open("x<|>")
    params = types.CompletionParams(types.TextDocumentIdentifier("file:///project/a.py"), editor.position)
    assert (await editor.client.text_document_completion_async(params)).items


NOTEBOOK = "file:///project/n.ipynb"


def cell(number, text, language="python"):
    return types.TextDocumentItem(f"vscode-notebook-cell:/project/n.ipynb#{number}", language, 1, text)


async def test_cells_of_notebooks(editor):
    cells = [cell(1, "%matplotlib inline\nx = 1\n"), cell(2, "%%bash\nls\n"), cell(3, "# Title", "markdown")]
    kinds = [types.NotebookCell(types.NotebookCellKind.Code, item.uri) for item in cells]
    notebook = types.NotebookDocument(NOTEBOOK, "jupyter-notebook", 1, kinds)
    editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, cells))
    at = types.Position
    assert await editor.suggestion(at(1, 5), uri=cells[0].uri) == (
        "scripted v1 '0#atplotlib inline\\nx = 1' ''"
    )
    assert await editor.suggestion(at(0, 9), uri=cells[0].uri) is None
    assert editor.last_status().reason == "the cursor is in an IPython command"
    assert await editor.suggestion(at(1, 2), uri=cells[1].uri) is None
    assert editor.last_status().reason == "this cell is not Python (%%bash)"
    assert await editor.suggestion(at(0, 2), uri=cells[2].uri) is None
    assert "markdown is not completed" in editor.last_status().reason
    change = types.TextDocumentContentChangePartial(types.Range(at(1, 0), at(1, 0)), "!ls\n")
    content = types.NotebookDocumentCellContentChanges(
        types.VersionedTextDocumentIdentifier(2, cells[0].uri), [change]
    )
    structure = types.NotebookDocumentCellChangeStructure(
        types.NotebookCellArrayChange(1, 1, []), [cell(4, "y")], [types.TextDocumentIdentifier(cells[1].uri)]
    )
    changes = types.NotebookDocumentCellChanges(structure=structure, text_content=[content])
    editor.client.notebook_document_did_change(
        types.DidChangeNotebookDocumentParams(
            types.VersionedNotebookDocumentIdentifier(2, NOTEBOOK),
            types.NotebookDocumentChangeEvent(cells=changes),
        )
    )
    assert await editor.suggestion(at(2, 0), uri=cells[0].uri) == (
        "scripted v2 '0#atplotlib inline\\n0#s\\n' 'x = 1'"
    )
    assert await editor.suggestion(at(0, 1), uri=cell(4, "").uri) == "scripted v1 'y' ''"
    assert await editor.suggestion(at(0, 0), uri=cells[1].uri) is None
    editor.client.notebook_document_did_close(
        types.DidCloseNotebookDocumentParams(
            types.NotebookDocumentIdentifier(NOTEBOOK), [types.TextDocumentIdentifier(cells[0].uri)]
        )
    )
    assert await editor.suggestion(at(0, 0), uri=cells[0].uri) is None


# cells in the place of so many from a number on, and the order then
REORDERED = [
    ((0, 0, [4]), "4 1 2 3"),
    ((3, 0, [4]), "1 2 3 4"),
    ((1, 1, []), "1 3"),
    ((0, 2, [2, 1]), "2 1 3"),
    ((1, 9, [4]), "1 4"),
    ((7, 0, [4]), "1 2 3 4"),
]


async def test_the_order_of_cells(editor):
    for change, order in REORDERED:
        cells = [cell(1, "x"), cell(2, "y"), cell(3, "z")]
        kind = types.NotebookCellKind.Code
        notebook = types.NotebookDocument(
            NOTEBOOK, "jupyter-notebook", 1, [types.NotebookCell(kind, item.uri) for item in cells]
        )
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, cells))
        start, deleted, numbers = change
        added = [types.NotebookCell(kind, cell(number, "").uri) for number in numbers]
        structure = types.NotebookDocumentCellChangeStructure(
            types.NotebookCellArrayChange(start, deleted, added)
        )
        changes = types.NotebookDocumentCellChanges(structure=structure)
        editor.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(2, NOTEBOOK),
                types.NotebookDocumentChangeEvent(cells=changes),
            )
        )
        editor.open("# cells<|>")
        assert await editor.suggestion() == f"cells {order}"
        identifiers = [types.TextDocumentIdentifier(item.uri) for item in cells]
        editor.client.notebook_document_did_close(
            types.DidCloseNotebookDocumentParams(types.NotebookDocumentIdentifier(NOTEBOOK), identifiers)
        )
        editor.open("# cells<|>")
        assert await editor.suggestion() == "cells "


async def test_what_the_client_is_told_is_not_on_standard_error(start_editor, scripted_server, capfd):
    editor = await start_editor(*scripted_server)
    await editor.initialize({"maxTokens": "many"})
    editor.open("# nothing<|>")
    await editor.suggestion()
    await editor.until(lambda: len(editor.client.log_messages) >= 2)
    told = [log.message for log in editor.client.log_messages]
    assert any("maxTokens must be 1 to 1024" in message for message in told)
    (reason,) = [line for line in told if line.startswith("no suggestion: the script has nothing to say (")]
    assert reason.endswith(" ms)")
    assert len(told) == len(set(told))
    assert "fimlsp" not in capfd.readouterr().err


async def test_the_log_has_each_suggestion_with_its_times(editor):
    editor.open("x<|>")
    suggested = await editor.suggestion()
    await editor.until_logged(f"suggestion: {suggested!r} (")
    (line,) = [log.message for log in editor.client.log_messages if log.message.startswith("suggestion: ")]
    assert re.search(r" \(\d+ ms, of which the model \d+ ms; \d+ tokens, \d+ rejected\)$", line)


async def test_a_suggestion_that_is_dismissed_is_not_given_any_more(editor):
    editor.open("x<|>")
    (item,) = (await editor.request()).items
    assert editor.last_status().state == "suggestion"
    await editor.command("dismiss", *item.command.arguments)
    await editor.until(lambda: editor.last_status().state == "idle")


async def test_the_log_level(start_editor):
    editor = await start_editor()
    await editor.initialize({"logLevel": "error"})
    editor.open("# nothing<|>")
    await editor.suggestion()
    assert editor.client.log_messages == []


async def test_clients_with_the_same_model_share_a_worker_and_nothing_else():
    async with tcp_server(*SCRIPTED) as server:
        clients = [await server.connect() for _ in range(2)]
        for number, client in enumerate(clients):
            await client.initialize()
            client.send(did_open(URI, f"x = {number}"))
        await clients[0].idle()
        for number, client in enumerate(clients):
            client.send(inline(1, URI, 0, 9))
            items = (await client.answer(1))["result"]["items"]
            assert [item["insertText"] for item in items] == [f"scripted v1 'x = {number}' ''"]
        assert len(children(server.pid)) == 1
        later = await server.connect()
        await later.initialize()
        await later.idle()
        await later.leave()
        third = await server.connect()
        await third.initialize(model="other")
        await third.idle("other")
        assert len(children(server.pid)) == 2
        await third.leave()
        await clients[0].leave()
        clients[1].send(inline(2, URI, 0, 0))
        assert (await clients[1].answer(2))["result"]["items"]
        assert len(children(server.pid)) == 1


async def test_a_worker_that_dies_is_replaced_for_all_clients():
    async with tcp_server(*SCRIPTED) as server:
        clients = [await server.connect() for _ in range(2)]
        for client in clients:
            await client.initialize()
            client.send(did_open(URI, "# slow\n# die"))
        await clients[1].idle()
        clients[0].send(inline(1, URI, 1, 5))
        clients[1].send(inline(1, URI, 1, 5))
        for client in clients:
            assert not (await client.answer(1))["result"]["items"]
        for client in clients:
            await client.idle()
            client.send(inline(2, URI, 0, 3))
            assert (await client.answer(2))["result"]["items"]
            assert client.counts == {"initialize": 1, 1: 1, 2: 1}
