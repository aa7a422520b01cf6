"""Regular expressions, their minimal automata, shortest words and the disk cache, on small cases."""

import hashlib
import json
import os
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.lexing.automata.cached_files import cache_folder
from fimlsp.lexing.automata.dfa import DEAD, CompactDfa, Dfa, Rule, Terminals, cached, compile_terminals
from fimlsp.lexing.automata.paths import ShortestWords
from fimlsp.lexing.automata.regex import (
    Regex,
    any_case,
    character_but,
    choice,
    code_points,
    exactly,
    many,
    maybe,
    one_of,
    sequence,
    some,
)


def compact(**patterns: Regex) -> CompactDfa:
    return compile_terminals(Terminals({"main": tuple(Rule(*item) for item in patterns.items())}))


def accepted(dfa: Dfa, data: bytes, mode: str = "main") -> str | None:
    kind = dfa.accepts[dfa.run(dfa.starts[mode], data)]
    return dfa.kinds[kind] if kind >= 0 else None


# A pattern, the same for CPython's `re`, the number of states of the minimal automaton (with the dead one).
SPELLED = [
    (sequence(), "", 2),
    (choice(), "(?!)", 1),
    (sequence("ab"), "ab", 4),
    (choice("a", "b", "ab"), "a|b|ab", 4),
    (many("a"), "a*", 2),
    (many(many("a"), many("b")), "(a*b*)*", 2),
    (some("ab"), "(ab)+", 4),
    (maybe("a", "b"), "(ab)?", 4),
    (exactly(3, one_of("ab")), "[ab]{3}", 5),
    (sequence(many("a"), choice("b", many("c"))), "a*(b|c*)", 4),
    (sequence(many(one_of("ab")), "a", one_of("ab"), one_of("ab")), "[ab]*a[ab][ab]", 9),
    (any_case("aB"), "[aA][bB]", 4),
]


@pytest.mark.parametrize(("pattern", "spelled", "states"), SPELLED)
def test_spelled_patterns(pattern, spelled, states):
    dfa = compact(K=pattern).expand()
    assert len(dfa.rows) == states
    check_language(dfa, spelled)


def check_language(dfa: Dfa, spelled: str) -> None:
    for length in range(6):
        for text in map("".join, product("abcA", repeat=length) if length < 5 else product("ab", repeat=5)):
            assert (accepted(dfa, text.encode()) == "K") == bool(re.fullmatch(spelled, text)), text


def combined(children):
    pairs = st.tuples(children, children)
    return st.one_of(
        pairs.map(lambda two: (sequence(two[0][0], two[1][0]), f"(?:{two[0][1]})(?:{two[1][1]})")),
        pairs.map(lambda two: (choice(two[0][0], two[1][0]), f"(?:{two[0][1]})|(?:{two[1][1]})")),
        children.map(lambda one: (many(one[0]), f"(?:{one[1]})*")),
    )


LETTERS = st.sampled_from([(sequence(letter), letter) for letter in ("a", "b", "ab", "")])


@given(st.recursive(LETTERS, combined, max_leaves=6))
def test_random_patterns(pair):
    check_language(compact(K=pair[0]).expand(), pair[1])


@given(st.lists(st.tuples(*[st.integers(0, 0x10FFFF)] * 2), max_size=4), st.characters(), st.integers(-1, 1))
def test_code_points_are_those_of_the_ranges(bounds, other, step):
    ranges = [(min(pair), max(pair)) for pair in bounds]
    dfa = compact(K=code_points(ranges)).expand()
    for code in [ord(other)] + [bound + step for pair in bounds for bound in pair]:
        if 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
            inside = any(low <= code <= high for low, high in ranges)
            assert (accepted(dfa, chr(code).encode()) == "K") == inside


def test_only_utf8_is_a_character():
    dfa = compact(K=character_but("x")).expand()
    candidates = [bytes(pair) for pair in product(range(256), repeat=2)]
    edges = (0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5)
    candidates += [bytes(several) for length in (1, 3, 4) for several in product(edges, repeat=length)]
    for data in candidates:
        assert (accepted(dfa, data) == "K") == is_one_character(data), data


def is_one_character(data: bytes) -> bool:
    try:
        return len(text := data.decode()) == 1 and text not in "x\0"
    except UnicodeDecodeError:
        return False


def test_the_first_kind_wins_and_all_stay_live():
    dfa = compact(IF=sequence("if"), NAME=some(one_of("fix"))).expand()
    kinds = {text: accepted(dfa, text.encode()) for text in ("i", "if", "iff", "x", "")}
    assert kinds == {"i": "NAME", "if": "IF", "iff": "NAME", "x": "NAME", "": None}
    live = {text: dfa.live[dfa.run(dfa.starts["main"], text.encode())] for text in ("", "i", "if", "x", "-")}
    assert live == {"": 0b11, "i": 0b11, "if": 0b11, "x": 0b10, "-": 0}


def test_modes_share_states():
    word = Rule("WORD", some(one_of("ab")))
    modes = {"one": (word, Rule("DOT", sequence("."))), "two": (word, Rule("COLON", sequence(":")))}
    dfa = compile_terminals(Terminals(modes)).expand()
    assert dfa.run(dfa.starts["one"], b"a") == dfa.run(dfa.starts["two"], b"b")
    assert [accepted(dfa, text, mode) for text in (b".", b":") for mode in modes] == [
        "DOT",
        None,
        None,
        "COLON",
    ]


