"""HTTP for model servers: JSON requests of bounded size and time that can be cancelled at any moment.

The protocol is h11's. The socket is ours: waiting ends as soon as the caller has lost interest, and closing
the socket ends the server's work. Redirects are not followed, and proxies from the environment are not used.
Certificates are checked against the system's authorities.
"""

from __future__ import annotations

import json
import socket
import ssl
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from threading import Thread
from typing import Any
from urllib.parse import quote

import h11

from fimlsp.lexing.interruption import Interrupted
from fimlsp.models.remote.address import Address
from fimlsp.models.remote.errors import GoneError, ServerError, invalid_answer, refused, stream_error
from fimlsp.models.server_kinds import UNKNOWN, ServerKind

CONNECT_S = 5.0
POLL_S = 0.02
"""Longest delay until a caller that has lost interest is released."""

CHUNK = 1 << 16
HEAD_MAX = 1 << 16
ANSWER_S = 10.0
RUN_S = 60.0
"""Longest wait for an answer to a short question, and for a sign of life while the network computes."""

FRESH_S = 2.0
"""A connection used this recently counts as alive; servers close idle ones."""

ANSWER_MAX = 1 << 25
LINE_MAX = 1 << 20
"""Bytes of one line of a stream, which describes one token; 64 candidates take 6,000."""

NO_DATA = (b":", b"event:", b"id:", b"retry:", b"data: [DONE]")
"""Beginnings of lines without data in a stream of server-sent events."""

ERROR_SHOWN = 160
CLOSED = "it closed the connection"


@dataclass(slots=True)
class Deadline:
    """The end of waiting: as soon as *should_stop* returns True, or *seconds* after *since*."""

    should_stop: Callable[[], bool]
    seconds: float
    since: float

    @classmethod
    def of(cls, should_stop: Callable[[], bool], seconds: float) -> Deadline:
        """The deadline *seconds* from now."""
        return cls(should_stop, seconds, time.monotonic())

    def renew(self) -> None:
        """Wait as long again from now on."""
        self.since = time.monotonic()

    def check(self, address: Address) -> None:
        """Raise if the deadline has passed.

        Raises:
            Interrupted: the caller has lost interest.
            ServerError: the time is up.
        """
        if self.should_stop():
            raise Interrupted
        if time.monotonic() > self.since + self.seconds:
            raise ServerError(
                f"Cannot use the server at {address}: no answer in {self.seconds:g} s. "
                f"Check its other work, or use a smaller model."
            )


