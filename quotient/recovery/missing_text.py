"""The text that another line than the cursor's lacks, found as a middle of its own.

Where one line is broken, the text before the fault and that after it are known, but for the middle at the
cursor. So the missing text is a middle itself, and the cheapest one is assumed. It may be the rest of a
header that is cut off, with the bracket of its block, or a word that is lost. The cursor's line is read in
several ways in place of its own middle; columns show the likely ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.lexing.line import physical_end
from fimlsp.lexing.nesting import ModeStack
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.first_state import ConnectOptions, connect, read_up_to
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.lexemes import Lexemes, has_comment, lexemes
from fimlsp.quotient.recovery.line_brackets import unmatched
from fimlsp.quotient.recovery.line_charts import shortest_word
from fimlsp.quotient.recovery.lines_around import LinesAround, PhysicalLine
from fimlsp.quotient.recovery.repaired_text import Edit, RepairedText
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.shortest_completion import likely_completion

_MOST_LINES, _MOST_LEXEMES, _MOST_WAYS = 60, 8, 3


class _Reading(NamedTuple):
    """A `document` in which the cursor's line, from `start` on, has some middle, and is `longer` by that.

    The line at `fault` is the first that cannot be read, as an offset of the text without the middle.
    """

    document: ContextDocument
    start: int
    longer: int
    fault: int

    def offset(self, position: int) -> int:
        """The offset in `document` of a *position* in the text, outside of the cursor's line."""
        return position if position <= self.start else position + self.longer


def with_missing_text(text: RepairedText, start: int, end: int) -> Iterator[RepairedText]:
    """*text* with the text that the line of its fault lacks; the cursor's line is from *start* to *end*.

    Nothing if no line near that can be found.
    """
    known = set[Edit]()
    lines = LinesAround(text.document, text.cursor, text.cursor_end).lines
    code = [line for line in (each.without_line_end(text.data) for each in lines) if line.read]
    for reading in islice(_readings(text, lines, start, end), _MOST_WAYS):
        for place in dict.fromkeys(_places(reading, code)):
            word = b"" if start < place < end else _missing(reading.document, reading.offset(place))
            edit = place, place, word
            if word and edit not in known:
                known.add(edit)
                trial = text.copy()
                trial.replace((edit,))
                yield trial


def _readings(text: RepairedText, lines: list[PhysicalLine], start: int, end: int) -> Iterator[_Reading]:
    """Readings with some middle in the cursor's line, which have a fault.

    If that is not below, all lines from the cursor's on can be read.
    """
    for own in dict.fromkeys(_own_lines(text, lines, start, end)):
        checkpoint()
        document, own_end = text.document.copy(), start + len(own)
        document.edit(start, end, own)
        limit = own_end
        for _ in range(_MOST_LINES):
            limit = physical_end(document.data, limit)
        fault = document.broken_above(limit)
        if fault is None or fault < lines[0].start:
            continue
        if fault >= own_end or document.goes_on_at(start) is not None:
            longer = own_end - end
            yield _Reading(document, start, longer, fault if fault <= start else max(fault - longer, start))


def _own_lines(text: RepairedText, lines: list[PhysicalLine], start: int, end: int) -> Iterator[bytes]:
    """The cursor's line with brackets that columns show, as it is, with one lexeme, and without code."""
    before, after = text.data[start : text.cursor], text.data[text.cursor_end : end]
    number = next(number for number, line in enumerate(lines) if line.opaque)
    for word in _brackets(text, lines, number):
        yield before + word + b" " + after
    yield before + after
    for word in _words(text.document.tables.lexical, text.document.tables):
        yield before + b" " + word + b" " + after
    yield after[len(after.rstrip(b"\r\n")) :]


def _brackets(text: RepairedText, lines: list[PhysicalLine], number: int) -> Iterator[bytes]:
    """The brackets that line *number*, the cursor's, has by the columns of those around."""
    tables, column = text.document.tables, lines[number].column
    deeper = [line.column.deeper_than(column) for line in lines]
    is_first = not text.data[lines[number].start : text.cursor].strip()
    closes, opens = is_first and any(deeper[number - 1 : number]), any(deeper[number + 1 : number + 2])
    aligned = next(
        (line for line in lines[number + 1 :] if line.read and not line.column.deeper_than(column)), None
    )
    closer = tables.lexical.kinds[aligned.read[0].kind] if opens and aligned is not None else ""
    closers = (
        sorted({closers[0] for closers in tables.language.closers.values()}, reverse=True) if closes else [""]
    )
    openers = [opener for opener, closers in tables.language.closers.items() if closer in closers]
    for before in closers:
        for after in _headers(tables, openers) if opens else [b""]:
            yield (_text(tables, (before,)) + b" " + after).strip()


