"""The ways to read the text around the cursor's line as a valid one, the likelier first.

Each way is a repair of the text left of the cursor, and one of the text right of it. `candidates` combines
them; most often the first one is taken, so each is only made when it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

from fimlsp.lexing.line import unmatched_brackets
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.recovery.assumed_text import indentation
from fimlsp.quotient.recovery.lexemes import CursorLine, Lexeme, indentation_at, lexemes
from fimlsp.quotient.recovery.line_edits import fitted, group_before, header_above, is_slip
from fimlsp.quotient.recovery.lines_after import repaired_after
from fimlsp.quotient.recovery.readings import Reading
from fimlsp.quotient.recovery.repair_left import RepairedLeft
from fimlsp.quotient.recovery.repair_right import RepairedRight
from fimlsp.quotient.recovery.repaired_text import Edits, RepairedText
from fimlsp.quotient.recovery.separators import SEPARATOR
from fimlsp.quotient.recovery.statements import Statements

_MOST_LINES, _MOST_PLACES = 400, 8
T = TypeVar("T")


class Trust(Enum):
    """The conditions under which a candidate is taken."""

    GENTLE = "taken if it surely fits; if none does, taken unless its cheapest middle leaves the block"
    SURE = "taken if it surely fits, and no bracket is open before the cursor's line"
    ENCLOSED = "taken if it surely fits"
    ROUGH = "taken unless its cheapest middle leaves the block, if no gentle one connects"


class Candidate(NamedTuple):
    """A repaired text, with its part left of the cursor's line; `number` is the position among all."""

    text: RepairedText
    left: RepairedLeft
    number: int = -1

    def start_below(self, right: RepairedRight) -> int:
        """The start of the line after the cursor's, which *right* finds in its own text."""
        return self.text.cursor_end + right.start - right.text.cursor_end


def candidates(left: RepairedLeft, right: RepairedRight) -> Iterator[tuple[Candidate, Trust]]:
    """All ways to read the text, the likelier first: repairs on the left with changes on the right.

    The gentle ones keep all that is in the cursor's line.
    """
    in_its_column = _Lazy(chain((left,), outside(left)))
    outside_brackets = _Lazy(outside(left, surely=True))
    balanced = _Lazy(chain([()], right.balanced(left)))
    headed = worded(left, right) if right.has_deeper_below else ()
    own_line = _Lazy(chain((left,), ended_early(left, right), headed, closed(left)))
    changes = _Lazy(_changes(right))
    ways: tuple[tuple[Iterable[Candidate], Trust], ...] = (
        (_combined(in_its_column, balanced, right), Trust.GENTLE),
        (_combined(outside_brackets, balanced, right), Trust.SURE),
        (_all_enclosed(in_its_column, right), Trust.ENCLOSED),
        (_combined(own_line, changes, right), Trust.ROUGH),
        (_combined(own_line, _removals(right), right), Trust.ROUGH),
        (_combined(_Lazy(_reduced(left)), chain(changes, _removals(right)), right), Trust.ROUGH),
    )
    for group, trust in ways:
        for candidate in group:
            yield candidate, trust


def finishing(
    left: RepairedLeft, right: RepairedRight, *, of_rest: bool = False
) -> Iterator[Iterator[Candidate]]:
    """Ways to read a text that some middle makes valid, but only one that does more than finish its line.

    These are repairs of the rest of that line. Unless only these are wanted (*of_rest*), the gentle ones of
    `candidates` are among them, and those follow that change more.
    """
    lefts = _Lazy(chain(_with_line_mended(left), (left,), outside(left)))
    finished, repaired = (
        _balanced(lefts, right, _Lazy(edits)) for edits in (right.finished_rest(), right.repaired_rest())
    )
    if of_rest:
        yield chain(finished, repaired)
        return
    ended = _balanced(lefts, right, _Lazy(_ended(left, right)))
    headed = _balanced(worded(left, right) if right.has_deeper_below else (), right, ((),))
    yield chain(finished, _balanced(lefts, right, ((),)), string_ended(left, right), headed, ended, repaired)
    if not left.assumed.tables.offside:
        yield (Candidate(after, left) for after in repaired_after(left, right))
    yield _all_enclosed(lefts, right)
    if not (left.depth and left.may_be_inside):
        yield _balanced(outside(left, surely=True), right, ((),))


