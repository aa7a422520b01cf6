"""Texts of random derivations of the engine's own grammar."""

from __future__ import annotations

import random

from fimlsp.quotient.grammar.cfg import Grammar
from tests.quotient.derivations import Sampler

_WITNESSES = {
    "NAME": ("a", "b1", "é", "_x", "print", "type"),
    "REAL": ("1", "0", "1.5", "0xf", "1_0", "1e3", ".5", "0.", "00"),
    "IMAGINARY": ("1j", "0J", "1.5j"),
    "STRING": ("'s'", '"s"', "u's'", "r'\\'", "'''s\n'''", "'\\x41'", '"\\N{DIGIT ONE}"', "''"),
    "BYTES": ("b's'", 'B"s"', "rb'''s'''", "b'\\xff'"),
    "NEWLINE": ("\n", "\n", "\n", "\r\n", "  # c\n", "\n\n", "\r"),
    "FSTRING_TEXT": ("x", "{{", " ", "}}", "é", "x"),
    "FIELD_OPEN": ("{", "{ "),
    "FIELD_CLOSE": ("}", " }"),
    "FIELD_EQUAL": ("=", " = "),
    "FIELD_CONVERSION": ("!r", "!s", "!a"),
    "FIELD_COLON": (":",),
    "FSTRING_MIDDLE": ("x",),
}
_PREFIXES = {"FSTRING_START": ("f", "F", "rf", "fR"), "TSTRING_START": ("t", "T", "rt", "tR")}
_QUOTES = ("'''", '"""', "'", '"')
_TIGHT = frozenset(
    ("FSTRING_TEXT", "FSTRING_END", "FIELD_CLOSE", "FIELD_EQUAL", "FIELD_CONVERSION", "FIELD_COLON")
)
_TIGHT_BEHIND = frozenset(("FIELD_OPEN", "FIELD_COLON", *_PREFIXES))
_MARGINS = (" ", "  ", "    ", "\t")
_SPACES = ("", "", " ", " ", "  ", "\t", "\\\n")
_BUDGETS = (0, 5, 10, 20, 40)


class Texts:
    """Draws derivations and writes them with random lexemes and white space; not every text is valid.

    The names are some of *names* if these are given.
    """

    def __init__(self, grammar: Grammar, seed: str, names: tuple[str, ...] = ()) -> None:
        self._rng = random.Random(seed)
        self._witnesses = {**_WITNESSES, "NAME": names} if names else _WITNESSES
        self._sampler = Sampler(grammar, self._rng.randrange(1 << 32))

    def draw(self) -> bytes:
        """One text."""
        return "".join(self._pieces(self._sampler.sentence(self._rng.choice(_BUDGETS)))).encode()

    def _pieces(self, names: list[str]) -> list[str]:
        rng = self._rng
        margins: list[str] = []
        quotes: list[str] = []
        pieces: list[str] = []
        for before, name in zip(["NEWLINE", *names], names, strict=False):
            if name == "INDENT":
                margins.append(rng.choice(_MARGINS) if rng.random() < 0.2 else "    ")
            elif name == "DEDENT":
                margins.pop()
            else:
                pieces.append(self._space(before, name, pieces, margins))
                pieces.append(self._lexeme(name, quotes))
        return pieces

    def _space(self, before: str, name: str, pieces: list[str], margins: list[str]) -> str:
        if before in ("NEWLINE", "INDENT", "DEDENT"):
            return "".join(margins)
        if name in _TIGHT or name == "NEWLINE" or before in _TIGHT_BEHIND:
            return ""
        if _is_word(pieces[-1][-1:]) and _is_word(name[0]):
            return " "
        return self._rng.choice(_SPACES) if self._rng.random() < 0.3 else " "

    def _lexeme(self, name: str, quotes: list[str]) -> str:
        if name in _PREFIXES:
            quotes.append(_QUOTES[len(quotes) % len(_QUOTES)])
            return self._rng.choice(_PREFIXES[name]) + quotes[-1]
        if name.startswith("FSTRING_END"):
            return quotes.pop()
        return self._rng.choice(self._witnesses[name]) if name in self._witnesses else name


def _is_word(character: str) -> bool:
    return character.isalnum() or character in "_'\""
