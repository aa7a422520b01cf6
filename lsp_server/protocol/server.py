"""The language server of one client: its features, their handlers, and results as LSP types."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict

from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer

from fimlsp import __version__
from fimlsp.lsp_server.messages import Loading, NotReady, Reading, Ready
from fimlsp.lsp_server.protocol.admission import Admission
from fimlsp.lsp_server.protocol.client_requests import Configuration, ProgressBars
from fimlsp.lsp_server.protocol.commands import ACCEPT, COMMANDS
from fimlsp.lsp_server.protocol.receiving import InlineCompletionProtocol, converter_factory
from fimlsp.lsp_server.session.completer import CompletionResult, PendingCompletion
from fimlsp.lsp_server.session.session import Session
from fimlsp.lsp_server.session.status import STATUS, Status
from fimlsp.lsp_server.text_positions import units
from fimlsp.lsp_server.worker_pool import WorkerPool

SNIPPETS = "inlineCompletionSnippets"
"""Experimental capability of clients that accept a `StringValue`. LSP has no capability for it."""

_WORD = re.compile(r"(?<!\w)\w*\Z")
_SPECIAL = re.compile(r"[\\$}]")


def to_inline_list(pending: PendingCompletion, result: CompletionResult) -> types.InlineCompletionList:
    """Items for inline completion. Their range is empty: each text connects to the text after the cursor."""
    here = types.Position(pending.line, pending.character)
    return types.InlineCompletionList(
        [
            types.InlineCompletionItem(
                insert_text=text if number else _inserted(text, result.closing),
                range=types.Range(here, here),
                command=types.Command("Completion accepted", ACCEPT, arguments=[f"{result.id}.{number}"]),
            )
            for number, text in enumerate(result.texts)
        ]
    )


def takes_snippets(capabilities: types.ClientCapabilities) -> bool:
    """True if the client accepts snippets as inline completions."""
    experimental = capabilities.experimental
    return isinstance(experimental, Mapping) and experimental.get(SNIPPETS) is True


def _inserted(text: str, closing: str) -> str | types.StringValue:
    return types.StringValue(snippet(text, closing)) if closing else text


def snippet(text: str, closing: str) -> str:
    """The snippet that inserts *text*, with the cursor before its suffix *closing*."""
    return f"{_escaped(text.removesuffix(closing))}$0{_escaped(closing)}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def to_completion_list(
    pending: PendingCompletion, result: CompletionResult, encoding: str
) -> types.CompletionList:
    """One item for the menu. It replaces the word before the cursor by that word and the completion."""
    if not result.texts or pending.cursor is None:
        return types.CompletionList(is_incomplete=True, items=[])
    document, offset = pending.cursor.document, pending.cursor.offset
    before = document.text.data[document.text.line_start(pending.line) : offset].decode()
    match = _WORD.search(before)
    word = match[0] if match else ""
    start = types.Position(pending.line, pending.character - units(word, encoding))
    text = word + result.texts[0]
    item = types.CompletionItem(
        label=text.strip().partition("\n")[0].rstrip() or text,
        kind=types.CompletionItemKind.Text,
        detail="fimlsp",
        documentation=text if "\n" in text else None,
        filter_text=text,
        text_edit=types.TextEdit(types.Range(start, types.Position(pending.line, pending.character)), text),
        command=types.Command("Completion accepted", ACCEPT, arguments=[f"{result.id}.0"]),
    )
    return types.CompletionList(is_incomplete=True, items=[item])


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

    *admission* admits or refuses the client. *leave* is called when the client sends `exit`; its argument is
    true after `shutdown`.
    """

    protocol: InlineCompletionProtocol

    def __init__(self, pool: WorkerPool, admission: Admission, leave: Callable[[bool], None]) -> None:
        self.session = Session(pool, self._show_status, self._show_loading, self._show_reading)
        self.admission = admission
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
        self._progress: ProgressBars | None = None
        self._problem: str | None = None  # with the configured model, as the user has read it

    @property
    def log(self) -> logging.Logger:
        """The log of this client."""
        return self.session.log

    def start(self) -> None:
        """Start to work for the client, after `initialize`."""
        window = self.client_capabilities.window
        if window is not None and window.work_done_progress:
            self._progress = ProgressBars(self.work_done_progress, self.log)
        self.session.start()

    async def end(self) -> None:
        """The client leaves: answer its requests, and leave the worker."""
        if self._progress is not None:
            self._progress.close()
        await self.session.close()

    def enable_completion(self) -> None:
        """Answer requests for the completion menu from now on."""
        self.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions())(completion)

    def report_server_error(
        self, error: Exception, source: type[PyglsError] | type[JsonRpcException]
    ) -> None:
        """Log the error. A window would not help the user."""
        self.log.error("%s: %s", source.__name__, error)

    def _show_status(self, status: Status) -> None:
        if self.protocol.writer is not None:
            self.protocol.notify(STATUS, asdict(status))

    def _show_loading(self, report: Loading | Ready | NotReady) -> None:
        if self._progress is not None:
            self._progress.loading(report)
        if isinstance(report, Ready):
            before, self._problem = self._problem, report.problem
            if report.problem not in (None, before) and self.protocol.writer is not None:
                self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, report.problem))

    def _show_reading(self, report: Reading | None) -> None:
        if self._progress is not None:
            self._progress.reading(report)