class Connection:
    """An HTTP/1.1 connection to *address* over a connected socket, for one request at a time."""

    def __init__(self, address: Address, connected: socket.socket) -> None:
        self._address = address
        self._socket = connected
        self._socket.settimeout(POLL_S)
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_MAX)
        self.used_at = time.monotonic()
        # Not __del__: in a garbage cycle the socket may be collected first, with a warning that it is open.
        weakref.finalize(self, connected.close)

    @classmethod
    def open(cls, address: Address) -> Connection:
        """Connect to *address*. Takes up to 5 seconds, plus the time of the name lookup.

        Raises:
            ServerError: no server listens there, or its certificate is not trusted.
        """
        try:
            connected = socket.create_connection((address.host, address.port), CONNECT_S)
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except (OSError, UnicodeError) as error:
            raise _gone(address, error) from error
        return cls(address, _encrypted(connected, address) if address.is_encrypted else connected)

    def send(self, method: str, path: str, headers: dict[str, str], body: bytes, deadline: Deadline) -> None:
        """Send a request.

        Raises:
            ServerError: the server has gone, or its answer is not HTTP.
            Interrupted: the caller has lost interest.
        """
        target = f"{self._address.path}{path}"
        fields = [
            ("Host", self._address.authority),
            *headers.items(),
            ("Content-Length", str(len(body))),
        ]
        head = self._http.send(h11.Request(method=method, target=target, headers=fields))
        data = self._http.send(h11.Data(data=body)) if body else b""
        self._send_all((head or b"") + (data or b"") + (self._http.send(h11.EndOfMessage()) or b""), deadline)

    def status(self, deadline: Deadline) -> int:
        """Wait for the head of the answer; returns its status.

        Raises:
            ServerError: the server has gone, or its answer is not HTTP.
            Interrupted: the caller has lost interest.
        """
        while not isinstance(event := self._next_event(deadline), h11.Response):
            if not isinstance(event, h11.InformationalResponse):
                raise _gone(self._address, CLOSED)
        return event.status_code

    def parts(self, deadline: Deadline) -> Iterator[bytes]:
        """Yield the body of the answer as it arrives.

        Raises:
            ServerError: the server has gone, or its answer is not HTTP.
            Interrupted: the caller has lost interest.
        """
        while isinstance(event := self._next_event(deadline), h11.Data):
            yield bytes(event.data)
        if not isinstance(event, h11.EndOfMessage):
            raise _gone(self._address, CLOSED)

    def is_reusable(self) -> bool:
        """True if another request may follow; the last answer must have been read to its end."""
        try:
            self._http.start_next_cycle()
        except h11.LocalProtocolError:
            return False
        self.used_at = time.monotonic()
        return True

    def close(self) -> None:
        """Close the connection, which also ends the server's work for it."""
        self._socket.close()

    def _next_event(self, deadline: Deadline) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(self._receive(deadline))
        except h11.RemoteProtocolError as error:
            if "closed" in str(error):
                raise _gone(self._address, f"{CLOSED} in the middle of an answer") from error
            if self._http.trailing_data == (b"", True):
                raise _gone(self._address, CLOSED) from error
            raise invalid_answer(self._address, "not HTTP") from error
        return event

    def _receive(self, deadline: Deadline) -> bytes:
        while True:
            deadline.check(self._address)
            try:
                return self._socket.recv(CHUNK)
            except TimeoutError:
                continue
            except OSError as error:
                raise _gone(self._address, error) from error

    def _send_all(self, data: bytes, deadline: Deadline) -> None:
        unsent = memoryview(data)
        while unsent:
            deadline.check(self._address)
            try:
                unsent = unsent[self._socket.send(unsent) :]
            except TimeoutError:
                continue
            except OSError as error:
                raise _gone(self._address, error) from error


def _encrypted(connected: socket.socket, address: Address) -> ssl.SSLSocket:
    try:
        return _trusted().wrap_socket(connected, server_hostname=address.host)
    except ssl.SSLCertVerificationError as error:
        reason = error.verify_message.rstrip(".")
        raise ServerError(
            f"Cannot trust the certificate of {address}: {reason}. "
            f"Give the file of its authority in the environment variable SSL_CERT_FILE."
        ) from error
    except (ssl.SSLError, TimeoutError) as error:  # a plain HTTP server may wait for more of the handshake
        reason = getattr(error, "reason", None) or "no answer"
        raise ServerError(f"Cannot use https with {address}: {reason}. Write http:// instead.") from error
    except OSError as error:
        raise _gone(address, error) from error


@cache
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()


def _gone(address: Address, cause: object) -> GoneError:
    reason = getattr(cause, "strerror", None) or str(cause)
    return GoneError(f"Cannot reach a model server at {address}: {reason}. Start it, or use another model.")


