"""Judges given middles, in a form that other programs can compare."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter

from fimlsp.quotient.engine import EditedDocument, Engine
from fimlsp.quotient.states.protocol import State


def verify_case(engine: Engine, case: Mapping[str, object]) -> dict[str, object]:
    """The verdict on *case*, which has the texts `left`, `middle` and `right`.

    Its fields: `connectable`, `complete`, `viable_bytes`, `shortest` (None if not connectable), `relaxed`
    (what would be assumed to connect them, each with `start`, `end` in bytes of both texts, and the `text`
    that is read instead; None if connectable), `ignored` (what is wrong with one side alone, whatever the
    middle, and so does not count where a completion is asked for, each with `start`, `end` and the `message`;
    None if connectable), `setup_ms` (milliseconds for both contexts and their
    connection), `feed_ms` (milliseconds for the middle alone). `shortest` is text, so it completes the viable
    bytes up to their last whole character.

    Raises:
        ValueError: A field is missing, is no text, or cannot be encoded; the message names it. Or the texts
            are not accepted, and something in them is beyond what is read (see `Language.not_read`).
    """
    left, middle, right = (_field(case, name) for name in ("left", "middle", "right"))
    started = perf_counter()
    document = engine.document(left + right)
    start = document.middle(len(left), len(left), relax=False).start
    ready = perf_counter()
    whole = start and start.feed(middle)
    viable = len(middle) if whole else longest_viable(start, middle) if start else 0
    fed = perf_counter()
    if (whole is None or not whole.complete) and (beyond := engine.language.not_read(left + middle + right)):
        raise ValueError(beyond)
    return {
        "connectable": start is not None,
        "complete": whole is not None and whole.complete,
        "viable_bytes": viable,
        "shortest": start and shortest_text(start, middle[:viable]),
        "relaxed": _assumed(document, len(left)) if start is None else None,
        "ignored": _ignored(document, len(left)) if start is None else None,
        "setup_ms": 1000 * (ready - started),
        "feed_ms": 1000 * (fed - ready),
    }


def _assumed(document: EditedDocument, cursor: int) -> list[dict[str, object]]:
    """What is assumed in the broken *document* for a middle at *cursor*."""
    return [
        {"start": mend.start, "end": mend.end, "text": mend.replacement.decode("utf-8", "replace")}
        for mend in document.middle(cursor, cursor).relaxed
    ]


def _ignored(document: EditedDocument, cursor: int) -> list[dict[str, object]]:
    """What is wrong with one side of the *document* alone and does not count for a middle at *cursor*."""
    found = document.middle(cursor, cursor)
    if found.start is not None:
        _ = found.start.shortest_completion  # it meets what is wrong
    return [
        {"start": fault.spans[0][0], "end": fault.spans[-1][1], "message": fault.message}
        for fault in found.ignored
    ]


def longest_viable(start: State, middle: bytes) -> int:
    """The number of viable bytes of the dead *middle*, by bisection. Feeds at most twice its length."""
    state, low, high = start, 0, len(middle)
    while high - low > 1:
        half = (low + high) // 2
        following = state.feed(middle[low:half])
        if following is None:
            high = half
        else:
            state, low = following, half
    return low


def shortest_text(start: State, viable: bytes) -> str:
    """The shortest completion of *viable*, without an unfinished character at its end."""
    whole = viable.decode("utf-8", "ignore").encode()
    state = start.feed(whole)
    assert state is not None, "a prefix of a viable middle is viable"
    return state.shortest_completion.decode()


def _field(case: Mapping[str, object], name: str) -> bytes:
    value = case.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} holds a lone surrogate, which is not text") from None
