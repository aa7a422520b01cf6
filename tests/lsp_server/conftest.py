"""An editor for the tests: pytest-lsp's client made convenient, with a server process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from lsprotocol import types
from pytest_lsp.client import make_test_lsp_client

from .waiting import block_until, finished, until
from .wire import message

SCRIPTED_SERVER = [sys.executable, str(Path(__file__).with_name("scripted_server.py"))]
SCRIPTED_WORKER = [sys.executable, str(Path(__file__).with_name("scripted_worker.py"))]
URI = "file:///project/a.py"


def capabilities(encodings=(types.PositionEncodingKind.Utf16,), configuration=True, experimental=None):
    return types.ClientCapabilities(
        experimental=experimental,
        general=types.GeneralClientCapabilities(position_encodings=list(encodings)),
        window=types.WindowClientCapabilities(work_done_progress=True),
        text_document=types.TextDocumentClientCapabilities(
            completion=types.CompletionClientCapabilities(dynamic_registration=True)
        ),
        workspace=types.WorkspaceClientCapabilities(
            configuration=configuration,
            did_change_configuration=types.DidChangeConfigurationClientCapabilities(
                dynamic_registration=True
            ),
        ),
    )


class Editor:
    """Drives one server: marked texts in, suggestions out. `<|>` is the cursor."""

    def __init__(self, client):
        self.client = client
        self.statuses = []
        self.version = 0
        self.position = types.Position(0, 0)
        client.feature("fimlsp/status")(lambda status: self.statuses.append(status))
        self.registered = []
        client.feature(types.CLIENT_REGISTER_CAPABILITY)(
            lambda params: self.registered.extend(
                registration.method for registration in params.registrations
            )
        )

    def register(self, params):
        self.registered.extend(registration.method for registration in params.registrations)

    async def initialize(self, options=None, **kwargs):
        options = (
            options
            if options is not None and not isinstance(options, dict)
            else {"learn": False, **(options or {})}
        )
        params = types.InitializeParams(capabilities=capabilities(**kwargs), initialization_options=options)
        return await finished(self.client.initialize_session(params))

    def open(self, marked, uri=URI, language="python"):
        left, _, right = marked.partition("<|>")
        self.version += 1
        item = types.TextDocumentItem(uri=uri, language_id=language, version=self.version, text=left + right)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        self.position = types.Position(left.count("\n"), len(left.rpartition("\n")[2]))

    def edit(self, start, end, text, uri=URI):
        """Replace the text between two (line, character) pairs."""
        self.version += 1
        span = types.Range(types.Position(*start), types.Position(*end))
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version=self.version, uri=uri),
                [types.TextDocumentContentChangePartial(range=span, text=text)],
            )
        )

    def type(self, text):
        """Insert at the cursor (one line) and move it after the text."""
        at = (self.position.line, self.position.character)
        self.edit(at, at, text)
        self.position = types.Position(at[0], at[1] + len(text))

    def request(self, position=None, uri=URI, kind=types.InlineCompletionTriggerKind.Automatic, msg_id=None):
        params = types.InlineCompletionParams(
            context=types.InlineCompletionContext(kind),
            text_document=types.TextDocumentIdentifier(uri),
            position=position or self.position,
        )
        request = self.client.protocol.send_request_async(
            types.TEXT_DOCUMENT_INLINE_COMPLETION, params, msg_id
        )
        return asyncio.ensure_future(finished(request))

    async def command(self, name, *arguments):
        """The result of a command of the server, `accept` say."""
        params = types.ExecuteCommandParams(f"fimlsp.server.{name}", arguments=list(arguments))
        result = await finished(self.client.workspace_execute_command_async(params))
        return SimpleNamespace(**result) if isinstance(result, dict) else result

    async def suggestion(self, *args, **kwargs):
        """The text suggested, or None."""
        items = (await self.request(*args, **kwargs)).items
        return items[0].insert_text if items else None

    async def until(self, condition):
        await until(condition, lambda: f"last states: {self.statuses[-5:]}")

    async def until_status(self, state, reason=""):
        """Wait for a state with these words in its reason (or, without one, in the name of the model)."""

        def is_there():
            return any(
                status.state == state and reason in (status.reason or status.model or "")
                for status in self.statuses
            )

        await self.until(is_there)

    async def until_logged(self, words):
        """Wait for a log message with these words; it may come after the status with the same reason."""
        await self.until(lambda: any(words in log.message for log in self.client.log_messages))

    def last_status(self):
        return SimpleNamespace(**self.statuses[-1]._asdict())


@pytest.fixture
def scripted_server():
    """The command of a server with a scripted worker."""
    return SCRIPTED_SERVER


@pytest.fixture
def scripted_worker():
    """The command of a worker whose engine and model are a script."""
    return SCRIPTED_WORKER


@contextlib.contextmanager
def served_on_a_port(command, address=str, stderr=subprocess.DEVNULL):
    """The port of a server for several editors; a first client keeps its worker."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([*command, "--tcp", address(port)], stderr=stderr) as server:
        block_until(lambda: is_served(port) or server.poll() is not None)
        assert server.poll() is None
        with socket.create_connection(("127.0.0.1", port)) as first:
            options = {"processId": None, "rootUri": None, "capabilities": {}}
            first.sendall(message("initialize", options, 1) + message("initialized", {}))
            yield port
        server.terminate()


def is_served(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


@pytest.fixture(scope="session")
def shared_port():
    """The port of the scripted server for all tests that do not end one."""
    with served_on_a_port(SCRIPTED_SERVER) as port:
        yield port


@pytest.fixture
async def start_editor(request):
    """Start an editor at the shared server, or at one of its own: `await start_editor(*command, cwd=...)`."""
    started = []

    async def start(*command, port=None, **kwargs):
        client = make_test_lsp_client()
        if command:
            await client.start_io(*command, **kwargs)
        else:
            await client.start_tcp("127.0.0.1", port or request.getfixturevalue("shared_port"))
        started.append(client)
        return Editor(client)

    yield start
    for client in started:
        await finished(client.shutdown_session())
        await client.stop()


@pytest.fixture
async def lone_editor(start_editor):
    """An editor with a scripted server of its own, which is initialized."""
    editor = await start_editor(*SCRIPTED_SERVER)
    await editor.initialize()
    return editor


@pytest.fixture
async def editor(start_editor):
    """An editor at the shared scripted server, which is initialized."""
    editor = await start_editor()
    await editor.initialize()
    return editor
