r"""The names in `\N{...}`, against the running interpreter and between versions."""

import sys
import unicodedata

import pytest

from fimlsp.languages.python.unicode_tables import (
    COMPUTED,
    NUMBERED,
    CharacterNames,
    identifier_parts,
    identifier_starts,
    named_characters,
    newer_names,
    other_names,
)
from fimlsp.languages.python.versions import DEFAULT_VERSION, PYTHON_VERSIONS

RUNNING = sys.version_info[:2]
NAMES = CharacterNames(DEFAULT_VERSION)


def members(ranges):
    return {code for first, last in ranges for code in range(first, last + 1)}


def is_named(character):
    try:  # 3.14 knows the characters of these names, but not the names of these characters
        return unicodedata.name(character, "") or unicodedata.lookup(f"TANGUT IDEOGRAPH-{ord(character):X}")
    except KeyError:
        return False


@pytest.mark.slow
def test_tables_are_those_of_the_running_interpreter():
    characters = [chr(code) for code in range(sys.maxunicode + 1)]
    named = {code for code, character in enumerate(characters) if is_named(character)}
    assert members(identifier_starts(RUNNING)) == {c for c, x in enumerate(characters) if x.isidentifier()}
    assert members(identifier_parts(RUNNING)) == {
        c for c, x in enumerate(characters) if f"a{x}".isidentifier()
    }
    assert members(named_characters(RUNNING)) == named
    assert all(len(unicodedata.lookup(name)) == 1 for name in other_names(RUNNING))


def test_computed_names_are_those_of_the_running_interpreter():
    names = {code: unicodedata.name(chr(code), "") for code in range(sys.maxunicode + 1)}
    computed = {code for codes in COMPUTED for code in codes}
    assert {code for code, name in names.items() if name.startswith((*NUMBERED, "HANGUL SYLLABLE "))} == {
        code for code in computed if names[code]
    }
    assert not any(name.endswith((" ", "-")) for name in names.values())


def test_newer_names_are_those_of_the_running_interpreter():
    known = members(named_characters(RUNNING))
    theirs = {name: ord(unicodedata.lookup(name)) for name, code in newer_names().items() if code in known}
    assert theirs == {name: code for name, code in newer_names().items() if code in known}
    assert len(theirs) > 800


def test_versions_know_more_and_more():
    starts = [len(members(identifier_starts(version))) for version in PYTHON_VERSIONS]
    assert starts == sorted(starts)
    assert starts[0] < starts[-1]


KNOWN = {
    b"BULLET": True,
    b"bullet": True,
    b"Line Feed": True,
    b"NULL": True,
    b"HANGUL SYLLABLE GA": True,
    b"hangul syllable ga": False,
    b"CJK UNIFIED IDEOGRAPH-4E00": True,
    b"CJK UNIFIED IDEOGRAPH-4e00": False,
    b"KEYCAP DIGIT ONE": False,
    b"BULLE": False,
    b"": False,
}


@pytest.mark.parametrize("name", KNOWN)
def test_names(name):
    assert (name in NAMES) is KNOWN[name]


BETWEEN = [
    (b"BULL", b"", b"ET"),
    (b"bull", b"t", b"E"),
    (b"", b"BULLET", b""),
    (b"LINE FEE", b"", b"D"),
    (b"LATIN SMALL LETTER ", b"WITH GRAVE", b"A "),
    (b"CJK UNIFIED IDEOGRAPH-4E", b"0", b"0"),
    (b"", b"ULLET", b"B"),
    (b"", b"ullet", b"B"),
    (b"", b"GRAPH-4E01", b"CJK UNIFIED IDEO"),
    (b"", b"GRAPH-4e01", None),
    (b"", b"4E01", b"CJK UNIFIED IDEOGRAPH-"),
    (b"", b"GYUNG", b"HANGUL SYLLABLE "),
    (b"", b"gyung", None),
    (b"", b"ETTER VITHKUQI", None),
    (b"", b"VERSION", None),
    (b"", b"ox", b""),
    (b"", b"] 2", None),
    (b"BULLETX", b"", None),
    (b"BULLET", b"T", None),
]


@pytest.mark.parametrize(("beginning", "ending", "between"), BETWEEN)
def test_what_stands_between(beginning, ending, between):
    assert NAMES.between(beginning, ending) == between


def test_names_of_versions():
    newer = b"VITHKUQI CAPITAL LETTER A"
    assert [newer in CharacterNames(version) for version in ((3, 8), (3, 10), (3, 11), (3, 13))] == [
        *[False] * 2,
        *[True] * 2,
    ]
