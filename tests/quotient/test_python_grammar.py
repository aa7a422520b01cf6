"""The Python grammar against CPython: cases by construct, its library and tests, derivations, mutations."""

import random
from functools import cache
from pathlib import Path

import pytest
from fimlsp.quotient.ebnf import python_grammar

from .corpus import complaint, library_files, read, syntax_snippets
from .derivations import Sampler, render
from .python_symbols import NotPythonError, symbols
from .recogniser import Recogniser

CASES = sorted((Path(__file__).parent / "cases").glob("*.txt"))
INVALID = "--- invalid ---"
BUDGETS = (0, 10, 20, 40, 80)
FIXED = ("NEWLINE", "INDENT", "DEDENT", "FSTRING_", "FIELD_")
# What the grammar does not decide: escapes, characters, columns, and line ends that `tokenize` does not know.
LEXICAL = ("unicode error", "value error", "ASCII literal", "use of tabs", "surrogates not allowed")

FIELDS = {
    "FIELD_OPEN NAME FIELD_CLOSE": True,
    "FIELD_OPEN FIELD_CLOSE": False,
    "FIELD_OPEN NAME FIELD_EQUAL FIELD_CONVERSION FIELD_COLON FIELD_CLOSE": True,
    "FIELD_OPEN NAME FIELD_CONVERSION FIELD_EQUAL FIELD_CLOSE": False,
    "FIELD_OPEN NAME FIELD_COLON FSTRING_TEXT FIELD_CLOSE": True,
    "FIELD_OPEN NAME FIELD_COLON FIELD_OPEN NAME FIELD_CLOSE FIELD_CLOSE": True,
    "FIELD_OPEN NAME FIELD_COLON FIELD_OPEN NAME FIELD_COLON FSTRING_TEXT FIELD_CLOSE FIELD_CLOSE": True,
    "FIELD_OPEN _ FIELD_COLON FIELD_OPEN _ FIELD_COLON FIELD_OPEN _" + 3 * " FIELD_CLOSE": False,
    "FIELD_OPEN FSTRING_START FIELD_OPEN NAME FIELD_CLOSE FSTRING_END FIELD_CLOSE": True,
    "FIELD_OPEN * NAME FIELD_CLOSE": False,
    "FIELD_OPEN * NAME , FIELD_CLOSE": True,
    "FIELD_OPEN yield FIELD_CLOSE": True,
    "FIELD_OPEN NAME for NAME in NAME FIELD_CLOSE": True,
    "FIELD_OPEN lambda FIELD_COLON REAL FIELD_CLOSE": False,
    "FIELD_OPEN NAME FSTRING_TEXT FIELD_CLOSE": False,
    "FSTRING_TEXT FIELD_CLOSE": False,
}


@cache
def recogniser() -> Recogniser:
    return Recogniser(python_grammar())


def accepts(text: str) -> bool:
    try:
        found = symbols(text)
    except NotPythonError:
        return False
    return not found or recogniser().accepts(found)


def cases(path: Path) -> list[tuple[str, bool]]:
    """One case a line, where `↵` is a line end: the valid ones, a separator, the invalid ones."""
    valid, invalid = path.read_text("utf-8").split(f"{INVALID}\n")
    return [
        (line.replace("↵", "\n"), part is valid) for part in (valid, invalid) for line in part.splitlines()
    ]


def is_lexical(text: str) -> bool:
    said = complaint(text) or ""
    return "\r" in text or "\\\n" in text or not text.isascii() or any(reason in said for reason in LEXICAL)


def differences(texts: list[str]) -> list[str]:
    return [text for text in texts if accepts(text) != (complaint(text) is None) and not is_lexical(text)]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_cases(path):
    wrong = [(text, valid) for text, valid in cases(path) if accepts(text) != valid]
    assert wrong == []


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_cases_are_true(path):
    assert [(text, valid) for text, valid in cases(path) if (complaint(text) is None) != valid] == []


@pytest.mark.parametrize("field", FIELDS)
def test_fields(field):
    names = ["FSTRING_START", *field.split(), "FSTRING_END"]
    assert recogniser().accepts(names, start="fstring") is FIELDS[field]


def check_library(count: int, seed: int) -> None:
    texts = [read(path) for path in library_files(count, seed)]
    assert differences([text for text in texts if len(text) < 100_000]) == []


def test_library_files():
    check_library(count=12, seed=1)


@pytest.mark.slow
def test_many_library_files():
    check_library(count=600, seed=2)


def test_syntax_snippets():
    assert differences(random.Random(1).sample(syntax_snippets(), 5000)) == []


@pytest.mark.slow
def test_all_syntax_snippets():
    assert differences(syntax_snippets()) == []


def check_derivations(count: int, seed: int) -> None:
    sampler = Sampler(python_grammar(), seed)
    texts = [render(sampler.sentence(sampler.random.choice(BUDGETS))) for _ in range(count)]
    assert [text for text in texts if text is not None and complaint(text)] == []
    assert min(sampler.uses.values()) > 0


def test_derivations_are_python():
    check_derivations(count=3000, seed=1)


@pytest.mark.slow
def test_many_derivations_are_python():
    check_derivations(count=60_000, seed=2)


def mutated(names: list[str], rng: random.Random) -> list[str]:
    """*names* with a symbol removed, added, replaced or moved; layout and parts of f-strings stay."""
    words = [name for name in python_grammar().terminals if not name.startswith(FIXED)]
    places = [place for place, name in enumerate(names) if name in words]
    place, other = rng.choice(places), rng.choice(places)
    rest = names[:place] + names[place + 1 :]
    return rng.choice(
        [
            rest,
            [*names[:place], rng.choice(words), *names[place:]],
            [*names[:place], rng.choice(words), *names[place + 1 :]],
            [*rest[:other], names[place], *rest[other:]],
        ]
    )


def check_mutations(count: int, seed: int) -> None:
    sampler = Sampler(python_grammar(), seed)
    sentences = [sampler.sentence(sampler.random.choice(BUDGETS)) for _ in range(count)]
    texts = [render(mutated(names, sampler.random)) for names in sentences]
    assert differences([text for text in texts if text is not None]) == []


def test_mutations():
    check_mutations(count=3000, seed=1)


@pytest.mark.slow
def test_many_mutations():
    check_mutations(count=100_000, seed=2)
