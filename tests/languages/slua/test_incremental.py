"""The incremental parser accepts the same scripts as the checker, and is never stuck."""

import random

import pytest

from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.incremental.statements import begin

from ...sampling import sampled
from .mutants import mutant
from .programs import Writer
from .test_faults import INTERFACE as FAULTS_INTERFACE
from .test_faults import SCRIPTS
from .test_slua import INTERFACE
from .walks import walk

START, FAULTS_START = begin(INTERFACE), begin(FAULTS_INTERFACE)


def faults(text, interface=INTERFACE):
    return check_script(text, interface).faults


def read(start, text, rng=None):
    """The length of the valid start of *text*, and True if the whole is a script.

    With *rng*, the shortest completions of some of its starts are checked.
    """
    state, data = start, text.encode()
    for number, byte in enumerate(data):
        following = state.feed(bytes((byte,)))
        if following is None:
            return number, False
        state = following
        if rng is not None and rng.random() < 0.02:
            whole = data[: number + 1] + state.shortest_completion
            assert not faults(whole.decode()), whole.decode()
    return len(data), state.complete


@pytest.mark.parametrize("seed", sampled(range(20), 2))
def test_the_checker_and_the_parser_agree(seed):
    rng = random.Random(seed)
    text = Writer(INTERFACE, rng).script()
    assert read(START, text, rng) == (len(text.encode()), True)
    for _ in range(3):
        changed = mutant(text, rng)
        assert read(START, changed, rng)[1] is not bool(faults(changed)), changed


@pytest.mark.parametrize("seed", range(30))
def test_pieces_are_read_as_their_bytes(seed):
    rng = random.Random(seed)
    text = Writer(INTERFACE, rng).script()
    data = (mutant(text, rng) if seed % 3 else text).encode() + b" \xe9"
    at, state, by_bytes = 0, START, START
    while state is not None:
        piece = data[at : at + rng.choice((1, 3, 12, 200))]
        state, at = state.feed(piece), at + len(piece)
        for byte in piece:
            by_bytes = by_bytes and by_bytes.feed(bytes((byte,)))
        assert known(state) == known(by_bytes)


def known(state):
    return state and (state.partial, state.character, state.machine.expected(), state.shortest_completion)


@pytest.mark.parametrize("seed", sampled(range(150), 3))
def test_a_random_walk_of_the_parser_is_right(seed):
    rng = random.Random(seed)
    text = walk(START, rng, rng.choice((5, 30, 60, 200)))
    assert not faults(text), text


@pytest.mark.parametrize("marked", [marked for marked, _ in SCRIPTS])
def test_a_fault_is_refused_where_it_is_or_before(marked):
    """The checker reports a fault of an expression at its start; the parser reads up to it."""
    text = marked.replace("^", "")
    assert read(FAULTS_START, text)[1] is not bool(faults(text, FAULTS_INTERFACE))


# The refused byte, `^`: no valid script starts with the text before it and this byte.
REFUSED = [
    'local x: number = ^"a";',
    "player.h^it(1, player);",
    "player.^Zap(1);",
    "player.Hit(1, pla^ier);",
    "player.Hit(1^);",
    "local x: number = player.^Hit(1, player);",
    "local x: number = player.^friend;",
    "local x: n^ope = 1;",
    "local x: Acto^= 1;",
    "local a: Actor = ^{};",
    "^-- a comment",
    "local x: number = 1 -^- 1;",
    "Register({power = 1^});",
    "Register({^Turn = 1});",
    "local f: () -> number = function() ^end;",
    "local f: () -> number = function() return^;",
    "At(1, function(a) return; ^a.Hit(1, a); end);",
    "^break;",
    "^return;",
    "player.^name = 1;",
    "player ^= player;",
    "local f: () -> void = function() f^();",
    "local f: (Hooks^) -> void",
    "interface T { t: ^T; };",
    "interface T { mutable f: ^() -> void; };",
    "local x: number = 1; local x^: number",
    "local x: boolean = player ^< player;",
    "local x: boolean = 1 == ^true;",
    "local x: string = ^'a';",
    'local x: string = "\\^q";',
    "local x: number = 1^a;",
    "local x: number = (^);",
]


@pytest.mark.parametrize("marked", REFUSED)
def test_the_first_wrong_byte_is_refused(marked):
    before, _, after = marked.partition("^")
    assert read(FAULTS_START, before + after)[0] == len(before.encode())


@pytest.mark.parametrize(
    ("text", "completion"),
    [
        ("", ""),
        ("loc", "al a:number=0;"),
        ("local x", ":number=0;"),
        ('local x: string = "é', '";'),
        ('local x: string = "\\', 'n";'),
        ("player.he", "alth=0;"),
        ("At(1, ", "function(a)end);"),
        ("Register({", "OnTurn=function(a)end});"),
        ("local f: () -> number = function() if true then return 1; ", "end;return 0;end;"),
        ("if 1", " then end;"),
        ("local b: boolean = true == (1", "==0);"),
        ("local a: number = 1 -", "0;"),
        ("interface T {", "};"),
        ("interface T { a: number; ax: number; axx: number; a", "xxx:number;};"),
        ("local a: number = player.P", "ower();"),
    ],
)
def test_the_shortest_completion(text, completion):
    state = FAULTS_START.feed(text.encode())
    assert state.shortest_completion.decode() == completion
    assert not faults(text + completion, FAULTS_INTERFACE)


def test_a_character_may_be_cut():
    state = FAULTS_START.feed('local x: string = "é'.encode()[:-1])
    assert state.shortest_completion[:1] == b"\x80"
    assert FAULTS_START.feed(b'local x: string = "\xff') is None


def test_a_state_is_not_changed_by_what_is_fed():
    state = FAULTS_START.feed(b"interface T { a: number; ")
    one, other = state.feed(b"b: string; };"), state.feed(b"c: boolean; };")
    assert one.feed(b'local t: T = {a = 1, b = "x"};').complete
    assert other.feed(b"local t: T = {a = 1, c = true};").complete
    assert other.feed(b"local t: T = {a = 1, b") is None
