"""Repairs the rest of the cursor's line, after some short middle.

It may lack closing brackets, an opening one, an end, or lexemes between, and it may have too many brackets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from fimlsp.quotient.grammar.earley import EarleySet, merged
from fimlsp.quotient.recovery.bracket_layout import Unit
from fimlsp.quotient.recovery.lexemes import Lexeme, Lexemes, lexemes
from fimlsp.quotient.recovery.repaired_text import Edit, Edits
from fimlsp.quotient.recovery.separators import SEPARATOR, rest_lacks_separator
from fimlsp.quotient.recovery.shared_brackets import SharedBrackets


class RestOfLine(SharedBrackets):
    """The text from the cursor on, with repairs of the rest of its line."""

    def completed_rest(self) -> Iterator[Edits]:
        """The edits that close the strings and brackets which the rest of the cursor's line leaves open.

        If deeper lines follow, the first ones also end it as headers end.
        """
        rest = self.rest
        read = lexemes(self.assumed.tables.lexical, rest, 0, len(rest)).read
        cut_off = [(lexeme.end, lexeme.missing) for lexeme in read if lexeme.missing]
        layout = self.assumed.layout
        opened = layout.left_open((Unit(0, len(rest), None, Lexemes(read, (), joined=False)),))
        closers = b"".join(layout.closer(closing)[1] for closing, _ in reversed(opened))
        ends = {len(rest): closers} if closers else {}
        for end, missing in reversed(cut_off):
            ends[end] = missing + ends.get(end, b"")
        if not ends:
            return
        line, headers = self.statements().next_line(self.start), self.assumed.ends.of_headers
        if line is not None and self.column is not None and line.column.deeper_than(self.column):
            words = [self.assumed.words((symbol,)) for symbol in sorted(headers)]
            yield from (self._added_to_rest({**ends, len(rest): closers + word}) for word in words)
        yield self._added_to_rest(ends)

    def finished_rest(self, bracket: int | None = None) -> Iterator[Edits]:
        """The edits after which the rest of the cursor's line closes the brackets opened before the cursor.

        It closes no others. Strings in it end, and a separator follows that the lines around show. If deeper
        lines follow, it also ends as headers end. The middle may write a *bracket*, given by its kind.
        """
        for own in self._own_lines() if self.assumed.tables.offside else ():
            after = [lexeme for lexeme in own.read if lexeme.start >= self.text.cursor_end]
            if after:
                yield from self._finished(after, own if bracket is None else self._with_bracket(own, bracket))

    def _finished(self, after: list[Lexeme], own: Unit) -> Iterator[Edits]:
        """As `finished_rest`, where the cursor's line is *own*, and *after* are its lexemes there."""
        tables, headers = self.assumed.tables, self.assumed.ends.of_headers
        last, is_header = after[-1], tables.terminal_of[after[-1].kind] in headers
        ends_apart = is_header or (self._depth_above > 0 and last.kind in self.assumed.layout.separators)
        words = self.assumed.layout.text_of(closing for closing in self._lacking_closers(own))
        surplus = {lexeme.start for lexeme in self._surplus_closers(own)}
        edits = [(lexeme.start, lexeme.end, b"") for lexeme in after if lexeme.start in surplus]
        edits += self._closers_within(own)
        edits += [(lexeme.end, lexeme.end, lexeme.missing) for lexeme in after[:-1] if lexeme.missing]
        if words and self._lacks_separator:
            words += SEPARATOR
        if words and ends_apart:
            edits.append((last.start, last.end, words + self._text_of(last)))
        elif last.missing:
            edits.append((last.end, last.end, last.missing + words))
        elif words:
            edits.append((last.start, last.end, self._text_of(last) + words))
        if edits:
            yield tuple(edits)
        if is_header or self._brackets or not self.has_deeper_below:
            return
        kept = [lexeme for lexeme in after if (lexeme.start, lexeme.end, b"") not in edits]
        for symbol in sorted(headers) if kept else ():
            end = kept[-1].end - 1
            text = self.text.data[end : end + 1] + kept[-1].missing + words + self.assumed.words((symbol,))
            yield (*(edit for edit in edits if not edit[2]), (end, end + 1, text))

    def _own_lines(self) -> Iterator[Unit]:
        """The cursor's line; before it one in which a string after the cursor that is cut off ends early."""
        own, cursor = self.own_line(), self.text.cursor_end
        tables = self.assumed.tables
        if tables.offside and any(lexeme.missing and lexeme.end > cursor for lexeme in own.read):
            early = lexemes(tables.lexical, self.text.data, cursor, self.start, ended_early=tables.may_follow)
            before = (lexeme for lexeme in own.read if lexeme.start < cursor)
            yield own._replace(lexemes=own.lexemes._replace(read=(*before, *early.read)))
        yield own

    @property
    def _lacks_separator(self) -> bool:
        """True if the rest of the cursor's line seems to lack a separator at its end."""
        return rest_lacks_separator(self.text.document, self.text.cursor, self.text.cursor_end)

    def repaired_rest(self, bracket: int | None = None) -> Iterator[Edits]:
        """The cheapest edits after which the rest of the cursor's line may end it, after some middle.

        They add a separator at its end if the lines around show that it is missing. Else they first add the
        closing brackets that the line lacks there, where the middle may write a *bracket*, given by its kind.
        """
        separators = self.assumed.layout.separators
        if self._lacks_separator:
            yield from self._repaired_before(SEPARATOR, separators)
            return
        own = self.own_line()
        lacking = self._lacking_closers(own if bracket is None else self._with_bracket(own, bracket))
        if lacking and self.assumed.tables.offside:
            yield from self._repaired_before(self.assumed.layout.text_of(lacking), lacking)
        yield from self._repaired_before(b"", ())

    def _repaired_before(self, last: bytes, kinds: Collection[int]) -> Iterator[Edits]:
        """The cheapest edits of the rest of the cursor's line before *last*, lexemes of these *kinds*."""
        cursor_end, tables = self.text.cursor_end, self.assumed.tables
        after = self.text.document.right_at(self.start)
        chart = self._set_below if self.rest.strip() else None
        if chart is not None and kinds:
            chart = tables.backward.read(chart, tables.terminals(tuple(kinds)))
        reading = chart and self.statements(cursor_end).rest_of_line(
            self._line_start, cursor_end, self.start, chart
        )
        if reading:
            end = self.own_line().code_end
            edits = [edit for edit in reading.edits if edit[0] < end]
            at_end = b"".join(new for start, _, new in reading.edits if start == end)
            added = ((end, end, at_end + last),) if at_end or last else ()
            lacks_block = at_end and self._is_header and not after.unmatched and self._has_code_before
            if (edits or added) and not lacks_block:
                yield (*edits, *added)

    @property
    def _set_below(self) -> EarleySet | None:
        """The backward set before the end of the cursor's line; None if no line may be there."""
        after, backward = self.text.document.right_at(self.start), self.assumed.tables.backward
        ways = tuple((after.ways() if self.column is None else after.ways_at(self.column)).values())
        return merged(backward.earley, ways) if ways else None

    def rest_after(self, chart: EarleySet, *, inside: bool = False) -> Iterator[Edits]:
        """The cheapest edits after which the rest of the cursor's line ends it; *chart* is the set before it.

        A block follows it if deeper lines do. If they close a bracket that was not opened, the rest opens it
        at its end. Text that only its end lacks is not assumed otherwise, as the line may go on, unless it is
        cut off. *inside* brackets it goes on.
        """
        below = self.text.document.right_at(self.start).unmatched
        opened = len(self.assumed.layout.left_open((self.own_line(),)))
        lacking = 0 if inside else max(below - opened, 0)
        if not self.rest.strip() or (below and lacking != 1 and not inside):
            return
        cursor_end, is_deeper = self.text.cursor_end, self.has_deeper_below and not inside
        statements = self.statements(cursor_end)
        for opener in self._openers_for_below() if lacking else (None,):
            is_block = None if lacking or inside else is_deeper
            place = self._line_start, cursor_end, self.start, chart
            reading = statements.read_on(*place, opens=is_block, opener=opener, open_end=inside)
            end = self.own_line().code_end
            is_short = lacking or is_deeper or (self.is_cut_off and not inside)
            if reading and any(start < end or is_short for start, _, _ in reading.edits):
                yield reading.edits

    @property
    def is_cut_off(self) -> bool:
        """True if no line ends with the last lexeme of the cursor's line, which is after the cursor."""
        tables = self.assumed.tables
        after = [lexeme.kind for lexeme in self.own_line().read if lexeme.start >= self.text.cursor_end]
        return bool(after) and (tables.terminal_of[after[-1]], tables.newline) not in tables.neighbours

    @property
    def has_deeper_below(self) -> bool:
        """True if the line below is deeper than the logical line with the cursor."""
        line = self.statements().next_line(self.start)
        return line is not None and self.column is not None and line.column.deeper_than(self.column)

    def _openers_for_below(self) -> Iterator[int]:
        """The kinds of the brackets whose content the lines below may be."""
        tables, chart = self.assumed.tables, self._set_below
        for name in tables.lexical.brackets:
            kind = tables.lexical.kinds.index(name)
            if chart is not None and tables.backward.read(chart, (tables.terminal_of[kind],)) is not None:
                yield kind

    def _text_of(self, lexeme: Lexeme) -> bytes:
        return self.text.data[lexeme.start : lexeme.end]

    def _lacking_closers(self, own: Unit) -> list[int]:
        """The kinds of the closing brackets that the cursor's line lacks, the innermost first.

        The lines below may close the outermost.
        """
        layout, opened = self.assumed.layout, self.assumed.layout.left_open((own,))
        below = self.text.document.right_at(self.start).unmatched - self._depth_above
        return [layout.closer(closing)[0] for closing, _ in reversed(opened[max(below, 0) :])]

    @property
    def _depth_above(self) -> int:
        """The number of brackets open before the cursor's line."""
        return self.text.document.left_at(self._line_start)[1].modes.depth

    def _closers_within(self, own: Unit) -> Iterator[Edit]:
        """The closing brackets that the rest of the cursor's line lacks before those of outer brackets."""
        for lexeme, inner in self._closers_after(own):
            if inner:
                lacking = [self.assumed.layout.closer(closing)[0] for closing in reversed(inner)]
                yield lexeme.start, lexeme.start, self.assumed.layout.text_of(lacking)

    def _surplus_closers(self, own: Unit) -> Iterator[Lexeme]:
        """The closing brackets after the cursor that neither its line nor the lines above open for them."""
        return (lexeme for lexeme, inner in self._closers_after(own) if inner is None)

    def _closers_after(self, own: Unit) -> Iterator[tuple[Lexeme, Sequence[str] | None]]:
        """The closing brackets after the cursor, each with those open within the one that it closes.

        None for one that closes nothing.
        """
        lexical, opened = self.assumed.tables.lexical, self._opened_above()
        for lexeme in own.read:
            kind = lexical.kinds[lexeme.kind]
            if kind in lexical.brackets:
                opened.append(lexical.brackets[kind])
            elif kind in self.assumed.tables.opening_of:
                number = len(opened) - 1 - opened[::-1].index(kind) if kind in opened else None
                if lexeme.start >= self.text.cursor_end:
                    yield lexeme, None if number is None else opened[number + 1 :]
                if number is not None:
                    del opened[number:]

    def _opened_above(self) -> list[str]:
        """The closers of the brackets open before the cursor's line that the lines below do not close."""
        document, brackets = self.text.document, self.assumed.tables.lexical.brackets
        opened, modes = list[str](), document.left_at(self._line_start)[1].modes
        while modes.parent is not None and modes.shape in brackets:
            opened.append(brackets[modes.shape])
            modes = modes.parent
        return opened[::-1][document.right_at(self.start).unmatched :]

    @property
    def _has_code_before(self) -> bool:
        """True if there is code before the cursor in its line."""
        return bool(self.text.data[self._line_start : self.text.cursor].strip())

    @property
    def _line_start(self) -> int:
        """The start of the line with the cursor."""
        return self.text.document.transitions.lines.start_of_stretch(self.text.data, self.text.cursor)

    @property
    def lacking_opener(self) -> bytes:
        """The opening bracket that the first surplus closer after the cursor lacks; empty if none is."""
        tables, surplus = self.assumed.tables, next(self._surplus_closers(self.own_line()), None)
        if surplus is None:
            return b""
        kind = tables.opening_of[tables.lexical.kinds[surplus.kind]]
        return self.assumed.layout.text_of((tables.lexical.kinds.index(kind),))

    def brackets_of_middle(self) -> Iterator[tuple[int, ...]]:
        """The kinds of a bracket that a middle may close before the rest, and of those that it may open."""
        own, layout = next(self._own_lines()), self.assumed.layout
        lexical, opening_of = self.assumed.tables.lexical, self.assumed.tables.opening_of
        before = tuple(lexeme for lexeme in own.read if lexeme.start < self.text.cursor_end)
        left_open = layout.left_open((own._replace(lexemes=own.lexemes._replace(read=before)),))
        surplus = [opening_of[lexical.kinds[lexeme.kind]] for lexeme in self._surplus_closers(own)]
        if left_open and not surplus:
            yield (layout.closer(left_open[-1][0])[0],)
        yield tuple(lexical.kinds.index(kind) for kind in surplus[:1] or lexical.brackets)

    def _with_bracket(self, own: Unit, kind: int) -> Unit:
        """The line *own* with a bracket of this *kind* at the cursor."""
        cursor = self.text.cursor_end
        before = [lexeme for lexeme in own.read if lexeme.start < cursor]
        read = (*before, Lexeme(kind, cursor, cursor), *own.read[len(before) :])
        return own._replace(lexemes=own.lexemes._replace(read=read))

    def _added_to_rest(self, texts: Mapping[int, bytes]) -> Edits:
        """The edits that add *texts* to the rest of the cursor's line, by their distance from the cursor."""
        return tuple((self.text.cursor_end + offset,) * 2 + (text,) for offset, text in texts.items())

    def without_rest(self) -> Edits:
        """The edit that removes the rest of the cursor's line."""
        rest = self.rest
        return ((self.text.cursor_end, self.text.cursor_end + len(rest), b""),) if rest.strip() else ()
