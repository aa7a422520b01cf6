"""Addresses of model servers as users write them: `http://127.0.0.1:8012`, `https://host/path#model`."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, unquote, urlsplit

from fimlsp.models.errors import ModelError

PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a model server.

    Attributes:
        is_encrypted: True for https.
        host: host name or IP address.
        port: TCP port.
        path: prefix of all paths of the interface; usually empty.
        model: name of the model on that server; empty: the only one.
    """

    is_encrypted: bool
    host: str
    port: int
    path: str = ""
    model: str = ""

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse the address *text*.

        Raises:
            ModelError: *text* is malformed or contains a password.
        """
        parts, port = _split(text)
        if not parts.hostname or parts.scheme not in PORTS or parts.query:
            raise _malformed(text)
        if parts.username is not None or parts.password is not None:
            raise ModelError(
                "Cannot use an address with a user name or password: addresses are shown and logged. "
                "Put the key into the environment variable named by apiKeyVariable."
            )
        path = parts.path.rstrip("/").removesuffix("/v1")
        is_encrypted = parts.scheme == "https"
        return cls(is_encrypted, parts.hostname, port or PORTS[parts.scheme], path, unquote(parts.fragment))

    @property
    def is_loopback(self) -> bool:
        """True if the server is on this machine."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def authority(self) -> str:
        """Host and port, as in HTTP's Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def __str__(self) -> str:
        """Host, port and path, as shown in messages."""
        return f"{self.authority}{self.path}"


def is_address(text: str) -> bool:
    """True if *text* is meant as the address of a server."""
    return text.lower().startswith(("http://", "https://"))


def is_remote(text: str) -> bool:
    """True if *text* is meant as the address of a server that may be on another machine."""
    try:
        return is_address(text) and not Address.parse(text).is_loopback
    except ModelError:
        return True


def _split(text: str) -> tuple[SplitResult, int | None]:
    if not text.isprintable() or " " in text:
        raise _malformed(text)
    try:
        parts = urlsplit(text)
        return parts, parts.port
    except ValueError as error:
        raise _malformed(text) from error


def _malformed(text: str) -> ModelError:
    return ModelError(
        f"Cannot use {text!r} as the address of a model server. Write it as http://127.0.0.1:8012."
    )
