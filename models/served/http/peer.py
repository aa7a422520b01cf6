"""The other end of a model server's HTTP interface: JSON there, JSON or lines of it back, all bounded."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import closing, contextmanager, suppress
from threading import Thread
from typing import Any

from fimlsp.lexing.interruption import Interrupted
from fimlsp.models.served.http.address import Address
from fimlsp.models.served.http.connection import POLL_S, Connection, Patience
from fimlsp.models.served.http.failures import GoneError, ServerError, nonsense, refused

ANSWER_S = 10.0
RUN_S = 60.0
FRESH_S = 2.0
"""A connection used this recently is taken for alive; servers end those that nobody uses."""

ANSWER_MAX = 1 << 25
LINE_MAX = 1 << 20
"""Bytes of one line of a stream, which tells of one token; 64 candidates take 6,000."""

ERROR_SHOWN = 160


class Peer:
    """Asks the server at *address*; *key* and the name of the *variable* it came from, if there is one.

    Only one question is under way at a time.
    """

    def __init__(self, address: Address, key: str | None = None, variable: str | None = None) -> None:
        self.address = address
        self._key = key
        self._variable = variable
        self._headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._next: Future[Connection] | None = None
        self._should_stop: Callable[[], bool] = lambda: False
        self.answered_at = 0.0

    @contextmanager
    def attended(self, should_stop: Callable[[], bool]) -> Iterator[None]:
        """While this lasts, waiting ends with `Interrupted` as soon as *should_stop* says so.

        At its end no connection is left open, since some servers have a thread for each.
        """
        before, self._should_stop = self._should_stop, should_stop
        try:
            yield
        finally:
            self._should_stop = before
            self.close()

    def ask(self, path: str, body: Mapping[str, object] | None = None) -> Any:  # noqa: ANN401 - any JSON
        """The answer of *path*, whole; with a *body* it is a POST.

        Raises:
            ServerError: the server does not answer, refuses, or answers no JSON.
            Interrupted: the caller has lost interest.
        """
        patience = Patience.of(self._should_stop, ANSWER_S)
        connection, data = self._answering(path, body, patience), bytearray()
        try:
            for part in connection.parts(patience):
                data += part
                if len(data) > ANSWER_MAX:
                    raise nonsense(self.address, f"more than {ANSWER_MAX >> 20} MB")
        except BaseException:
            connection.close()
            raise
        self._keep(connection)
        return self.read_json(bytes(data))

    def stream(self, path: str, body: Mapping[str, object]) -> Generator[bytes, None, None]:
        """The lines of the answer of *path* as they come; to close the iterator ends the server's work.

        Raises:
            ServerError: the server does not answer, refuses, or sends lines that are too long.
            Interrupted: the caller has lost interest.
        """
        patience = Patience.of(self._should_stop, RUN_S)
        with closing(self._answering(path, body, patience)) as connection:
            if not self.address.is_loopback:
                self._next = self._open_next()
            rest = b""
            for part in connection.parts(patience):
                *lines, rest = (rest + part).split(b"\n")
                yield from filter(None, map(bytes.strip, lines))
                if len(rest) > LINE_MAX:
                    raise nonsense(self.address, f"more than {LINE_MAX >> 20} MB for one token")
            if rest.strip():
                yield rest.strip()
            self.answered_at = time.monotonic()

    def read_json(self, data: bytes) -> Any:  # noqa: ANN401 - any JSON
        """What *data* says.

        Raises:
            ServerError: it is no JSON.
        """
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            what = "a page of HTML" if data.lstrip()[:1] == b"<" else "no JSON"
            raise nonsense(self.address, what) from error

    def close(self) -> None:
        """Give up the connection that waits for the next question."""
        if self._next is not None:
            _close_when_open(self._next)
            self._next = None

    def _answering(self, path: str, body: Mapping[str, object] | None, patience: Patience) -> Connection:
        """A connection on which the server begins to answer; one that waits may be dead without a sign."""
        waiting, self._next = self._next, None
        if waiting is not None and waiting.done() and not _is_fresh(waiting):
            _close_when_open(waiting)
        elif waiting is not None:
            with suppress(GoneError):
                return self._request(self._wait_for(waiting, patience), path, body, patience)
        return self._request(self._wait_for(self._open_next(), patience), path, body, patience)

    def _request(
        self, connection: Connection, path: str, body: Mapping[str, object] | None, patience: Patience
    ) -> Connection:
        data = b"" if body is None else json.dumps(body).encode()
        method = "GET" if body is None else "POST"
        try:
            status = connection.request(method, path, self._headers, data, patience)
            if status != 200:
                message = self._message(connection, patience)
                raise refused(self.address, status, message, self._variable)
        except BaseException:
            connection.close()
            raise
        return connection

    def _message(self, connection: Connection, patience: Patience) -> str:
        """What the server says about a failure; servers write it in several ways."""
        data = bytearray()
        for part in connection.parts(patience):
            data += part
            if len(data) > LINE_MAX:
                return ""
        try:
            told = json.loads(data)
        except (ValueError, RecursionError):
            return ""
        for name in ("error", "message", "detail"):
            if isinstance(told, dict) and name in told:
                told = told[name]
        return " ".join(self._without_key(str(told)).split())[:ERROR_SHOWN]

    def _without_key(self, text: str) -> str:
        """*text*, which is shown and logged, without the key; some servers repeat it."""
        return text.replace(self._key, "…") if self._key else text

    def _open_next(self) -> Future[Connection]:
        """A connection that is opened meanwhile, in a thread, as looking up a name cannot be interrupted."""
        opening: Future[Connection] = Future()

        def work() -> None:
            try:
                opening.set_result(Connection.open(self.address))
            except BaseException as error:
                opening.set_exception(error)

        Thread(target=work, daemon=True).start()
        return opening

    def _wait_for(self, opening: Future[Connection], patience: Patience) -> Connection:
        try:
            while wait([opening], POLL_S).not_done:
                patience.check(self.address)
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
