"""The errors of model servers, each a sentence with the remedy."""

from __future__ import annotations

from fimlsp.models.errors import ModelError


class ServerError(ModelError):
    """A server cannot be used now; it may be again later."""


class GoneError(ServerError):
    """Nobody answers at the address, or not any more."""


class RefusedError(ServerError):
    """The server refuses a request, with an HTTP *status*."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def nonsense(server: object, what: str) -> ServerError:
    """The server answers, but not as a model server would; *what* says how that is seen, on any lines."""
    seen = " ".join(what.split()) or "nothing that can be read"
    return ServerError(
        f"The server at {server} answers nonsense ({seen}); look whether it is the model server, and start "
        f"it again."
    )


def refused(server: object, status: int, message: str, key_variable: str | None) -> RefusedError:
    """The server answers with the HTTP *status*, no good one, and a *message* of its own."""
    told = f"{status} {message}".strip()
    return RefusedError(f"The server at {server} {_why_refused(status, told, key_variable)}", status)


def _why_refused(status: int, told: str, key_variable: str | None) -> str:
    if status in (401, 403):
        return f"wants another key ({told}); put it into {key_variable or 'what apiKeyVariable names'}."
    if 300 <= status < 400:
        return f"sends us elsewhere ({told}), where we do not go; name that address."
    if status == 404:
        return f"has nothing there ({told}); look at the address, the name behind its #, and the option api."
    if status in (429, 503):
        return f"is busy or not ready ({told}); it is tried again, or give it more slots."
    if "context size" in told.lower():
        return f"has no room left ({told}); start it with a larger -c, or with fewer slots."
    return f"failed ({told}); its log says why."
