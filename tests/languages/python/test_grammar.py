"""The grammars of Python's versions against CPython: cases by construct, its library and tests, derivations.

The version of the running interpreter is judged by that interpreter. The others are held against the recorded
truth of the cases, and with `-m slow` against their own interpreters where those are installed.
"""

import random
from functools import cache

import pytest

from fimlsp.languages.python import python
from fimlsp.languages.python.grammar import python_grammar
from fimlsp.languages.python.lexical_spec import python_terminals
from fimlsp.languages.python.mode_stack import STRING_STARTS
from fimlsp.languages.python.versions import (
    DEFAULT_VERSION,
    PYTHON_VERSIONS,
    PythonVersion,
    UnknownVersionError,
    version_text,
)

from ...quotient.derivations import Sampler, render
from ...quotient.interpreters import RUNNING, interpreter, judged
from ...quotient.judging import Verdict
from ...quotient.python_symbols import NotPythonError, symbols
from ...quotient.recogniser import Recogniser
from .grammar_cases import FILES, cases, versions_in

BUDGETS = (0, 10, 20, 40, 80)
FIXED = ("NEWLINE", "INDENT", "DEDENT", "FSTRING_", "FIELD_")
UNGRAMMATICAL = {"SPACE", "NL", "COMMENT", "CONTINUATION", "BAD"}
# Errors that the grammar does not decide: escapes, characters, columns, and line ends unknown to `tokenize`.
LEXICAL = (
    *("unicode error", "value error", "ASCII literal", "use of tabs", "surrogates not allowed"),
    *("leading zeros", "Non-UTF-8"),
)
# Texts that the grammar accepts and CPython rejects, by the messages of CPython.
DIFFERENCES = {
    (3, 8): {
        # It takes counting; later versions leave it to the compiler, and `ast.parse` accepts it.
        "keyword argument repeated": ["f(a=1, a=2)", "f(a=1, **b, a=c)", "class A(b=1, *c, b=2): pass"],
        # A name like others; later versions leave it to the compiler.
        "cannot assign to __debug__": ["__debug__ = 1", "a.__debug__ = 1", "f(__debug__=1)"],
    },
    (3, 12): {
        # A fault of the tree builder up to 3.12.4 (https://github.com/python/cpython/issues/121130).
        "field 'value' is required for Constant": ["f'{a:{b=}}'", "f'{a:{b=:x}}'", "f'{a:{b=!r}c}'"],
    },
}

FIELDS = {
    "FIELD_OPEN NAME FIELD_CLOSE": "always",
    "FIELD_OPEN FIELD_CLOSE": "invalid",
    "FIELD_OPEN NAME FIELD_EQUAL FIELD_CONVERSION FIELD_COLON FIELD_CLOSE": "always",
    "FIELD_OPEN NAME FIELD_CONVERSION FIELD_EQUAL FIELD_CLOSE": "invalid",
    "FIELD_OPEN NAME FIELD_COLON FSTRING_TEXT FIELD_CLOSE": "always",
    "FIELD_OPEN NAME FIELD_COLON FIELD_OPEN NAME FIELD_CLOSE FIELD_CLOSE": "always",
    "FIELD_OPEN NAME FIELD_COLON FIELD_OPEN NAME FIELD_EQUAL FIELD_CLOSE FIELD_CLOSE": "always",
    "FIELD_OPEN NAME FIELD_COLON FIELD_OPEN NAME FIELD_COLON FSTRING_TEXT FIELD_CLOSE FIELD_CLOSE": "always",
    "FIELD_OPEN NAME" + 2 * " FIELD_COLON FIELD_OPEN NAME" + 3 * " FIELD_CLOSE": "since 3.12",
    "FIELD_OPEN NAME" + 2 * " FIELD_COLON FIELD_OPEN NAME" + " FIELD_EQUAL" + 3 * " FIELD_CLOSE": "invalid",
    "FIELD_OPEN NAME" + 3 * " FIELD_COLON FIELD_OPEN NAME" + 4 * " FIELD_CLOSE": "invalid",
    "FIELD_OPEN FSTRING_START FIELD_OPEN NAME FIELD_CLOSE FSTRING_END FIELD_CLOSE": "always",
    "FIELD_OPEN * NAME FIELD_CLOSE": "until 3.8, since 3.12",
    "FIELD_OPEN * NAME , FIELD_CLOSE": "always",
    "FIELD_OPEN yield FIELD_CLOSE": "always",
    "FIELD_OPEN NAME for NAME in NAME FIELD_CLOSE": "until 3.11",
    "FIELD_OPEN lambda FIELD_COLON REAL FIELD_CLOSE": "invalid",
    "FIELD_OPEN NAME FSTRING_TEXT FIELD_CLOSE": "invalid",
    "FSTRING_TEXT FIELD_CLOSE": "invalid",
}


def judge(version):
    """The version, to be tested by default only if it is the running one."""
    missing = pytest.mark.skipif(interpreter(version) is None, reason="this interpreter is not installed")
    return pytest.param(
        version, id=version_text(version), marks=() if version == RUNNING else (pytest.mark.slow, missing)
    )


every_judge = pytest.mark.parametrize("version", [judge(version) for version in PYTHON_VERSIONS])
every_version = pytest.mark.parametrize("version", PYTHON_VERSIONS, ids=version_text)
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


@cache
def recogniser(version: PythonVersion) -> Recogniser:
    return Recogniser(python_grammar(version))


def fits(found: list[str] | None, version: PythonVersion) -> bool:
    known = recogniser(version).grammar.terminals
    return found == [] or (
        found is not None and set(found) <= set(known) and recogniser(version).accepts(found)
    )


