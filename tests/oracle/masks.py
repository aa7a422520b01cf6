"""Compares masks with feeding: each bit of the masks of random states, by language, direction and place.

A verdict is one bit: True if one token may follow one state. Half of the states have no text to their right.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from tokenizers import Tokenizer

from fimlsp import Vocabulary
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.models.prompts.vocabulary import read_vocabulary
from fimlsp.quotient.masks.vocabulary import allowed_by_feeding
from fimlsp.quotient.states.protocol import State
from tests.quotient.corpus import library_files, read
from tests.quotient.masks.sources import engine, random_texts, source

LANGUAGES = ("python", "json", "lua", "go")
VERDICTS = 10_000_000
BUNDLED = Path(__file__).parents[2] / "models/bundled/tokenizer.json"
_PIECES = 2_000
_FILES, _LARGEST = 40, 12_000
_STEPS, _HOLES = 5, (0, 0, 3, 20, 80)
_COMMON = ("name", "number", "space", "bad")
_SHOWN = 20


class Place(NamedTuple):
    """A state of a middle in a language, after *written* between two sides."""

    name: str
    left: bytes
    written: bytes
    right: bytes
    state: State

    @property
    def kind(self) -> str:
        """The kind of lexeme at the cursor."""
        lexer = getattr(self.state, "lexer", None)
        if not isinstance(lexer, LexerState):
            return "start of the file"
        if lexer.margin is not None:
            return "start of a line"
        if not lexer.modes.in_code:
            return "string with code in it"
        if lexer.at_lexeme_start:
            return "between lexemes"
        lexical = lexer.lexical
        kinds = [lexical.kinds[kind] for kind in lexical.kinds_in(lexer.possible_kinds)]
        families = {lexical.spec.families.get(kind) for kind in kinds}
        family = families.pop() if len(families) == 1 else None
        words = [kind.lower() for kind in kinds if kind.isidentifier()]
        common = [kind for kind in words if kind in _COMMON]
        return family or (common[0] if common else "keyword" if words else "operator")


@dataclass
class Judged:
    """Verdicts by language and direction and by place, and those that differ."""

    by_language: Counter[str] = field(default_factory=Counter)
    by_kind: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[Place, bytes, bool]] = field(default_factory=list)

    @property
    def verdicts(self) -> int:
        """The number of verdicts."""
        return sum(self.by_language.values())


@cache
def texts_of(name: str) -> tuple[bytes, ...]:
    """Texts of a language to cut."""
    if name != "python":
        return (source(name),)
    files = [read(path).encode() for path in library_files(_FILES, 0)]
    return (source(name), *[text for text in files if 0 < len(text) < _LARGEST])


def vocabulary_of(name: str, rng: random.Random, tokenizer: Path) -> Vocabulary:
    """The tokens of a model, with pieces of a language that it may lack."""
    tokens = read_vocabulary(Tokenizer.from_file(str(tokenizer)), ()).token_bytes
    return Vocabulary([*tokens, *random_texts(rng, source(name), _PIECES), None], [len(tokens) + _PIECES])


def places(rng: random.Random, name: str, texts: list[bytes]) -> Iterator[Place]:
    """States of middles at random cuts, along the text cut out or along any of *texts*."""
    while True:
        text = rng.choice(texts_of(name))
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice(_HOLES))
        left, right = text[:start], text[end:] if rng.random() < 0.5 else b""
        document = engine(name).document(left + right)
        state = document.middle(start, start, may_escape=rng.random() < 0.7).start
        written = b""
        for _ in range(_STEPS):
            if state is None:
                break
            yield Place(name, left, written, right, state)
            at = start + len(written)
            piece = text[at : at + rng.randrange(1, 6)]
            following = state.feed(piece) if rng.random() < 0.8 else None
            if following is None:
                piece = rng.choice(texts)
                following = state.feed(piece)
            state, written = following, written + piece


def judge(results: Judged, place: Place, vocabulary: Vocabulary) -> None:
    """Compare the mask of *place* with feeding each token."""
    right = allowed_by_feeding(vocabulary, place.state, lambda at, data: at.feed(data))
    allowed = place.state.allowed_texts(vocabulary)
    wrong = np.flatnonzero(right != allowed)
    results.wrong += [(place, vocabulary.texts[number], bool(right[number])) for number in wrong.tolist()]
    direction = "with a suffix" if place.right else "left to right"
    results.by_language[f"{place.name}, {direction}"] += len(vocabulary.texts)
    results.by_kind[place.kind] += len(vocabulary.texts)


def judged(seed: int, verdicts: int, tokenizer: Path = BUNDLED) -> Iterator[Judged]:
    """The results so far, up to so many *verdicts*, in equal parts for the languages."""
    results = Judged()
    for name in LANGUAGES:
        rng = random.Random(f"{seed} {name}")
        vocabulary = vocabulary_of(name, rng, tokenizer)
        enough = results.verdicts + verdicts // len(LANGUAGES)
        for place in places(rng, name, vocabulary.texts):
            if results.verdicts >= enough:
                break
            judge(results, place, vocabulary)
            yield results


def run(console: Console, seed: int, verdicts: int, tokenizer: Path) -> bool:
    """Judge masks and print the results; True if no bit differs."""
    console.print(f"masks, seed {seed}, tokens of {tokenizer.name}")
    results = Judged()
    with Progress(console=console) as progress:
        shown = progress.add_task("masks", total=verdicts)
        for results in judged(seed, verdicts, tokenizer):
            progress.update(shown, completed=results.verdicts)
    for title, counts in (("language", results.by_language), ("place", results.by_kind)):
        table = Table(title, "verdicts")
        for name, count in counts.most_common():
            table.add_row(name, f"{count:,}")
        console.print(table)
    for place, text, may_come in results.wrong[:_SHOWN]:
        console.print(f"{text!r} {'may' if may_come else 'may not'} come after {place!r}", markup=False)
    console.print(f"masks: {results.verdicts:,} verdicts, {len(results.wrong):,} differ from feeding")
    return not results.wrong
