"""Receives the messages of clients, where this server differs from pygls.

The session keeps texts as bytes, so pygls makes no copies of its own. A malformed request gets an error as
its answer, never a window. A completion request is bound to the current text before the next message is read:
pygls starts coroutines only afterwards.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
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

from fimlsp.lsp_server.documents import Position, TextChange
from fimlsp.lsp_server.protocol.admission import Admission, BoundedReader
from fimlsp.lsp_server.session.completer import PendingCompletion, Trigger
from fimlsp.lsp_server.session.session import Session

log = logging.getLogger(__name__)

LARGEST_MESSAGE = 1 << 28
"""Bytes."""

_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,12})[ \t]*\r?\n", re.IGNORECASE)
_ID = re.compile(rb'\s*\{[^{}\[\]]*?"id"\s*:\s*(-?\d{1,15}(?!\d)|"[ !#-\[\]-~]{0,200}")')
_HTTP = re.compile(rb"[A-Z]+ \S+ HTTP/\d")


class HasSession(Protocol):
    """The part of the server that the protocol uses."""

    session: Session
    admission: Admission
    leave: Callable[[bool], None]


class InlineCompletionProtocol(LanguageServerProtocol):
    """Pygls' protocol; it passes documents and completion requests on to the session."""

    is_admitted = False
    _shutdown_id: str | int | None = None

    def __init__(self, server: Any, converter: Converter) -> None:  # noqa: ANN401 - HasSession, and pygls' own
        super().__init__(server, converter)
        ours: HasSession = server
        self.session = ours.session
        self._leave = ours.leave
        self._admission = ours.admission

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: object) -> Generator[Any, Any, None]:
        """The client leaves; over TCP, others may stay.

        Some clients send it right after `shutdown`, which is answered first.
        """
        answer = self._request_futures.get(self._shutdown_id) if self._shutdown_id is not None else None
        if answer is None:
            self._leave(self._shutdown)
        else:
            answer.add_done_callback(lambda _: self._leave(True))
        yield from ()

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """The client opened a document."""
        document = params.text_document
        self.session.open(document.uri, document.language_id, document.version, document.text)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """The client changed a document."""
        document = params.text_document
        self.session.change(document.uri, document.version, to_changes(params.content_changes))

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """The client closed a document."""
        self.session.close_document(params.text_document.uri)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """The client opened a notebook."""
        notebook = params.notebook_document
        self._open_cells(params.cell_text_documents)
        self.session.documents.close_notebook(notebook.uri)
        self.session.documents.arrange(notebook.uri, 0, 0, [cell.document for cell in notebook.cells])

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """The client changed cells of a notebook, or their order."""
        cells = params.change.cells
        if cells is None:
            return
        if cells.structure is not None:
            array = cells.structure.array
            self._close_cells(cells.structure.did_close or [])
            self._open_cells(cells.structure.did_open or [])
            added = [cell.document for cell in array.cells or []]
            self.session.documents.arrange(
                params.notebook_document.uri, array.start, array.delete_count, added
            )
        for content in cells.text_content or []:
            document = content.document
            self.session.change(document.uri, document.version, to_changes(content.changes))

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """The client closed a notebook."""
        self.session.documents.close_notebook(params.notebook_document.uri)
        self._close_cells(params.cell_text_documents)

    def _open_cells(self, cells: Sequence[types.TextDocumentItem]) -> None:
        for cell in cells:
            self.session.open(cell.uri, cell.language_id, cell.version, cell.text, cell=True)

    def _close_cells(self, cells: Sequence[types.TextDocumentIdentifier]) -> None:
        for cell in cells:
            self.session.close_document(cell.uri)

    async def receive_all(self, reader: BoundedReader) -> None:
        """Handle the messages of the client until it is gone.

        Tasks that a message has created run before the next message is handled. Otherwise a request that is
        cancelled at once would never start, and never be answered.

        Raises:
            ConnectionError: As `read_body`; or the client was refused, after an answer with the reason.
            asyncio.IncompleteReadError: As `read_body`.
        """
        while (body := await self._next_body(reader)) is not None:
            self._receive(body)
            if self.is_admitted:
                reader.lift()
            await asyncio.sleep(0)

    async def _next_body(self, reader: BoundedReader) -> bytes | None:
        try:
            return await read_body(reader)
        except ConnectionRefusedError as error:
            self.refuse(str(error))
            await reader.discard()
            raise

    def refuse(self, reason: str) -> None:
        """Tell a client that has sent no readable request the *reason* for the end of the connection."""
        error = {"code": types.LSPErrorCodes.RequestFailed.value, "message": reason}
        self._send_data({"jsonrpc": "2.0", "id": None, "error": error})
        if isinstance(self.writer, asyncio.StreamWriter):
            self.writer.write_eof()

    def _receive(self, body: bytes) -> None:
        """Handle a message. A malformed one is logged, and answered if it is a request."""
        try:
            data = json.loads(body)
            if not isinstance(data, dict) or "jsonrpc" not in data:
                raise ValueError("it is not a JSON-RPC object")
            if not isinstance(data.get("id"), str | int | float | None):
                raise ValueError("its id is neither a string nor a number")
        except (ValueError, RecursionError) as error:
            log.error("cannot read a message: %s", error)
            request_id = id_of_request(body)
            if request_id is not None:
                unreadable = JsonRpcParseError("cannot read the message")
                self._send_response(request_id, error=unreadable.to_response_error())
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
            log.exception("a message is invalid")
            self._server.report_server_error(error, JsonRpcException)
        except Exception:  # no message may end the connection
            log.exception("cannot handle a message")
            if "id" in data and "method" in data:
                failed = JsonRpcInternalError("unexpected failure; the log has the details")
                self._send_response(data["id"], error=failed.to_response_error())

    def _refusal(self) -> JsonRpcException | None:
        """The reason to refuse requests in this state, if any (LSP 3.18, "Initialize" and "Shutdown")."""
        if self._shutdown_id is not None:
            return JsonRpcInvalidRequest("the server was shut down")
        return None if self.is_admitted else JsonRpcServerNotInitialized("initialize comes first")

    def _admit(self, data: dict[str, Any]) -> JsonRpcException | None:
        """The reason to refuse `initialize` in this state, if any.

        Raises:
            ConnectionRefusedError: The client is not admitted; it was answered with the reason.
        """
        if self._shutdown_id is not None or self.is_admitted:
            return JsonRpcInvalidRequest("initialize was sent before")
        params = data.get("params")
        reason = self._admission.admit(
            params.get("initializationOptions") if isinstance(params, dict) else None
        )
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
        """As in pygls, which drops the futures of requests, but not those of notifications."""
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        future = self._request_futures.get(msg_id)
        if future is not None:
            later: Callable[..., object] = asyncio.get_running_loop().call_soon
            future.add_done_callback(partial(later, self._forget, msg_id))

    def _run_generator(
        self,
        future: Future[Any] | None,
        *,
        gen: Generator[Any, Any, Any],
        result_future: Future[Any],
    ) -> None:
        """As in pygls, which fails if the server ends while a handler is waiting."""
        if future is not None and future.cancelled():
            result_future.cancel()
        super()._run_generator(future, gen=gen, result_future=result_future)

    def _forget(self, msg_id: str | int, future: object) -> None:
        if self._request_futures.get(msg_id) is future:
            del self._request_futures[msg_id]

    def _send_response(
        self, msg_id: str | int, result: object = None, error: types.ResponseError | None = None
    ) -> None:
        if error is not None:
            error.data = None  # pygls' traceback, which belongs into the log
        super()._send_response(msg_id, result, error)

    def _handle_cancel_notification(self, msg_id: object) -> None:
        if isinstance(msg_id, str | int):  # a list is not hashable
            super()._handle_cancel_notification(msg_id)

    def _handle_request(self, msg_id: str | int, method_name: str, params: object) -> None:
        if isinstance(params, types.InlineCompletionParams):
            automatic = params.context.trigger_kind == types.InlineCompletionTriggerKind.Automatic
            params = self._request(params, "automatic" if automatic else "invoked")
        elif isinstance(params, types.CompletionParams) and method_name in self.fm.features:
            params = self._request(params, "menu")
        elif method_name == types.SHUTDOWN:
            self._shutdown_id = msg_id
        super()._handle_request(msg_id, method_name, params)

    def _request(
        self, params: types.InlineCompletionParams | types.CompletionParams, trigger: Trigger
    ) -> PendingCompletion:
        at = params.position
        return self.session.completer.request(params.text_document.uri, at.line, at.character, trigger)

    def structure_message(self, data: dict[str, Any]) -> Any:  # noqa: ANN401 - as in pygls
        """As in pygls, but an invalid request is answered."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise


def id_of_request(body: bytes) -> str | int | None:
    """The id of a malformed *body* that looks like a request; else None."""
    match = _ID.match(body)
    return json.loads(match[1]) if match and b'"method"' in body else None


async def read_body(reader: BoundedReader) -> bytes | None:
    """The body of the next message; None if the client is gone. Lines that are not headers are skipped.

    Raises:
        ConnectionError: The client speaks HTTP (a web page may find the port), or the message is too large.
        asyncio.IncompleteReadError: The client disconnected within a message.
    """
    length = 0
    while line := await reader.readline():
        header = _LENGTH.fullmatch(line)
        if header is not None:
            length = length or int(header[1])
        elif length and not line.strip():
            if length > LARGEST_MESSAGE:
                raise ConnectionError(f"a message of {length:,} bytes is too large")
            return await reader.readexactly(length)
        elif _HTTP.match(line) is not None:
            raise ConnectionError("it speaks HTTP")
    return None


def to_changes(changes: Sequence[types.TextDocumentContentChangeEvent]) -> list[TextChange]:
    """The content changes of a notification. A change without a range replaces the whole text."""
    return [
        TextChange(_to_span(change.range), change.text)
        if isinstance(change, types.TextDocumentContentChangePartial)
        else TextChange(None, change.text)
        for change in changes
    ]


def _to_span(span: types.Range) -> tuple[Position, Position]:
    return (span.start.line, span.start.character), (span.end.line, span.end.character)


def converter_factory() -> Converter:
    """Pygls' converter; it also accepts the 0 that old clients send as the trigger kind Invoked."""
    make: Callable[[], Converter] = default_converter
    converter = make()
    converter.register_structure_hook(
        types.InlineCompletionTriggerKind,
        lambda value, _: types.InlineCompletionTriggerKind(
            value or types.InlineCompletionTriggerKind.Invoked
        ),
    )
    return converter
