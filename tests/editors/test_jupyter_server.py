"""The process of the language server that the extension of the Jupyter server starts for a page."""

from __future__ import annotations

import asyncio
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from ..lsp_server.waiting import finished, until

SOURCE = Path(__file__).parents[2] / "editors" / "jupyter" / "jupyterlab_fimlsp" / "language_server.py"
ECHO = """
import sys
source, sink = sys.stdin.buffer, sys.stdout.buffer
while header := source.readline():
    source.readline()
    body = source.read(int(header.split(b":")[1]))
    if body == b"die":
        print("a line", "the last line", sep="\\n", file=sys.stderr)
        sys.exit(3)
    if body == b"cut":
        sink.write(b"Content-Length: 9\\r\\n\\r\\nhalf")
        sys.exit(0)
    sink.write(b"X: y\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
    sink.flush()
"""
DEAF = "import time\ntime.sleep(3600)"


@pytest.fixture
def module():
    spec = importlib.util.spec_from_file_location("jupyterlab_fimlsp_language_server", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def started(module, folder, code):
    module.RUN = code
    messages, ends = [], []
    return module.LanguageServer(folder, messages.append, ends.append), messages, ends


async def test_messages_go_both_ways_in_order(module, tmp_path):
    server, messages, ends = started(module, tmp_path, ECHO)
    sent = [b"{}", "größe".encode(), b"x" * 3_000_000, b"\r\n\r\n"]
    await finished(asyncio.gather(*map(server.send, sent)))
    await until(lambda: len(messages) == len(sent))
    assert messages == sent
    server.end()
    await until(lambda: ends)
    assert ends == ["fimlsp has ended: exit status 0"]


@pytest.mark.parametrize(("last", "reason"), [(b"die", "the last line"), (b"cut", "exit status 0")])
async def test_the_reason_for_the_end(module, tmp_path, last, reason):
    server, messages, ends = started(module, tmp_path, ECHO)
    await server.send(last)
    await until(lambda: ends)
    assert (messages, ends) == ([], [f"fimlsp has ended: {reason}"])
    await finished(server.send(b"too late"))
    server.end()


async def test_a_process_that_does_not_end_is_killed(module, tmp_path):
    module.ENDING_S = 0.1
    server, _, ends = started(module, tmp_path, DEAF)
    server.end()
    await until(lambda: ends)
    assert ends[0].startswith("fimlsp has ended: exit status")


def test_no_module_of_the_folder_is_run(module, tmp_path):
    for name in ("fimlsp", "asyncio", "click"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the folder was run')")
    command = module.command("--version")
    assert command[0] == sys.executable
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "fimlsp" in output
