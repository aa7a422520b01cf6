"""Scripts without line ends inside expressions and without repetition, which always come to an end."""

import pytest
from fimlsp.languages.slua.incremental.parser import begin
from fimlsp.languages.slua.tidy import Tidy

from .test_incremental import faults
from .test_slua import INTERFACE

START = Tidy(begin(INTERFACE))


# The byte that is refused, `^`, if any is.
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
    " " * 40 + "^ ",
    "Say(Text(1));\n\n^\n",
    "Say( ^ ",
    "Say(Text(1));\n        Say(Text(2));",
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


def test_the_completion_is_never_refused():
    text = "do " * 12 + "Say(Text("
    state = START.feed(text.encode())
    for byte in state.shortest_completion:
        state = state.feed(bytes((byte,)))
    assert state.complete
