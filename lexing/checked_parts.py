"""States of the DFA inside a lexeme where more counts than the state, and where nothing changes."""

from __future__ import annotations

from fimlsp.lexing.automata.dfa import Dfa


class Loops(dict[int, bytes]):
    """The bytes that lead from a state to itself, found when they are asked for; none for *spelt* states."""

    __slots__ = ("_rows", "_spelt")

    def __init__(self, dfa: Dfa, spelt: frozenset[int]) -> None:
        super().__init__()
        self._rows = dfa.rows
        self._spelt = spelt

    def __missing__(self, state: int) -> bytes:
        row = () if state in self._spelt else self._rows[state]
        found = self[state] = bytes(byte for byte, following in enumerate(row) if following == state)
        return found


def naming_states(dfa: Dfa) -> frozenset[int]:
    r"""The states inside the braces of `\N{...}`."""
    openings = [(start, b"") for mode, start in dfa.starts.items() if ":" in mode]
    openings += [(dfa.starts["code"], quote) for quote in (b"'", b'"', b"'''", b'"""')]
    found = {dfa.run(start, quote + rb"\N{") for start, quote in openings if dfa.run(start, quote + rb"\N")}
    found.discard(0)
    for state in (waiting := list(found)):
        for byte, following in enumerate(dfa.rows[state]):
            if following and byte != ord("}") and following not in found:
                found.add(following)
                waiting.append(following)
    return frozenset(found)


def counting_states(dfa: Dfa) -> frozenset[int]:
    """The states inside a decimal integer that is not zero."""
    digits = [dfa.run(dfa.starts[mode], b"1") for mode in ("code", "field", "nested")]
    return frozenset((*digits, *(dfa.run(state, b"_") for state in digits)))
