"""The lexemes of a language as numbers and sets, as the lexer looks them up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from fimlsp.lexing.automata.shortest_words import ShortestWords
from fimlsp.lexing.checked_parts import NO_KIND, Loops
from fimlsp.lexing.lexis import Lexis

NEWLINE, DEDENT = "NEWLINE", "DEDENT"

P = ParamSpec("P")
T = TypeVar("T")


def remembered(
    most: int,
) -> Callable[[Callable[Concatenate[LexerTables, P], T]], Callable[Concatenate[LexerTables, P], T]]:
    """Makes a function of lexer tables remember its *most* recent answers, in the tables that it is asked about.

    So what was remembered of a language goes with its tables. All arguments must be hashable.
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
    """The kinds of lexemes of a language, and what the lexer does with them.

    `kinds` are those of the automaton, then NEWLINE and DEDENT, which a layout makes. `start` is the stack of
    modes at the start of a file, `unknown` that of code of which the left has not been read. `quiet` bytes may
    begin what leaves a line blank. `skipped` kinds never reach the grammar, `blank` ones may stand wherever
    they are read. In the states `word_states` the DFA reads a word that has to be one of `words`, in
    `counted_states` what is counted; `checked` are both. `loops[state]` are the bytes that leave a state as it
    is and count for nothing else.
    """

    __slots__ = (
        "always_viable",
        "answers",
        "bad",
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
        "mode_changers",
        "most_blocks",
        "most_counted",
        "newline",
        "offside",
        "quiet",
        "shortest_words",
        "skipped",
        "space",
        "start",
        "unknown",
        "word_part",
        "word_states",
        "words",
    )

    def __init__(self, lexis: Lexis) -> None:
        dfa = self.dfa = lexis.dfa
        self.lexis = lexis
        self.answers: dict[Callable[..., Any], Callable[..., Any]] = {}  # see `remembered`
        self.start, self.unknown = lexis.start, lexis.unknown
        self.shortest_words = ShortestWords(dfa)
        self.kinds: tuple[str, ...] = (*dfa.kinds, NEWLINE, DEDENT)
        self.newline = len(dfa.kinds)
        self.dedent = self.newline + 1
        self.space, self.line_end = self._kind(lexis.space), self._kind(lexis.line_end)
        self.comment, self.line_joiner = self._kind(lexis.comment), self._kind(lexis.line_joiner)
        self.bad = self._kind(lexis.rejected)
        self.mode_changers = frozenset(map(self._kind, lexis.mode_changers))
        self.brackets = lexis.brackets
        unseen = tuple(map(self._kind, sorted(lexis.unseen)))
        skipped = (self.space, self.comment, self.line_end, self.line_joiner, *unseen)
        self.skipped = frozenset(skipped) - {NO_KIND}
        self.delimiters = lexis.delimiters
        self.offside = lexis.offside is not None
        self.quiet = lexis.offside.blank if lexis.offside else frozenset[int]()
        self.most_blocks = lexis.offside.most_blocks if lexis.offside else 0
        self.word_part, self.counted_part = lexis.word_part, lexis.counted_part
        self.words = lexis.word_part.words
        self.word_states, self.counted_states = lexis.word_part.states, lexis.counted_part.states
        self.counted_kind = self._kind(lexis.counted_part.kind or None)
        self.most_counted = lexis.counted_part.most
        self.checked = self.word_states | self.counted_states
        self.loops = Loops(dfa, self.checked)
        blank = (self.space, self.line_joiner, *unseen)
        self.blank = tuple(kind for kind in blank if kind != NO_KIND)
        self.always_viable = sum(1 << kind for kind in self.blank)
        self.ends_line = sum(1 << kind for kind in (self.comment, self.line_end) if kind != NO_KIND)

    def _kind(self, name: str | None) -> int:
        return self.dfa.kinds.index(name) if name in self.dfa.kinds else NO_KIND

    def kinds_in(self, bits: int) -> list[int]:
        """The kinds in a bit set."""
        return [kind for kind in range(bits.bit_length()) if bits >> kind & 1]

    def too_deep(self, kinds: Sequence[int], open_at_end: int) -> bool:
        """Whether more brackets are open somewhere in *kinds* than may be, if so many are at their end."""
        most = self.lexis.most_brackets
        if most is None or len(kinds) + open_at_end <= most:
            return False
        return self.lexis.too_deep([self.kinds[kind] for kind in kinds], open_at_end)
