"""The bracket that a line lacks, or has once too often, by its grammar.

A line such as `if a && b) {` cannot be read where it stands. The brackets that are open before it show which
one of its own has no partner. The partner goes to the nearest place at which the line can be read then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.lexemes import Lexeme
from fimlsp.quotient.recovery.repaired_text import Edit

_MOST_PLACES = 12


class MendedLine(NamedTuple):
    """The lexemes of a line after an `edit`."""

    edit: Edit
    read: tuple[Lexeme, ...]


def mended_line(
    tables: LanguageTables, chart: EarleySet, read: Sequence[Lexeme], opened: Sequence[str]
) -> MendedLine | None:
    """The line of the lexemes *read* with one bracket more or less, so that it can be read after *chart*.

    The brackets and blocks *opened* are open before it; an empty one may be of any kind. None if there is no
    such line. O(`_MOST_PLACES` readings of the line).
    """
    for mended in _candidates(tables, read, opened):
        kinds = [lexeme.kind for lexeme in mended.read]
        if tables.forward.read(chart, tables.terminals(kinds)) is not None:
            return mended
    return None


def _candidates(
    tables: LanguageTables, read: Sequence[Lexeme], before: Sequence[str]
) -> Iterator[MendedLine]:
    """The line without the first closer that fits nothing, or with its opener, else with another closer."""
    kinds, closers = tables.lexical.kinds, tables.language.closers
    opened = [(name, -1) for name in before]
    for index, name in enumerate(kinds[lexeme.kind] for lexeme in read):
        if name in tables.language.closing:
            top, place = opened.pop() if opened else ("", -1)
            is_unknown = not top and bool(opened or before)
            if place >= 0 and name not in closers[top]:
                yield from _added(tables, read, closers[top][0], range(index, place, -1))
            if index and not is_unknown and name not in closers.get(top, ()):
                yield from _without_partner(tables, read, index)
                return
        if name in closers:
            opened.append((name, index))
    for name, index in reversed(opened):
        if index >= 0:
            yield from _added(tables, read, closers[name][0], range(len(read), index, -1))


def _without_partner(tables: LanguageTables, read: Sequence[Lexeme], index: int) -> Iterator[MendedLine]:
    """The line without the closer at *index*, and with an opener for it; first the former if it is double."""
    name = tables.lexical.kinds[read[index].kind]
    edit = read[index].start, read[index].end, b""
    without = MendedLine(edit, (*read[:index], *read[index + 1 :]))
    is_double = read[index - 1].kind == read[index].kind
    if is_double:
        yield without
    for opener, closers in tables.language.closers.items():
        if name in closers:
            yield from _added(tables, read, opener, range(index - 1, 0, -1))
    if not is_double:
        yield without


def _added(
    tables: LanguageTables, read: Sequence[Lexeme], name: str, places: Sequence[int]
) -> Iterator[MendedLine]:
    """The line with a lexeme of the kind *name* at each of the *places*."""
    lexical = tables.lexical
    kind = lexical.kinds.index(name)
    text = lexical.shortest_words.suffix(lexical.dfa.starts[lexical.start.mode], kind)
    for place in places[:_MOST_PLACES] if text is not None else ():
        start = read[place - 1].end
        edit = start, start, b" " + (text or b"") + b" "
        yield MendedLine(edit, (*read[:place], Lexeme(kind, start, start), *read[place:]))
