"""How an answer is printed: its verdict, and the text in its place."""

import pytest
from rich.console import Console

from fimlsp.datasets.cases.result import Attempt
from fimlsp.datasets.command_line.show_command import CasePrinter

ANSWERS = [
    (Attempt(ok=True, text="b", tokens=3, rejected=1), "with steering: parses, 3 tokens, 1 refused", "⟦b⟧"),
    (
        Attempt(ok=True, text="a=1, a=2", compile_error="keyword argument repeated"),
        "with steering: parses, but does not compile (keyword argument repeated)",
        "f(⟦a=1, a=2⟧)",
    ),
    (Attempt(ok=False, text=")", cause="does not parse"), "with steering: does not parse", "f(⟦)⟧)"),
    (Attempt(ok=False, text=None, cause="ran out of tokens"), "with steering: ran out of tokens", ""),
]


@pytest.mark.parametrize(("attempt", "verdict", "shown"), ANSWERS)
def test_answers(attempt, verdict, shown):
    console = Console(width=100)
    with console.capture() as printed:
        CasePrinter("x = 1\nf(", ")\n", "python", console).print_attempt("steered", attempt)
    assert verdict in printed.get()
    assert shown in printed.get()
