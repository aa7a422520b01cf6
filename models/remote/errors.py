"""Errors of model servers, and checks of the values in their answers that raise them."""

from __future__ import annotations

from math import isfinite
from typing import Any

from fimlsp.models.errors import ModelError
from fimlsp.models.remote.address import Address
from fimlsp.models.server_kinds import UNKNOWN, ServerKind

ROUNDING = 1e-3
"""Log-probabilities of at most this count as 0; larger ones are invalid."""

TOKENS_MAX = 1 << 22
TOO_LONG = ("context size", "context length", "context window", "maximum context", "max_seq_len")
"""Words of servers whose context has no room for a prompt."""

MESSAGE_SHOWN = 160


class ServerError(ModelError):
    """A server cannot be used now; a later attempt may succeed."""


class GoneError(ServerError):
    """No server listens at the address, or the server closed the connection."""


class ManyModelsError(ServerError):
    """A server answers that has several models, and the address names none of them."""


class RefusedError(ServerError):
    """The server rejected a request with the HTTP *status*."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def invalid_answer(server: object, problem: str) -> ServerError:
    """The error for an answer that no model server would give; *problem* may have line breaks."""
    shown = " ".join(problem.split()) or "unreadable data"
    return ServerError(
        f"Cannot use the answer of the server at {server}: {shown}. "
        f"Check that the address is that of a model server, and restart the server."
    )


def refused(
    server: object, status: int, message: str, key_variable: str | None, kind: ServerKind = UNKNOWN
) -> RefusedError:
    """The error for an answer with the HTTP *status* (not 200) and the server's own *message*."""
    answer = f"{status} {message}".strip()
    reason, remedy = _reason_and_remedy(status, answer, key_variable, kind)
    return RefusedError(f"Cannot use the server at {server}: {reason} ({answer}). {remedy}.", status)


def _reason_and_remedy(
    status: int, answer: str, key_variable: str | None, kind: ServerKind
) -> tuple[str, str]:
    variable = key_variable or "the environment variable named by apiKeyVariable"
    is_too_long = any(words in answer.lower() for words in TOO_LONG)
    cases = (
        (status in (401, 403), "it rejected the key", f"Put a valid key into {variable}"),
        (300 <= status < 400, "it redirects, and redirects are not followed", "Give the address it names"),
        (status == 404, "not found", kind.absent),
        (status in (429, 503), "it is busy or not ready", kind.less_busy),
        (is_too_long, "its context is full", kind.longer_context),
    )
    for applies, reason, remedy in cases:
        if applies:
            return reason, remedy
    return "the request failed", "See the server's log"


def token_id(address: Address, value: Any, limit: int = TOKENS_MAX) -> int:  # noqa: ANN401 - any JSON
    """*value* as a token id below *limit*.

    Raises:
        ServerError: *value* is not a token id.
    """
    if type(value) is not int or not 0 <= value < limit:
        raise invalid_answer(address, f"token id {str(value)[:20]}")
    return value


def log_probability(address: Address, value: Any) -> float:  # noqa: ANN401 - any JSON
    """*value* as a log-probability (nats).

    Raises:
        ServerError: *value* is not a log-probability.
    """
    if type(value) not in (int, float) or not isfinite(value) or value > ROUNDING:
        raise invalid_answer(address, f"log-probability {str(value)[:20]}")
    return float(value)


def exact_bytes(address: Address, value: Any) -> bytes | None:  # noqa: ANN401 - any JSON
    """The bytes of a token from a list of numbers; None if the list is empty.

    Raises:
        ServerError: *value* is not a list of bytes.
    """
    try:
        return bytes([*value]) or None
    except (TypeError, ValueError) as error:
        raise invalid_answer(address, "token bytes that are not bytes") from error


def stream_error(
    address: Address,
    error: Any,  # noqa: ANN401 - any JSON
    kind: ServerKind = UNKNOWN,
) -> ServerError:
    """The error for an *error* event within a stream of a server of this *kind*; its HTTP status was 200."""
    code, message = (error.get(key) if isinstance(error, dict) else None for key in ("code", "message"))
    if type(code) is not int or not isinstance(message, str):
        return invalid_answer(address, str(error)[:MESSAGE_SHOWN])
    return refused(address, code, " ".join(message.split())[:MESSAGE_SHOWN], None, kind)
