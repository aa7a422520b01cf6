"""The bracket that a line lacks, or has once too often, by its grammar.

A line such as `if a && b) {` cannot be read where it stands. The brackets that are open before it show which
one of its own has no partner. The partner goes to the nearest place at which the line can be read then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.lexemes import Lexeme
from fimlsp.quotient.recovery.line_charts import shortest_word
from fimlsp.quotient.recovery.repaired_text import Edit

_MOST_PLACES = 12


class MendedLine(NamedTuple):
    """The lexemes of a line after an `edit`."""

    edit: Edit
    read: tuple[Lexeme, ...]


def mended_line(
    tables: LanguageTables,
    chart: EarleySet,
    read: Sequence[Lexeme],
    opened: list[str],
    *,
    is_known: bool,
) -> MendedLine | None:
    """The line of the lexemes *read* with one bracket more or less, so that it can be read after *chart*.

    The brackets and blocks *opened* are open before it; an empty one may be of any kind. Only if *is_known*,
    all text before it is known. None if there is no such line. O(`_MOST_PLACES` readings of the line).
    """
    candidates = chain(_candidates(tables, read, opened), _odd(tables, read, opened) if is_known else ())
    for mended in candidates:
        kinds = [lexeme.kind for lexeme in mended.read]
        if tables.forward.read(chart, tables.terminals(kinds)) is not None:
            return mended
    return None


def may_lack_bracket(tables: LanguageTables, read: Sequence[Lexeme], *, is_known: bool) -> bool:
    """True if the lexemes *read* close something after their start, or leave something open before their end.

    If all text before them *is_known*, also if they close something twice, or are the end of a header.
    """
    is_whole = not any(lexeme.missing for lexeme in read)
    if is_known and is_whole and (_double_closers(tables, read) or _opener_at_end(tables, read) is not None):
        return True
    depth, names, language = 0, [tables.lexical.kinds[lexeme.kind] for lexeme in read], tables.language
    for number, (lexeme, name) in enumerate(zip(read, names, strict=True)):
        if lexeme.missing or (name in language.closing and not depth and number):
            return not lexeme.missing
        depth += (name in language.closers) - (name in language.closing and depth > 0)
    return depth > 1 or (depth == 1 and names[-1] not in language.closers)


def first_closer(tables: LanguageTables, read: Sequence[Lexeme]) -> str | None:
    """The kind of the first closer of the lexemes *read*, after their start, without an opener among them."""
    depth, language = 0, tables.language
    for number, name in enumerate(tables.lexical.kinds[lexeme.kind] for lexeme in read):
        depth -= name in language.closing
        if depth < 0:
            return name if number else None
        depth += name in language.closers
    return None


def left_open(tables: LanguageTables, read: Sequence[Lexeme]) -> list[str]:
    """The openers among the lexemes *read* that nothing of them closes."""
    opened: list[str] = []
    for name in (tables.lexical.kinds[lexeme.kind] for lexeme in read):
        if name in tables.language.closing and opened:
            opened.pop()
        if name in tables.language.closers:
            opened.append(name)
    return opened


def unmatched(tables: LanguageTables, read: Sequence[Lexeme]) -> tuple[int, int]:
    """The numbers of enclosures and blocks that *read* closes without opening them, and leaves open."""
    openers, closing = tables.language.closers, tables.language.closing
    depth = lowest = 0
    for name in (tables.lexical.kinds[lexeme.kind] for lexeme in read):
        depth -= name in closing
        lowest = min(lowest, depth)
        depth += name in openers
    return -lowest, depth - lowest


def _double_closers(tables: LanguageTables, read: Sequence[Lexeme]) -> list[int]:
    """The numbers of those of the lexemes *read* that close something directly after one of the same kind."""
    closing, kinds = tables.language.closing, [lexeme.kind for lexeme in read]
    pairs = enumerate(pairwise(kinds), 1)
    return [number for number, (one, other) in pairs if one == other and tables.lexical.kinds[one] in closing]


def _opener_at_end(tables: LanguageTables, read: Sequence[Lexeme]) -> int | None:
    """The number of the last of the lexemes *read*, but for a line end, if it is an opener after others."""
    names, openers = [tables.lexical.kinds[lexeme.kind] for lexeme in read], tables.language.closers
    last = range(len(read) - 1, max(len(read) - 3, 0), -1)
    return next((number for number in last if names[number] in openers), None)


def _odd(tables: LanguageTables, read: Sequence[Lexeme], before: Sequence[str]) -> Iterator[MendedLine]:
    """The end of a header with more of it, or with the end of the bracket around it if it starts above.

    Then the line without a double closer.
    """
    closing, opener = tables.language.closing, _opener_at_end(tables, read)
    if opener is not None:
        names = [end[0] for end in tables.language.header_ends if len(end) == 1]
        for name in names:
            yield from _added(tables, read, name, [opener])
        if before[-2:-1] not in ([], [""]) and tables.lexical.kinds[read[0].kind] in closing:
            yield from _added(tables, read, tables.language.closers[before[-2]][0], range(len(read), 0, -1))
    yield from (_without(read, index) for index in _double_closers(tables, read)[:_MOST_PLACES])


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
    name, without = tables.lexical.kinds[read[index].kind], _without(read, index)
    is_double = read[index - 1].kind == read[index].kind
    if is_double:
        yield without
    for opener, closers in tables.language.closers.items():
        if name in closers:
            yield from _added(tables, read, opener, range(index - 1, 0, -1))
    if not is_double:
        yield without


def _without(read: Sequence[Lexeme], index: int) -> MendedLine:
    """The line without the lexeme at *index*."""
    edit = read[index].start, read[index].end, b""
    return MendedLine(edit, (*read[:index], *read[index + 1 :]))


def _added(
    tables: LanguageTables, read: Sequence[Lexeme], name: str, places: Sequence[int]
) -> Iterator[MendedLine]:
    """The line with a lexeme of the kind *name* at each of the *places*."""
    kind, text = tables.lexical.kinds.index(name), shortest_word(tables, name)
    for place in places[:_MOST_PLACES] if text is not None else ():
        start = read[place - 1].end
        edit = start, start, b" " + (text or b"") + b" "
        yield MendedLine(edit, (*read[:place], Lexeme(kind, start, start), *read[place:]))