class _ClientLog(logging.Handler):
    """Sends log records to the client as `window/logMessage`."""

    def __init__(self, server: FimServer) -> None:
        super().__init__()
        self._server = server

    def emit(self, record: logging.LogRecord) -> None:
        """Send *record*."""
        if self._server.protocol.writer is not None:
            kind = _KINDS.get(record.levelno, types.MessageType.Error)
            self._server.window_log_message(types.LogMessageParams(kind, self.format(record)))


def create_server(pool: WorkerPool, admission: Admission, leave: Callable[[bool], None]) -> FimServer:
    """A server with every feature registered, not yet started."""
    server = FimServer(pool, admission, leave)
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
    """`initialize`: set the encoding of positions and the folders, and start the worker.

    The worker is started after the answer, because a shared worker that is ready notifies the client at once.
    """
    ls.session.documents.encoding = types.PositionEncodingKind(ls.workspace.position_encoding).value
    folders = [folder.uri for folder in params.workspace_folders or []]
    ls.session.change_folders(folders or [uri for uri in (ls.workspace.root_uri,) if uri])
    ls.session.completer.cursor_inside = takes_snippets(params.capabilities)
    ls.configuration.take_initial(params.initialization_options)
    if ls.session.settings.completion:
        ls.enable_completion()
    asyncio.get_running_loop().call_soon(ls.start)


async def initialized(ls: FimServer, _: types.InitializedParams) -> None:
    """`initialized`: request the configuration of the client."""
    await ls.configuration.pull()
    await ls.configuration.watch()


async def configuration_changed(ls: FimServer, params: types.DidChangeConfigurationParams) -> None:
    """`workspace/didChangeConfiguration`: use the given settings, or request them."""
    await ls.configuration.change(params.settings)


def folders_changed(ls: FimServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """`workspace/didChangeWorkspaceFolders`."""
    event = params.event
    added, removed = ([folder.uri for folder in folders] for folders in (event.added, event.removed))
    ls.session.change_folders(added, removed)


async def shutdown(ls: FimServer, _: None) -> None:
    """`shutdown`: answer all running requests first."""
    await ls.end()


async def inline_completion(ls: FimServer, pending: PendingCompletion) -> types.InlineCompletionList:
    """`textDocument/inlineCompletion`: the texts to insert at the cursor, best first.

    The protocol made *pending* when the request arrived. The reason for an empty list is in log and status.
    Cancelling the request cancels its future, and thereby the decoding.
    """
    return to_inline_list(pending, await ls.session.completer.result(pending))


async def completion(ls: FimServer, pending: PendingCompletion) -> types.CompletionList:
    """`textDocument/completion`: the best text as an item of the menu, if the settings enable that."""
    result = await ls.session.completer.result(pending)
    return to_completion_list(pending, result, ls.session.documents.encoding)
