"""A cheap text that completes a middle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from fimlsp.lexing.indentation import MARGIN
from fimlsp.quotient.cheapest import CheapestSentences, Costs
from fimlsp.quotient.earley import EarleySet
from fimlsp.quotient.seam import Seam, way_into, way_to
from fimlsp.quotient.shortest import Source, completions
from fimlsp.quotient.writing import STEPS, Writer, columns_before, indentation

if TYPE_CHECKING:
    from fimlsp.quotient.middle_state import Join, Middle, MiddleState

_TRIES = 200
_BEGUN_TRIES = 20
_COST_OF_CLOSED_INDENT = 4
_COST_OF_SKIPPING = 40


class NoCompletionError(AssertionError):
    """A viable middle for which no completion was found: the engine is at fault."""


def shortest_completion(state: MiddleState) -> bytes:
    """A text, near the shortest, that completes *state*; empty if it is complete.

    O(open rules). Raises NoCompletionError if none is found, which would be a fault of the engine.
    """
    if state.reading.name or state.reading.name_must_follow:
        return _with_name(state)
    found = _completion(state, _COST_OF_SKIPPING)
    if found is None:
        found = _completion(state, 0)
    if found is None:
        found = next(_completions_after_a_step(state), None)
    if found is None:
        found = next(_completions_after_a_beginning(state), None)
    if found is None:
        raise NoCompletionError(f"no completion in state {state.reading}")
    return found


def _with_name(state: MiddleState) -> bytes:
    """The completion of a state in which the name of a character, or its brace, is missing."""
    direct = _straddling(state)
    if direct is not None:
        return direct
    reading = state.reading
    rest = b"{" if not reading.name else (reading.lexicon.names.between(reading.name[1:], b"") or b"") + b"}"
    named = state.feed(rest)
    return rest if named is None else rest + shortest_completion(named)


def _completion(state: MiddleState, skipping: int) -> bytes | None:
    """The cheapest sentence of the grammar that can be written and does complete *state*.

    *skipping* is what it costs to let a comment swallow what follows the cursor.
    """
    if state.complete:
        return b""
    direct = _straddling(state)
    for text in islice(_candidates(state, skipping), _TRIES):
        if direct is not None and len(direct) <= len(text):
            break
        reached = state.feed(text)
        if reached is not None and reached.complete:
            return text
    return direct


def _completions_after_a_step(state: MiddleState) -> Iterator[bytes]:
    """Completions by dearer sentences, where the cheapest does not fit the columns of the right context."""
    for source in _sources(state):
        for symbols in _steps(state.middle, source.chart):
            writer = _written(state, source, symbols)
            if writer is not None:
                reached = state.feed(writer.text)
                rest = None if reached is None else _completion(reached, 0)
                if rest is not None:
                    yield writer.text + rest


def _completions_after_a_beginning(state: MiddleState) -> Iterator[bytes]:
    """Completions that leave one of the cheapest sentences, which do not fit themselves, near its end."""
    for text in islice(_candidates(state, 0), _BEGUN_TRIES):
        for size in reversed(range(1, len(text))):
            reached = state.feed(text[:size])
            if reached is not None:
                yield from (text[:size] + rest for rest in _completions_after_a_step(reached))


def _steps(middle: Middle, chart: EarleySet, most: int = 3) -> Iterator[tuple[int, ...]]:
    """The next lexeme with the layout before it."""
    language = middle.language
    expected = chart.expected()  # hence all of them that there are in `indents`
    layout = {language.newline, language.indent, language.dedent, *middle.grammar.indents}
    for symbol in sorted(expected, key=lambda symbol: symbol in layout):
        if symbol not in layout:
            if language.grammar.is_terminal(symbol):
                yield (symbol,)
        elif most:
            after = middle.grammar.earley.scan(chart, (symbol,))
            if after is not None:
                yield from ((symbol, *rest) for rest in _steps(middle, after, most - 1))


def _straddling(state: MiddleState) -> bytes | None:
    """The lexeme being read may reach into the right context."""
    ways = [
        way
        for join in state.middle.joins
        if join.seam.kind is not None and join.admits(state.reading)
        if state.chart.expects(join.marker)
        if (way := way_into(state.reading, join.seam)) is not None
    ]
    found = [way for way in sorted(ways, key=len) if (end := state.feed(way)) is not None and end.complete]
    return found[0] if found else None


def _candidates(state: MiddleState, skipping: int) -> Iterator[bytes]:
    """Texts that bring *state* to the end of a sentence of its grammar, cheapest first."""
    grammar = state.middle.grammar
    cheapest = _cheapest(state.middle, skipping)
    for source, missing in completions(cheapest, _sources(state), grammar.start, grammar.root):
        *symbols, marker = cheapest.expand(missing)
        joins = [join for join in state.middle.joins if join.marker == marker]
        if symbols[-1:] == [state.middle.language.newline] and any(join.ends_line for join in joins):
            # the line end that stands right of the cursor will do
            yield from _endings(state, source, symbols[:-1], joins)
        yield from _endings(state, source, symbols, joins)


def _endings(
    state: MiddleState, source: Source, symbols: Sequence[int], joins: Sequence[Join]
) -> Iterator[bytes]:
    """Texts for *symbols* after *source* that meet the right context at one of *joins*."""
    for opened in dict.fromkeys(join.opened for join in joins):
        writer = _written(state, source, symbols, opened)
        if writer is not None:
            for way in _ways_on(joins, writer):
                yield writer.text + way


def _written(
    state: MiddleState, source: Source, symbols: Sequence[int], opened: tuple[str, ...] = ()
) -> Writer | None:
    """*symbols* after *source*, as `Writer.write`; None if they cannot be written."""
    for step in STEPS:
        writer = Writer(state.middle.language, state.reading, step)
        if writer.put(source.prefix) and writer.write(symbols, state.middle.grammar.indents, opened):
            return writer
    return None


def _ways_on(joins: Sequence[Join], writer: Writer) -> Iterator[bytes]:
    """How a middle meets the right context at one of *joins*: blanks, then a straddling lexeme."""
    place = writer.place
    if place is None:
        return
    for join in joins:
        if join.admits(place):
            way = way_into(place, join.seam)
            if way is not None:
                yield from (lead + way for lead in _leads(join, writer))


def _leads(join: Join, writer: Writer) -> Iterator[bytes]:
    """White space before the right context."""
    if writer.margin is not None:
        lead = join.lead or b"" if join.seam.kind is None and not join.seam.offset else b""
        column = writer.columns[-1]
        for before in columns_before(column, lead):
            yield indentation(writer.margin, before)
        if lead and column != MARGIN:
            yield indentation(writer.margin, column) + b"\\\n"
    yield from (b"", b" ")


def _sources(state: MiddleState) -> list[Source]:
    """The charts after each way to finish the lexeme being read."""
    reading = state.reading
    if reading.at_lexeme_start:
        return [Source(state.chart, 0, b"")]
    live = state.live
    if live & reading.lexicon.always_viable | live & reading.lexicon.ends_line:
        return _after_skipped(state, live)
    return [*_after_lexemes(state, live), *_after_fallback(state)]


def _after_skipped(state: MiddleState, live: int) -> list[Source]:
    """The lexeme being read is none of the grammar's; a comment takes the rest of its line."""
    reading, lexicon = state.reading, state.reading.lexicon
    if not live & lexicon.ends_line:
        skipped = next(kind for kind in lexicon.blank if live & 1 << kind)
        suffix = lexicon.witnesses.suffix(reading.state, skipped)
        assert suffix is not None
        # a line end that is written next must not merge with a carriage return
        return [Source(state.chart, len(way), way) for way in (suffix, suffix + b" ")]
    prefix = b"" if reading.accepted == lexicon.line_end else b"\n"
    if prefix and live & 1 << lexicon.comment:
        prefix = (lexicon.witnesses.suffix(reading.state, lexicon.comment) or b"") + prefix
    step = reading.feed(prefix)
    last = step and step.reading.finish()
    if step is None or last is None:
        return []
    chart = state.scanned(step.symbols + last.symbols)
    return [] if chart is None else [Source(chart, len(prefix), prefix)]


