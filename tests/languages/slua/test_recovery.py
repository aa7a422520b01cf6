"""A script that is broken in another line than the cursor's is read as the right one that is nearest."""

import random

import pytest

from fimlsp.languages.slua.language import Slua
from fimlsp.quotient.engine import Engine

from .programs import Writer
from .test_incremental import faults
from .test_language import FILE
from .test_slua import INTERFACE

ENGINE = Engine(Slua(FILE.read_text()))


def read(marked):
    """The constraint at `<|>`, and the whole script with the changes and the cheapest middle."""
    left, right = (part.encode() for part in marked.split("<|>"))
    constraint = ENGINE.document(left + right).middle(len(left), len(left), may_escape=False, relax=True)
    assert constraint.connectable, marked
    parts, at, whole = [], 0, left + right
    cursor = (len(left), len(left), constraint.start.shortest_completion)
    changes = [(mend.start, mend.end, mend.replacement) for mend in constraint.relaxed]
    for start, end, new in sorted([*changes, cursor]):
        assert not whole[start:end] or not start < len(left) < end
        parts += [whole[at:start], new]
        at = end
    return constraint, b"".join((*parts, whole[at:])).decode()


# Repairs: `[lost|put]` where the script is broken.
BROKEN = [
    "local a: number = [|0 ;]\nSay(Text(1));\n<|>\n",
    "local a: number = 1[|;]\nSay(Text(a));\n<|>\n",
    "<|>\nlocal a: number = 1 +[|0;]\n",
    "<|>\nlocal a: number = [|0 ;]\nSay(Text(a));\n",
    "local a: number = [true|0];\n<|>\n",
    "local a: number = player.[helth|health];\n<|>\n",
    "[-- a comment|]\n<|>\n",
    'Say("");\n<|>\nSay("") [-- a comment;|][|;]\n',
    "if player.health <[|0 then]\nplayer.Hit(1, player);\nend;\n<|>\n",
    "WithActorAt(origin, function(a)\nlocal b: number = [|0 ;]\na.Hit(b, <|>\nend);\n",
    "WithActorAt(origin, function(a)\n<|>\na.Hit(1, [|player ) ;]\nend);\n",
    'WithActorAt(origin, function(a)\na.Hit([""|0], a);\na.health = <|>;\nend);\n',
    "interface T {\n  a: number;\n[|} ;]\nSay(Text(1));\n<|>\n",
    "Say(Text([#|]1));\n<|>\nSay(b);\n",
    "<|>\nSay(Text(1))[|;]",
]


@pytest.mark.parametrize("told", BROKEN)
def test_what_is_changed(told):
    marked, changes = "", []
    for piece in told.replace("]", "[").split("["):
        lost, bar, put = piece.partition("|") if "<|>" not in piece else (piece, "", "")
        if bar:
            changes.append((lost, put))
        marked += lost
    constraint, text = read(marked)
    data = marked.replace("<|>", "").encode()
    assert [
        (data[mend.start : mend.end].decode(), mend.replacement.decode().strip())
        for mend in constraint.relaxed
    ] == changes
    assert not faults(text), text


def test_nothing_is_changed_in_the_line_of_the_cursor():
    document = ENGINE.document(b"local a: number = true; ")
    assert not document.middle(24, 24, relax=True).connectable
    assert not ENGINE.document(b"Say(; Say();").middle(10, 10, relax=True).connectable


def test_a_script_that_is_right_is_not_changed():
    document = ENGINE.document(b"Say(b);\n")
    assert document.middle(0, 0, relax=True).relaxed == ()
    assert document.middle(0, 0, relax=True).start.shortest_completion == b'local b:string="";'


def test_only_an_editor_asks_for_changes():
    text = b"local a: number = ;\n"
    assert ENGINE.document(text).middle(len(text), len(text), relax=True).connectable
    assert not ENGINE.document(text).middle(len(text), len(text), relax=False).connectable


@pytest.mark.parametrize("seed", range(40))
def test_a_line_is_cut_anywhere(seed):
    """If one line is cut short, another can still be completed, and the repaired script is valid."""
    rng = random.Random(seed)
    lines = Writer(INTERFACE, rng).script()[:1500].split("\n")[:-1] or ["Say(Text(1));"]
    damaged = rng.randrange(len(lines))
    lines[damaged] = lines[damaged][: rng.randint(0, len(lines[damaged]))]
    lines.insert(rng.randint(0, len(lines)), "<|>")
    _, text = read("\n".join(lines))
    assert not faults(text), text