def _headers(tables: LanguageTables, openers: list[str]) -> Iterator[bytes]:
    """Ends of headers with one of *openers*, at most after an operand."""
    operand = _words(tables.lexical, tables)[0]
    for opener in openers:
        for end in ((), *tables.language.header_ends):
            yield _text(tables, (*end, opener))
            yield operand + b" " + _text(tables, (*end, opener))


def _text(tables: LanguageTables, kinds: Iterable[str]) -> bytes:
    """Lexemes of *kinds* as text."""
    return b" ".join(shortest_word(tables, kind) or b"" for kind in kinds if kind)


@remembered(4)
def _words(_: LexerTables, tables: LanguageTables) -> tuple[bytes, ...]:
    """The lexemes of one byte, operands first."""
    words = {shortest_word(tables, kind) or b"" for kind in tables.lexical.kinds}
    read = {word: lexemes(tables.lexical, word, 0, 1) for word in words if len(word.strip()) == 1}
    short = (word for word, reading in read.items() if _is_code(tables, word, reading))
    return tuple(sorted(short, key=lambda word: (not word.isalpha(), not word.isalnum(), word)))


def _is_code(tables: LanguageTables, text: bytes, reading: Lexemes) -> bool:
    """True if *text* with that *reading* is whole lexemes without comments, and leaves no string open."""
    is_whole = not reading.unreadable and not any(lexeme.missing for lexeme in reading.read)
    in_string = reading.modes is not None and tables.language.strings_in(reading.modes.opened)
    return is_whole and not in_string and not has_comment(text, reading.read)


def _places(reading: _Reading, lines: list[PhysicalLine]) -> Iterator[int]:
    """The places in the text that may lack some, if the first fault is that of *reading*.

    These are the end of the line above, the place before the first lexeme that is not expected, and the end
    of the header.
    """
    number = next((number for number, line in enumerate(lines) if line.end > reading.fault), None)
    if number is None:
        return
    line, above = lines[number], lines[:number][::-1]
    index = _count_expected(reading, line)
    yield from (each.read[-1].end for each in above[:1])
    if 0 < index < len(line.read):
        yield line.read[index - 1].end
    shallower = (each for each in above if line.column.deeper_than(each.column))
    yield from (each.read[-1].end for each in islice(shallower, 1))


def _count_expected(reading: _Reading, line: PhysicalLine) -> int:
    """The number of lexemes of *line* that are expected after the text above."""
    tables, place = reading.document.tables, reading.offset(line.start)
    start, context = reading.document.left_at(place)
    chart = context.group
    if start != place or line.opaque:
        return 0
    for index, symbol in enumerate(tables.terminals([lexeme.kind for lexeme in line.read])):
        following = tables.forward.earley.scan(chart, (symbol,))
        if following is None:
            return index
        chart = following
    return len(line.read)


def _missing(document: ContextDocument, place: int) -> bytes:
    """The cheapest code that is missing at *place*; empty if there is none."""
    before = read_up_to(document, place)
    if before is None or before[0].broken:
        return b""
    state = connect(document, place, *before, ConnectOptions())
    word = likely_completion(state) if isinstance(state, GrammarState) else None
    modes = before[1].modes if document.tables.lexical.line_starts else None
    return word if word is not None and _is_likely(document, place, word, modes) else b""


def _is_likely(document: ContextDocument, place: int, word: bytes, modes: ModeStack | None) -> bool:
    """True if *word* is a few lexemes in one line, which closes brackets of the line at *place* only.

    It opens one at most after that, and before more of the line only what that closes.
    """
    tables, data = document.tables, document.data
    reading = lexemes(tables.lexical, word, 0, len(word), modes=modes)
    if b"\n" in word or len(reading.read) > _MOST_LEXEMES or not _is_code(tables, word, reading):
        return False
    start, end = data.rfind(b"\n", 0, place) + 1, physical_end(data, place)
    before, after = (lexemes(tables.lexical, data, *span).read for span in ((start, place), (place, end)))
    closed, opened = unmatched(tables, reading.read)
    if data[place:end].strip() and opened > unmatched(tables, after)[0]:
        return False
    return closed <= unmatched(tables, before)[1] and not (closed and opened > 1)
