"""Output that cannot be written, or not in the encoding of the terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ...sampling import sampled
from ..waiting import HANG_GUARD_S

CASE = b'{"id": 1, "left": "f(", "middle": "a", "right": ")\\n"}\n'
FULL = Path("/dev/full")


def run(*arguments, encoding="utf-8", **kwargs):
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    command = [sys.executable, "-m", "fimlsp", *arguments]
    return subprocess.run(
        command, env=environment, stderr=subprocess.PIPE, timeout=HANG_GUARD_S, check=False, **kwargs
    )


@pytest.mark.skipif(not FULL.exists(), reason="there is no device that is full")
@pytest.mark.parametrize("arguments", [["verify"], ["--help"], ["--version"]], ids=str)
def test_a_disk_that_is_full(arguments):
    with FULL.open("wb") as full:
        ended = run(*arguments, input=CASE, stdout=full)
    assert ended.returncode == 1
    assert ended.stderr.startswith(b"Error: cannot write the output: No space left on device")
    assert ended.stderr.count(b"\n") == 1


def test_a_reader_that_goes_away():
    reader, writer = os.pipe()
    os.close(reader)
    ended = run("verify", input=CASE, stdout=writer)
    os.close(writer)
    assert ended.stderr == b""


ENCODINGS = {"ascii": rb"\xe9 = '\u2192'", "cp1252": b"\xe9 = '\\u2192'", "utf-8": "é = '→'".encode()}


@pytest.mark.parametrize("encoding", sampled(ENCODINGS, 3))
def test_what_an_encoding_lacks_is_shown_by_its_number(encoding, tmp_path):
    file = tmp_path / "é.py"
    file.write_text("é = '→'\nx = \n", encoding="utf-8")
    place = [str(file), "--at", "2:5", "--max-tokens", "4"]
    ended = run("complete", *place, encoding=encoding, stdout=subprocess.PIPE)
    assert ended.returncode == 0, ended.stderr
    assert ENCODINGS[encoding] in ended.stdout
    assert ended.stderr == b""


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_sentence_about_what_an_encoding_lacks(encoding, tmp_path):
    ended = run("complete", str(tmp_path / "→.py"), "--at", "1:1", encoding=encoding, stdout=subprocess.PIPE)
    assert ended.returncode == 2
    assert b"does not exist" in ended.stderr
    assert b"Traceback" not in ended.stderr
