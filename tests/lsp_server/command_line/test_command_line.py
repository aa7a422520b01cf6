"""The command line: refused options, imports, and the server as editors start it."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from functools import partial

import click
import pytest
from click.testing import CliRunner

from fimlsp.lsp_server.command_line.cli import command_line
from fimlsp.lsp_server.command_line.parameters import is_loopback, to_token

from ..waiting import HANG_GUARD_S, connected, finished
from ..wire import message

MODULE = [sys.executable, "-m", "fimlsp"]

REFUSED = [
    (["--tcp", "8765"], "is not HOST:PORT"),
    (["--tcp", "127.0.0.1:none"], "is not HOST:PORT"),
    (["--tcp", "127.0.0.1:99999"], "is not HOST:PORT"),
    (["--tcp", "0.0.0.0:8765"], "is not this machine"),
    (["--tcp", "example.org:8765"], "is not this machine"),
    (["--tcp", "127.0.0.1:8765", "--stdio"], "either"),
    (["--stdio", "doctor"], "omit doctor"),
    (["--tcp", "127.0.0.1:8765", "--token", "sesame"], "--token-file FILE, or set FIMLSP_TOKEN"),
    (["--tcp", "127.0.0.1:8765", "--token", ""], "list of processes"),
    (["--tcp", "127.0.0.1:8765", "--token-file", "{missing}"], "does not exist"),
    (["complete"], "Missing argument"),
    (["complete", "{file}"], "--at"),
    (["complete", "{file}", "--at", "1"], "is not LINE:COLUMN"),
    (["complete", "{file}", "--at", "0:1"], "numbers from 1"),
    (["complete", "{file}", "--at", "4:1"], "Line 4 does not exist: the file has 3 lines"),
    (["complete", "{file}", "--at", "2:7"], "Column 7 of line 2 does not exist: the line ends at column 6"),
    (["complete", "{missing}", "--at", "1:1"], "does not exist"),
    (["complete", "{binary}", "--at", "1:1"], "Cannot decode"),
    (["complete", "{file}", "--at", "1:1", "--model", "/no/such/model"], "Cannot find a model"),
    (["complete", "{file}", "--at", "1:1", "--model", "~nosuch/x"], "Cannot find a model"),
    (["complete", "{file}", "--at", "1:1", "--model", "a\0b"], "Cannot find a model"),
    (["complete", "{file}", "--at", "1:1", "--max-tokens", "0"], "range"),
    (["complete", "{file}", "--at", "1:1", "--python-version", "2.7"], "is not one of 3.8, 3.9"),
    (["verify", "--python-version", "4"], "is not one of 3.8, 3.9"),
    (["train", "run", "--minutes", "none"], "is not a valid float"),
    (["train", "--help"], "Usage: command-line train"),
    (["unknown"], "No such command"),
]


TOKENS = [
    (b"sesame\n", 0o600, "sesame"),
    (b"sesame", 0o400, "sesame"),
    (b"sesame", 0o640, "other users can read it. Run: chmod 600"),
    (b"sesame", 0o604, "other users can read it. Run: chmod 600"),
    (b" \n", 0o600, "it has no token"),
    (b"x" * 5000, 0o600, "it has no token"),
    (b"\xff", 0o600, "Cannot read the token"),
]


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are POSIX's")
@pytest.mark.parametrize(("content", "mode", "expected"), TOKENS)
def test_the_token_comes_from_a_file(tmp_path, content, mode, expected):
    file = tmp_path / "token"
    file.write_bytes(content)
    file.chmod(mode)
    try:
        got = to_token(None, None, file)
    except click.ClickException as error:
        got = error.message
    assert got.startswith(expected) or expected in got
    assert expected == "sesame" or "sesame" not in got


def test_the_token_comes_from_the_environment(monkeypatch):
    monkeypatch.delenv("FIMLSP_TOKEN", raising=False)
    assert to_token(None, None, None) is None
    monkeypatch.setenv("FIMLSP_TOKEN", "sesame")
    assert to_token(None, None, None) == "sesame"
    monkeypatch.setenv("FIMLSP_TOKEN", "")
    with pytest.raises(click.UsageError, match="The token is empty"):
        to_token(None, None, None)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "sample.py").write_text("x = 1\né = 2\n", encoding="utf-8")
    (tmp_path / "binary.py").write_bytes(b"x = '\xff'\n")
    return {
        name: str(tmp_path / f"{name.replace('file', 'sample')}.py") for name in ("file", "missing", "binary")
    }


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED, ids=str)
def test_what_is_refused_and_how(files, arguments, sentence):
    result = CliRunner().invoke(command_line, [argument.format(**files) for argument in arguments])
    assert result.exit_code in ((0,) if "--help" in arguments else (1, 2))
    assert sentence in " ".join(result.output.split())
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("host", "verdict"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("10.0.0.1", False),
        ("", False),
    ],
)
def test_loopback(host, verdict):
    assert is_loopback(host) is verdict


def ended_process(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=HANG_GUARD_S)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"], ["verify", "--help"]], ids=str)
def test_help_and_version_import_nothing_heavy(arguments):
    script = f"""
