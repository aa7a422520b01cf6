"""Takes numbers and texts out of a server's answers, and refuses what cannot be meant."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from fimlsp.models.protocols import Candidates
from fimlsp.models.served.http.address import Address
from fimlsp.models.served.http.failures import ServerError, nonsense, refused

SLACK = 1e-3
"""Log-probabilities above zero by no more than this are rounding errors."""

TOKENS_MAX = 1 << 22
MESSAGE_SHOWN = 160


def token_id(address: Address, value: Any, limit: int = TOKENS_MAX) -> int:  # noqa: ANN401 - any JSON
    """The id of a token below *limit*.

    Raises:
        ServerError: *value* is none.
    """
    if type(value) is not int or not 0 <= value < limit:
        raise nonsense(address, f"a token numbered {str(value)[:20]}")
    return value


def failure(address: Address, error: Any) -> ServerError:  # noqa: ANN401 - any JSON
    """What is wrong when an answer that began well, as each stream does, tells an *error*."""
    code, message = (error.get(key) if isinstance(error, dict) else None for key in ("code", "message"))
    if type(code) is not int or not isinstance(message, str):
        return nonsense(address, str(error)[:MESSAGE_SHOWN])
    return refused(address, code, " ".join(message.split())[:MESSAGE_SHOWN], None)


def log_probability(address: Address, value: Any) -> float:  # noqa: ANN401 - any JSON
    """A log-probability.

    Raises:
        ServerError: *value* is none.
    """
    if type(value) not in (int, float) or not isfinite(value) or value > SLACK:
        raise nonsense(address, f"a log-probability of {str(value)[:20]}")
    return float(value)


def exact_bytes(address: Address, value: Any) -> bytes | None:  # noqa: ANN401 - any JSON
    """The bytes of a token, from a list of numbers; None if there are none.

    Raises:
        ServerError: *value* is no such list.
    """
    try:
        return bytes([*value]) or None
    except (TypeError, ValueError) as error:
        raise nonsense(address, "a token's bytes are no bytes") from error


def ranked(shares: Mapping[int, float], stops: frozenset[int]) -> Candidates:
    """Candidates with the log-probabilities *shares*, at least one.

    The end of the middle, where it is not listed, is at most as likely as the last one that is.
    """
    order = sorted(shares, key=lambda token: -shares[token])
    listed = [shares[token] for token in stops if token in shares]
    stop = max(listed, default=shares[order[-1]])
    return Candidates(order, [shares[token] for token in order], stop, stop_is_bound=not listed)
