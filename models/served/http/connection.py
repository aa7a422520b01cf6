"""One HTTP/1.1 connection to a model server, which can be given up at any moment.

The protocol is h11's; the socket is ours, so that waiting ends as soon as the caller has lost interest, and
closing it ends the server's work. Redirects are not followed, and the environment's proxies not used.
Certificates are checked with the system's authorities.
"""

from __future__ import annotations

import socket
import ssl
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import h11

from fimlsp.lexing.interruption import Interrupted
from fimlsp.models.served.http.address import Address
from fimlsp.models.served.http.failures import GoneError, ServerError, nonsense

CONNECT_S = 5.0
POLL_S = 0.02
"""How long a caller that has lost interest may have to wait."""

CHUNK = 1 << 16
HEAD_MAX = 1 << 16


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait: until *should_stop*, and in all for *seconds* from *since*."""

    should_stop: Callable[[], bool]
    seconds: float
    since: float

    @classmethod
    def of(cls, should_stop: Callable[[], bool], seconds: float) -> Patience:
        """Patience that begins now."""
        return cls(should_stop, seconds, time.monotonic())

    def check(self, address: Address) -> None:
        """Raise if it has ended.

        Raises:
            Interrupted: the caller has lost interest.
            ServerError: it took too long.
        """
        if self.should_stop():
            raise Interrupted
        if time.monotonic() > self.since + self.seconds:
            raise ServerError(
                f"The server at {address} has not answered for {self.seconds:g} s; look what else it does, "
                f"or use a smaller model."
            )


class Connection:
    """A connection to *address* over *socket*, for one request at a time."""

    def __init__(self, address: Address, connected: socket.socket) -> None:
        self._address = address
        self._socket = connected
        self._socket.settimeout(POLL_S)
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_MAX)
        self.used_at = time.monotonic()
        # Not __del__: where garbage is a cycle, the socket may go before it, and be warned of as left open.
        weakref.finalize(self, connected.close)

    @classmethod
    def open(cls, address: Address) -> Connection:
        """Connect. Takes up to 5 seconds, and as long as looking up the name.

        Raises:
            ServerError: nobody listens there, or its certificate is not trusted.
        """
        try:
            connected = socket.create_connection((address.host, address.port), CONNECT_S)
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except (OSError, UnicodeError) as error:
            raise _gone(address, error) from error
        return cls(address, _encrypted(connected, address) if address.is_encrypted else connected)

    def request(
        self, method: str, path: str, headers: dict[str, str], body: bytes, patience: Patience
    ) -> int:
        """Send a request and wait for the head of its answer; the status.

        Raises:
            ServerError: the server has gone, or answers no HTTP.
            Interrupted: the caller has lost interest.
        """
        target = f"{self._address.path}{path}"
        everything = [("Host", self._address.authority), *headers.items(), ("Content-Length", str(len(body)))]
        head = self._http.send(h11.Request(method=method, target=target, headers=everything))
        data = self._http.send(h11.Data(data=body)) if body else b""
        self._send_all((head or b"") + (data or b"") + (self._http.send(h11.EndOfMessage()) or b""), patience)
        while not isinstance(event := self._next_event(patience), h11.Response):
            if not isinstance(event, h11.InformationalResponse):
                raise _gone(self._address, "it ended the connection")
        return event.status_code

    def parts(self, patience: Patience) -> Iterator[bytes]:
        """The body of the answer as it comes.

        Raises:
            ServerError: the server has gone, or answers no HTTP.
            Interrupted: the caller has lost interest.
        """
        while isinstance(event := self._next_event(patience), h11.Data):
            yield bytes(event.data)
        if not isinstance(event, h11.EndOfMessage):
            raise _gone(self._address, "it ended the connection")

    def is_reusable(self) -> bool:
        """Whether another request may follow; the last answer must have been read to its end."""
        try:
            self._http.start_next_cycle()
        except h11.LocalProtocolError:
            return False
        self.used_at = time.monotonic()
        return True

    def close(self) -> None:
        """End it, and with it what the server does for it."""
        self._socket.close()

    def _next_event(self, patience: Patience) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(self._receive(patience))
        except h11.RemoteProtocolError as error:
            if "closed" in str(error):
                raise _gone(self._address, "it ended the connection in the middle of an answer") from error
            if self._http.trailing_data == (b"", True):
                raise _gone(self._address, "it ended the connection") from error
            raise nonsense(self._address, "no HTTP") from error
        return event

    def _receive(self, patience: Patience) -> bytes:
        while True:
            patience.check(self._address)
            try:
                return self._socket.recv(CHUNK)
            except TimeoutError:
                continue
            except OSError as error:
                raise _gone(self._address, error) from error

    def _send_all(self, data: bytes, patience: Patience) -> None:
        rest = memoryview(data)
        while rest:
            patience.check(self._address)
            try:
                rest = rest[self._socket.send(rest) :]
            except TimeoutError:
                continue
            except OSError as error:
                raise _gone(self._address, error) from error


def _encrypted(connected: socket.socket, address: Address) -> ssl.SSLSocket:
    try:
        return _trusted().wrap_socket(connected, server_hostname=address.host)
    except ssl.SSLCertVerificationError as error:
        raise ServerError(
            f"The certificate of {address} is not trusted ({error.verify_message}); name the file of its "
            f"authority in the environment variable SSL_CERT_FILE."
        ) from error
    except (ssl.SSLError, TimeoutError) as error:  # some wait for the rest of what they take for plain HTTP
        reason = getattr(error, "reason", None) or "no answer"
        raise ServerError(f"{address} does not speak https ({reason}); write http://.") from error
    except OSError as error:
        raise _gone(address, error) from error


@cache
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()


def _gone(address: Address, why: object) -> GoneError:
    reason = getattr(why, "strerror", None) or str(why)
    return GoneError(f"No model server answers at {address} ({reason}); start it, or choose another model.")
