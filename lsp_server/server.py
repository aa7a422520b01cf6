"""The language server: what it registers, and how an answer of the session becomes one of the protocol."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from dataclasses import asdict

from fimlsp.lsp_server.configuration import Configuration
from fimlsp.lsp_server.loading_progress import LoadingProgress
from fimlsp.lsp_server.messages import Completion, Loading, NotReady, Ready
from fimlsp.lsp_server.protocol import InlineCompletionProtocol, converter_factory
from fimlsp.lsp_server.session import Pending, Session
from fimlsp.lsp_server.status import STATUS, Status
from fimlsp.lsp_server.worker_process import WORKER_COMMAND
from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer

from fimlsp import __version__

log = logging.getLogger(__name__)


class FimServer(LanguageServer):
    """A language server with a session. *worker_command* starts its worker process."""

    def __init__(self, worker_command: Sequence[str] = WORKER_COMMAND) -> None:
        self.session = Session(worker_command, self._show_status, self._show_loading)
        super().__init__(
            "fimlsp", __version__, protocol_cls=InlineCompletionProtocol, converter_factory=converter_factory
        )
        self.configuration = Configuration(self)
        self._progress: LoadingProgress | None = None

    def begin(self) -> None:
        """Start working for the client that has just introduced itself."""
        window = self.client_capabilities.window
        if window is not None and window.work_done_progress:
            self._progress = LoadingProgress(self.work_done_progress)
        self.session.start()

    def report_server_error(
        self, error: Exception, source: type[PyglsError] | type[JsonRpcException]
    ) -> None:
        """Log it: the user cannot do anything about it, so no window."""
        log.error("%s: %s", source.__name__, error)

    def _show_status(self, status: Status) -> None:
        self.protocol.notify(STATUS, asdict(status))

    def _show_loading(self, report: Loading | Ready | NotReady) -> None:
        if self._progress is not None:
            self._progress.tell(report)


def create_server(worker_command: Sequence[str] = WORKER_COMMAND) -> FimServer:
    """A server with every feature registered, not yet started."""
    server = FimServer(worker_command)
    server.feature(types.INITIALIZE)(initialize)
    server.feature(types.INITIALIZED)(initialized)
    server.feature(types.SHUTDOWN)(shutdown)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(configuration_changed)
    server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())(inline_completion)
    return server


def initialize(ls: FimServer, params: types.InitializeParams) -> None:
    """`initialize`: agree on the encoding of positions and start the worker."""
    ls.session.documents.encoding = types.PositionEncodingKind(ls.workspace.position_encoding).value
    ls.configuration.take_initial(params.initialization_options)
    ls.begin()


async def initialized(ls: FimServer, _: types.InitializedParams) -> None:
    """`initialized`: now the client may be asked for its configuration."""
    await ls.configuration.pull()
    await ls.configuration.watch()


async def configuration_changed(ls: FimServer, params: types.DidChangeConfigurationParams) -> None:
    """`workspace/didChangeConfiguration`: take what came along, or ask."""
    await ls.configuration.change(params.settings)


async def shutdown(ls: FimServer, _: None) -> None:
    """`shutdown`: nothing is under way any more when this is answered."""
    await ls.session.close()


async def inline_completion(asked: tuple[types.Position, Pending]) -> types.InlineCompletionList:
    """`textDocument/inlineCompletion`: at most one item, to be inserted at the cursor as it is.

    *asked* was made by the protocol when the request arrived. An empty list has its reason in the log
    and in the status. Cancelling the request cancels the pending answer and with it the decoding.
    """
    position, pending = asked
    return to_list(position, await pending)


def to_list(position: types.Position, completion: Completion) -> types.InlineCompletionList:
    """The items for *completion*. The range is empty, as the text connects to what follows the cursor."""
    if not completion.text:
        return types.InlineCompletionList(items=[])
    item = types.InlineCompletionItem(
        insert_text=completion.text, range=types.Range(start=position, end=position)
    )
    return types.InlineCompletionList(items=[item])


class ClientLog(logging.Handler):
    """Passes this project's log records on to the client as `window/logMessage`."""

    def __init__(self, server: FimServer) -> None:
        super().__init__(logging.INFO)
        self._server = server

    def emit(self, record: logging.LogRecord) -> None:
        """Send *record*; records made before the client is there are on standard error only."""
        if self._server.protocol.writer is not None:
            kind = types.MessageType.Info
            if record.levelno >= logging.WARNING:
                kind = (
                    types.MessageType.Error if record.levelno >= logging.ERROR else types.MessageType.Warning
                )
            self._server.window_log_message(types.LogMessageParams(type=kind, message=self.format(record)))


def run(server: FimServer, host_and_port: tuple[str, int] | None) -> None:
    """Serve one client over standard input and output, or over TCP; returns when it is done.

    Standard output is kept for the protocol alone: what a library prints goes to standard error.

    Raises:
        OSError: The port cannot be used.
    """
    start_logging(server)
    if host_and_port is None:
        stdout, sys.stdout = sys.stdout.buffer, sys.stderr
        server.start_io(stdout=stdout)
    else:
        log.info("waiting for a client on %s, port %d", *host_and_port)
        server.start_tcp(*host_and_port)


def start_logging(server: FimServer) -> None:
    """Everything to standard error, which editors keep; our own records to the client as well."""
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING)
    logging.getLogger("fimlsp").setLevel(logging.INFO)
    logging.getLogger("fimlsp").addHandler(ClientLog(server))
