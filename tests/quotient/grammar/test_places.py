"""Rules copied for the places they occur in."""

from __future__ import annotations

from fimlsp.quotient.grammar.lark_loader import PlaceChange, Places, read_grammar

PLACES = Places(
    frozenset(),
    {"MAY_BREAK": "break", "MAY_RETURN": "return"},
    {
        "IN_LOOP": PlaceChange(frozenset({"break"})),
        "IN_FUNCTION": PlaceChange(frozenset({"return"}), keeps={}),
    },
    frozenset({"break", "return"}),
)
TEXT = """
%declare MAY_BREAK MAY_RETURN IN_LOOP IN_FUNCTION
file: statement+
statement: "x" | MAY_BREAK "break" | MAY_RETURN "return"
    | "while" IN_LOOP block | "def" IN_FUNCTION block | name
block: "{" statement+ "}"
name: "n"
"""


def test_only_what_depends_on_a_place_is_copied() -> None:
    grammar = read_grammar(TEXT, "file", places=PLACES)
    assert set(grammar.nonterminals) == {
        *("file", "statement", "statement+", "name"),
        *(
            f"{name}@{place}"
            for name in ("block", "statement", "statement+")
            for place in ("break", "return")
        ),
        *(f"{name}@break+return" for name in ("block", "statement", "statement+")),
    }
    assert {grammar.name(copy) for copy in grammar.copies} == {
        name for name in grammar.nonterminals if "@" in name
    }
    assert {grammar.name(word) for word in grammar.place_words} == {"break", "return"}
    repeated = {grammar.name(a): grammar.name(b) for a, b in grammar.repetitions.items()}
    assert len(repeated) == 4
    assert all(a.replace("+", "", 1) == b for a, b in repeated.items())


def test_demands_and_changes_stand_for_nothing() -> None:
    grammar = read_grammar(TEXT, "file", places=PLACES)
    assert set(grammar.terminals) == {"x", "break", "return", "while", "def", "{", "}", "n"}


def test_an_alternative_exists_where_it_is_permitted() -> None:
    grammar = read_grammar(TEXT, "file", places=PLACES)
    firsts = {
        name: {grammar.name(p.rhs[0]) for p in grammar.productions_of(grammar.symbol(name))}
        for name in grammar.nonterminals
    }
    assert "break" not in firsts["statement"]
    assert "break" in firsts["statement@break"]
    assert "break" not in firsts["statement@return"]
    assert {"break", "return"} <= firsts["statement@break+return"]


def test_a_permission_is_kept_of_another() -> None:
    change = PlaceChange(frozenset({"a"}), keeps={"b": "c"})
    assert change.of(frozenset({"b"})) == {"a"}
    assert change.of(frozenset({"c", "d"})) == {"a", "b"}
    assert change.before(frozenset({"a", "b", "d"})) == {"c"}