def string_ended(left: RepairedLeft, right: RepairedRight) -> Iterator[Candidate]:
    """The early end of a string that is open at the cursor and starts in its line."""
    return _balanced(ended_early(left, right), right, ((),))


def with_rest_ended(left: RepairedLeft, right: RepairedRight) -> Iterator[Candidate]:
    """The text that the rest of the line lacks at its end, if it is cut off."""
    if left.assumed.tables.offside and right.is_cut_off:
        yield from _balanced((left,), right, _Lazy(_ended(left, right)))


def _ended(left: RepairedLeft, right: RepairedRight) -> Iterator[Edits]:
    """Repairs of the rest of the line after the text before the cursor and an operand, or any lexeme."""
    assumed, (before, _) = left.assumed, _own_kinds(left, right)
    tables, chart = assumed.tables, _line_start(left) if assumed.tables.offside else None
    chart = chart and tables.forward.read(chart, tables.terminals(before))
    if chart is not None:
        with_operand = tables.forward.read(chart, (assumed.operand,)) if before else None
        for after in (with_operand, assumed.after_any(chart, closes=not left.depth)):
            yield from right.rest_after(after, inside=left.depth > 0) if after is not None else ()


def reopened(left: RepairedLeft, right: RepairedRight) -> Iterator[Candidate]:
    """The opening bracket that one after the cursor lacks, at places of the line before it, nearest first."""
    opener, own = right.lacking_opener, right.own_line()
    places = [lexeme.start for lexeme in own.read if lexeme.end <= right.text.cursor]
    for place in places[: -_MOST_PLACES - 1 : -1] if opener else ():
        start = place + left.text.cursor - right.text.cursor
        yield _changed(left.changed(((start, start, opener),)), (), right)


def reopened_for_middle(left: RepairedLeft, right: RepairedRight) -> Iterator[Candidate]:
    """The opening bracket of a line that cannot be read up to the cursor, if the middle closes it there.

    More code follows in the line, or two lexemes have no white space between them, as the name and the
    arguments of a call. One candidate for each kind of bracket, opened as late as possible.
    """
    tables = left.assumed.tables
    if not tables.offside:
        return
    chart, read, (before, rest) = _line_start(left), _lexemes_before(left), _own_kinds(left, right)
    if chart is None or _scanned(left, chart, before) is not None:
        return
    pairs = [tuple(map(tables.lexical.kinds.index, pair)) for pair in tables.lexical.brackets.items()]
    for opener, closer in pairs:
        for number in reversed(range(max(len(read) - _MOST_PLACES, 0), len(read))):
            if not rest and (not number or read[number - 1].end < read[number].start):
                continue
            kinds = [*before[:number], opener, *before[number:], closer, *rest]
            if tables.forward.read(chart, tables.terminals(kinds)) is not None:
                start, text = read[number].start, left.assumed.layout.text_of((opener,))
                yield _changed(left.changed(((start, start, text),)), (), right)
                break


def without_closer(left: RepairedLeft, right: RepairedRight) -> Iterator[Candidate]:
    """The line without the closing bracket directly before the cursor, if it is one of two alike."""
    tables, last = left.assumed.tables, _lexemes_before(left)[-2:]
    kinds = {tables.lexical.kinds[lexeme.kind] for lexeme in last}
    if tables.offside and len(last) == 2 and len(kinds) == 1 and kinds <= {*tables.opening_of}:
        yield from _balanced((left.changed(((last[1].start, last[1].end, b""),)),), right, ((),))


def with_operand(left: RepairedLeft, right: RepairedRight) -> Iterator[Candidate]:
    """The operand that the lexeme directly before the cursor lacks, as a dot does after a bracket."""
    tables, read = left.assumed.tables, _lexemes_before(left)
    if not tables.offside or not read:
        return
    chart, symbols = _line_start(left), tables.terminals([lexeme.kind for lexeme in read])
    before = chart and tables.forward.read(chart, symbols[:-1])
    if before is None or before.expects(symbols[-1]):
        return
    if tables.forward.read(before, (left.assumed.operand, symbols[-1])) is not None:
        start, word = read[-1].start, left.assumed.words((left.assumed.operand,))
        yield from _balanced((left.changed(((start, start, word),)),), right, ((),))


