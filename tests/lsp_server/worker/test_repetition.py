"""Lines that follow the cursor are not suggested again."""

from __future__ import annotations

import pytest

from fimlsp.languages.lua import lua
from fimlsp.languages.python import python
from fimlsp.lsp_server.worker.answers import flawless_part, without_repetition
from fimlsp.quotient.engine import Engine

# left<|suggestion|>right, the part of the suggestion that stays
REPEATED = [
    ("<|x = 1|>\nx = 1\n", ""),
    ("<|x = 1|>\n\n  \nx = 1\n", ""),
    ("<|x = 1|>\nx = 2\n", "x = 1"),
    ("<|x = 1\ny = 2|>\ny = 2\n", "x = 1"),
    ("<|a = 0\nx = 1\ny = 2|>\nx = 1\ny = 2\nz\n", "a = 0"),
    ("x = <|1|>\nx = 1\n", ""),
    ("x = <|1|>\n1\n", "1"),
    ("x = f(<|a|>)\na\n", "a"),
    ("f(\n    <|a,\n    b|>\n    b\n)\n", "a,"),
    ("f(<|\n    [\n    ]|>\n)\n", "\n    [\n    ]"),
    ("if a:\n    <|pass|>\n    pass\n", ""),
    ("if a:\n    <|b\nelse:\n    c|>\nelse:\n    c\n", "b"),
    ("<||>\nx = 1\n", ""),
]


@pytest.mark.parametrize(("marked", "kept"), REPEATED)
def test_what_follows_anyway_is_not_suggested(marked, kept):
    check(python(), marked, kept)


# left<|suggestion|>right, the part of the suggestion without a fault
FLAWED = [
    ("for a in b:\n    <|a += 1\n    a += 1|>\n", "a += 1"),
    ("def f(a):\n    <|return a\n\n\ndef g(a):\n    return a|>\n", "return a"),
    ("def f(a):\n    <|return a\n    b = 1|>\n", "return a"),
    ("def f(a):\n    return a\n\n\n<|def f(a):\n    return a|>\n", "def f(a):\n    return a"),
    ("x = <|1|>\n", "1"),
    # what is left of a fault does not connect: the text ends with the line of the fault
    (
        "class A:\n  def f(a):\n    b()\n\n  <|def g(a):\n    b()\n\n  def f(a):\n    b()|>\n",
        "def g(a):\n    b()",
    ),
    ("if a:\n    b()\n    <|b()\n    c()|>\n", "b()"),
    ("if a:\n    b(\n        c)\n    <|b(\n        c)\n    d()|>\n", "b(\n        c)"),
]


@pytest.mark.parametrize(("marked", "kept"), FLAWED)
def test_a_text_ends_before_its_fault(marked, kept):
    check(python(), marked, kept, flawless_part)


IN_LUA = [
    ("if a then\n  <|b()\nend|>\nif c then\nend\n", "b()\nend"),
    ("if a then\n  <|b()\n  c()|>\n  c()\nend\n", "b()"),
]


@pytest.mark.parametrize(("marked", "kept"), IN_LUA)
def test_what_only_closes_a_block_may_follow_as_well(marked, kept):
    check(lua, marked, kept)


def check(language, marked, kept, part=without_repetition):
    left, rest = marked.encode().split(b"<|")
    text, right = rest.split(b"|>")
    start = Engine(language).document(left + right).middle(len(left), len(left), relax=True).start
    assert part(left, text, right, start, language.editor).decode() == kept
