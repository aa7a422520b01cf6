"""Receives the messages of an editor, where this server differs from what pygls does with them.

Texts are kept by the session, as bytes, so pygls' own copies are not made. A request that cannot be
understood is answered by an error, and never by a window in the user's way. And a request for a completion
becomes a question about the text of this very moment before any other message is read: pygls begins a
coroutine only afterwards.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, Protocol

from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

from fimlsp.lsp_server.documents.open_documents import Change, Position
from fimlsp.lsp_server.protocol.door import Door
from fimlsp.lsp_server.session.completer import Ticket, Trigger
from fimlsp.lsp_server.session.session import Session

log = logging.getLogger(__name__)

LARGEST_MESSAGE = 1 << 28
"""Bytes."""

_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,12})[ \t]*\r?\n", re.IGNORECASE)
_ID = re.compile(rb'\s*\{[^{}\[\]]*?"id"\s*:\s*(-?\d{1,15}(?!\d)|"[ !#-\[\]-~]{0,200}")')
_HTTP = re.compile(rb"[A-Z]+ \S+ HTTP/\d")


class HasSession(Protocol):
    """The server that the protocol works for, as far as it matters here."""

    session: Session
    door: Door
    leave: Callable[[bool], None]


class InlineCompletionProtocol(LanguageServerProtocol):
    """Pygls' protocol, which passes documents and questions on to the session."""

    is_admitted = False
    _goodbye: str | int | None = None

    def __init__(self, server: Any, converter: Converter) -> None:  # noqa: ANN401 - HasSession, and pygls' own
        super().__init__(server, converter)
        ours: HasSession = server
        self.session = ours.session
        self._leave = ours.leave
        self._door = ours.door

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: object) -> Generator[Any, Any, None]:
        """The client is done with this server; over TCP, others may not be.

        Some say so right behind `shutdown`, which is answered first.
        """
        goodbye = self._request_futures.get(self._goodbye) if self._goodbye is not None else None
        if goodbye is None:
            self._leave(self._shutdown)
        else:
            goodbye.add_done_callback(lambda _: self._leave(True))
        yield from ()

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """The client shows a document."""
        document = params.text_document
        self.session.open(document.uri, document.language_id, document.version, document.text)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """The client changed a document."""
        document = params.text_document
        self.session.change(document.uri, document.version, to_changes(params.content_changes))

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """The client has closed a document."""
        self.session.close_document(params.text_document.uri)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """The client shows a notebook."""
        self._open_cells(params.cell_text_documents)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """The client changed cells of a notebook, or their order, which does not matter here."""
        cells = params.change.cells
        if cells is None:
            return
        if cells.structure is not None:
            self._close_cells(cells.structure.did_close or [])
            self._open_cells(cells.structure.did_open or [])
        for content in cells.text_content or []:
            document = content.document
            self.session.change(document.uri, document.version, to_changes(content.changes))

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """The client has closed a notebook."""
        self._close_cells(params.cell_text_documents)

    def _open_cells(self, cells: Sequence[types.TextDocumentItem]) -> None:
        for cell in cells:
            self.session.open(cell.uri, cell.language_id, cell.version, cell.text, cell=True)

    def _close_cells(self, cells: Sequence[types.TextDocumentIdentifier]) -> None:
        for cell in cells:
            self.session.close_document(cell.uri)

    async def receive_all(self, reader: asyncio.StreamReader) -> None:
        """Handle the messages of the client until it is gone.

        Each comes after what the one before has started: else a request that is cancelled at once would never
        be worked on, and nobody would hear of it.

        Raises:
            ConnectionError: As `read_body`; or the client was refused, which was its answer.
            asyncio.IncompleteReadError: As `read_body`.
        """
        while (body := await read_body(reader)) is not None:
            self._receive(body)
            await asyncio.sleep(0)

    def _receive(self, body: bytes) -> None:
        """Handle a message; one that is none is logged, and answered if it asked for an answer."""
        try:
            data = json.loads(body)
            if not isinstance(data, dict) or "jsonrpc" not in data:
                raise ValueError("it is no object of JSON-RPC")
            if not isinstance(data.get("id"), str | int | float | None):
                raise ValueError("its id is neither a text nor a number")
        except (ValueError, RecursionError) as error:
            log.error("a message cannot be read: %s", error)
            asked = id_of_request(body)
            if asked is not None:
                unreadable = JsonRpcParseError("the message cannot be read")
                self._send_response(asked, error=unreadable.to_response_error())
            return
        if "id" in data and "method" in data:
            refusal = self._admit(data) if data["method"] == types.INITIALIZE else self._refusal()
            if refusal is not None:
                self._send_response(data["id"], error=refusal.to_response_error())
                return
        elif not self.is_admitted and data.get("method") != types.EXIT:
            log.warning("a notification before initialize is ignored")
            return
        try:
            self.handle_message(self.structure_message(data))
        except JsonRpcException as error:
            log.exception("a message makes no sense")
            self._server.report_server_error(error, JsonRpcException)
        except Exception:  # one message must not end the connection, whatever it made fail
            log.exception("a message failed")
            if "id" in data and "method" in data:
                failed = JsonRpcInternalError("it failed unexpectedly; the log has the details")
                self._send_response(data["id"], error=failed.to_response_error())

    def _refusal(self) -> JsonRpcException | None:
        """Why this is no time for a request (LSP 3.18, "Initialize" and "Shutdown")."""
        if self._goodbye is not None:
            return JsonRpcInvalidRequest("the server was shut down")
        return None if self.is_admitted else JsonRpcServerNotInitialized("initialize comes first")

    def _admit(self, data: dict[str, Any]) -> JsonRpcException | None:
        """Why `initialize` makes no sense now.

        Raises:
            ConnectionRefusedError: The client is not to be served; it has been told.
        """
        if self._goodbye is not None or self.is_admitted:
            return JsonRpcInvalidRequest("initialize comes once")
        params = data.get("params")
        reason = self._door.admit(params.get("initializationOptions") if isinstance(params, dict) else None)
        if reason is not None:
            failed = JsonRpcException(reason, types.LSPErrorCodes.RequestFailed)
            self._send_response(data["id"], error=failed.to_response_error())
            raise ConnectionRefusedError(reason)
        self.is_admitted = True
        return None

    def _execute_handler(
        self,
        msg_id: str | int,
        handler: Callable[..., Any],
        callback: Callable[[Any], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """As in pygls, which forgets what became of a request, but not of a notification."""
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        future = self._request_futures.get(msg_id)
        if future is not None:
            later: Callable[..., object] = asyncio.get_running_loop().call_soon
            future.add_done_callback(partial(later, self._forget, msg_id))

    def _forget(self, msg_id: str | int, future: object) -> None:
        if self._request_futures.get(msg_id) is future:
            del self._request_futures[msg_id]

    def _send_response(
        self, msg_id: str | int, result: object = None, error: types.ResponseError | None = None
    ) -> None:
        if error is not None:
            error.data = None  # where pygls puts a traceback, which is for the log alone
        super()._send_response(msg_id, result, error)

    def _handle_cancel_notification(self, msg_id: object) -> None:
        if isinstance(msg_id, str | int):  # as a list it cannot even be looked up
            super()._handle_cancel_notification(msg_id)

    def _handle_request(self, msg_id: str | int, method_name: str, params: object) -> None:
        if isinstance(params, types.InlineCompletionParams):
            automatic = params.context.trigger_kind == types.InlineCompletionTriggerKind.Automatic
            params = self._ask(params, "automatic" if automatic else "by hand")
        elif isinstance(params, types.CompletionParams) and method_name in self.fm.features:
            params = self._ask(params, "menu")
        elif method_name == types.SHUTDOWN:
            self._goodbye = msg_id
        super()._handle_request(msg_id, method_name, params)

    def _ask(self, params: types.InlineCompletionParams | types.CompletionParams, trigger: Trigger) -> Ticket:
        at = params.position
        return self.session.completer.ask(params.text_document.uri, at.line, at.character, trigger)

    def structure_message(self, data: dict[str, Any]) -> Any:  # noqa: ANN401 - as in pygls
        """As in pygls, but a request that makes no sense is answered."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise


def id_of_request(body: bytes) -> str | int | None:
    """The id of the request that *body*, which cannot be read, seems to be; None if it seems to be none."""
    found = _ID.match(body)
    return json.loads(found[1]) if found and b'"method"' in body else None


async def read_body(reader: asyncio.StreamReader) -> bytes | None:
    """The body of the next message; None when the client is gone. Lines that are no header are skipped.

    Raises:
        ConnectionError: The client speaks HTTP, as a web page that found the port would; or the message is
            too large.
        asyncio.IncompleteReadError: The client went away within a message.
    """
    length = 0
    while line := await reader.readline():
        found = _LENGTH.fullmatch(line)
        if found is not None:
            length = length or int(found[1])
        elif length and not line.strip():
            if length > LARGEST_MESSAGE:
                raise ConnectionError(f"a message of {length:,} bytes is too large")
            return await reader.readexactly(length)
        elif _HTTP.match(line) is not None:
            raise ConnectionError("it speaks HTTP")
    return None


def to_changes(changes: Sequence[types.TextDocumentContentChangeEvent]) -> list[Change]:
    """The content changes of a notification; a change without a range is the whole text."""
    return [
        Change(_to_span(change.range), change.text)
        if isinstance(change, types.TextDocumentContentChangePartial)
        else Change(None, change.text)
        for change in changes
    ]


def _to_span(span: types.Range) -> tuple[Position, Position]:
    return (span.start.line, span.start.character), (span.end.line, span.end.character)


def converter_factory() -> Converter:
    """Pygls' converter, taught that old clients send 0 for a trigger kind asked for by hand."""
    make: Callable[[], Converter] = default_converter
    converter = make()
    converter.register_structure_hook(
        types.InlineCompletionTriggerKind,
        lambda value, _: types.InlineCompletionTriggerKind(
            value or types.InlineCompletionTriggerKind.Invoked
        ),
    )
    return converter