def _lexemes_before(left: RepairedLeft) -> Sequence[Lexeme]:
    """The lexemes of the cursor's line before the cursor."""
    return lexemes(left.assumed.tables.lexical, left.text.data, left.stop, left.text.cursor).read


def with_any_header(left: RepairedLeft, right: RepairedRight) -> Iterator[Candidate]:
    """Additions to a line above deeper ones, after each first word of a header, which the middle writes."""
    before, rest = _own_kinds(left, right)
    tables, code = left.assumed.tables, right.text.cursor_end + len(right.rest) - len(right.rest.lstrip())
    if before or not (rest and tables.offside and right.has_deeper_below) or left.depth:
        return
    known: set[Edits] = set()
    for word in left.assumed.header_words:
        chart = tables.forward.earley.scan(left.assumed.any_line, (word,))
        for edits in right.rest_after(chart) if chart is not None else ():
            if all(new and start > code for start, _, new in edits):
                known.add(edits)
    for edits in sorted(known, key=lambda edits: (sum(len(new.strip()) for _, _, new in edits), edits)):
        yield _changed(left, edits, right)


def with_first_word(left: RepairedLeft, right: RepairedRight) -> Iterator[Candidate]:
    """Ways to read a line that lacks its first word; with the repairs of its rest."""
    for way in worded(left, right):
        yield from _balanced((way,), right, ((),))


def bracketed(left: RepairedLeft, right: RepairedRight) -> Iterator[Iterator[Candidate]]:
    """Repairs of the rest of the line for a middle that closes a bracket before it, or opens one for it."""
    before, after = _own_kinds(left, right)
    if left.assumed.tables.opening_of and (before or left.depth) and after:
        yield from (_with_bracket(left, right, before, kinds) for kinds in right.brackets_of_middle())


def _with_bracket(
    left: RepairedLeft, right: RepairedRight, before: Sequence[int], kinds: Sequence[int]
) -> Iterator[Candidate]:
    """Repairs of the rest for a middle with a bracket of one of *kinds* after the lexemes *before* it."""
    tables, chart = left.assumed.tables, _line_start(left)
    charts = {kind: chart and tables.forward.read(chart, tables.terminals((*before, kind))) for kind in kinds}
    ways = [(kind, right.finished_rest(kind)) for kind in kinds]
    ways += [(kind, right.repaired_rest(kind)) for kind in kinds[:1]]
    for kind, rests in ways:
        following = charts[kind]
        for rest in rests if following is not None else ():
            if _follows(left, right, following, rest):
                yield _changed(left, rest, right)


def _follows(left: RepairedLeft, right: RepairedRight, chart: EarleySet | None, edits: Edits) -> bool:
    """True if the rest of the cursor's line, with *edits*, may follow the set *chart*."""
    tables, offset, rest = left.assumed.tables, right.text.cursor_end, right.rest
    for start, end, new in sorted(edits, reverse=True):
        rest = rest[: start - offset] + new + rest[end - offset :]
    kinds = [lexeme.kind for lexeme in lexemes(tables.lexical, rest, 0, len(rest)).read]
    return chart is not None and tables.forward.read(chart, tables.terminals(kinds)) is not None


def _balanced(
    lefts: Iterable[RepairedLeft], right: RepairedRight, rests: Iterable[Edits]
) -> Iterator[Candidate]:
    """Each of *lefts* with the *rests* of the cursor's line, and lines below that may follow any line."""
    for left in lefts:
        for below in chain([()], right.balanced(left)):
            for rest in rests:
                yield _changed(left, (*rest, *below), right)


def _changes(right: RepairedRight) -> Iterator[Edits]:
    """Changes of the text right of the cursor, none among them; the likelier first."""
    strays = right.has_strays
    if not strays:
        yield ()
    if closers := right.without_closers():
        yield closers
    if strays:
        yield ()
    yield from right.completed_rest()
    if rest := right.without_rest():
        yield rest


