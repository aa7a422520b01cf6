"""The template for LSP4IJ in JetBrains' editors, and the server driven as LSP4IJ drives it.

LSP4IJ uses the trigger `Automatic` only, cancels a request when the cursor has moved, and runs the command of
an accepted suggestion.
"""

from __future__ import annotations

import ast
import asyncio
import json
import shlex
import sys
from pathlib import Path

import pytest

from ..lsp_server.wire import Wire, did_change, did_open, inline, message

FOLDER = Path(__file__).parents[2] / "editors" / "jetbrains" / "fimlsp"
TEMPLATE = json.loads((FOLDER / "template.json").read_text(encoding="utf-8"))
AUTOMATIC = 2
URI = "file:///project/a.py"


@pytest.fixture
async def wire():
    """A connection to the server of the template, whose `fimlsp` is that of this Python."""
    program, *arguments = shlex.split(TEMPLATE["programArgs"]["default"])
    assert program == "fimlsp"
    pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "fimlsp", *arguments, **pipes)
    wire = Wire(process.stdout, process.stdin)
    yield wire
    await wire.leave()
    await process.wait()


def test_python_files_go_to_the_server_as_python():
    mappings = TEMPLATE["languageMappings"] + TEMPLATE["fileTypeMappings"]
    assert {mapping["languageId"] for mapping in mappings} == {"python"}
    assert TEMPLATE["fileTypeMappings"][0]["fileType"]["patterns"] == ["*.py", "*.pyi"]


async def test_ghost_text_while_typing_is_accepted(wire):
    await wire.initialize(confidence=0, deadlineMs=60_000)
    text = "def area(width, height):\n    return widt\n"
    wire.send(did_open(URI, text))
    wire.send(inline(10, URI, 1, 15, AUTOMATIC))
    wire.send(did_change(URI, 2, (1, 15), (1, 15), "h"))
    wire.send(message("$/cancelRequest", {"id": 10}))
    wire.send(inline(11, URI, 1, 16, AUTOMATIC))
    (item, *_) = (await wire.answer(11))["result"]["items"]
    assert wire.counts[10] == 1
    assert "range" in item
    left, right = text[:-1] + "h", "\n"
    ast.parse(left + item["insertText"] + right)

    wire.send(did_change(URI, 3, (1, 16), (1, 16), item["insertText"]))
    command = item["command"]
    wire.send(
        message(
            "workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]}, 12
        )
    )
    assert "error" not in await wire.answer(12)
    wire.send(
        message("workspace/executeCommand", {"command": "fimlsp.server.statistics", "arguments": []}, 13)
    )
    assert (await wire.answer(13))["result"]["accepted"] == 1
