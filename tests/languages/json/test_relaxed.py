"""Broken JSON: the side that is relaxed for an editor's completion, and the middles that complete it."""

import pytest

from fimlsp.testing.checking import fed

from ...quotient.middle_support import sides
from .suites import JSON

# text with a cursor, the relaxed side, and a middle that is complete
RELAXED = [
    ('{"a": <|>}', None, b"1"),
    ('{"a": 1,, "b": <|>}', "left", b"1"),
    ("[1, 2 <|>\n, }", "right", b"]"),
    ('{"a": 1, <|> "b": }', "right", b'"c": 2}'),
    ("} <|>", "left", b"1"),
    ("[<|>] }", "right", b"1]"),
    ("[1,\n2 3,\n<|>]", "left", b"4"),
    ("[\n<|>,\n1 2]", "right", b"4"),
    ("[1 1,\n<|>,\n1 2]", "both", b"4"),
]


@pytest.mark.parametrize(("marked", "relaxed", "middle"), RELAXED)
@pytest.mark.parametrize("may_escape", [True, False])
def test_what_is_left_out(marked, relaxed, middle, may_escape):
    left, right = marked.encode().split(b"<|>")
    constraint = JSON.engine.document(left + right).middle(
        len(left), len(left), may_escape=may_escape, relax=True
    )
    assert sides(constraint, len(left)) == relaxed
    state = fed(constraint.start, middle)
    assert state is not None
    assert state.complete, state.shortest_completion
