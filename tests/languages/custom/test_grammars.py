"""Grammars written for the purpose and Lark's own, cursor by cursor; the judge confirms each verdict."""

import pickle
import random
from functools import cache
from pathlib import Path

import lark
import pytest
from lark import Lark
from lark.exceptions import LarkError

from fimlsp.datasets.languages.own_grammar import syntax_error
from fimlsp.languages.custom import LarkLanguage, load_grammar
from fimlsp.languages.custom.compiling import compile_files
from fimlsp.languages.custom.grammar_files import BASIC, CONTEXTUAL
from fimlsp.processes.plain_values import plain_of
from fimlsp.quotient.engine import Engine
from fimlsp.testing.checking import Case, cases

from ...sampling import sampled

HERE = Path(__file__).parent
CASES = sorted((HERE / "cases").glob("*.txt"))
OF_LARK = Path(lark.__file__).parent / "grammars"


GRAMMARS = sorted((HERE / "grammars").glob("*.lark"))
STARTS = {"lark": "start", "python": "file_input"}
"""Lark's own grammars."""


@cache
def language(name: str) -> LarkLanguage:
    if name in STARTS:
        return load_grammar(OF_LARK / f"{name}.lark", STARTS[name])
    return load_grammar(HERE / "grammars" / f"{name}.lark")


def accepts(name: str, text: bytes) -> bool:
    try:
        return syntax_error(language(name), text.decode()) is None
    except UnicodeDecodeError:
        return False


def wrong(name: str, case: Case) -> object:
    left, middle, right, expected = case
    start = Engine(language(name)).document(left + right).middle(len(left), len(left), relax=False).start
    state = start and start.feed(middle)
    said = "dead" if state is None else "complete" if state.complete else "viable"
    if said != expected or (said == "complete") != accepts(name, left + middle + right):
        return case, said
    if state is not None and not accepts(name, left + middle + state.shortest_completion + right):
        return case, state.shortest_completion
    return None


@pytest.mark.parametrize("path", sampled(CASES, 2), ids=lambda path: path.stem)
def test_cases(path):
    assert [found for case in cases(path) if (found := wrong(path.stem, case))] == []


@pytest.mark.parametrize("lexer", [BASIC, CONTEXTUAL])
@pytest.mark.parametrize("path", GRAMMARS, ids=lambda path: path.stem)
def test_a_grammar_that_nobody_has_compiled_before_is_a_plain_value(path, lexer, tmp_path, monkeypatch):
    """A process compiles it, and its answer may name no class of Lark."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = compile_files((load_grammar(path).files, "start", lexer))
    assert plain_of(pickle.dumps(found)).literals == found.literals


def test_there_are_many_cases():
    assert sum(len(list(cases(path))) for path in CASES) > 150


def test_every_grammar_has_cases():
    named = {path.stem for path in (HERE / "grammars").glob("*.lark")} | {*STARTS}
    assert named == {path.stem for path in CASES}


def test_larks_common_terminals_can_be_imported(tmp_path):
    names = [line.split(":")[0].strip() for line in (OF_LARK / "common.lark").read_text().splitlines()]
    names = [name for name in names if name.isidentifier() and not name.startswith("_")]
    assert len(names) > 15
    for name in names:
        grammar = tmp_path / "one.lark"
        grammar.write_text(f"start: {name}\n%import common.{name}\n")
        state = Engine(load_grammar(grammar)).document(b"").middle(0, 0).start
        assert accepts_text(grammar, state.shortest_completion)


def accepts_text(grammar: Path, text: bytes) -> bool:
    try:
        Lark(grammar.read_text(), parser="earley", lexer="basic").parse(text.decode())
    except LarkError:
        return False
    return True


SHORTEST = [
    # a grammar, left<|>right, and the cheapest middle
    ("start: D\nD: /[a-z]{1,20}/\n", "<|>", b"a"),
    ('start: "x" N ";"\nN: /[0-9]{1,8}/\n', "<|>", b"x0;"),
    ('start: "x" N ";"\nN: /[0-9]{1,8}/\n', "x1<|>", b";"),
    ('start: "x" N ";"\nN: /[0-9]{1,8}/\n', "x<|>;", b"0"),
    ("start: D N\nD: /[a-z]{1,3}/\nN: /[0-9]{1,8}/\n", "a<|>", b"0"),
    ('start: D "," D\nD: /[a-z]{1,20}/\n%ignore " "\n', "<|>", b"a,a"),
    ('start: D+\nD: /[a-z]{2,5}/\n%ignore " "\n', "a<|>", b"a"),
]


@pytest.mark.parametrize(("grammar", "case", "expected"), SHORTEST)
def test_a_bounded_repetition_is_not_written_to_its_bound(tmp_path, grammar, case, expected):
    (tmp_path / "one.lark").write_text(grammar)
    left, right = case.encode().split(b"<|>")
    document = Engine(load_grammar(tmp_path / "one.lark")).document(left + right)
    assert document.middle(len(left), len(left), relax=False).start.shortest_completion == expected
    assert accepts_text(tmp_path / "one.lark", left + expected + right)


def test_edits_of_a_text_with_places_lead_to_the_same_as_reading_it_anew():
    engine = Engine(language("places"))
    text = b'a = ["{b}", of c<of d>]\n* x = "\nset for for a\nnote {\n'
    pieces = (b"", b"a", b"=", b'"', b"\n", b"{", b"}", b" set ", b"*", text[:9])
    rng = random.Random(7)
    document = engine.document(text)
    for _ in range(200):
        start = rng.randint(0, len(document.data))
        document.edit(start, min(len(document.data), start + rng.choice((0, 0, 1, 3))), rng.choice(pieces))
        cursor = rng.randint(0, len(document.data))
        again = engine.document(document.data)
        one, other = (d.middle(cursor, cursor, relax=False).start for d in (document, again))
        assert (one and one.complete) == (other and other.complete), document.data
        if len(document.data) > 100:
            document.edit(0, len(document.data), text)


COMMENTED = r"""
start: (key value)*
key: KEY "="
value: VALUE ";"
KEY: /[a-z]+/
VALUE: /[^;#]+/
COMMENT: /#[^\n]*/
%ignore COMMENT
"""


@pytest.mark.parametrize(
    "grammar", [COMMENTED.replace("/[^;#]+/", "/[0-9]+/"), f'// lexer = "contextual"\n{COMMENTED}']
)
def test_an_editor_knows_the_comments_also_of_a_lexer_with_several_modes(grammar):
    comment = load_grammar(text=grammar).editor.comment
    assert comment is not None
    assert comment.begin == "#"
