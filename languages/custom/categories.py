r"""Terminals of Lark that have classes by properties of Unicode, such as `\p{Lu}`.

Lark reads all terminals of such a grammar by the package `regex`, whose `\w` and `\s` differ from Python's.
Here each class becomes the list of its characters, for Python's parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import cast

from lark.lexer import PatternRE, TerminalDef
from lark.utils import get_regexp_width

from fimlsp.languages.custom.grammar_files import GrammarFiles
from fimlsp.languages.custom.patterns import WIDEST
from fimlsp.languages.custom.unicode_classes import ESCAPE, UnknownClassError, with_ranges
from fimlsp.quotient.grammar.cfg import GrammarError

_KNOWN_TO_LARK = re.compile(r"\\p{[A-Za-z_]+}")


class RangedPattern(PatternRE):
    """An expression with its classes as ranges; its text and its widths are those that Lark compares."""

    def to_regexp(self) -> str:
        """The expression for Python's `re`."""
        return self._flagged(with_ranges(self.value))

    def _flagged(self, pattern: str) -> str:
        return cast("str", self._get_flags(pattern))  # type: ignore[no-untyped-call]  # Lark gives it no types

    def _get_width(self) -> tuple[int, int]:
        try:
            least, most = get_regexp_width(_KNOWN_TO_LARK.sub("A", self._flagged(self.value)))
        except ValueError:  # only `regex` can read it
            least, most = min(1, get_regexp_width(self.to_regexp())[0]), WIDEST
        return least, most


def with_ranged(terminals: Iterable[TerminalDef], files: GrammarFiles) -> list[TerminalDef]:
    """*terminals*, with their classes as ranges if one of them has a property.

    Raises:
        GrammarError: there is no table of such a property.
    """
    found = [*terminals]
    if not any(escape[1] in "pP" for one in found for escape in _escapes(one)):
        return found
    return [_ranged(one, files) if isinstance(one.pattern, PatternRE) else one for one in found]


def _ranged(terminal: TerminalDef, files: GrammarFiles) -> TerminalDef:
    pattern = RangedPattern(terminal.pattern.value, terminal.pattern.flags)
    try:
        pattern.to_regexp()
    except UnknownClassError as error:
        where = f"{terminal.name} ({files.location(terminal.name)})"
        raise GrammarError(f"The terminal {where} {error}; list its characters.") from error
    return TerminalDef(terminal.name, pattern, terminal.priority)


def _escapes(terminal: TerminalDef) -> list[str]:
    is_expression = isinstance(terminal.pattern, PatternRE)
    return ESCAPE.findall(terminal.pattern.value) if is_expression else []
