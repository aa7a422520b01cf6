"""The language server of one client: the features that it registers, and the handler of each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import asdict

from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer

from fimlsp import __version__
from fimlsp.lsp_server.messages import Loading, NotReady, Ready
from fimlsp.lsp_server.protocol.commands import COMMANDS
from fimlsp.lsp_server.protocol.configuration import Configuration
from fimlsp.lsp_server.protocol.door import Door
from fimlsp.lsp_server.protocol.items import takes_snippets, to_completion_list, to_inline_list
from fimlsp.lsp_server.protocol.loading_progress import LoadingProgress
from fimlsp.lsp_server.protocol.receiving import InlineCompletionProtocol, converter_factory
from fimlsp.lsp_server.session.completer import Ticket
from fimlsp.lsp_server.session.session import Session
from fimlsp.lsp_server.session.status import STATUS, Status
from fimlsp.lsp_server.worker_client.worker_pool import WorkerPool

_KINDS = {
    logging.ERROR: types.MessageType.Error,
    logging.WARNING: types.MessageType.Warning,
    logging.INFO: types.MessageType.Info,
    logging.DEBUG: types.MessageType.Log,
}

NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage(language="python")])
    ]
)


class FimServer(LanguageServer):
    """A language server with a session, whose workers come from *pool*.

    *door* decides whether the client is served. *leave* is called when the client asks the server to exit,
    with whether it said goodbye before.
    """

    protocol: InlineCompletionProtocol

    def __init__(self, pool: WorkerPool, door: Door, leave: Callable[[bool], None]) -> None:
        self.session = Session(pool, self._show_status, self._show_loading)
        self.door = door
        self.leave = leave
        super().__init__(
            "fimlsp",
            __version__,
            protocol_cls=InlineCompletionProtocol,
            converter_factory=converter_factory,
            notebook_document_sync=NOTEBOOKS,
        )
        self.session.log.addHandler(_ClientLog(self))
        self.configuration = Configuration(self)
        self._progress: LoadingProgress | None = None

    @property
    def log(self) -> logging.Logger:
        """Records for this client."""
        return self.session.log

    def begin(self) -> None:
        """Start working for the client that has just introduced itself."""
        window = self.client_capabilities.window
        if window is not None and window.work_done_progress:
            self._progress = LoadingProgress(self.work_done_progress, self.log)
        self.session.start()

    async def end(self) -> None:
        """The client is gone, or will be: answer it, and leave the worker."""
        if self._progress is not None:
            self._progress.close()
        await self.session.close()

    def enable_completion(self) -> None:
        """Answer requests for the menu of completions from now on."""
        self.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions())(completion)

    def report_server_error(
        self, error: Exception, source: type[PyglsError] | type[JsonRpcException]
    ) -> None:
        """Log it: the user cannot do anything about it, so no window."""
        self.log.error("%s: %s", source.__name__, error)

    def _show_status(self, status: Status) -> None:
        if self.protocol.writer is not None:
            self.protocol.notify(STATUS, asdict(status))

    def _show_loading(self, report: Loading | Ready | NotReady) -> None:
        if self._progress is not None:
            self._progress.tell(report)
        if isinstance(report, Ready) and report.problem is not None and self.protocol.writer is not None:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, report.problem))


class _ClientLog(logging.Handler):
    """Sends a client's log records to it as `window/logMessage`, as editors show standard error, too."""

    def __init__(self, server: FimServer) -> None:
        super().__init__()
        self._server = server

    def emit(self, record: logging.LogRecord) -> None:
        """Send *record*."""
        if self._server.protocol.writer is not None:
            kind = _KINDS.get(record.levelno, types.MessageType.Error)
            self._server.window_log_message(types.LogMessageParams(kind, self.format(record)))


def create_server(pool: WorkerPool, door: Door, leave: Callable[[bool], None]) -> FimServer:
    """A server with every feature registered, not yet started."""
    server = FimServer(pool, door, leave)
    server.feature(types.INITIALIZE)(initialize)
    server.feature(types.INITIALIZED)(initialized)
    server.feature(types.SHUTDOWN)(shutdown)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(configuration_changed)
    server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(folders_changed)
    server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())(inline_completion)
    for name, command in COMMANDS.items():
        server.command(name)(command)
    return server


def initialize(ls: FimServer, params: types.InitializeParams) -> None:
    """`initialize`: agree on the encoding of positions, take the folders, and start the worker.

    The last once this is answered: of a worker that is there already, the client is told at once.
    """
    ls.session.documents.encoding = types.PositionEncodingKind(ls.workspace.position_encoding).value
    folders = [folder.uri for folder in params.workspace_folders or []]
    ls.session.change_folders(folders or [uri for uri in (ls.workspace.root_uri,) if uri])
    ls.session.completer.cursor_inside = takes_snippets(params.capabilities)
    ls.configuration.take_initial(params.initialization_options)
    if ls.session.settings.completion:
        ls.enable_completion()
    asyncio.get_running_loop().call_soon(ls.begin)


async def initialized(ls: FimServer, _: types.InitializedParams) -> None:
    """`initialized`: now the client may be asked for its configuration."""
    await ls.configuration.pull()
    await ls.configuration.watch()


async def configuration_changed(ls: FimServer, params: types.DidChangeConfigurationParams) -> None:
    """`workspace/didChangeConfiguration`: take what came along, or ask."""
    await ls.configuration.change(params.settings)


def folders_changed(ls: FimServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """`workspace/didChangeWorkspaceFolders`."""
    event = params.event
    ls.session.change_folders((each.uri for each in event.added), (each.uri for each in event.removed))


async def shutdown(ls: FimServer, _: None) -> None:
    """`shutdown`: nothing is under way any more when this is answered."""
    await ls.end()


async def inline_completion(ls: FimServer, ticket: Ticket) -> types.InlineCompletionList:
    """`textDocument/inlineCompletion`: what to insert at the cursor as it is, best first.

    *ticket* was made by the protocol when the request arrived. An empty list has its reason in the log
    and in the status. Cancelling the request cancels the pending answer and with it the decoding.
    """
    return to_inline_list(ticket, await ls.session.completer.answer(ticket))


async def completion(ls: FimServer, ticket: Ticket) -> types.CompletionList:
    """`textDocument/completion`: the same as one item of the menu, if the settings say so."""
    offer = await ls.session.completer.answer(ticket)
    return to_completion_list(ticket, offer, ls.session.documents.encoding)
