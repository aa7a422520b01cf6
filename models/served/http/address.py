"""Where a model server listens, as users write it: `http://127.0.0.1:8012`, `https://host/path#model`."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, unquote, urlsplit

from fimlsp.models.errors import ModelError

PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Address:
    """A server.

    Attributes:
        is_encrypted: whether it speaks https.
        host: its name or number.
        port: its port.
        path: what precedes the paths of its interface; mostly empty.
        model: which of its models is meant; empty: its only one.
    """

    is_encrypted: bool
    host: str
    port: int
    path: str = ""
    model: str = ""

    @classmethod
    def parse(cls, text: str) -> Address:
        """The address that *text* writes.

        Raises:
            ModelError: it is none, or holds a password.
        """
        parts, port = _split(text)
        if not parts.hostname or parts.scheme not in PORTS or parts.query:
            raise _not_an_address(text)
        if parts.username is not None or parts.password is not None:
            raise ModelError(
                "The address of a model server may hold no name and no password, as it is shown and logged; "
                "put the key into the environment variable that apiKeyVariable names."
            )
        path = parts.path.rstrip("/").removesuffix("/v1")
        is_encrypted = parts.scheme == "https"
        return cls(is_encrypted, parts.hostname, port or PORTS[parts.scheme], path, unquote(parts.fragment))

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def authority(self) -> str:
        """Host and port, as HTTP writes them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def __str__(self) -> str:
        """What users are told: enough to know which one is meant."""
        return f"{self.authority}{self.path}"


def is_address(text: str) -> bool:
    """Whether *text* is meant as the address of a server."""
    return text.lower().startswith(("http://", "https://"))


def is_elsewhere(text: str) -> bool:
    """Whether *text* is meant as the address of a server that is not known to be on this machine."""
    try:
        return is_address(text) and not Address.parse(text).is_loopback
    except ModelError:
        return True


def _split(text: str) -> tuple[SplitResult, int | None]:
    if not text.isprintable() or " " in text:
        raise _not_an_address(text)
    try:
        parts = urlsplit(text)
        return parts, parts.port
    except ValueError as error:
        raise _not_an_address(text) from error


def _not_an_address(text: str) -> ModelError:
    return ModelError(f"{text!r} is no address of a model server; write it as http://127.0.0.1:8012.")
