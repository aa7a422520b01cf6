"""Scripts without line ends inside expressions and without repetition, which always come to an end."""

import pytest

from fimlsp.languages.slua.incremental.statements import begin
from fimlsp.languages.slua.language import Slua
from fimlsp.languages.slua.tidy import Tidy

from .test_incremental import faults
from .test_language import FILE
from .test_slua import INTERFACE

START = Tidy(begin(INTERFACE))


# The refused byte, `^`, if there is one.
SCRIPTS = [
    "Say(^\n",
    "local x: number =^\n1;",
    "local x: number = 1 +^\n1;",
    "local x: number = 1^\n;",
    "Say(Text(1));\n\nSay(Text(2));\n",
    "if true then\n  Say(Text(1));\nend;\n",
    "NewEffect({\n  id = Text(1),\n  OnTurn = function(a)\n  Say(a.name);\n  end, strength = 1,\n",
    "interface T {\n  a: number;\n};\n",
    'Say("one");Say("one");Say("on^e"',
    'Say("one");\nSay("one");\nSay("two");\nSay("one");\n',
    "local a: number = 1;a = a + 1;a = a + 1;a = a + ^1;",
    "    ^ ",
    "Say(Text(1));\n    ^ ",
    "do\n  Say(Text(1));\n      ^ ",
    "Say(^(Text(1)));",
    "Say(Text((1 + 2) * 3));",
    "local x: number = (^(1 + 2) * 3);",
    "local x: number = 1 + 2^ * 3;",
    "local x: number = player.health + player.health^ + 1;",
    'local b: boolean = player.name == "a" and player.name^ == "b";',
    "local x: number = 100000^0;",
    "local x: number = 0^0;",
    "local x: number = 0.123^4;",
    "local x: number = - ^-1;",
    "local b: boolean = not ^not true;",
    "local b: boolean = not (not true);",
    "local b: boolean = not (not (^not true));",
    "local x: number = -(-(^-1));",
    "local verify_verify^_verify: number = 1;",
    "local a_name_that_is_longe^r: number = 1;",
    "player.Hit(1,^player);",
    "local x: number = 1 *^2;",
    "local x: number = 1*2;",
    "local x: number = -1;",
    "Say(Text(1));\n\n^\n",
    "Say( ^ ",
    "Say(Text(1));\n    Say(Text(2));",
    'Say("in a text   anything     goes");',
]


@pytest.mark.parametrize("marked", SCRIPTS)
def test_what_is_refused(marked):
    before, mark, after = marked.partition("^")
    state = START.feed(before.encode())
    assert state is not None
    assert not faults(before + state.shortest_completion.decode())
    if mark:
        assert state.feed(after[:1].encode()) is None


@pytest.mark.parametrize(
    "text",
    [
        "do " * 12 + "Say(Text(",
        "NewEffect({",
        "local x: number = -",
        'Say("a" ..',
        "for i",
        "local b: boolean = true == (5 % (6) - 3",
    ],
)
def test_the_completion_is_never_refused(text):
    state = START.feed(text.encode())
    for byte in state.shortest_completion:
        state = state.feed(bytes((byte,)))
    assert state.complete


@pytest.mark.parametrize(
    ("text", "completion"),
    [
        ("NewEffect({", 'id = "", OnTurn = function(a) end, strength = 0, start = origin});'),
        ("local x: number =", " 0;"),
        ("local x: number = -", "0;"),
        ("local x: number = 1 -", " 0;"),
        ("loc", "al a: number = 0;"),
        ('Say("a" ..', ' "");'),
        ('Say("a', '");'),
        ("WithActorAt({x = 1", ", y = 0}, function(a) end);"),
        ("local f: () -> number = function() ", "return 0; end;"),
    ],
)
def test_the_completion_has_blanks_where_people_have_them(text, completion):
    assert START.feed(text.encode()).shortest_completion.decode() == completion


def test_what_the_rest_lacks_is_declared_first():
    state = Slua(FILE.read_text(), tidy=True).middle(b"", b"\nplayer.Hit(damage, player);\n")[0]
    assert state.feed(b"Say(") is None
    assert state.feed(b"local other") is None
    assert state.feed(b"local damage: number = 2").shortest_completion == b";"


def test_a_middle_begins_where_the_cursor_is():
    state = Slua(FILE.read_text(), tidy=True).middle(b"do\n  ", b"\nend;\n")[0]
    assert state.feed(b" ") is None
    assert state.feed(b"\n") is None
    assert state.feed(b"Say(Text(1));\n  Say(") is not None
