"""Finds a text, near the shortest, that completes a middle.

The cheapest sequences of missing symbols come from `cheapest_sentences`. Each is written as text by
`Unlexer`, and the first text that completes the middle is the result. A direct way into the right context, by
a lexeme that straddles the cursor, is preferred if it is shorter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.nesting import MARGIN
from fimlsp.quotient.bridge.boundary_lexemes import way_into
from fimlsp.quotient.bridge.connection import Connection, RightEntry
from fimlsp.quotient.grammar.earley_sets import EarleySet
from fimlsp.quotient.states.cheapest_sentences import Incomplete, Source, sentences, sources_of
from fimlsp.quotient.states.unlexer import STEPS, Unlexer, columns_before, indentation

_TRIES = 200
_PREFIX_TRIES = 20
_TRIED_TEXTS = 2_000
_LONGEST_TRIED = 12
_COST_OF_SKIPPING = 40


class NoCompletionError(AssertionError):
    """No completion was found for a viable middle. This is always a bug of the engine."""


def shortest_completion(state: Incomplete) -> bytes:
    """A text, near the shortest, that completes *state*; empty if it is complete.

    O(open rules).

    Raises:
        NoCompletionError: None was found, which is a bug of the engine.
    """
    completion = next(completions_of(state), None)
    if completion is None:
        raise NoCompletionError(f"no completion in state {state.lexer}")
    return completion


def completions_of(state: Incomplete, *, uncommon: bool = False) -> Iterator[bytes]:
    """Texts that complete *state*, the shorter ones mostly first; not all that there are.

    With *uncommon* their words are likely to be new in the text (see `Language.another_word`).
    """
    if state.lexer.word or state.lexer.word_must_follow:
        yield _with_word(state)
        return
    yield from _completions(state, _COST_OF_SKIPPING, uncommon=uncommon)
    yield from _completions(state, 0, uncommon=uncommon)
    yield from _completions_after_a_step(state)
    yield from _completions_after_a_beginning(state)
    if state.lexer.lexical.separation is not None:
        tried = _by_trying(state, state.lexer.lexical.separation.bytes_to_try)
        if tried is not None:
            yield tried


def other_completions(state: Incomplete) -> Iterator[bytes]:
    """Texts that complete *state* and start with any lexeme that may come next, not the cheapest alone."""
    return _completions_after_a_step(state)


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
        reached = state.feed(text)
        if reached is not None and reached.complete:
            yield text
    if direct is not None:
        yield direct


def _completions_after_a_step(state: Incomplete) -> Iterator[bytes]:
    """Completions with any possible next lexeme, if no cheapest one fits the columns on the right."""
    for source in sources_of(state):
        for symbols in _steps(state.connection, source.chart):
            checkpoint()
            for writer in _written(state, source, symbols):
                reached = state.feed(writer.text)
                rest = None if reached is None else _completion(reached, 0)
                if rest is not None:
                    yield writer.text + rest


def _completions_after_a_beginning(state: Incomplete) -> Iterator[bytes]:
    """Completions that share a long prefix with one of the cheapest texts, if none of these fits.

    Such a text may also be one that leads up to the right context, but not into it.
    """
    for text in chain(
        islice(_candidates(state, 0), _PREFIX_TRIES), islice(_beginnings(state), _PREFIX_TRIES)
    ):
        for size in reversed(range(1, len(text) + 1)):
            reached = state.feed(text[:size])
            if reached is not None:
                yield from (text[:size] + rest for rest in _completions_after_a_step(reached))


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
    """Texts for the cheapest sentences, without the way into the right context."""
    for source, symbols, right_entries in sentences(state, 0):
        for opened in dict.fromkeys(entry.opened for entry in right_entries):
            for writer in _written(state, source, symbols, opened):
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
    tables = state.connection.tables
    for brief in (False,) if tables.shortest_words.anywhere is tables.shortest_words else (True, False):
        for step in STEPS:
            unit = state.connection.unit_of_blocks
            writer = Unlexer(tables, state.lexer, step, unit, uncommon=uncommon, brief=brief)
            if writer.put(source.prefix) and writer.write(symbols, state.connection.grammar.indents, opened):
                yield writer
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
