"""Messages that make no sense: requests among them are answered, and the server works on."""

from __future__ import annotations

import asyncio
import os

import pytest

from ..conftest import served_on_a_port
from ..waiting import connected, finished
from ..wire import INLINE, SCRIPTED, Wire, did_open, frame, message, tcp_server
from ..wire import inline as inline_at

URI = "file:///a.py"


def inline(id, kind=1, **position):
    where = {"line": 0, "character": 4} | position
    params = {"textDocument": {"uri": URI}, "position": where, "context": {"triggerKind": kind}}
    return message(INLINE, params, id)


async def start(stderr=None):
    process = await asyncio.create_subprocess_exec(
        *SCRIPTED, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=stderr
    )
    wire = Wire(process.stdout, process.stdin)
    await wire.initialize()
    return process, wire


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The port of a server that all garbage may reach, and the file of its standard error."""
    path = tmp_path_factory.mktemp("server") / "log"
    with path.open("wb") as stderr, served_on_a_port(SCRIPTED, stderr=stderr) as port:
        yield port, path


@pytest.fixture
def log(server):
    """Reads the server's output on standard error since the test has begun."""
    _, path = server
    begin = path.stat().st_size
    return lambda: path.read_bytes()[begin:].decode()


@pytest.fixture
async def wire(server, log):
    wire = Wire(*await connected(server[0]))
    await wire.initialize()
    wire.send(did_open(URI, "x = "))
    yield wire
    await wire.leave()
    assert set(wire.counts.values()) == {1}
    assert "Traceback" not in log()


IGNORED = [
    b"no header at all\r\n\r\n",
    b"Content-Length: many\r\n\r\n",
    b"Content-Length: -5\r\n\r\n",
    b"Content-Type: text\r\n\r\n",
    frame(b"{not json"),
    frame(b"\xff\xfe\x00"),
    frame(b"[" * 100_000),
    frame(b"7"),
    frame([]),
    frame({}),
    frame({"jsonrpc": "1.0", "id": 1, "method": INLINE}),
    frame({"jsonrpc": "2.0", "id": "unknown", "result": 3}),
    frame({"jsonrpc": "2.0", "id": "unknown", "error": {"code": 1, "message": "?"}}),
    message("no/such/notification", {"a": [1]}),
    message("$/cancelRequest", {"id": 12345}),
    message("$/cancelRequest", {}),
    message("$/cancelRequest", {"id": [1]}),
    message("$/cancelRequest", {"id": {"a": 1}}),
    frame({"jsonrpc": "2.0", "id": [1], "method": INLINE, "params": {}}),
    frame({"jsonrpc": "2.0", "id": {"a": 1}, "result": None}),
    frame({"jsonrpc": "2.0", "id": [1], "error": {"code": 1, "message": "?"}}),
    message("textDocument/didOpen", {"textDocument": 3}),
    message(
        "textDocument/didChange",
        {"textDocument": {"uri": "file:///b.py", "version": 2}, "contentChanges": []},
    ),
    message("textDocument/didChange", {"textDocument": {"uri": 1}, "contentChanges": [{"range": 1}]}),
    message("textDocument/didSave", {"textDocument": {"uri": "file:///a.py"}}),
    message("workspace/didChangeConfiguration", {"settings": 3}),
    message("workspace/didChangeConfiguration", {"settings": {"fimlsp": [1]}}),
]

REFUSED = [
    message("no/such/request", {}, "x0"),
    message(INLINE, None, "x1"),
    message(INLINE, {"textDocument": {}}, "x2"),
    message(INLINE, [1, 2], "x3"),
    inline("x4", line=-1),
    inline("x5", line="first"),
    inline("x6", kind=17),
    message("workspace/executeCommand", {"command": "no.such.command"}, "x7"),
]


async def test_garbage_is_survived(wire):
    for count, garbage in enumerate(IGNORED):
        wire.send(garbage, inline(f"after {count}"))
        assert "items" in (await wire.answer(f"after {count}"))["result"], garbage[:80]


