"""Measures the engine beside llguidance: the same Lark grammar, left to right, the same texts.

`python benchmarks/beside_llguidance.py`, with `pip install llguidance`. llguidance does not support text
right of the cursor, so there is none here. Both check, after a left text, if the next four bytes of a true
file may follow, and accept them. At each place llguidance reads the left text. The engine reads a text once,
when it opens it, and then jumps. The times are CPU times, medians over seeded places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from random import Random
from statistics import median
from time import process_time
from typing import Any

import click
from corpora.json import records_of_length
from rich.console import Console
from rich.table import Table

from fimlsp.languages.custom import load_grammar
from fimlsp.quotient.engine import Engine

GRAMMAR = Path(__file__).parent / "corpora" / "json.lark"
LENGTHS = (10_000, 100_000, 1_000_000)
_TOKEN = 4
_TOKENS = 40


@dataclass(slots=True)
class Costs:
    """CPU milliseconds of one side at a length: opening, until the first answer at a place, each token."""

    open: list[float] = field(default_factory=list)
    begin: list[float] = field(default_factory=list)
    token: list[float] = field(default_factory=list)


def timed(costs: list[float], action: Callable[[], Any]) -> Any:
    """The result of *action*; its milliseconds are added to *costs*."""
    began = process_time()
    result = action()
    costs.append(1000 * (process_time() - began))
    return result


def ours(engine: Engine, text: bytes, places: list[int]) -> Costs:
    """The engine's costs at *places*: a jump in an open document, then token by token."""
    costs = Costs()
    document = engine.document(text)
    timed(costs.open, document.prepare)
    for place in places:
        state = timed(costs.begin, partial(document.middle, place, len(text))).start
        for offset in range(place, place + _TOKEN * _TOKENS, _TOKEN):
            state = timed(costs.token, partial(state.feed, text[offset : offset + _TOKEN]))
            assert state is not None
    return costs


def theirs(grammar: str, text: bytes, places: list[int]) -> Costs:
    """The same of llguidance, whose tokens are bytes: four are accepted at once."""
    from llguidance import LLMatcher, LLParserLimits, LLTokenizer

    tokenizer = LLTokenizer("byte")
    limits = LLParserLimits(initial_lexer_fuel=1 << 40, step_lexer_fuel=1 << 40, max_lexer_states=1 << 30)
    costs = Costs()
    for place in places:
        matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(grammar), limits=limits)
        left = list(text[:place])
        assert timed(costs.begin, partial(matcher.consume_tokens, left)), matcher.get_error()
        for offset in range(place, place + _TOKEN * _TOKENS, _TOKEN):
            token = list(text[offset : offset + _TOKEN])
            assert timed(costs.token, partial(matcher.consume_tokens, token)), matcher.get_error()
    return costs


@click.command(help=__doc__)
@click.option("--places", default=20, show_default=True, help="Places in each text.")
@click.option("--seed", default=0, show_default=True, help="Seed of texts and places.")
def main(places: int, seed: int) -> None:
    """Measure both, text by text, and print a table."""
    if find_spec("llguidance") is None:
        raise click.ClickException("llguidance is not installed. Run: pip install llguidance")
    engine, grammar, random = Engine(load_grammar(GRAMMAR)), GRAMMAR.read_text(encoding="utf-8"), Random(seed)
    table = Table(title="CPU milliseconds, medians")
    for column in (
        "bytes",
        "open, ours",
        "place, ours",
        "place, llguidance",
        "4 bytes, ours",
        "4 bytes, llguidance",
    ):
        table.add_column(column, justify="right")
    for length in LENGTHS:
        text = b"[" + records_of_length(random, length, minified=False) + b"]"
        starts = [n for n in range(len(text) // 4, len(text) - _TOKEN * _TOKENS) if text[n] & 0xC0 != 0x80]
        chosen = random.sample(starts, places)
        both = ours(engine, text, chosen), theirs(grammar, text, chosen)
        cells = [f"{median(costs.begin):.3f}" for costs in both] + [
            f"{median(costs.token):.4f}" for costs in both
        ]
        table.add_row(f"{len(text):,}", f"{both[0].open[0]:.1f}", *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