def accepts(text: str, version: PythonVersion) -> bool:
    try:
        return fits(symbols(text, version), version)
    except NotPythonError:
        return False


def is_beside_the_grammar(verdict: Verdict, version: PythonVersion) -> bool:
    text, said = verdict.text, verdict.complaint or ""
    known = (*LEXICAL, *DIFFERENCES.get(version, ()))
    return "\r" in text or "\\\n" in text or not text.isascii() or any(reason in said for reason in known)


def disagreements(verdicts: list[Verdict], version: PythonVersion) -> list[str]:
    return [
        verdict.text
        for verdict in verdicts
        if fits(verdict.symbols, version) != (verdict.complaint is None)
        and not is_beside_the_grammar(verdict, version)
    ]


@every_file
def test_cases(path):
    wrong = [
        (case.text, version)
        for case in cases(path)
        for version in PYTHON_VERSIONS
        if accepts(case.text, version) != (version in case.versions)
    ]
    assert wrong == []


@every_judge
@every_file
def test_cases_are_true(path, version):
    listed = cases(path)
    verdicts = judged(version, texts=[case.text for case in listed])
    wrong = [
        verdict
        for case, verdict in zip(listed, verdicts, strict=True)
        if (verdict.complaint is None) != (version in case.versions)
    ]
    assert wrong == []


@every_version
@pytest.mark.parametrize("field", FIELDS)
def test_fields(field, version):
    names = ["FSTRING_START", *field.split(), "FSTRING_END"]
    assert recogniser(version).accepts(names, start="fstring") is (version in versions_in(FIELDS[field]))


@pytest.mark.parametrize("version", DIFFERENCES, ids=version_text)
def test_differences_are_accepted(version):
    texts = [text for group in DIFFERENCES[version].values() for text in group]
    assert [text for text in texts if not accepts(text, version)] == []


@pytest.mark.parametrize("version", [judge(version) for version in DIFFERENCES])
def test_differences_are_true(version):
    for said, texts in DIFFERENCES[version].items():
        assert [v.text for v in judged(version, texts=texts) if said not in str(v.complaint)] == []


def check_library(version: PythonVersion, count: int, seed: int) -> None:
    verdicts = judged(version, files=count, seed=seed)
    assert disagreements([verdict for verdict in verdicts if len(verdict.text) < 100_000], version) == []


@every_judge
def test_library_files(version):
    check_library(version, count=12, seed=1)


@pytest.mark.slow
@every_judge
def test_many_library_files(version):
    check_library(version, count=600, seed=2)


@pytest.mark.slow
@every_judge
def test_syntax_snippets(version):
    assert disagreements(judged(version, snippets=5000), version) == []


@pytest.mark.slow
@every_judge
def test_all_syntax_snippets(version):
    assert disagreements(judged(version, snippets=1_000_000), version) == []


def check_derivations(version: PythonVersion, count: int, seed: int) -> None:
    sampler = Sampler(python_grammar(version), seed)
    texts = [render(sampler.sentence(sampler.random.choice(BUDGETS))) for _ in range(count)]
    verdicts = judged(version, texts=[text for text in texts if text is not None])
    wrong = [verdict for verdict in verdicts if verdict.complaint is not None]
    assert [verdict for verdict in wrong if not is_beside_the_grammar(verdict, version)] == []
    assert min(sampler.uses.values()) > 0


@every_judge
def test_derivations_are_python(version):
    check_derivations(version, count=3000, seed=1)


@pytest.mark.slow
@every_judge
def test_many_derivations_are_python(version):
    check_derivations(version, count=60_000, seed=2)


def mutated(names: list[str], rng: random.Random, version: PythonVersion) -> list[str]:
    """*names* with a symbol removed, added, replaced or moved; layout and parts of f-strings stay."""
    words = [name for name in python_grammar(version).terminals if not name.startswith(FIXED)]
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


def check_mutations(version: PythonVersion, count: int, seed: int) -> None:
    sampler = Sampler(python_grammar(version), seed)
    sentences = [sampler.sentence(sampler.random.choice(BUDGETS)) for _ in range(count)]
    texts = [render(mutated(names, sampler.random, version)) for names in sentences]
    verdicts = judged(version, texts=[text for text in texts if text is not None])
    assert disagreements(verdicts, version) == []


@pytest.mark.slow
@every_judge
def test_mutations(version):
    check_mutations(version, count=3000, seed=1)


@pytest.mark.slow
@every_judge
def test_many_mutations(version):
    check_mutations(version, count=100_000, seed=2)


def test_the_default_is_one_of_the_versions():
    assert python_grammar() is python_grammar(DEFAULT_VERSION)


@pytest.mark.parametrize("make", [python_grammar, python])
@pytest.mark.parametrize("version", [(3, 7), (3, 16), (2, 7)])
def test_unknown_versions_are_named(make, version):
    known = "3.8, 3.9, 3.10, 3.11, 3.12, 3.13, 3.14, 3.15"
    sentence = f"Python {version_text(version)} is not known; choose one of {known}."
    with pytest.raises(UnknownVersionError, match=sentence):
        make(version)


@every_version
def test_the_terminals_are_those_of_the_lexer(version):
    rules = (rule for rules in python_terminals(version).modes.values() for rule in rules)
    kinds = {
        rule.kind.partition(":")[0]
        if rule.kind.startswith(STRING_STARTS)
        else rule.kind.removesuffix(":undecodable")
        for rule in rules
    }
    found = set(python_grammar(version).terminals)
    assert found - kinds == {"NEWLINE", "INDENT", "DEDENT"}
    assert kinds - found == UNGRAMMATICAL | ({"SPEC_NL"} if version in ((3, 12), (3, 13)) else set())