async def test_requests_that_make_no_sense_are_refused(wire):
    for count, garbage in enumerate(REFUSED):
        wire.send(garbage, inline(f"after {count}"))
        assert "error" in await wire.answer(f"x{count}"), garbage
        assert "items" in (await wire.answer(f"after {count}"))["result"]


HALVES = [
    (b'{"jsonrpc": "2.0", "id": "h0", "method": "a", "params": {"b": [', "h0"),
    (b'{"id":71,"jsonrpc":"2.0","method":"a","params":{"id":72}', 71),
    (b'{"method": "textDocument/hover", "id" : "h2" ', "h2"),
    (b'{"jsonrpc": "2.0", "id": "h3", "method": "a", "params": "\xff"}', "h3"),
    (b'{"jsonrpc": "2.0", "id": "h4", "method": "a", "params": ' + b"[" * 100_000, "h4"),
]
NO_HALVES = [
    b'{"jsonrpc": "2.0", "id": 81, "result": {"a": ',
    b'{"jsonrpc": "2.0", "method": "a", "params": {"id": 82',
    b'["id": 83, "method": 1',
    b'{"jsonrpc": "2.0", "method": "a", "id": "\\ud800", "a',
    b'{"jsonrpc": "2.0", "method": "a", "id": 1111111111111111, "a',
]


async def test_half_a_request_is_answered(wire):
    for half, id in HALVES:
        wire.send(frame(half))
        assert (await wire.answer(id))["error"]["code"] == -32700
    known = {*wire.answers}
    wire.send(*map(frame, NO_HALVES), inline("after"))
    await wire.answer("after")
    assert {*wire.answers} == known | {"after"}


def unusual_frame(head, id):
    body = inline(id).partition(b"\r\n\r\n")[2]
    return head % len(body) + body


HEADERS = [
    b"content-length: %d\r\n\r\n",
    b"CONTENT-LENGTH:%d\r\n\r\n",
    b"Content-Length: %d\n\n",
    b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
    b"\r\nContent-Length:   %d  \r\nContent-Length: 3\r\n\r\n",
]


async def test_headers_in_any_spelling_are_understood(wire):
    for id, head in enumerate(HEADERS):
        wire.send(unusual_frame(head, id))
        assert "items" in (await wire.answer(id))["result"]


async def test_a_message_within_a_message_is_only_text(wire):
    inner = {"jsonrpc": "2.0", "id": "inner", "method": "shutdown"}
    wire.send(message("no/such/notification", {"a": [inner]}), inline(1))
    assert "items" in (await wire.answer(1))["result"]
    assert "inner" not in wire.answers


