"""Middles that connect two parts of a script: they provide the names, types and blocks of the right part."""

import random

import pytest

from fimlsp.languages.slua.middles.middle import between

from ...sampling import sampled
from .mutants import mutant
from .programs import Writer
from .test_incremental import faults
from .test_slua import INTERFACE


def whole(left, state, right):
    return (left + state.shortest_completion + right).decode()


# The text left and right of the cursor, and the middle.
CONNECTED = [
    ("<|>", ""),
    ("local a: number = <|>;", "0"),
    ("local a: number = 1<|>", ";"),
    ("<|>Say(b);", 'local b:string="";'),
    ("<|>local c: number = b;", "local b:number=0;"),
    ("<|>player.Hit(1, b);", "local b:Actor=player;"),
    ('<|>b(1, "a");', None),
    ("<|>Say(b.name);", None),
    ("<|>b.y = 1;", "local b:Place=origin;"),
    ("<|>Say(b .. c);", 'local b:string="";local c:string=b;'),
    ("if true then <|> end; Say(b);", None),
    ("local x: number = <|>; Say(b);", '0;local b:string="";x=0'),
    ("<|>end;", "do "),
    ('<|>else Say(""); end;', "if true then "),
    ("<|>then end;", "if true "),
    ("<|>do end;", ""),
    ("for i = <|>do end;", "0,0 "),
    ("<|>end);", None),
    ("<|>Hit(1, player);", None),
    ("<|>.health = 1;", "player"),
    ('<|>= "";', None),
    ("<|>: number = 1;", "local a"),
    ("<|>ocal x: number = 1;", "l"),
    ('Say(<|>a");', '"'),
    ("Say(Te<|>t(1));", "x"),
    ("local x: number = 1<|>.5;", ""),
    ('<|>local v: Own = {a = 1, b = ""};', "interface Own{mutable a:number;mutable b:string;};"),
    ("local f: () -> number = function() <|> end;", "return 0;"),
    ('local f: <|> = function(a, b) return a.name .. ""; end;', None),
    ('<|>, id = "", strength = 1, start = origin});', None),
    ('NewKind({OnTurn = f<|>cal value3: string = ""; end, title = ""});', None),
    ('interf<|>; NewKind({title = "", OnTurn = function(a, w) a.health = w.much; end});', None),
    ("interface Settings {<|>}; g_effects.first.Strength({more = 1, less = 2});", None),
    ("Choose(1, <|>6 = 1; return false; end);", None),
    ("local x: number = <|>({}), 2 do local y: Settings = {}; end;", None),
    (
        'NewEffect({start = origin, strength = 1, Describe = function() return "th<|>ne) ne.Power(); end});',
        None,
    ),
    ("NewEffect({start = origin, Describe = fu<|>nction(a) a.Power(); end, strength = 1});", None),
    ("NewKind({ti<|>le = Text(1), OnTurn = function(a, b) end});", "t"),
    ("Begin({<|>l = Text(1), y = 1});", "x=0,labe"),
    ("Begin({x = 1, <|> = 1});", "y"),
    ("player.Hit(1<|>.place.y), player);", None),
    ("local x: number = 1<|> -> void = function(a) end; Say(Text(x));", None),
    ("for i = 0, 1 do <|>e8, v, w) return 1; end; g_math.Floor(0); end;", None),
    (
        "local v<|>on(a, b) a = {x = 1, y = 2}; return player.awake; end; "
        "v1({y = 1, x = 2}, g_effects.first);",
        None,
    ),
    ("interface Own {mutable f: Actor; optiona<|>: number;}; local x: Own = {g = origin, f = player};", None),
    (
        "for i = 0, 1 do local x5<|> -> void = function(v) end; x3(g_effects.first); else end; return 0; "
        "end; end;",
        None,
    ),
    ("local f: (<|>ction(v) local b: boolean = g_math.Max; end;", "number)->void=fun"),
    ("local f: (EffectKinds, <|>nction(a, b, c) return player; end;", "number,number)->Actor=fu"),
    ("local f: (EffectKinds, E<|>Actor = function(a, b, c) return player; end;", None),
    (
        "NewKind({title = Text(1), OnTurn = function(a, b) local p: Place = {x = 1, y = 9<|>) return a; end; "
        "a.place.y = 1; end});",
        "};local c:()->Actor=function(",
    ),
    ("Choose(1, function(a) if true then e<|>turn 1; end; break; end; return true; end);", None),
    ("WithActorAt(origin, function(by) <|>h, by); end);", None),
    ("local x: number = 1<|>ction() player.Power(); return true; end; local y: boolean = true; end;", None),
    ("WithActo<|>2, y = 5}; end); local f: (EffectKinds) -> void = function(k) end;", None),
    (
        "NewEffect({start = origin, strength = 1, id = Text(1), Describe = function() <|>lth), by); "
        "return 1; end, OnTurn = function(a) end});",
        None,
    ),
    (
        "NewEffect({id = Text(1), strength = 1, start = origin, OnTurn = function(a) do "
        "interface T {mutable g<|>lth) * 2, 5 do end; end; end});",
        None,
    ),
    (
        "int<|> .. Text(w.power); player.Hit(1, k); return w.power; end, title = Text(1), "
        "OnTurn = function(a, w) a.health = w.power; end});",
        None,
    ),
]


