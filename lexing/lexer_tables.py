"""The lexical description of a language, compiled for fast look-up: kinds as numbers, sets and bit sets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from fimlsp.lexing.automata.dfa import DEAD
from fimlsp.lexing.automata.paths import Paths
from fimlsp.lexing.automata.separation import Separation
from fimlsp.lexing.automata.shortest_words import ShortestWords
from fimlsp.lexing.checked_parts import NO_KIND, Loops
from fimlsp.lexing.lexis import Lexis
from fimlsp.lexing.terminators import TerminatorModes

NEWLINE, DEDENT = "NEWLINE", "DEDENT"

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


class LexerTables:
    """The lexeme kinds of a language, and how the lexer treats each.

    `kinds` are the names of the DFA's kinds, then NEWLINE and DEDENT, which only a layout produces. `start`
    is the mode stack at the start of a file, `unknown` that of code whose left side has not been read.
    Lexemes that begin with a `quiet` byte leave a blank line blank. `skipped` kinds never reach the grammar;
    `blank` kinds are allowed wherever the lexer reads them. `word_states` are the DFA states inside a word
    that must be one of `words`, `counted_states` those inside a part of limited length, and `checked` is
    their union. `loops[state]` are the bytes that change neither the state nor anything that is checked.
    In the states `separated` a line may be cut. `always_viable` and `ends_line` are bit sets of kinds.
    `separation` tells what may follow what, in a language without white space of its own; None in others.
    `between` are texts that keep lexemes apart. `terminated` tells whether the layout is one of terminators.
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
        "counted_kind",
        "counted_part",
        "counted_states",
        "dedent",
        "delimiters",
        "dfa",
        "ends_line",
        "kinds",
        "lexis",
        "line_end",
        "line_joiner",
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
        "start",
        "terminated",
        "unknown",
        "word_part",
        "word_states",
        "words",
    )

    def __init__(self, lexis: Lexis) -> None:
        dfa = self.dfa = lexis.dfa
        self.paths = Paths(dfa)
        self.lexis = lexis
        self.answers: dict[Callable[..., Any], Callable[..., Any]] = {}  # see `remembered`
        self.start, self.unknown = lexis.start, lexis.unknown
        self.kinds: tuple[str, ...] = (*dfa.kinds, NEWLINE, DEDENT)
        self.newline = len(dfa.kinds)
        self.dedent = self.newline + 1
        self.space, self.line_end = self._kind(lexis.space), self._kind(lexis.line_end)
        self.comment, self.line_joiner = self._kind(lexis.comment), self._kind(lexis.line_joiner)
        self.bad = self._kind(lexis.rejected)
        if lexis.comment is not None and self.line_end == NO_KIND:
            raise ValueError(
                f"The grammar of this language sees line ends, but not its comments ({lexis.comment}), "
                f"which end with them. Call line ends {lexis.line_end}, or let the grammar have the "
                f"comments too."
            )
        self.mode_changers = frozenset(map(self._kind, lexis.mode_changers))
        self.marks = frozenset(map(self._kind, lexis.marks))
        self.brackets = lexis.brackets
        unseen = tuple(map(self._kind, sorted(lexis.unseen)))
        skipped = (self.space, self.comment, self.line_end, self.line_joiner, *unseen)
        self.skipped = frozenset(skipped) - {NO_KIND}
        self.delimiters = lexis.delimiters
        self.offside = lexis.offside is not None
        self.terminated = isinstance(lexis.start, TerminatorModes)
        self.quiet = lexis.offside.blank if lexis.offside else frozenset[int]()
        self.most_blocks = lexis.offside.most_blocks if lexis.offside else sys.maxsize
        self.word_part, self.counted_part = lexis.word_part, lexis.counted_part
        self.words = lexis.word_part.words
        self.word_states, self.counted_states = lexis.word_part.states, lexis.counted_part.states
        self.counted_kind = self._kind(lexis.counted_part.kind or None)
        self.most_counted = lexis.counted_part.most
        self.checked = self.word_states | self.counted_states
        self.loops = Loops(dfa, self.checked)
        cuts = {byte: self._cuts_after(byte) for byte in lexis.separators}
        self.separators = bytes(byte for byte in lexis.separators if cuts[byte])
        self.separated = frozenset[int]().union(*cuts.values())
        blank = (self.space, self.line_joiner, *unseen)
        self.blank = tuple(kind for kind in blank if kind != NO_KIND)
        self.separation: Separation | None = None
        self.between: tuple[bytes, ...] = (b"", b" ")
        free: Collection[int] = self.blank
        if self.space == NO_KIND and not self.offside:
            self.separation = Separation(dfa, lexis.start.mode, self.skipped)
            self.between = self.separation.separators
            free = self.separation.free
        self.shortest_words = ShortestWords(dfa, None if self.separation is None else self.separation.ends)
        self.always_viable = sum(1 << kind for kind in free)
        self.ends_line = sum(1 << kind for kind in (self.comment, self.line_end) if kind != NO_KIND)

    def _cuts_after(self, byte: int) -> frozenset[int]:
        """The states after *byte* in which a line may be cut."""
        return frozenset(state for row in self.dfa.rows if self._may_be_cut(state := row[byte]))

    def _may_be_cut(self, state: int) -> bool:
        """Whether a lexeme that has been read up to *state* may as well end there."""
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
        """Whether brackets nest too deeply in *kinds*, given that *open_at_end* are open behind them."""
        most = self.lexis.most_brackets
        if most is None or len(kinds) + open_at_end <= most:
            return False
        return self.lexis.too_deep([self.kinds[kind] for kind in kinds], open_at_end)
