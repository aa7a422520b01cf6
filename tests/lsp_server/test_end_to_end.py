"""The server as an editor starts it, with the real engine and the bundled model."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
from lsprotocol import types

from ..models.remote import documented_servers
from .conftest import served_on_a_port
from .wire import children

SERVER = [sys.executable, "-m", "fimlsp", "--stdio"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "inventory.py"

PLACES = [
    "<|>",
    "\n\n<|>\n",
    "x = <|>",
    "x = [1, <|>]\n",
    "def f(a, b):\n    <|>\n",
    "def f(a, b):\n    <|>\n\n\nprint(f(1, 2))\n",
    "def f(a, b):\r\n    return <|>\r\n\r\nprint(f(1, 2))\r\n",
    "if x:\n\treturn_value = <|>\nelse:\n\tpass\n",
    "# a comment <|> goes on\nx = 1\n",
    "x = 'a string <|> goes on'\n",
    'x = """a string\n<|>\ngoes on"""\n',
    "x = f'{<|>} and {y!r:>{width}}'\n",
    "def gro<|>ess(x): pass\n",
    "é = '😋' + <|>\n",
    "\ufeffx = <|>\n",
    "\x0cx = (<|>\n)\n",
    "class A:\n    def f(self):\n        for x in <|>:\n            pass\n",
    "try:\n    pass\n<|>\nfinally:\n    pass\n",
    "lambda <|>: 1\n",
    "x = 1 \\\n<|>\n",
    "x = " + "(" * 60 + "<|>" + ")" * 60 + "\n",
]

BROKEN = [
    "x = = 1\ny = <|>\n",
    "y = <|>\nx = = 1\n",
    "def f(:\n    return <|>\n  )\n",
    "x = 'open <|>\ny = 1\n",
    "\x00<|>\x00",
    "x = <|> \ud83d\n",
    "$ ? <|> ! €\n",
    "<<<<<<< HEAD\nx = 1\n=======\nx = <|>\n>>>>>>> other\n",
    "%matplotlib inline\nx = <|>\n",
]


@pytest.fixture(scope="module")
def port():
    """The port of a server for all tests that do not end one."""
    with served_on_a_port(SERVER[:-1], "127.0.0.1:{}".format) as port:
        yield port


@pytest.fixture
async def real_editor(start_editor, port):
    editor = await start_editor(port=port)
    await editor.initialize({"deadlineMs": 60_000, "maxTokens": 24, "minLength": 0, "confidence": 0})
    return editor


async def test_whatever_is_suggested_connects(real_editor):
    suggested = 0
    for marked in PLACES:
        real_editor.open(marked)
        text = await real_editor.suggestion()
        suggested += text is not None
        ast.parse(marked.replace("<|>", text or "").removeprefix("\ufeff") if text else "")
    assert suggested > len(PLACES) / 2


async def test_what_is_suggested_in_json_connects_as_json(start_editor):
    editor = await start_editor(*SERVER)
    await editor.initialize(
        {"deadlineMs": 60_000, "maxTokens": 24, "minLength": 0, "languages": ["python", "json"]}
    )
    texts = ('{"name": <|>}', "[1, 2, <|>\n]", '{\n  "a": [{"b": "te<|>"}]\n}\n', '{"x": {<|>}, "y": 1}')
    suggested = 0
    for marked in texts:
        editor.open(marked, language="json")
        answer = await editor.request(kind=types.InlineCompletionTriggerKind.Invoked)
        for item in answer.items:
            json.loads(marked.replace("<|>", item.insert_text), parse_constant=pytest.fail)
            suggested += 1
    assert suggested


async def test_all_candidates_connect(real_editor):
    several = 0
    for marked in PLACES[2:12:3]:
        real_editor.open(marked)
        items = (await real_editor.request(kind=types.InlineCompletionTriggerKind.Invoked)).items
        several += len(items) > 1
        assert len({item.insert_text for item in items}) == len(items)
        for item in items:
            ast.parse(marked.replace("<|>", item.insert_text))
    assert several


@pytest.mark.slow
async def test_every_line_of_the_example(real_editor):
    source = EXAMPLE.read_text(encoding="utf-8")
    real_editor.open(source)
    suggested = 0
    for number, line in list(enumerate(source.splitlines(keepends=True)))[::7]:
        position = types.Position(number, len(line.rstrip("\n")))
        text = await real_editor.suggestion(position) or ""
        suggested += bool(text)
        lines = source.splitlines(keepends=True)
        lines[number] = line.rstrip("\n") + text + "\n"
        ast.parse("".join(lines))
    assert suggested


async def test_broken_surroundings_are_answered_with_a_reason_or_a_text(real_editor):
    for marked in BROKEN:
        real_editor.open(marked)
        answer = await real_editor.request()
        await real_editor.until(lambda: real_editor.last_status().state in ("suggestion", "none"))
        assert answer.items or real_editor.last_status().reason, marked


async def test_typing_with_a_request_at_every_keystroke(real_editor):
    real_editor.open("def area(width, height):\n<|>")
    requests = []
    for character in "    return width * ":
        real_editor.type(character)
        requests.append(real_editor.request())
        await asyncio.sleep(0)
    answers = await asyncio.gather(*requests)
    assert answers[-1].items, "the newest request is the one that is answered"
    for item in answers[-1].items:
        ast.parse("def area(width, height):\n    return width * " + item.insert_text)


async def test_a_worker_that_is_killed_is_replaced(start_editor):
    editor = await start_editor(*SERVER)
    await editor.initialize({"deadlineMs": 60_000, "minLength": 0, "confidence": 0})
    editor.open("x = <|>\n")
    await editor.until_status("idle")
    (worker,) = children(editor.client._server.pid)
    worker.kill()
    await editor.until_status("loading", "was ended by SIGKILL")
    assert await editor.suggestion() is not None


LISTENER = """
import os, sys

def note(event, arguments):
    if event in ("socket.bind", "socket.connect", "socket.getaddrinfo", "socket.sendto"):
        with open(os.environ["HEARD"], "a") as heard:
            print(event, arguments[-1], file=heard)

sys.addaudithook(note)
with open(os.environ["HEARD"], "a") as heard:
    print("process", file=heard)
"""


async def test_neither_server_nor_worker_reaches_for_the_network(start_editor, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(LISTENER)
    heard = tmp_path / "heard"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "HEARD": str(heard)}
    editor = await start_editor(*SERVER, env=environment)
    await editor.initialize({"deadlineMs": 60_000, "minLength": 0, "confidence": 0})
    editor.open("x = [1, <|>]\n")
    assert await editor.suggestion() is not None
    assert set(heard.read_text().splitlines()) == {"process"}
    assert heard.read_text().count("process") >= 2


@pytest.mark.slow
async def test_a_server_of_texts_alone_is_used_and_called_approximate(start_editor):
    server = documented_servers.start("LM Studio")
    try:
        editor = await start_editor(*SERVER)
        options = {"model": server.address, "family": "fimlsp", "deadlineMs": 60_000, "maxTokens": 12}
        await editor.initialize(options)
        kind = "LM Studio, approximate: no probabilities, 4 texts at once"
        await editor.until_status("idle", f"bundled ({kind})")
        marked = "def read(path):\n    with open(<|>\n        return file.read()\n"
        editor.open(marked)
        answer = await editor.request(kind=types.InlineCompletionTriggerKind.Invoked)
    finally:
        server.shutdown()
        server.server_close()
    assert answer.items
    for item in answer.items:
        ast.parse(marked.replace("<|>", item.insert_text))
    assert {path for path, _ in server.asked} == {"/v1/completions"}