@given(st.recursive(LETTERS, combined, max_leaves=8), st.text("ab", max_size=4))
def test_words_are_shortest(pair, start):
    dfa = compact(K=pair[0], OTHER=sequence("c")).expand()
    state = dfa.run(dfa.starts["main"], start.encode())
    suffix = ShortestWords(dfa).suffix(state, 0)
    tried = (bytes(several) for length in range(len(dfa.rows)) for several in product(b"ab", repeat=length))
    assert suffix == next((data for data in tried if dfa.accepts[dfa.run(state, data)] == 0), None)
    assert (suffix is None) == (not dfa.live[state] & 1)


WELCOME = [("%a0", b"a"), ("%Z0", b"0"), ("%Z\t", b"%"), ("\t\x7f", b"\x7f"), ("\t", b"\t")]


@pytest.mark.parametrize(("characters", "expected"), WELCOME)
def test_welcome_bytes_come_first(characters, expected):
    dfa = compact(K=choice(one_of(characters), "é")).expand()
    assert ShortestWords(dfa).suffix(dfa.starts["main"], 0) == expected
    assert ShortestWords(dfa).suffix(DEAD, 0) is None


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fimlsp"


SAMPLE = compact(K=many("ab"), é=sequence("é"))


def refuse():
    raise AssertionError("built although stored")


def test_cache_gives_back_what_it_stored(cache):
    assert cache_folder() == cache
    assert cached("key", lambda: SAMPLE) == SAMPLE
    assert cached("key", refuse) == SAMPLE
    assert [path.name for path in cache.iterdir()] == ["key"]


def truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(content: bytes) -> bytes:
    return content[:-1] + bytes((content[-1] ^ 1,))


def with_header(header: object) -> Callable[[bytes], bytes]:
    """A file with another header and the right digest."""

    def change(content: bytes) -> bytes:
        end = 36 + int.from_bytes(content[32:36], "little")
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        body = len(text).to_bytes(4, "little") + text + content[end:]
        return hashlib.sha256(body).digest() + body

    return change


N_STATES = len(SAMPLE.rows)
HEADER = {
    "accepts": list(SAMPLE.accepts),
    "live": list(SAMPLE.live),
    "starts": SAMPLE.starts,
    "kinds": SAMPLE.kinds,
}
HEADERS = [
    {},
    [],
    7,
    b"[" * 100_000,
    b"",
    HEADER | {"starts": 5},
    HEADER | {"starts": {"main": N_STATES}},
    HEADER | {"starts": {"main": True}},
    HEADER | {"live": HEADER["live"][1:]},
    HEADER | {"live": [-1] * N_STATES},
    HEADER | {"accepts": [99] * N_STATES},
    HEADER | {"accepts": ["0"] * N_STATES},
    HEADER | {"kinds": [1, 2]},
    HEADER | {"kinds": None},
]


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: str(header)[:40])
def test_a_right_digest_of_a_wrong_header(cache, header):
    cached("key", lambda: SAMPLE)
    content = (cache / "key").read_bytes()
    assert with_header(HEADER)(content) == content
    (cache / "key").write_bytes(with_header(header)(content))
    assert cached("key", lambda: SAMPLE) == SAMPLE
    assert (cache / "key").read_bytes() == content


def test_a_cell_that_leads_nowhere(cache):
    cached("key", lambda: SAMPLE)
    body = (cache / "key").read_bytes()[32:-2] + b"\xff\xff"
    (cache / "key").write_bytes(hashlib.sha256(body).digest() + body)
    assert cached("key", lambda: SAMPLE) == SAMPLE


KINDS = {"a pipe": os.mkfifo, "a device": lambda path: path.symlink_to("/dev/zero")}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_regular_file_is_replaced(cache, kind):
    cache.mkdir(parents=True)
    KINDS[kind](cache / "key")
    assert cached("key", lambda: SAMPLE) == SAMPLE
    assert cached("key", refuse) == SAMPLE


@pytest.mark.parametrize("damage", [truncated, flipped, lambda _: b"", lambda _: b"\xff" * 40])
def test_damaged_cache_is_rebuilt(cache, damage):
    cached("key", lambda: SAMPLE)
    (cache / "key").write_bytes(damage((cache / "key").read_bytes()))
    assert cached("key", lambda: SAMPLE) == SAMPLE
    assert cached("key", refuse) == SAMPLE


def occupy(cache: Path) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")


def block(cache: Path) -> None:
    (cache / "key").mkdir(parents=True)


@pytest.mark.parametrize("obstruct", [occupy, block])
def test_unusable_cache_is_no_error(cache, obstruct):
    obstruct(cache)
    assert cached("key", lambda: SAMPLE) == SAMPLE
    assert [path.name for path in cache.rglob("*")] in ([], ["key"])


def test_no_home_folder_is_no_error(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert cached("key", lambda: SAMPLE) == SAMPLE


def test_a_relative_cache_folder_is_ignored(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert cache_folder().is_relative_to(tmp_path / "home")


def no_home():
    raise RuntimeError("no home folder")
