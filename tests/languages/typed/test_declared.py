"""Languages declared as data: each state has a completion that is read again, and wrong bytes are refused."""

import random

import pytest

from fimlsp.languages.typed.declared import (
    NUMBER,
    TEXT,
    Binary,
    Declaration,
    DeclarationError,
    Function,
    KnownName,
    NewName,
    Prefix,
    Value,
    begin,
)
from fimlsp.languages.typed.lexicon import needs_space

ALIKE = {"number": "number", "text": "text"}
LANGUAGE = Declaration(
    literals={NUMBER: "number", TEXT: "text", "true": "flag"},
    operators={
        "or": Binary(1, {"flag": "flag"}, "flag"),
        "and": Binary(2, {"flag": "flag"}, "flag"),
        **dict.fromkeys(("=", "<", "<="), Binary(4, ALIKE, "flag")),
        "+": Binary(5, {"number": "number"}, "number"),
        "*": Binary(6, {"number": "number"}, "number"),
    },
    prefixes={"not": Prefix(4, "flag", "flag"), "-": Prefix(7, "number", "number")},
    functions={"length": Function(("text",), "number"), "day": Function(("date",), "number")},
    names={"price": "number", "city": "text", "sent": "date"},
    statements=(
        ("let", NewName(), "=", Value(), ";"),
        ("show", Value("text"), ";"),
        ("again", KnownName(), ":=", Value(), ";"),
        (KnownName(), ":=", Value(), ";"),
    ),
)
CONDITION, PROGRAM = begin(LANGUAGE, "flag"), begin(LANGUAGE)


def walk(start, rng, length):
    """Random tokens that may come, and then the shortest completion."""
    state, text, before = start, "", ""
    for _ in range(length):
        expected = state.machine_at_end.expected()
        tokens = sorted(expected.words) + ["7"] * expected.number + ["'a'"] * expected.string
        tokens += [f"n{rng.randrange(99)}"] * (expected.taken_names is not None)
        if not tokens:
            break
        token = rng.choice(tokens)
        if expected.taken_names is not None and token in expected.taken_names:
            continue
        text += f"{' ' if needs_space(before, token) else ''}{token}"
        state, before = start.feed(text.encode()), token
        assert state is not None, text
    return text, text + state.shortest_completion.decode()


@pytest.mark.parametrize("start", [CONDITION, PROGRAM], ids=["condition", "program"])
@pytest.mark.parametrize("seed", range(25))
def test_each_beginning_has_a_completion(start, seed):
    rng = random.Random(seed)
    text, whole = walk(start, rng, 25)
    for size in rng.sample(range(len(text) + 1), 8 if len(text) > 8 else 1):
        state = start.feed(whole[:size].encode())
        assert start.feed(whole[:size].encode() + state.shortest_completion).complete
    assert start.feed(whole.encode()).complete


@pytest.mark.parametrize(
    ("start", "marked"),
    [
        (CONDITION, "price = ^'a'"),
        (CONDITION, "price^;"),
        (CONDITION, "ci^nema"),
        (CONDITION, "^sent"),
        (CONDITION, "day(^price)"),
        (CONDITION, "true ^+ 1"),
        (CONDITION, "not price < -^'a'"),
        (PROGRAM, "let price^ = 1"),
        (PROGRAM, "^a := 1"),
        (PROGRAM, "let a = 'x'; a := ^1"),
        (PROGRAM, "show ^1"),
        (PROGRAM, "^again"),
    ],
)
def test_the_first_wrong_byte_is_refused(start, marked):
    before, _, after = marked.partition("^")
    assert start.feed(before.encode()) is not None
    assert start.feed((before + after[:1]).encode()) is None


@pytest.mark.parametrize(
    ("start", "text", "completion"),
    [
        (CONDITION, "", "true"),
        (CONDITION, "price + 1", "=0"),
        (CONDITION, "day(", "sent)=0"),
        (CONDITION, "not (", "0)=0"),
        (PROGRAM, "let a = day(sent); a := ", "0;"),
        (PROGRAM, "let a = sent; let b = day(", "a);"),
        (PROGRAM, "let a = 'x'; again ", "a:=a;"),
    ],
)
def test_the_shortest_completion(start, text, completion):
    state = start.feed(text.encode())
    assert state.shortest_completion.decode() == completion
    assert start.feed((text + completion).encode()).complete


@pytest.mark.parametrize(
    "declared",
    [
        {"operators": {"+": Binary(1, {"number": "money"}, "number")}},
        {"prefixes": {"not": Prefix(1, "flag", "flag")}},
        {"statements": (("show", Value("flag"), ";"),)},
    ],
)
def test_types_without_values_are_refused(declared):
    with pytest.raises(DeclarationError, match=r"there is no value of the type (money|flag)\. Add a literal"):
        Declaration({NUMBER: "number"}, **declared)
    with pytest.raises(DeclarationError, match="Cannot write a value of the type text"):
        begin(Declaration({NUMBER: "number"}), "text")
