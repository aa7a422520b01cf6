"""A case to be filled: the texts around the hole, the constraint at it, and how an answer is judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

from fimlsp.datasets.cases.result import Attempt
from fimlsp.datasets.cases.similarity import edit_similarity, first_line
from fimlsp.datasets.cuts.strategies import Cut
from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.quotient.engine import EditedDocument, Engine
from fimlsp.quotient.states.protocol import State

EXCERPT = 400
NO_COST = Attempt(ok=False, text=None)


@dataclass(frozen=True, slots=True)
class Case:
    """A hole in a file.

    Attributes:
        language: the language of the file.
        left, truth, right: the text before the hole, what was cut out, and the text after the hole.
        start: the constraint before the first byte; None if the engine finds nothing that connects.
    """

    language: ReplayLanguage
    left: str
    truth: str
    right: str
    start: State | None

    @classmethod
    def at(cls, cut: Cut, text: str, document: EditedDocument, language: ReplayLanguage) -> Case:
        """The case of a *cut* in *text*, which *document* has as well."""
        left, truth, right = cut.left(text), cut.middle(text), cut.right(text)
        begin = len(left.encode())
        start = document.middle(begin, begin + len(truth.encode()), relax=False).start
        return cls(language, left, truth, right, start)

    @classmethod
    def overlapping(cls, cut: Cut, text: str, engine: Engine, language: ReplayLanguage) -> Case:
        """The case of a *cut* of the paper that ends before it starts, so that both sides share a text."""
        left, right = cut.left(text), cut.right(text)
        begin = len(left.encode())
        start = engine.document((left + right).encode()).middle(begin, begin, relax=False).start
        return cls(language, left, "", right, start)

    def judged(self, answer: bytes | None, cause: str, cost: Attempt = NO_COST) -> Attempt:
        """The attempt with this *answer* and *cost*; if it fails, *cause* says why."""
        if answer is None:
            return replace(cost, cause=cause)
        ok = self.language.accepts(self.left, answer, self.right)
        text = answer.decode(errors="surrogateescape")
        return replace(
            cost,
            ok=ok,
            text=text,
            cause=None if ok else cause,
            compile_error=self.language.compile_error(self.left + text + self.right) if ok else None,
            exact=text == self.truth,
            similarity=round(edit_similarity(text, self.truth), 4),
            first_line=round(edit_similarity(first_line(text), first_line(self.truth)), 4),
        )

    def check_ms(self, text: bytes) -> float:
        """Milliseconds that the judge takes, in the mean, with no, half and all of *text* in the hole."""
        parts = [text[: len(text) * half // 2].decode(errors="ignore") for half in range(3)]
        since = perf_counter()
        for part in parts:
            self.language.syntax_error(self.left + part + self.right)
        return 1000 * (perf_counter() - since) / len(parts)

    def excerpt(self) -> dict[str, str]:
        """The text around the hole and in it, shortened for the report."""
        truth = self.truth
        if len(truth) > 2 * EXCERPT:
            truth = f"{truth[:EXCERPT]} … {truth[-EXCERPT:]}"
        return {"left": self.left[-EXCERPT:], "truth": truth, "right": self.right[:EXCERPT]}
