"""Engines for the tests of grammars, with Lark as the judge, and what both say about a middle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from fimlsp.languages.custom.files import GrammarFiles
from fimlsp.languages.custom.language import LarkLanguage
from fimlsp.quotient.completion.shortest import NoCompletionError
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.states.protocol import State
from lark import Lark
from lark.exceptions import LarkError


@dataclass(frozen=True)
class Fault:
    """A middle about which the engine is wrong, and the grammar."""

    complaint: str
    grammar: str
    left: str
    middle: str
    right: str
    detail: str = ""


@dataclass
class Tally:
    """How many verdicts were judged, and those found wrong."""

    judged: int = 0
    faults: list[Fault] = field(default_factory=list)

    @property
    def dead_ends(self) -> int:
        """How many viable middles nothing completes."""
        return sum(found.complaint == "dead end" for found in self.faults)


def engine_of(text: str, start: str = "start") -> Engine:
    """An engine for the grammar *text* that has seen nothing."""
    language = LarkLanguage(GrammarFiles((("test.lark", text),)), start)
    return Engine(language, LanguageTables(language))


def judge_of(text: str, start: str = "start") -> Callable[[str], bool]:
    """Whether Lark accepts a text; each is parsed once."""
    parser = Lark(text, start=start, parser="earley", lexer="basic")
    known: dict[str, bool] = {}

    def accepts(whole: str) -> bool:
        if whole not in known:
            try:
                parser.parse(whole)
            except LarkError:
                known[whole] = False
            else:
                known[whole] = True
        return known[whole]

    return accepts


@dataclass
class Trial:
    """A grammar, an engine for it, and its judge."""

    grammar: str
    engine: Engine
    accepts: Callable[[str], bool]
    tally: Tally = field(default_factory=Tally)

    def start(self, left: str, right: str) -> State | None:
        """The state before any byte between *left* and *right*."""
        document = self.engine.document((left + right).encode())
        place = len(left.encode())
        return document.middle_at_bytes(place, place, relax=False).start

    def walk(self, left: str, right: str, alphabet: Sequence[str], most: int) -> list[str]:
        """Judge all middles of at most *most* symbols; returns those that are accepted."""
        level: list[tuple[str, State | None]] = [("", self.start(left, right))]
        accepted: list[str] = []
        for length in range(most + 1):
            for middle, reached in level:
                self.judge(left, middle, right, reached)
                if self.accepts(left + middle + right):
                    accepted.append(middle)
            if length < most:
                level = [(m + s, r and r.feed(s.encode())) for m, r in level for s in alphabet]
        return accepted

    def judge(self, left: str, middle: str, right: str, state: State | None) -> None:
        """Judge what *state* says after *middle*: complete exactly if the judge accepts, and no dead end."""
        self.tally.judged += 1
        accepted = self.accepts(left + middle + right)
        said = state is not None and state.complete
        if said != accepted:
            self._fault("rejects" if accepted else "accepts", left, middle, right)
        elif state is not None and not accepted:
            try:
                rest = state.shortest_completion.decode()
            except NoCompletionError as error:
                self._fault("dead end", left, middle, right, str(error))
                return
            after = state.feed(rest.encode())
            if not self.accepts(left + middle + rest + right) or after is None or not after.complete:
                self._fault("dead end", left, middle, right, repr(rest))

    def _fault(self, complaint: str, left: str, middle: str, right: str, detail: str = "") -> None:
        self.tally.faults.append(Fault(complaint, self.grammar, left, middle, right, detail))


def total(tallies: Iterable[Tally]) -> Tally:
    """The sum of *tallies*."""
    found = Tally()
    for tally in tallies:
        found.judged += tally.judged
        found.faults += tally.faults
    return found
