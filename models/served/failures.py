"""What can be wrong with a model server, each as one sentence with the remedy."""

from __future__ import annotations

from fimlsp.models.errors import ModelError


class ServerError(ModelError):
    """A server cannot be used now; it may be again later."""


class GoneError(ServerError):
    """Nobody answers at the address, or not any more."""


def nonsense(server: object, what: str) -> ServerError:
    """The server answers, but not as a model server would; *what* says how that is seen."""
    return ServerError(
        f"The server at {server} answers nonsense ({what}); look whether it is the model server, and start "
        f"it again."
    )


def refused(server: object, status: int, message: str, key_variable: str | None) -> ServerError:
    """The server answers with the HTTP *status*, no good one, and a *message* of its own."""
    told = f"{status} {message}".strip()
    if status in (401, 403):
        where = key_variable or "that apiKeyVariable names"
        return ServerError(f"The server at {server} wants another key ({told}); put it into {where}.")
    if 300 <= status < 400:
        return ServerError(
            f"The server at {server} sends us elsewhere ({told}), where we do not go; name that address."
        )
    if status == 404:
        return ServerError(
            f"The server at {server} has nothing there ({told}); look at the address, the model's name "
            f"behind its #, and the option api."
        )
    if status in (429, 503):
        return ServerError(
            f"The server at {server} is busy or not ready ({told}); it is tried again, or give it more slots."
        )
    return ServerError(f"The server at {server} failed ({told}); its log says why.")