def _removals(right: RepairedRight) -> Iterator[Edits]:
    """The removal of all text right of the cursor."""
    yield (*right.without_rest(), *right.without_all())


def _reduced(left: RepairedLeft) -> Iterator[RepairedLeft]:
    """*left* without the text before the cursor in its line, without the lines above, and without both."""
    yield _without_line(left)
    bare = left.changed(((0, left.stop, b""),))
    yield bare
    yield _without_line(bare)


def _without_line(left: RepairedLeft) -> RepairedLeft:
    return left.changed(((left.stop, left.text.cursor, b""),))


class _Lazy(Generic[T]):
    """The elements of an iterator, made when they are first needed and then kept."""

    def __init__(self, source: Iterator[T]) -> None:
        self._source = source
        self._known: list[T] = []

    def __iter__(self) -> Iterator[T]:
        yield from self._known
        for element in self._source:
            self._known.append(element)
            yield element


def _combined(
    lefts: Iterable[RepairedLeft], changes: Iterable[Edits], right: RepairedRight
) -> Iterator[Candidate]:
    """All of *lefts* with the first of the *changes* on the right, then with the next."""
    for change in changes:
        for left in lefts:
            yield _changed(left, change, right)


def _changed(left: RepairedLeft, change: Edits, right: RepairedRight) -> Candidate:
    """*left* with the *change* of the text on the right."""
    text = left.text.copy() if change else left.text
    shift = left.text.cursor - right.text.cursor
    text.replace([(start + shift, end + shift, new) for start, end, new in change])
    return Candidate(text, left)


# Repairs of the text left of the cursor: the cursor's line outside brackets, in another block, or repaired


def in_block(left: RepairedLeft) -> RepairedLeft:
    """*left* without a slip of the cursor's line, which is one column deeper than its block.

    The first line of a block slips if it has code and is one column deeper than the next line of that block.
    At a cursor within the spaces before code its column does not count.
    """
    data, cursor_end = left.text.data, left.text.cursor_end
    if data.startswith((b"  ", b"\t"), cursor_end) and not data[left.stop : left.text.cursor].strip():
        return left
    start, context = left.text.document.statement_before(left.stop)
    column = left.cursor_line().column
    if not left.assumed.tables.offside or start != left.stop or column is None or context.modes.depth:
        return left
    known, below = context.indents.columns, left.below()
    if context.opened(column) is None:
        outer = next((block for block in known if is_slip(column, block)), None)
    else:
        line = left.text.data[left.stop : below.begin]
        is_odd = column.tabs8 % 2 == 1  # so that it is no column to start a statement in
        after = below.column_after(below.begin, column) if line.strip() or is_odd else None
        outer = after if after is not None and after not in known and is_slip(column, after) else None
    following = below.next_line(below.begin)
    lead = indentation_at(left.text.data[: left.text.cursor], left.stop)
    if outer is None or column in known or not lead:
        return left
    if following is not None and following.column == column:
        return left
    return left.changed(((left.stop, left.stop + len(lead), indentation(outer)),))


def worded(left: RepairedLeft, right: RepairedRight) -> Iterator[RepairedLeft]:
    """*left* with a word assumed at the start of the cursor's line, as the column shows or the lines below.

    If these are deeper, it is the first word of a header, unless the line ends as none after the cursor.
    """
    assumed, column = left.assumed, left.cursor_line().column
    if column is None or left.depth:
        return
    line, code = (
        right.statements().next_line(right.start),
        left.stop + len(indentation_at(left.text.data[: left.text.cursor], left.stop)),
    )
    if line is None or not line.column.deeper_than(column) or right.ends_as_no_header:
        yield left.changed(((code, code, assumed.words((assumed.operand,)) + b" "),))
    else:
        before, rest = (assumed.tables.terminals(kinds) for kinds in _own_kinds(left, right))
        for word in assumed.header_words:
            chart = assumed.tables.forward.read(assumed.any_line, (word, *before))
            if chart is not None and assumed.may_head(assumed.after_any(chart) if rest else chart, rest):
                yield left.changed(((code, code, assumed.words((word,)) + b" "),))