import sys
from functools import partial
from fimlsp.lsp_server.command_line.cli import command_line
try:
    command_line({arguments})
finally:
    heavy = {{"torch", "transformers", "numpy", "pygls", "rich", "lark"}} & sys.modules.keys()
    assert not heavy, heavy
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=HANG_GUARD_S
    )
    assert ended.returncode == 0, ended.stderr
    assert "fimlsp" in ended.stdout or "Usage" in ended.stdout


def test_the_models_come_before_numpy_in_the_worker():
    """They limit it to one thread; several would spin for a tenth of a second after each answer."""
    script = "import sys, fimlsp.lsp_server.worker.worker, fimlsp.lsp_server.worker.backend\n"
    script += "assert 'numpy' not in sys.modules"
    assert ended_process(sys.executable, "-c", script).returncode == 0


def test_a_server_without_grammars_of_the_user_does_not_import_what_reads_them():
    """That would be 10 of its 60 MB."""
    script = "import sys, fimlsp.lsp_server.protocol.serving\n"
    script += "sys.exit(any(name in sys.modules for name in ('lark', 'regex', 'fimlsp.languages.custom')))"
    assert ended_process(sys.executable, "-c", script).returncode == 0


def test_the_package_itself_imports_nothing():
    script = "import sys, __future__; before = {*sys.modules}; import fimlsp; print({*sys.modules} - before)"
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=HANG_GUARD_S
    )
    assert ended.stdout.strip() == "{'fimlsp'}"


HOSTILE = [
    "queue",
    "models",
    "json",
    "logging",
    "asyncio",
    "subprocess",
    "click",
    "pickle",
    "struct",
    "numpy",
    "lexing",
    "datasets",
    "signal",
]


async def test_a_workspace_with_modules_of_the_same_names(start_editor, tmp_path):
    for name in HOSTILE:
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name} was shadowed')\n")
    editor = await start_editor(*MODULE, "--stdio", "--stdio", cwd=tmp_path)
    await editor.initialize(
        {"model": str(tmp_path / "nothing"), "minLength": 0, "confidence": 0, "deadlineMs": 60_000}
    )
    editor.open("x = <|>\n")
    assert (await editor.request()).items, "the bundled model writes"
    await editor.until_status("idle", "nothing'. Give a folder")
    assert "shadowed" not in str(editor.statuses)


async def test_an_interrupt_ends_a_server_on_standard_input():
    heed_interrupts = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    server = await asyncio.create_subprocess_exec(
        *MODULE, "--stdio", stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=heed_interrupts
    )
    server.stdin.write(initialize_frame())
    assert (await finished(server.stdout.readline())).startswith(b"Content-Length: ")
    server.send_signal(signal.SIGINT)
    assert await finished(server.wait()) == 0


async def test_tcp(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    heed_interrupts = partial(
        signal.signal, signal.SIGINT, signal.SIG_DFL
    )  # jobs in the background ignore them
    server = await asyncio.create_subprocess_exec(
        *MODULE,
        "--tcp",
        f"127.0.0.1:{port}",
        cwd=tmp_path,
        preexec_fn=heed_interrupts,
        stderr=subprocess.PIPE,
    )
    reader, writer = await connected(port)
    writer.write(initialize_frame())
    head = await finished(reader.readuntil(b"\r\n\r\n"))
    assert head.startswith(b"Content-Length: ")
    writer.close()
    other_reader, other_writer = await connected(port)
    other_writer.write(initialize_frame(workspace={"configuration": True}))
    other_writer.write(message("initialized", {}))
    await finished(other_reader.readuntil(b"workspace/configuration"))  # a handler waits for the answer
    server.send_signal(signal.SIGINT)
    _, errors = await finished(server.communicate())
    assert server.returncode == 0
    assert b"Traceback" not in errors, "clients are connected, and the server only ends"
    assert b"Exception" not in errors
    other_writer.close()


def test_a_port_that_is_taken():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = subprocess.run(
            [*MODULE, "--tcp", address], capture_output=True, text=True, timeout=HANG_GUARD_S
        )
    assert ended.returncode == 1
    assert "Choose another port" in ended.stderr
    assert "Traceback" not in ended.stderr


def initialize_frame(**capabilities):
    return message("initialize", {"capabilities": capabilities, "processId": None, "rootUri": None}, 1)
