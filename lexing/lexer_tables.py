"""The lexical specification of a language, compiled for fast look-up: kinds as numbers, sets and bit sets.

`longest_match` reads one lexeme of known text by maximal munch. It is the fast path beside `lexer_state`: it
need not stop at any byte, and skips long strings with regular expressions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from fimlsp.lexing.automata.bit_sets import bit_set
from fimlsp.lexing.automata.dfa import DEAD, Dfa
from fimlsp.lexing.automata.paths import Paths, Separation, ShortestWords
from fimlsp.lexing.lexical_spec import NO_KIND, LexicalSpec

NEWLINE, DEDENT = "NEWLINE", "DEDENT"
NOT_ASCII = 0x80
"""The least byte that is not ASCII."""

_HALF = 128
_NO_BYTES: frozenset[int] = frozenset()

P = ParamSpec("P")
T = TypeVar("T")


def remembered(
    most: int,
) -> Callable[[Callable[Concatenate[LexerTables, P], T]], Callable[Concatenate[LexerTables, P], T]]:
    """Decorator: cache the *most* recent results of a function whose first argument is a `LexerTables`.

    The cache lives in these tables and is freed with them. All arguments must be hashable.
    """

    def decorate(
        function: Callable[Concatenate[LexerTables, P], T],
    ) -> Callable[Concatenate[LexerTables, P], T]:
        @wraps(function)
        def look_up(lexical: LexerTables, /, *arguments: P.args, **named: P.kwargs) -> T:
            answer: Callable[..., T] | None = lexical.answers.get(function)
            if answer is None:
                remember: Callable[..., Callable[..., T]] = lru_cache(most)
                answer = lexical.answers[function] = remember(partial(function, lexical))
            return answer(*arguments, **named)

        return look_up

    return decorate


class Loops(dict[int, bytes]):
    """For each state the bytes that lead back to it, computed on first use; none for *checked* states."""

    __slots__ = ("_checked", "_rows")

    def __init__(self, dfa: Dfa, checked: frozenset[int]) -> None:
        super().__init__()
        self._rows = dfa.rows
        self._checked = checked

    def __missing__(self, state: int) -> bytes:
        row = () if state in self._checked else self._rows[state]
        loops = self[state] = bytes(byte for byte, following in enumerate(row) if following == state)
        return loops


class LexerTables:
    """The lexeme kinds of a language, with the lexer's treatment of each.

    Attributes:
        kinds: the names of the DFA's kinds, then NEWLINE and DEDENT, which only a layout produces.
        contextual, line_starts: as in `LexicalSpec`.
        start: the mode stack at the start of a file.
        unknown: the mode stack of code whose left side has not been read.
        quiet: bytes; lexemes that start with one of them leave a blank line blank.
        skipped: kinds that never reach the grammar.
        blank: kinds that are allowed wherever the lexer reads them.
        word_states: the DFA states inside a word that must be one of `words`; `word_bits` is their bit set.
        counted_states: the DFA states inside a part of limited length.
        checked: the union of `word_states` and `counted_states`.
        loops: for each state, the bytes that change neither the state nor a checked part.
        separated: the states in which a line may be cut.
        always_viable, ends_line: bit sets of kinds.
        separation: the kinds that may follow each kind, in a language without white space of its own; else
            None.
        between: texts that keep lexemes apart.
        has_wide_space: True if some white space is not ASCII.
        terminated: True if the layout is one of terminators.
    """

    __slots__ = (
        "always_viable",
        "answers",
        "bad",
        "between",
        "blank",
        "brackets",
        "checked",
        "comment",
        "contextual",
        "counted_kind",
        "counted_part",
        "counted_states",
        "dedent",
        "delimiters",
        "dfa",
        "ends_line",
        "has_wide_space",
        "kinds",
        "line_end",
        "line_joiner",
        "line_starts",
        "loops",
        "marks",
        "mode_changers",
        "most_blocks",
        "most_counted",
        "newline",
        "offside",
        "paths",
        "quiet",
        "separated",
        "separation",
        "separators",
        "shortest_words",
        "skipped",
        "space",
        "spec",
        "start",
        "terminated",
        "unknown",
        "word_bits",
        "word_part",
        "word_states",
        "words",
    )

    def __init__(self, spec: LexicalSpec) -> None:
        self.spec = spec
        self.dfa = spec.dfa
        self.paths = Paths(spec.dfa)
        self.answers: dict[Callable[..., Any], Callable[..., Any]] = {}  # see `remembered`
        self.start, self.unknown = spec.start, spec.unknown
        self.brackets, self.delimiters = spec.brackets, spec.delimiters
        self.contextual, self.line_starts = spec.contextual, spec.line_starts
        self._number_kinds(spec)
        self._take_layout(spec)
        self._take_checked_parts(spec)
        cuts = {byte: self._cuts_after(byte) for byte in spec.separators}
        self.separators = bytes(byte for byte in spec.separators if cuts[byte])
        self.separated = frozenset[int]().union(*cuts.values())
        self._separate_lexemes(spec)

    def _number_kinds(self, spec: LexicalSpec) -> None:
        """Give the kinds numbers, and collect those with a role."""
        self.kinds: tuple[str, ...] = (*spec.dfa.kinds, NEWLINE, DEDENT)
        self.newline = len(spec.dfa.kinds)
        self.dedent = self.newline + 1
        self.space, self.line_end = self._kind(spec.space), self._kind(spec.line_end)
        self.comment, self.line_joiner = self._kind(spec.comment), self._kind(spec.line_joiner)
        self.bad = self._kind(spec.rejected)
        if spec.comment is not None and self.line_end == NO_KIND:
            raise ValueError(
                f"Cannot use this grammar: it has line ends, but not its comments ({spec.comment}), which "
                f"end with them. Name line ends {spec.line_end}, or use comments in the grammar as well."
            )
        self.mode_changers = frozenset(map(self._kind, spec.mode_changers))
        self.marks = frozenset(map(self._kind, spec.marks))
        unseen = tuple(map(self._kind, sorted(spec.unseen)))
        skipped = (self.space, self.comment, self.line_end, self.line_joiner, *unseen)
        self.skipped = frozenset(skipped) - {NO_KIND}
        blank = (self.space, self.line_joiner, *unseen)
        self.blank = tuple(kind for kind in blank if kind != NO_KIND)
        self.ends_line = sum(1 << kind for kind in (self.comment, self.line_end) if kind != NO_KIND)

    def _take_layout(self, spec: LexicalSpec) -> None:
        self.offside = spec.offside is not None
        self.terminated = spec.start.terminated
        self.quiet = spec.offside.blank if spec.offside else frozenset[int]()
        self.most_blocks = spec.offside.most_blocks if spec.offside else sys.maxsize

    def _take_checked_parts(self, spec: LexicalSpec) -> None:
        self.word_part, self.counted_part = spec.word_part, spec.counted_part
        self.words = self.word_part.words
        self.word_states, self.counted_states = self.word_part.states, self.counted_part.states
        self.counted_kind = self._kind(self.counted_part.kind or None)
        self.most_counted = self.counted_part.most
        self.word_bits = bit_set(self.word_states)
        self.checked = self.word_states | self.counted_states
        self.loops = Loops(spec.dfa, self.checked)

    def _separate_lexemes(self, spec: LexicalSpec) -> None:
        """Find the texts that keep lexemes apart, in a language that may lack white space of its own."""
        self.separation: Separation | None = None
        self.between: tuple[bytes, ...] = (b"", b" ")
        free: Collection[int] = self.blank
        if self.space == NO_KIND and not self.offside:
            self.separation = Separation(spec.dfa, self.skipped)
            self.between = self.separation.separators
            free = self.separation.free
        ends = None if self.separation is None else self.separation.ends
        self.shortest_words = ShortestWords(spec.dfa, ends)
        self.always_viable = sum(1 << kind for kind in free)
        starts = (self.dfa.rows[start] for start in self.dfa.starts.values())
        after = {row[byte] for row in starts for byte in range(NOT_ASCII, 256)}
        self.has_wide_space = any(self.dfa.live[state] & self.always_viable for state in after)

    def _cuts_after(self, byte: int) -> frozenset[int]:
        """The states after *byte* in which a line may be cut."""
        return frozenset(state for row in self.dfa.rows if self._may_be_cut(state := row[byte]))

    def _may_be_cut(self, state: int) -> bool:
        """True if a lexeme in *state* may end there, whatever follows."""
        row, first = self.dfa.rows[state], self.dfa.rows[self.dfa.starts[self.start.mode]]
        if self.dfa.accepts[state] in self.skipped:
            return all(following in (DEAD, other) for following, other in zip(row, first, strict=True))
        return self.dfa.accepts[state] >= 0 and not any(row)

    def _kind(self, name: str | None) -> int:
        return self.dfa.kinds.index(name) if name in self.dfa.kinds else NO_KIND

    def kinds_in(self, bits: int) -> list[int]:
        """The kinds in the bit set *bits*, ascending."""
        return [kind for kind in range(bits.bit_length()) if bits >> kind & 1]

    def too_deep(self, kinds: Sequence[int], open_at_end: int) -> bool:
        """True if brackets nest too deeply in *kinds*, given that *open_at_end* are open after them."""
        most = self.spec.most_brackets
        if most is None or len(kinds) + open_at_end <= most:
            return False
        return self.spec.too_deep([self.kinds[kind] for kind in kinds], open_at_end)


def longest_match(lexical: LexerTables, state: int, data: bytes, position: int) -> tuple[int, int] | None:
    """The kind and the end of the longest lexeme in *data* from *position* on, for a DFA in *state*.

    None if there is no lexeme. Runs of bytes that do not change the state are skipped at once.
    """
    rows, accepts, word_states = lexical.dfa.rows, lexical.dfa.accepts, lexical.word_states
    longest: tuple[int, int] | None = None
    start, size, word = position, len(data), -1
    while position < size:
        following = rows[state][data[position]]
        if not following:
            break
        if following in word_states:
            word = position + 1 if word < 0 else word
        elif word >= 0:
            if data[word:position] not in lexical.words:
                return None
            word = -1
        position += 1
        if following == state:
            position = byte_that_leaves(lexical, state)(data, position)
        state = following
        if accepts[state] >= 0:
            longest = accepts[state], position
    if longest is not None and longest[0] == lexical.counted_kind:
        return None if lexical.counted_part.too_long(data[start : longest[1]], 0) else longest
    return longest


@remembered(4096)
def byte_that_leaves(
    lexical: LexerTables, state: int, forbidden: frozenset[int] = _NO_BYTES
) -> Callable[[bytes, int], int]:
    """A function find(data, start): the offset of the first byte that leaves *state* for good, or the end.

    A byte that leaves the state is skipped as well if the next one leads back, as in a string with escapes.
    The search stops at *forbidden* bytes. No lexeme ends in the skipped text unless *state* accepts it too.
    """
    rows, accepts = lexical.dfa.rows, lexical.dfa.accepts
    allowed = [byte for byte in range(256) if byte not in forbidden]
    leading: dict[int, list[int]] = {}
    for byte in allowed:
        leading.setdefault(rows[state][byte], []).append(byte)
    loops = _any_of(bytes(leading.pop(state, ())))
    excursions: dict[bytes, list[int]] = {}
    for away, first in leading.items():
        if away and accepts[away] < 0 and away not in lexical.word_states:
            back = bytes(byte for byte in allowed if rows[away][byte] == state)
            if back:
                excursions.setdefault(back, []).extend(first)
    detours = b"|".join(_any_of(bytes(first)) + _any_of(back) for back, first in excursions.items())
    pattern = re.compile(rb"%s*(?:(?:%s)%s*)*" % (loops, detours or _any_of(b""), loops))

    def find(data: bytes, start: int) -> int:
        skipped = pattern.match(data, start)
        assert skipped is not None
        return skipped.end()

    return find


def _any_of(some: bytes) -> bytes:
    """A pattern for one byte out of *some*, which compiles the sooner the shorter it is."""
    if len(some) <= _HALF:
        return b"[" + re.escape(some) + b"]" if some else b"(?!)"
    others = bytes({*range(256)} - {*some})
    return b"[^" + re.escape(others) + b"]" if others else b"(?s:.)"


@remembered(4096)
def closing_delimiter(lexical: LexerTables, state: int) -> bytes | None:
    """The only delimiter that can end the lexeme read in *state*, if the lexeme may span lines; else None."""
    endings = {
        suffix
        for kind in lexical.kinds_in(lexical.dfa.live[state])
        if kind != lexical.bad and (suffix := lexical.shortest_words.suffix(state, kind)) is not None
    }
    return endings.pop() if any(endings == {delimiter} for delimiter in lexical.delimiters.span) else None