class HttpClient:
    """Sends requests to the server at *address*, one at a time.

    *key* is sent as a bearer token; *variable* is the environment variable that it was read from, for errors.

    Attributes:
        kind: the kind of the server, for advice.
        model: the name of the model that a router is to use for each request; empty: the only one.
    """

    def __init__(self, address: Address, key: str | None = None, variable: str | None = None) -> None:
        self.address = address
        self._key = key
        self._variable = variable
        self.kind: ServerKind = UNKNOWN
        self.model = ""
        self._headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._next: Future[Connection] | None = None
        self._others = list[Future[Connection]]()
        self._should_stop: Callable[[], bool] = lambda: False
        self._stream_deadline: Deadline | None = None
        self.answered_at = 0.0

    @contextmanager
    def cancellable(self, should_stop: Callable[[], bool]) -> Iterator[None]:
        """Within this context, waiting ends with `Interrupted` as soon as *should_stop* returns True.

        No connection stays open after it, since some servers use a thread for each.
        """
        before, self._should_stop = self._should_stop, should_stop
        try:
            yield
        finally:
            self._should_stop = before
            self.close()

    def renew(self) -> None:
        """Let the answer that is streamed take as long again: the server shows that it works on it."""
        if self._stream_deadline is not None:
            self._stream_deadline.renew()

    def ask(self, path: str, body: Mapping[str, object] | None = None, seconds: float = ANSWER_S) -> Any:  # noqa: ANN401 - any JSON
        """The whole JSON answer of *path* within so many *seconds*; with a *body* the request is a POST.

        Raises:
            ServerError: the server does not answer, rejects the request, or its answer is not JSON.
            Interrupted: the caller has lost interest.
        """
        deadline = Deadline.of(self._should_stop, seconds)
        connection, data = self._send(path, body, deadline), bytearray()
        try:
            for part in connection.parts(deadline):
                data += part
                if len(data) > ANSWER_MAX:
                    raise invalid_answer(self.address, f"more than {ANSWER_MAX >> 20} MB")
        except BaseException:
            connection.close()
            raise
        self._keep(connection)
        return self.read_json(bytes(data))

    def stream(self, path: str, body: Mapping[str, object]) -> Generator[bytes, None, None]:
        """Yield the lines of the answer of *path* as they arrive.

        Closing the generator ends the server's work.

        Raises:
            ServerError: the server does not answer, rejects the request, or sends lines that are too long.
            Interrupted: the caller has lost interest.
        """
        deadline = self._stream_deadline = Deadline.of(self._should_stop, RUN_S)
        with closing(self._send(path, body, deadline)) as connection:
            if not self.address.is_loopback:
                self._next = self._open_next()
            yield from self._lines(connection, deadline)

    def events(self, path: str, body: Mapping[str, object]) -> Generator[Mapping[str, Any], None, None]:
        """Yield the objects that *path* streams: server-sent events with JSON, or lines of JSON.

        Raises:
            ServerError: as `stream`; or an object reports an error, or the stream has another form.
        """
        with closing(self.stream(path, body)) as lines:
            yield from self._events_in(lines)

    def side_by_side(
        self, path: str, bodies: Sequence[Mapping[str, object]]
    ) -> list[Generator[Mapping[str, Any], None, None]]:
        """As `events` for each of *bodies*, all of which are sent before an answer is read.

        A connection is closed when its answer is closed, or at the end of `cancellable`.

        Raises:
            ServerError: the server does not answer.
            Interrupted: the caller has lost interest.
        """
        deadline = Deadline.of(self._should_stop, RUN_S)
        opening = [self._open_next() for _ in bodies]
        self._others += opening
        connections = [self._wait_for(one, deadline) for one in opening]
        for connection, body in zip(connections, bodies, strict=True):
            self._write(connection, path, body, deadline)
        return [self._events_on(connection, deadline) for connection in connections]

    def _events_on(
        self, connection: Connection, deadline: Deadline
    ) -> Generator[Mapping[str, Any], None, None]:
        """The objects of the answer that comes on *connection*."""
        with closing(connection):
            self._check_status(connection, deadline)
            yield from self._events_in(self._lines(connection, deadline))

    def _lines(self, connection: Connection, deadline: Deadline) -> Iterator[bytes]:
        """The lines of the answer on *connection*, of which the head was read."""
        unfinished = b""
        for part in connection.parts(deadline):
            *lines, unfinished = (unfinished + part).split(b"\n")
            yield from filter(None, map(bytes.strip, lines))
            if len(unfinished) > LINE_MAX:
                raise invalid_answer(self.address, f"more than {LINE_MAX >> 20} MB for one token")
        if unfinished.strip():
            yield unfinished.strip()
        self.answered_at = time.monotonic()

    def _events_in(self, lines: Iterator[bytes]) -> Iterator[Mapping[str, Any]]:
        for line in lines:
            if line.startswith(NO_DATA):
                continue
            if not line.startswith((b"data:", b"{")):
                raise invalid_answer(self.address, "not a stream of events")
            event = self.read_json(line.removeprefix(b"data:"))
            if not isinstance(event, Mapping):
                raise invalid_answer(self.address, "an event that is not an object")
            if "error" in event:
                raise stream_error(self.address, event["error"], self.kind)
            yield event

    def read_json(self, data: bytes) -> Any:  # noqa: ANN401 - any JSON
        """The JSON value in *data*.

        Raises:
            ServerError: *data* is not JSON.
        """
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            kind = "an HTML page" if data.lstrip()[:1] == b"<" else "not JSON"
            raise invalid_answer(self.address, kind) from error

    def close(self) -> None:
        """Close the connection that is kept for the next request, and those of answers side by side."""
        if self._next is not None:
            _close_when_open(self._next)
            self._next = None
        for opening in self._others:
            _close_when_open(opening)
        self._others.clear()

    def _send(self, path: str, body: Mapping[str, object] | None, deadline: Deadline) -> Connection:
        """Send a request; returns the connection after the head of the answer.

        A kept connection may be dead without a sign, so a request that fails on it is sent again.
        """
        kept, self._next = self._next, None
        if kept is not None and kept.done() and not _is_fresh(kept):
            _close_when_open(kept)
        elif kept is not None:
            with suppress(GoneError):
                return self._request(self._wait_for(kept, deadline), path, body, deadline)
        return self._request(self._wait_for(self._open_next(), deadline), path, body, deadline)

    def _request(
        self, connection: Connection, path: str, body: Mapping[str, object] | None, deadline: Deadline
    ) -> Connection:
        try:
            self._write(connection, path, body, deadline)
            self._check_status(connection, deadline)
        except BaseException:
            connection.close()
            raise
        return connection

    def _write(
        self, connection: Connection, path: str, body: Mapping[str, object] | None, deadline: Deadline
    ) -> None:
        """Send a request on *connection*, to the model of a router."""
        if body is not None and self.model:
            body = {"model": self.model, **body}
        data = b"" if body is None else json.dumps(body).encode()
        method = "GET" if body is None else "POST"
        if body is None and self.model:
            path = f"{path}?model={quote(self.model, safe='')}"
        connection.send(method, path, self._headers, data, deadline)

    def _check_status(self, connection: Connection, deadline: Deadline) -> None:
        """Raise if the answer on *connection* rejects the request."""
        status = connection.status(deadline)
        if status != 200:
            message = self._message(connection, deadline)
            raise refused(self.address, status, message, self._variable, self.kind)

    def _message(self, connection: Connection, deadline: Deadline) -> str:
        """The server's own message for a failure, whichever of the usual JSON keys holds it."""
        data = bytearray()
        for part in connection.parts(deadline):
            data += part
            if len(data) > LINE_MAX:
                return ""
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            return ""
        for name in ("error", "message", "detail"):
            if isinstance(message, dict) and name in message:
                message = message[name]
        return " ".join(self._without_key(str(message)).split())[:ERROR_SHOWN]

    def _without_key(self, text: str) -> str:
        """*text*, which is shown and logged, without the key; some servers repeat it."""
        return text.replace(self._key, "…") if self._key else text

    def _open_next(self) -> Future[Connection]:
        """A connection that opens in a thread, as a name lookup cannot be interrupted."""
        opening: Future[Connection] = Future()

        def work() -> None:
            try:
                opening.set_result(Connection.open(self.address))
            except BaseException as error:
                opening.set_exception(error)

        Thread(target=work, daemon=True).start()
        return opening

    def _wait_for(self, opening: Future[Connection], deadline: Deadline) -> Connection:
        try:
            while wait([opening], POLL_S).not_done:
                deadline.check(self.address)
        except (Interrupted, ServerError):
            _close_when_open(opening)
            raise
        return opening.result()

    def _keep(self, connection: Connection) -> None:
        self.answered_at = time.monotonic()
        if connection.is_reusable():
            self._next = Future()
            self._next.set_result(connection)
        else:
            connection.close()


def _is_fresh(opening: Future[Connection]) -> bool:
    return opening.exception() is None and time.monotonic() - opening.result().used_at < FRESH_S


def _close_when_open(opening: Future[Connection]) -> None:
    def close(done: Future[Connection]) -> None:
        if done.exception() is None:
            done.result().close()

    opening.add_done_callback(close)