def ended_early(left: RepairedLeft, right: RepairedRight) -> Iterator[RepairedLeft]:
    """*left* with the early end of a string that is open at the cursor and starts in its line."""
    lines, cursor = left.text.document.transitions.lines, left.text.cursor
    data = left.text.data[:cursor]
    if not left.assumed.tables.offside:
        return
    before = Statements(left.assumed, lines, data, cursor).unit_of(left.stop, cursor)
    if not any(lexeme.missing for lexeme in before.read):
        return
    word = left.assumed.words((left.assumed.operand,))
    for text in (data + right.rest, data + word + right.rest, data, data + word + SEPARATOR):
        read = Statements(left.assumed, lines, text, len(text)).early.unit_of(left.stop, len(text)).read
        edits = [(lexeme.end, lexeme.end, lexeme.missing) for lexeme in read if lexeme.missing]
        if len(edits) == 1 and edits[0][0] < cursor:
            yield left.changed(edits)
            return


def closed(left: RepairedLeft) -> Iterator[RepairedLeft]:
    """*left* with the cursor's line as a statement of its own, or repaired; the likelier first."""
    column, line = left.column, left.cursor_line().column
    is_deeper = line is None or column is None or line.deeper_than(column)
    ways = (_with_line_repaired(left), _as_own_line(left))
    yield from chain(*(ways if is_deeper else reversed(ways)))


def outside(left: RepairedLeft, *, surely: bool = False) -> Iterator[RepairedLeft]:
    """*left* with the cursor's line outside brackets, and then in blocks that fit its column.

    Brackets are closed before it if its column shows that it is outside them, or always if *surely*.
    """
    if not left.assumed.tables.offside:
        return
    current = left
    start, _ = left.text.document.statement_before(left.stop)
    if start < left.stop and (surely or not left.may_be_inside):
        current = _repaired(left, left.statements(open_end=False).read_up_to(start).edits)
        yield current
    start, context = current.text.document.statement_before(current.stop)
    column = current.cursor_line().column
    is_known = column is None or column == context.frame.column or context.opened(column) is not None
    if start == current.stop and column is not None and not is_known:
        reading = Reading(0, start, start, column, ())
        edits = fitted(current.statements(), context, reading)
        if all(end <= current.stop for _, end, _ in edits):
            current = _repaired(current, edits)
            yield current
    start, context = current.text.document.statement_before(current.stop)
    if start == current.stop and (edits := group_before(current.statements(), context, start)):
        yield current.changed(edits)
    lacking = current.lacking_column()
    if lacking and (edits := header_above(current.statements(), current.stop, lacking)):
        yield _repaired(current, edits)


def _repaired(left: RepairedLeft, edits: Edits) -> RepairedLeft:
    """A copy of *left* with *edits*, repaired again."""
    changed = left.changed(edits)
    changed.repair()
    return changed


def _as_own_line(left: RepairedLeft) -> Iterator[RepairedLeft]:
    """*left* with the cursor's line as a statement: open brackets are closed before it."""
    last: RepairedLeft | None = None
    for last in outside(left, surely=True):
        yield last
    if last is not None:
        yield from _with_line_repaired(last)


def _with_line_mended(left: RepairedLeft) -> Iterator[RepairedLeft]:
    """As `_with_line_repaired`, for a logical line that starts in the cursor's."""
    if left.text.document.statement_before(left.stop)[0] == left.stop and left.assumed.tables.offside:
        yield from _with_line_repaired(left)


def _with_line_repaired(left: RepairedLeft) -> Iterator[RepairedLeft]:
    """*left* with the cursor's own line repaired up to the cursor.

    If the line below is deeper, the repair does not end the header that it needs. Nor does it add one if the
    lines below close a bracket, which the line may open.
    """
    stop, cursor = left.stop, left.text.cursor
    start, _ = left.text.document.statement_before(stop)
    document, below = left.text.document, left.below()
    closes = left.assumed.tables.offside and not left.depth and document.right_at(below.begin).unmatched
    following = None if closes else below.next_line(below.begin)
    statements = Statements(
        left.assumed,
        document.transitions.lines,
        document.data[:cursor],
        cursor,
        open_end=True,
        then=following and CursorLine(following.column),
    )
    if left.assumed.tables.offside:
        reading: Reading | None = statements.read_up_to(start)
    else:
        reading = statements.in_place(stop, left.text.document.left_at(stop)[1].group)
    if reading is not None and reading.edits and not reading.passed:
        yield left.changed(reading.edits)


