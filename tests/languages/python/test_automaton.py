"""The DFA of Python's terminals: identifiers, UTF-8, and shortest completions of lexemes."""

import sys

import pytest

from fimlsp.languages.python.lexical_spec import python_dfa
from fimlsp.languages.python.mode_stack import F_STRING_STYLES
from fimlsp.lexing.automata.paths import ShortestWords

DFA = python_dfa()


@pytest.mark.slow
def test_identifiers_are_those_of_unicode():
    """Those of the running interpreter; the tables of the other versions are made in the same way."""
    dfa = python_dfa(sys.version_info[:2])
    start, name = dfa.starts["code"], dfa.kinds.index("NAME")
    inside = dfa.run(start, b"abc")
    for code in (*range(0xD800), *range(0xE000, 0x110000)):
        character = chr(code)
        data = character.encode()
        starts = dfa.accepts[dfa.run(start, data)] == name
        assert starts == (character.isidentifier() and character != "_"), code
        assert (dfa.run(inside, data) == inside) == ("a" + character).isidentifier(), code


def test_a_part_of_a_character_is_alive():
    for text in ("é", "日", "𝔘"):
        for mode, before in (
            ("code", ""),
            ("code", "a"),
            ("code", "'"),
            ("code", "#"),
            ("text:'", ""),
            ("spec:'", ""),
        ):
            data = (before + text).encode()
            for end in range(len(before), len(data) + 1):
                state = DFA.run(DFA.starts[mode], data[:end])
                assert DFA.live[state], (mode, data[:end])


def test_no_text_beyond_utf8():
    for mode in ("code", *(f"text:{style}" for style in F_STRING_STYLES)):
        for data in (b"\0", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"):
            for before in (b"", b"'", b"#") if mode == "code" else (b"", b"a"):
                assert not DFA.run(DFA.starts[mode], before + data)


def test_shortest_words_of_all_live_kinds():
    shortest_words = ShortestWords(DFA)
    for state, live in enumerate(DFA.live):
        for kind in range(len(DFA.kinds)):
            suffix = shortest_words.suffix(state, kind)
            assert (suffix is not None) == bool(live >> kind & 1)
            assert suffix is None or DFA.accepts[DFA.run(state, suffix)] == kind


SHORTEST = [
    ("", "NAME", b"a"),
    ("d", "def", b"ef"),
    ("def", "def", b""),
    ("0x", "REAL", b"a"),
    ("'''a", "STRING", b"'''"),
    ("1", "IMAGINARY", b"j"),
    ("ma", "match", b"tch"),
    ("=", "==", b"="),
]


@pytest.mark.parametrize(("text", "kind", "expected"), SHORTEST)
def test_shortest_ends(text, kind, expected):
    state = DFA.run(DFA.starts["code"], text.encode())
    assert ShortestWords(DFA).suffix(state, DFA.kinds.index(kind)) == expected
