"""Finds a text, near the shortest, that completes a middle.

The cheapest sequences of missing symbols come from `cheapest_sentences`. Each is written as text by
`Unlexer`, the inverse of the lexer, and the first text that completes the middle is the result. A direct way
into the right context, by a lexeme that straddles the cursor, is preferred if it is shorter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count, islice

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_state import LexerState, Margin, Symbol
from fimlsp.lexing.nesting import MARGIN, Column
from fimlsp.quotient.bridge.boundary_lexemes import way_into
from fimlsp.quotient.bridge.closed_blocks import ClosedBlock
from fimlsp.quotient.bridge.middle_grammar import Connection, RightEntry
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.states.cheapest_sentences import Incomplete, Source, sentences, sources_of

_TRIES = 200
_PREFIX_TRIES = 20
_MOST_STEPS = 300
"""The beginnings with a next lexeme that are tried, each with all its cheapest sentences.

Where the grammar goes on with a text that the lexer cannot reach, none fits, and the search would take
minutes.
"""
_TRIED_TEXTS = 2_000
_LONGEST_TRIED = 12
_COST_OF_SKIPPING, _COST_OF_SKIPPING_CODE = 40, 1_000


class NoCompletionError(AssertionError):
    """No completion was found for a viable middle. This is always a bug of the engine."""


def shortest_completion(state: Incomplete) -> bytes:
    """A text, near the shortest, that completes *state*; empty if it is complete.

    O(open rules), and seconds at most if hardly any text fits.

    Raises:
        NoCompletionError: None was found, which is a bug of the engine.
    """
    completion = next(completions_of(state), None)
    if completion is None:
        raise NoCompletionError(f"no completion in state {state.lexer}")
    return completion


def likely_completion(state: Incomplete) -> bytes | None:
    """As `shortest_completion`, but None as soon as none of the cheapest sentences fits."""
    if state.lexer.word or state.lexer.word_must_follow:
        return None
    return _completion(state, _COST_OF_SKIPPING_CODE)


def completions_of(state: Incomplete, *, uncommon: bool = False) -> Iterator[bytes]:
    """Texts that complete *state*, the shorter ones mostly first; not all that there are.

    With *uncommon* their words are likely to be new in the text (see `Language.another_word`).
    """
    if state.lexer.word or state.lexer.word_must_follow:
        yield _with_word(state)
        return
    yield from _completions(state, _COST_OF_SKIPPING, uncommon=uncommon)
    yield from _completions(state, 0, uncommon=uncommon)
    steps = iter(range(_MOST_STEPS))
    yield from _completions_after_a_step(state, steps)
    yield from _completions_after_a_beginning(state, steps)
    if state.lexer.lexical.separation is not None:
        tried = _by_trying(state, state.lexer.lexical.separation.bytes_to_try)
        if tried is not None:
            yield tried


def other_completions(state: Incomplete) -> Iterator[bytes]:
    """Texts that complete *state* and start with any lexeme that may come next, not the cheapest alone."""
    return _completions_after_a_step(state, iter(range(_MOST_STEPS)))


def _with_word(state: Incomplete) -> bytes:
    """The completion of a state inside a checked word, or directly before one."""
    direct = _straddling(state)
    if direct is not None:
        return direct
    lexer = state.lexer
    part = lexer.lexical.word_part
    rest = bytes((part.opening,))
    if lexer.word:
        rest = (part.words.between(lexer.word[1:], b"") or b"") + bytes((part.closing,))
    closed = state.feed(rest)
    return rest if closed is None else rest + shortest_completion(closed)


def _completion(state: Incomplete, skipping: int) -> bytes | None:
    """The first of `_completions`; None if there is none."""
    return next(_completions(state, skipping), None)


def _completions(state: Incomplete, skipping: int, *, uncommon: bool = False) -> Iterator[bytes]:
    """The cheapest sentences of the grammar that can be written as text and complete *state*.

    *skipping* is the cost of a comment that swallows the text after the cursor.
    """
    if state.complete:
        yield b""
    direct = _straddling(state)
    for text in islice(_candidates(state, skipping, uncommon=uncommon), _TRIES):
        checkpoint()
        if direct is not None and len(direct) <= len(text):
            yield direct
            direct = None
        bare = text.lstrip(b" \t")
        if bare and bare != text and (end := state.feed(bare)) is not None and end.complete:
            yield bare  # in the cursor's column, where the sentence stays in a deeper block
            continue
        reached = state.feed(text)
        if reached is not None and reached.complete:
            yield text
    if direct is not None:
        yield direct


def _completions_after_a_step(state: Incomplete, steps: Iterator[int]) -> Iterator[bytes]:
    """Completions with any possible next lexeme, if no cheapest one fits the columns on the right.

    Each lexeme takes one of *steps*, as long as there are any.
    """
    for source in sources_of(state):
        for symbols in _steps(state.connection, source.chart):
            checkpoint()
            if next(steps, None) is None:
                return
            for writer in _written(state, source, symbols):
                reached = state.feed(writer.text)
                rest = None if reached is None else _completion(reached, 0)
                if rest is not None:
                    yield writer.text + rest


def _completions_after_a_beginning(state: Incomplete, steps: Iterator[int]) -> Iterator[bytes]:
    """Completions that share a long prefix with one of the cheapest texts, if none of these fits.

    Such a text may also be one that leads up to the right context, but not into it.
    """
    for text in chain(
        islice(_candidates(state, 0), _PREFIX_TRIES), islice(_beginnings(state), _PREFIX_TRIES)
    ):
        for size in reversed(range(1, len(text) + 1)):
            reached = state.feed(text[:size])
            if reached is not None:
                yield from (text[:size] + rest for rest in _completions_after_a_step(reached, steps))


def _by_trying(state: Incomplete, alphabet: bytes) -> bytes | None:
    """The shortest completion, by trying all short texts: where little keeps lexemes apart, few are right."""
    tried = deque([(b"", state)])
    for _ in range(_TRIED_TEXTS):
        if not tried:
            return None
        text, reached = tried.popleft()
        if reached.complete:
            return text
        for byte in alphabet if len(text) < _LONGEST_TRIED else b"":
            following = reached.feed(bytes((byte,)))
            if following is not None:
                tried.append((text + bytes((byte,)), following))
    return None


def _steps(connection: Connection, chart: EarleySet, most: int = 3) -> Iterator[tuple[int, ...]]:
    """The symbols that may come next: a lexeme, with at most *most* layout symbols before it."""
    tables = connection.tables
    expected = chart.expected()  # this predicts the INDENTs of closed blocks, so that `indents` has them
    layout = {tables.newline, tables.indent, tables.dedent, *connection.grammar.indents}
    for symbol in sorted(expected, key=lambda symbol: symbol in layout):
        if symbol not in layout:
            if tables.grammar.is_terminal(symbol):
                yield (symbol,)
        elif most:
            after = connection.grammar.earley.scan(chart, (symbol,))
            if after is not None:
                yield from ((symbol, *rest) for rest in _steps(connection, after, most - 1))


def _straddling(state: Incomplete) -> bytes | None:
    """The shortest completion by a lexeme that straddles the cursor; None if there is none."""
    skips = state.lexer.lexical.separation is not None and not state.lexer.at_lexeme_start
    ways = [
        way
        for entry in state.connection.right_entries
        if entry.boundary.kind is not None or (skips and entry.boundary.offset)
        if entry.admits(state.lexer)
        if state.chart.expects(entry.marker)
        if (way := way_into(state.lexer, entry.boundary)) is not None
    ]
    complete_ways = [
        way for way in sorted(ways, key=len) if (end := state.feed(way)) is not None and end.complete
    ]
    return complete_ways[0] if complete_ways else None


def _candidates(state: Incomplete, skipping: int, *, uncommon: bool = False) -> Iterator[bytes]:
    """Texts for the cheapest sentences of the grammar after *state*, cheapest first."""
    for source, symbols, right_entries in sentences(state, skipping, uncommon=uncommon):
        if symbols[-1:] == [state.connection.tables.newline] and any(
            entry.ends_line for entry in right_entries
        ):
            # the line end right of the cursor will do
            yield from _endings(state, source, symbols[:-1], right_entries, uncommon=uncommon)
        yield from _endings(state, source, symbols, right_entries, uncommon=uncommon)


def _beginnings(state: Incomplete) -> Iterator[bytes]:
    """Texts for the cheapest sentences, without the way into the right context.

    A sentence that the lexer cannot read ends before the symbol that cannot follow there.
    """
    for source, symbols, right_entries in sentences(state, 0):
        for opened in dict.fromkeys(entry.opened for entry in right_entries):
            for writer, _ in _attempts(state, source, symbols, opened):
                yield writer.text


def _endings(
    state: Incomplete,
    source: Source,
    symbols: Sequence[int],
    right_entries: Sequence[RightEntry],
    *,
    uncommon: bool,
) -> Iterator[bytes]:
    """Texts for *symbols* after *source* that then enter the right context at one of *right_entries*."""
    for opened in dict.fromkeys(entry.opened for entry in right_entries):
        for writer in _written(state, source, symbols, opened, uncommon=uncommon):
            for way in _ways_on(right_entries, writer):
                yield writer.text + way


def _written(
    state: Incomplete,
    source: Source,
    symbols: Sequence[int],
    opened: tuple[str, ...] = (),
    *,
    uncommon: bool = False,
) -> Iterator[Unlexer]:
    """Those `Unlexer` that have written *symbols* after *source*, the brief one first; none if none can."""
    attempts = _attempts(state, source, symbols, opened, uncommon=uncommon)
    return (writer for writer, is_whole in attempts if is_whole)


def _attempts(
    state: Incomplete,
    source: Source,
    symbols: Sequence[int],
    opened: tuple[str, ...] = (),
    *,
    uncommon: bool = False,
) -> Iterator[tuple[Unlexer, bool]]:
    """The attempts of `_written`: each `Unlexer`, and True if it has written all symbols."""
    tables = state.connection.tables
    for brief in (False,) if tables.shortest_words.anywhere is tables.shortest_words else (True, False):
        for step in STEPS:
            unit = state.connection.unit_of_blocks
            writer = Unlexer(tables, state.lexer, step, unit, uncommon=uncommon, brief=brief)
            is_whole = writer.put(source.prefix) and writer.write(
                symbols, state.connection.grammar.indents, opened
            )
            yield writer, is_whole
            if is_whole:
                break


def _ways_on(right_entries: Sequence[RightEntry], writer: Unlexer) -> Iterator[bytes]:
    """Texts that lead into one of *right_entries*: white space, then part of a straddling lexeme."""
    lexer = writer.lexer_after_lexeme
    if lexer is None:
        return
    for entry in right_entries:
        if entry.admits(lexer):
            way = way_into(lexer, entry.boundary)
            if way is not None:
                yield from (lead + way for lead in _leads(entry, writer))


def _leads(entry: RightEntry, writer: Unlexer) -> Iterator[bytes]:
    """White space that may precede the right context, best first."""
    if writer.margin is not None:
        lead = entry.lead or b"" if entry.boundary.kind is None and not entry.boundary.offset else b""
        column = writer.columns[-1]
        for before in columns_before(column, lead):
            yield indentation(writer.margin, before)
        if lead and column != MARGIN:
            yield indentation(writer.margin, column) + b"\\\n"
    yield from writer.tables.lexical.between


STEPS = (4, 1)
"""The widths of an indentation to try, if the right context leaves that open.

