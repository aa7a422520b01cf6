"""What may be written at a cursor, also where the script is broken in other lines."""

from __future__ import annotations

from collections.abc import Iterator

from fimlsp.languages.slua.both_sides.middle import MiddleState, middle_between
from fimlsp.languages.slua.incremental.parser import ScriptState
from fimlsp.languages.slua.recovery.sides import LeftReading, RightReading
from fimlsp.quotient.states.protocol import Replacement

SOME_PLACES, FEW_PLACES = 80, 20
"""So many are searched for what connects to a text that lacks names, or seems to be broken."""

Replacements = tuple[Replacement, ...]


def mended_middle(
    start: ScriptState, left: bytes, right: bytes, *, may_escape: bool
) -> tuple[MiddleState | None, Replacements]:
    """The state between *left* and *right*, and what was changed where nothing connects them as they are.

    Nothing is changed in the cursor's line. Changes cost about a millisecond for each lexeme around them.
    """
    above: Replacements = ()
    script = start.feed(left)
    if script is None:
        reading = LeftReading(left, start)
        script = start.feed(replaced(left, reading.edits)) if reading.read() else None
        above = reading.edits
    if script is None:
        return None, ()
    for below, places in _readings(right, script):
        state = closest_middle(script, replaced(right, below), may_escape=may_escape, places=places)
        if state is not None:
            return state, (*above, *((len(left) + a, len(left) + b, new) for a, b, new in below))
    return None, ()


def closest_middle(
    script: ScriptState | None, right: bytes, *, may_escape: bool, places: int | None = None
) -> MiddleState | None:
    """The state between *script* and *right*, one that closes nothing if it may not, and there is any."""
    state = None if may_escape else middle_between(script, right, may_escape=False, places=places)
    return state or middle_between(script, right, places=places)


def _readings(right: bytes, script: ScriptState) -> Iterator[tuple[Replacements, int | None]]:
    """Ways to read *right* behind *script*, as it is first, each with how many places are worth a search."""
    reading = RightReading(right, script, may_declare=True)
    is_right = reading.read() and not reading.replacements
    yield (), None if is_right and not reading.lacks_names else SOME_PLACES if is_right else FEW_PLACES
    if reading.is_read and not is_right:
        yield reading.replacements, SOME_PLACES
    if reading.lacks_names:
        reading = RightReading(right, script, may_declare=False)
        if reading.read():
            yield reading.replacements, SOME_PLACES
    if reading.has_line:
        yield reading.ending_below, None


def replaced(data: bytes, replacements: Replacements) -> bytes:
    """*data* with *replacements*, which are in its order."""
    parts, at = list[bytes](), 0
    for start, end, new in replacements:
        parts += [data[at:start], new]
        at = end
    return b"".join((*parts, data[at:]))