# Changes of the text right of the cursor: brackets around the cursor's line end after it


def _all_enclosed(lefts: Iterable[RepairedLeft], right: RepairedRight) -> Iterator[Candidate]:
    for left in lefts:
        if edits := enclosed(left, right):
            yield _changed(left, edits, right)


def enclosed(left: RepairedLeft, right: RepairedRight) -> Edits:
    """The edit of the text below that closes there the brackets open after the cursor's line.

    It removes the lines up to the first one outside brackets that is no deeper than the logical line. Nothing
    if the line leaves nothing open, or closes what is not open before it.
    """
    closers, end = _closers(left, right), _end_of_deeper(left, right)
    if not closers or end is None or right.start == right.text.cursor_end:
        return ()
    words, chart = left.assumed.layout.text_of, after_line(left, right)
    chart = chart and _scanned(left, chart, closers[:1])
    ways = {} if chart is None else left.assumed.ends.of(chart)
    text = words(closers)
    if False in ways:
        text = words(closers[:1]) + b" " + left.assumed.words(ways[False][1])
    return ((right.start, end, text + b"\n"),)


def after_line(left: RepairedLeft, right: RepairedRight) -> EarleySet | None:
    """The set after the cursor's line with some short middle; None if none was found."""
    chart = _line_start(left)
    for kinds in _own_kinds(left, right):
        chart = chart and _scanned(left, chart, kinds)
    return chart


def _line_start(left: RepairedLeft) -> EarleySet | None:
    """The set before the cursor's line."""
    context = left.text.document.left_at(left.stop)[1]
    return context.group if context.modes.depth else left.assumed.any_line


def _own_kinds(left: RepairedLeft, right: RepairedRight) -> Iterator[list[int]]:
    """The kinds of the lexemes of the cursor's line before the cursor, and of those after it."""
    lexical = left.assumed.tables.lexical
    for text in (left.text.data[left.stop : left.text.cursor], right.rest):
        yield [lexeme.kind for lexeme in lexemes(lexical, text, 0, len(text)).read]


def _scanned(left: RepairedLeft, chart: EarleySet, kinds: list[int]) -> EarleySet | None:
    """The set after lexemes of *kinds*, before which one more may be needed."""
    tables = left.assumed.tables
    symbols = tables.terminals(kinds)
    return tables.forward.read(left.assumed.before(chart, symbols[0]), symbols) if symbols else chart


def _closers(left: RepairedLeft, right: RepairedRight) -> list[int]:
    """The kinds that close the brackets open after the cursor's line, without a middle, innermost first."""
    lexical, modes = left.assumed.tables.lexical, left.text.document.left_at(left.stop)[1].modes
    outer: list[str] = []
    while modes.parent is not None and modes.shape in lexical.brackets:
        outer.append(lexical.brackets[modes.shape])
        modes = modes.parent
    own = [lexical.kinds[kind] for kinds in _own_kinds(left, right) for kind in kinds]
    closing, opened = unmatched_brackets(lexical.brackets, own)
    if list(closing) != outer[: len(closing)]:
        return []
    return [lexical.kinds.index(kind) for kind in (*reversed(opened), *outer[len(closing) :])]


def _end_of_deeper(left: RepairedLeft, right: RepairedRight) -> int | None:
    """The start of the first line below outside brackets that is no deeper than the logical line."""
    column, statements, position = left.column, right.statements(), right.start
    for _ in range(_MOST_LINES):
        line = statements.next_line(position)
        if column is None or line is None:
            return None if column is None else len(statements.data)
        is_deeper = line.column.deeper_than(column)
        if not is_deeper and not right.text.document.right_at(line.start).unmatched:
            return line.start
        position = line.end
    return None