def _after_lexemes(state: MiddleState, live: int) -> Iterator[Source]:
    language = state.middle.language
    for terminal in language.live_terminals(live):
        suffixes = (
            language.witnesses.suffix(state.reading.state, kind)
            for kind in language.kinds_of[terminal]
            if live & 1 << kind
        )
        suffix = min((s for s in suffixes if s is not None), key=len)
        if state.reading.too_long and not suffix:
            suffix = b"."
        chart = state.middle.grammar.earley.scan(state.chart, (terminal,))
        if chart is not None:
            yield Source(chart, len(suffix), suffix)
            if state.reading.quote_run[1]:  # the quote that ends the string could be one too many in a row
                yield Source(chart, 1 + len(suffix), b" " + suffix)


def _after_fallback(state: MiddleState) -> list[Source]:
    """The lexeme ended earlier, and what was read since begins the next one."""
    following = state.after_fallback()
    return [] if following is None else _sources(following)


def _cheapest(middle: Middle, skipping: int) -> CheapestSentences:
    grammar = middle.grammar
    found = grammar.cheapest.get(skipping)
    if found is None:
        below = _cheapest_of_right(middle, skipping)
        found = grammar.cheapest[skipping] = CheapestSentences(below.costs.copy(), {}, grammar.left, below)
    return found


def _cheapest_of_right(middle: Middle, skipping: int) -> CheapestSentences:
    right = middle.grammar.right
    found = right.cheapest.get(skipping)
    if found is None:
        below = middle.language.cheapest
        known = below.costs | _costs_of_markers(middle, skipping)
        found = CheapestSentences(known, {}, right.halves, below, other=_COST_OF_CLOSED_INDENT)
        right.cheapest[skipping] = found
    return found


def _costs_of_markers(middle: Middle, skipping: int) -> Costs:
    known: Costs = {}
    for join in middle.joins:
        cost = 0
        if join.seam.offset:
            cost = skipping if join.seam.kind is None else _cost_of_straddling(middle, join.seam)
        known[join.marker] = min(cost, known.get(join.marker, cost))
    return known


def _cost_of_straddling(middle: Middle, seam: Seam) -> int:
    """What a middle has at least of the lexeme at *seam*."""
    lexicon = middle.language.lexicon
    way = way_to(lexicon, lexicon.dfa.starts[seam.place.mode], seam.states)
    return len(way) if way else 1