@pytest.mark.parametrize(("marked", "middle"), sampled(CONNECTED, 3))
def test_what_connects(marked, middle):
    left, right = (part.encode() for part in marked.split("<|>"))
    state = between(left, right, INTERFACE)
    assert not faults(whole(left, state, right))
    assert middle is None or state.shortest_completion.decode() == middle
    completed = state.feed(state.shortest_completion)
    assert completed.complete


# A middle exists for the text up to `|`, and none for the text after it.
REFUSED = [
    ("<|>Say(b);", "local b: string| = 1", "a number is no string"),
    ("<|>Say(b);", "local b: |number = 1; ", "b has to be a string"),
    ("<|>local b: number = 1;", "local b|: number = 1;", "b is declared on the right, and no block is open"),
    ("<|>player.Hit(1, b);", "local b: Actor = player; local b|:", "b is declared"),
    ("local x: number = <|>;", "player|.name", None),
    ("Say(<|>);", 'Text(1) .. "a"|, ', "one argument"),
]


@pytest.mark.parametrize(("marked", "middle"), sampled([case[:2] for case in REFUSED], 2))
def test_what_is_refused(marked, middle):
    left, right = (part.encode() for part in marked.split("<|>"))
    before, _, after = middle.partition("|")
    state = between(left, right, INTERFACE).feed(before.encode())
    assert state is not None
    assert state.feed(after.encode()) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [("local x: number = true;", ""), ("", "local x: number = true;"), ("", "end;;"), ("", "-- a")],
)
def test_what_nothing_connects(left, right):
    assert between(left.encode(), right.encode(), INTERFACE) is None


def cuts(seed):
    """Left, middle and right of a random script."""
    rng = random.Random(seed)
    data = Writer(INTERFACE, rng).script().encode()[:1500]
    data = data if not faults(data.decode("utf-8", "ignore")) else b"Say(Text(1));"
    start = rng.randrange(len(data) + 1)
    end = min(len(data), start + int(rng.expovariate(1 / 30)))
    return data[:start], data[start:end], data[end:]


@pytest.mark.parametrize("seed", range(16))
def test_cuts_anywhere(seed):
    """Completions are valid wherever a script is cut, and the text that was cut out is accepted."""
    left, middle, right = cuts(seed)
    rng = random.Random(seed)
    state = between(left, right, INTERFACE)
    if state is None:
        assert seed in NOT_FOUND
        return
    for number, byte in enumerate(middle):
        if rng.random() < 0.1:
            text = left + middle[:number] + state.shortest_completion + right
            assert not faults(text.decode())
        state = state.feed(bytes((byte,)))
        if state is None:
            assert seed in NOT_FOUND
            return
    assert state.complete
    assert seed not in NOT_FOUND


NOT_FOUND: set[int] = set()
"""Cuts within several nested parts, for which the search ends without a connection."""


@pytest.mark.parametrize("seed", range(12))
def test_a_middle_is_complete_exactly_if_the_checker_accepts_the_whole(seed):
    left, middle, right = cuts(seed)
    state = between(left, right, INTERFACE)
    rng = random.Random(seed)
    for _ in range(4):
        changed = mutant(middle.decode("utf-8", "ignore"), rng).encode()
        reached = state and state.feed(changed)
        try:
            right_at_all = not faults((left + changed + right).decode())
        except UnicodeDecodeError:
            continue
        assert right_at_all is (reached is not None and reached.complete) or seed in NOT_FOUND