async def test_requests_at_the_wrong_time_get_the_specified_errors():
    process = await asyncio.create_subprocess_exec(
        *SCRIPTED, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    wire = Wire(process.stdout, process.stdin)
    wire.send(inline("early"))
    assert (await wire.answer("early"))["error"]["code"] == -32002
    await wire.initialize()
    wire.send(message("shutdown", None, "shutdown"), inline("late"))
    assert (await wire.answer("late"))["error"]["code"] == -32600
    wire.send(message("exit", None))
    assert await finished(process.wait()) == 0
    assert set(wire.counts.values()) == {1}


HTTP = b"POST / HTTP/1.1\r\nHost: 127.0.0.1:8765\r\nContent-Length: %d\r\n\r\n"


@pytest.mark.parametrize("head", [HTTP, b"Content-Length: 999999999999\r\n\r\n"], ids=["HTTP", "too large"])
async def test_who_speaks_something_else_is_left(head):
    process = await asyncio.create_subprocess_exec(
        *SCRIPTED, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    body = message("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 1)
    body = body.partition(b"\r\n\r\n")[2]
    process.stdin.write((head % len(body) if b"%d" in head else head) + body)
    told, _ = await asyncio.wait_for(process.communicate(), 60)
    assert b'"id":1' not in told.replace(b" ", b"")


async def test_an_error_has_no_traceback(wire):
    for id, garbage in enumerate(REFUSED):
        wire.send(garbage)
        assert not (await wire.answer(f"x{id}"))["error"].get("data")


async def test_the_log_tells_what_is_wrong_with_a_message(wire, log):
    wire.send(message(INLINE, {"textDocument": {}}, 1), inline(2))
    await wire.answer(2)
    (line,) = [line for line in log().splitlines() if "position" in line]
    assert line == "  required field missing @ $.params.position"


async def test_trigger_kind_zero_of_old_clients(wire):
    wire.send(inline(1, kind=0))
    assert "items" in (await wire.answer(1))["result"]


async def test_a_burst_is_answered_completely_and_for_the_text_of_its_moment(wire):
    edit = {"range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 4}}, "text": "y"}
    document = {"uri": "file:///a.py", "version": 2}
    change = message("textDocument/didChange", {"textDocument": document, "contentChanges": [edit]})
    wire.send(*(inline(id) for id in range(10, 40)), change, inline(40, character=5))
    answers = [(await wire.answer(id))["result"]["items"] for id in range(10, 41)]
    assert {item["insertText"] for items in answers[:-1] for item in items} <= {"scripted v1 'x = ' ''"}
    assert answers[-1][0]["insertText"] == "scripted v2 'x = y' ''"


async def test_a_client_that_goes_away_ends_the_server():
    process, _ = await start()
    process.stdin.close()
    assert await finished(process.wait()) == 0


async def test_a_request_that_is_cancelled_at_once_is_not_worked_on(wire):
    slow = "file:///slow.py"
    wire.send(did_open(slow, "# slow"))
    where = {"position": {"line": 0, "character": 6}, "context": {"triggerKind": 1}}
    request = message(INLINE, {"textDocument": {"uri": slow}, **where}, "slow")
    wire.send(request, message("$/cancelRequest", {"id": "slow"}), inline(1))
    assert "error" in await wire.answer("slow")
    assert (await wire.answer(1))["result"]["items"]


GOODBYE = message("shutdown", None, "goodbye")
ENDS = [
    ([GOODBYE, message("exit", None)], 0),
    ([message("exit", None)], 1),
    ([message("exit", None), message("exit", None)], 1),
    ([message("exit", None), GOODBYE], 1),
]


@pytest.mark.parametrize(("last_words", "status"), ENDS)
async def test_the_end_in_one_breath(last_words, status):
    process, wire = await start()
    wire.send(*last_words)
    assert await finished(process.wait()) == status
    await finished(wire.listener)
    assert ("goodbye" in wire.answers) is (last_words[0] is GOODBYE)


HOSTILE_GLOBS = [
    ["*" * 40 + "b"],
    ["*a" * 18 + "b"],
    ["{" * 1500],
    ["{a,b}" * 40],
    ["**/a/" * 9 + "b"],
    ["a*b*c"] * 100_000,
]


async def test_a_hostile_workspace_keeps_nobody_waiting(tmp_path):
    os.mkfifo(tmp_path / ".python-version")
    for name, target in ((".venv", "/dev/stdin"), ("venv", "/proc/self/fd/0")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyvenv.cfg").symlink_to(target)
    async with tcp_server(*SCRIPTED) as server:
        wire, other = await server.connect(), await server.connect()
        await other.initialize()
        folders = [{"uri": tmp_path.as_uri(), "name": "hostile"}]
        await wire.initialize(exclude=["*b"], workspace_folders=folders)
        uri = (tmp_path / "/".join(["a" * 200] * 5) / "x.py").as_uri()
        wire.send(did_open(uri, "x = "))
        for id, globs in enumerate(HOSTILE_GLOBS):
            settings = {"settings": {"fimlsp": {"exclude": globs}}}
            wire.send(message("workspace/didChangeConfiguration", settings))
            wire.send(inline_at(id, uri, 0, 4))
            assert "items" in (await wire.answer(id))["result"], globs[0][:20]
            other.send(inline_at(id, uri, 0, 4))
            assert "items" in (await other.answer(id))["result"]
        assert set(wire.counts.values()) == {1}