If 4 columns leave no room for nested blocks, each block is indented by as little as possible.
"""


class Unlexer:
    """Writes symbols as text after a lexer state, with the white space needed; indents by *step*.

    *unit* gives the column of blocks in the file's own one, if that is known.

    With *uncommon* all words differ, and are likely to be new in the text. With *brief* lexemes end as soon
    as they can, although fewer may follow them there.
    """

    def __init__(
        self,
        tables: LanguageTables,
        lexer: LexerState,
        step: int,
        unit: Callable[[], Column | None],
        *,
        uncommon: bool = False,
        brief: bool = False,
    ) -> None:
        assert lexer.indents is not None
        self.tables = tables
        self.lexer = lexer
        self.step = step
        self.unit = unit
        self.words = count(1) if uncommon else None
        self.shortest_words = tables.shortest_words.anywhere if brief else tables.shortest_words
        self.columns = list(lexer.indents.columns)
        self.text = b""

    def put(self, data: bytes) -> bool:
        """Write *data* unchanged; False if it is lexically invalid here."""
        step = self.lexer.feed(data)
        if step is None:
            return False
        self.text += data
        self.lexer = step.lexer
        return True

    def write(
        self, symbols: Sequence[int], blocks: dict[int, ClosedBlock], opened: tuple[str, ...] = ()
    ) -> bool:
        """Write terminals, with INDENTs of closed blocks as *blocks* allows; False if that is impossible.

        The strings that remain open afterwards are those in *opened* (see `ModeStack.opened`).
        """
        kinds = self._kinds_of_opening(symbols, opened)
        return all(self._write(symbol, blocks, kinds.get(index)) for index, symbol in enumerate(symbols))

    def _kinds_of_opening(self, symbols: Sequence[int], opened: tuple[str, ...]) -> dict[int, int]:
        """The exact kinds of symbols that open a string which stays open, by index in *symbols*."""
        if not opened:
            return {}
        grammar = self.tables.grammar
        names = [grammar.name(symbol) if grammar.is_terminal(symbol) else "" for symbol in symbols]
        kinds = self.tables.language.kinds_of_opening(names, opened)
        return {index: self.tables.lexical.kinds.index(kind) for index, kind in kinds.items()}

    def _write(self, symbol: int, blocks: dict[int, ClosedBlock], kind: int | None) -> bool:
        tables = self.tables
        if symbol == tables.newline:
            return self.put(b"\n")
        if symbol == tables.dedent:
            self.columns.pop()
            return bool(self.columns)
        if symbol == tables.indent or symbol in blocks:
            column = self._inner_column(blocks.get(symbol))
            if column is not None:
                self.columns.append(column)
            return column is not None
        kinds = self.tables.kinds_of[symbol] if kind is None else (kind,)
        return self._indent() and self._write_lexeme(kinds)

    def _inner_column(self, block: ClosedBlock | None) -> Column | None:
        outer = self.columns[-1]
        if block is not None and block.exactly is not None:
            return block.exactly if block.exactly.deeper_than(outer) else None
        below = None if block is None else block.below
        widest = self.step if below is None else below.tabs8 - outer.tabs8
        least = (
            0 if block is None else max(block.least, block.above.tabs8 if block.above else 0) - outer.tabs8
        )
        widths = (self.step, *range(1, max(widest, least + 1) + 1))
        # a line joiner can put the line after the cursor left of its white space
        ordered = (*(width for width in widths if width >= least), *range(1, least))
        columns = (Column(outer.tabs8 + width, outer.tabs1 + width) for width in ordered)
        like_outer = (column for column in self._column_like_outer() if column.tabs8 - outer.tabs8 >= least)
        for column in chain(self._column_so_far(outer), like_outer, columns):
            if block is None or block.fits(column, len(self.columns), self.tables.lexical.most_blocks):
                return column
        return None

    def _column_like_outer(self) -> Iterator[Column]:
        """The column of a block that is indented as the innermost open one, if there is room for that.

        In the file's own block it is indented as another block there.
        """
        if self.step != STEPS[0]:
            return
        if len(self.columns) == 1:
            unit = self.unit()
            if unit is not None and self.columns[0] == MARGIN:
                yield unit
            return
        above, outer = self.columns[-2:]
        column = Column(2 * outer.tabs8 - above.tabs8, 2 * outer.tabs1 - above.tabs1)
        if _white_space(column) is not None:
            yield column

    def _column_so_far(self, outer: Column) -> Iterator[Column]:
        """The column of a line that is blank so far, if that is deeper than *outer*."""
        margin = self.margin
        here = MARGIN if margin is None else margin.counted if margin.frozen else margin.column
        if here.deeper_than(outer):
            yield here

    @property
    def lexer_after_lexeme(self) -> LexerState | None:
        """The lexer state once the lexeme being read has ended; None if it cannot end."""
        if self.lexer.at_lexeme_start:
            return self.lexer
        step = self.lexer.close()
        return step.lexer if step is not None else None

    @property
    def margin(self) -> Margin | None:
        """The margin of a line that is blank so far; None in a line with lexemes."""
        lexer = self.lexer_after_lexeme
        if lexer is None or lexer.margin is None or lexer.modes.depth:
            return None
        return lexer.margin

    def _indent(self) -> bool:
        margin = self.margin
        return margin is None or self.put(indentation(margin, self.columns[-1]))

    def _write_lexeme(self, kinds: Iterable[int]) -> bool:
        step = None if self.lexer.at_lexeme_start else self.lexer.close()
        lexer = self.lexer if step is None else step.lexer
        for kind in kinds:
            text = self._uncommon(kind) or self._shortest(kind, lexer)
            for candidate in self._candidates(text, kind) if text else ():
                if self._reads_as(candidate, kind, [] if step is None else step.symbols):
                    return self.put(candidate)
        return False

    def _shortest(self, kind: int, lexer: LexerState) -> bytes | None:
        """The shortest lexeme of *kind* in the mode of *lexer*, else in that after white space."""
        starts = self.tables.lexical.dfa.starts
        text = self.shortest_words.suffix(starts[lexer.modes.mode], kind)
        if (
            text is None
            and (blank := lexer.feed(b" ")) is not None
            and (apart := blank.lexer.finish()) is not None
        ):
            text = self.shortest_words.suffix(starts[apart.lexer.modes.mode], kind)
        return text

    def _uncommon(self, kind: int) -> bytes | None:
        """With *uncommon*, a lexeme of *kind* that is likely to be new in the text; else None."""
        if self.words is None:
            return None
        return self.tables.language.another_word(self.tables.lexical.kinds[kind], next(self.words))

    def _candidates(self, text: bytes, kind: int) -> Iterator[bytes]:
        """*text*, a lexeme of *kind*, kept apart from the lexeme before; or another such lexeme."""
        for between in self.tables.lexical.between:
            yield between + text
        separation = self.tables.lexical.separation
        if separation is not None and not self.lexer.at_lexeme_start:
            other = separation.word_after(self.lexer.state, kind, self.shortest_words)
            if other is not None:
                yield other

    def _reads_as(self, data: bytes, kind: int, ended: list[Symbol]) -> bool:
        """True if *data* is read as one lexeme of *kind*, after exactly the symbols *ended*."""
        step = self.lexer.feed(data)
        if step is None or step.lexer.accepted != kind or step.lexer.leftover:
            return False
        return [s for s in step.symbols if s in ended] == ended


def indentation(margin: Margin, column: Column) -> bytes:
    """White space that moves a blank line from *margin* to *column*, on a new line if necessary."""
    if margin.frozen:
        return b"" if column == margin.counted else b"\n" + white_space(column)
    here = margin.column
    if here != MARGIN and _spaces_reach(here, column):
        return b" " * (column.tabs8 - here.tabs8)
    return (b"" if here == MARGIN else b"\n") + white_space(column)


def white_space(column: Column) -> bytes:
    """White space as wide as *column* by both measures: spaces, with as few tabs as possible."""
    text = _white_space(column)
    assert text is not None, f"no white space has the width {column}"
    return text


def _white_space(column: Column) -> bytes | None:
    for tabs in range(column.tabs8 // 8 + 1):
        spaces = column.tabs8 - 8 * tabs
        swallowed = column.tabs1 - tabs - spaces  # spaces swallowed by the tab stop after them
        if 0 <= swallowed <= 7 * tabs:
            full, rest = divmod(swallowed, 7)
            return (
                (b" " * 7 + b"\t") * full
                + (b" " * rest + b"\t") * (tabs > full)
                + b"\t" * (tabs - full - 1)
                + b" " * spaces
            )
    return None


def columns_before(column: Column, lead: bytes) -> Iterator[Column]:
    """The columns from which *lead* (white space, line joiners) moves a line to *column*, narrowest first."""
    for width in range(column.tabs8 + 1):
        for before in dict.fromkeys((Column(width, width), Column(width, column.tabs1 - len(lead)))):
            if Margin(before).after(lead).counted == column and _white_space(before) is not None:
                yield before


def _spaces_reach(margin: Column, column: Column) -> bool:
    return column.tabs8 - margin.tabs8 == column.tabs1 - margin.tabs1 >= 0
