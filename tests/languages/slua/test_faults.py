"""What is wrong with a script is told at the right place, with what was wanted or what there is."""

import pytest

from fimlsp.languages.slua.checking.checker import check_script
from fimlsp.languages.slua.interface import Interface, InterfaceError, read_interface

INTERFACE = read_interface(
    """
    object Actor { mutable health: number; name: string; optional friend: Actor; Hit: (number, Actor) -> void;
                   Power: () -> number; };
    interface Hooks { OnTurn: (Actor) -> void; optional power: number; };
    global player: Actor;
    global At: (number, (Actor) -> void) -> void;
    global Register: (Hooks) -> void;
    """
)

# Where the fault is, `^`, and what is said of it.
SCRIPTS = [
    ('local x: number = ^"a";', "this is a string, and a number is wanted"),
    ("player.^hit(1, player);", "Actor has no field `hit`; did you mean `Hit`?"),
    ("player.^Zap(1);", "Actor has no field `Zap`; there are `health`, `name`, `friend`, `Hit`, `Power`"),
    ("player.Hit(1, ^plaier);", "there is no variable `plaier` here; did you mean `player`?"),
    ("^player.Hit(1);", "2 arguments are wanted, for (number, Actor) -> void, and 1 given"),
    ("local x: number = ^player.Hit(1, player);", "this function gives no value"),
    ("local x: number = player.^friend;", "this field may be absent; it can only be tested, or assigned to"),
    ("local x: number = 1^", "the text ends here; a `;` is missing"),
    ("player.Hit(1, player)^\n", "the text ends here; a `;` is missing"),
    ("local x: number = ^", "the text ends here; expected a value"),
    ("local x: number: ^number = 1;", None),
    ("local x: number^: number = 1;", "`:` does not belong here; expected ="),
    ("local x: number = 1\n^local y: number = 2;", "a `;` is missing before `local`"),
    ("player.Hit^:x();", "`:` does not belong here; what a value has is reached by `.`"),
    ("local x: number = ^nil;", "scripts have no `nil`"),
    ("local x: number = ^*;", "`*` does not belong here; expected a value"),
    ("local x: number = (1^;", "`;` does not belong here; expected an operator or )"),
    ("^end;", "`end` does not belong here; expected a statement or the end of the file"),
    ("local x ^= 1;", "`=` does not belong here; expected :"),
    ("^-- a comment\nlocal x: number = 1;", "scripts have no comments"),
    ("local x: number = 1 -^- 1;", None),
    ("local x: number = 1 ^--1;", "scripts have no comments"),
    ('local x: string = ^"a', 'this text has no closing "'),
    ("local x: ^Actr = player;", "there is no type `Actr`; did you mean `Actor`?"),
    ("local x: ^void = player;", "`void` is no type of values"),
    ("local a: Actor = ^{};", "scripts cannot make an Actor"),
    ("Register(^{power = 1});", "Hooks needs `OnTurn` too"),
    ("Register({^Turn = 1, OnTurn = function(a) end});", "Hooks has no field `Turn`; did you mean `OnTurn`?"),
    ("Register({OnTurn = function(a) end, ^OnTurn = function(a) end});", "`OnTurn` is given twice"),
    ("At(1, ^function() end);", "1 parameters are wanted, for (Actor) -> void, and 0 given"),
    ("At(1, function(a) return ^1; end);", "this function gives no value"),
    (
        "local f: () -> number = ^function() end;",
        "this function has to give number, and does not return on every path",
    ),
    (
        "local f: () -> number = ^function() while true do return 1; end; end;",
        "does not return on every path",
    ),
    ("local f: () -> number = function() ^return; end;", "this function has to give a value: number"),
    ("^return;", "`return` is not in a function"),
    ("At(1, function(a) ^return; a.Hit(1, a); end);", "`return` must be the last statement of its block"),
    ("^break;", "`break` is not in a loop of its function"),
    ("while true do At(1, function(a) ^break; end); end;", "`break` is not in a loop of its function"),
    ("^player.name = 1;", "this cannot be assigned to: the field `name` is not mutable"),
    ("^player = player;", "this cannot be assigned to: `player` is given by the program"),
    ("for i = 1, 2 do ^i = 3; end;", "this cannot be assigned to: `i` counts the loop"),
    ("^player.Power() = 3;", "this cannot be assigned to: what a function gives"),
    ("local f: () -> void = function() end; ^f = f;", "`f` holds functions, so it never changes"),
    ("local f: () -> void = function() ^f(); end;", "there is no variable `f` here"),
    ("local f: ^(Hooks) -> void = function(h) end;", "takes and gives nothing with functions in it: Hooks"),
    ("interface T { mutable ^f: () -> void; };", "`f` holds functions, so it cannot be mutable"),
    ("interface ^T { t: T; };", "no value of T can be made, as it must hold another"),
    ("interface T { a: number; ^a: number; };", "T already has a field `a`"),
    ("interface ^Actor { a: number; };", "there is already a type `Actor`"),
    ("local x: number = 1; local ^x: number = 2;", "`x` is already declared"),
    (f"local ^{'x' * 51}: number = 1;", "a name has at most 50 characters"),
    ("local x: boolean = ^player < player;", None),
    ("local x: boolean = player ^< player;", "an Actor cannot be compared with `<`"),
    ("local x: boolean = 1 == ^true;", "this is a boolean, and a number is wanted"),
    ("local x: string = 'a';", None),
    ("local ^end: number = 1;", "`end` does not belong here; expected a name"),
    ("local x: number = " + "(" * 2 + "^);", "`)` does not belong here"),
    ("local x: number = " + "- " * 130 + "1;", None),
]


@pytest.mark.parametrize(("marked", "message"), [each for each in SCRIPTS if each[1] is not None])
def test_a_fault_is_told_where_it_is(marked, message):
    before, _, after = marked.partition("^")
    first = check_script(before + after, INTERFACE).faults[0]
    lines = before.split("\n")
    assert first.at == (len(lines), len(lines[-1]) + 1), first
    assert message in first.message


@pytest.mark.parametrize("marked", [marked for marked, message in SCRIPTS if message is None])
def test_what_is_wrong_elsewhere_is_refused_too(marked):
    assert check_script(marked.replace("^", ""), INTERFACE).faults


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("global x: Foo;", "1:11: there is no type `Foo`"),
        ("interface A { f: (A) -> void; };", "takes and gives nothing with functions in it: A"),
        (
            "interface A { f: () -> void; }; global g: () -> A;",
            "may take what holds functions, and never give it back",
        ),
        ("interface A { f: () -> void; }; global a: A;", "may not be given a table with functions"),
        ("interface A { f: () -> void; }; global g: ((A) -> void) -> void;", "takes and gives nothing"),
        ("object O { mutable f: () -> void; };", "cannot be mutable"),
        ("interface A { b: B; }; interface B { a: A; };", "no value of A can be made"),
        ("interface A { a: number; }; object A { a: number; };", "there is already a type `A`"),
        ("global x: number; global x: number;", "there is already a global `x`"),
        ("global x: void;", "`void` is no type of values"),
        ("global x number;", "1:10: `number` does not belong here; expected :"),
    ],
)
def test_a_fault_of_an_interface(text, message):
    with pytest.raises(InterfaceError) as error:
        read_interface(text, "mine")
    assert message in str(error.value)
    assert str(error.value).startswith("mine:1:")


def test_all_faults_are_told_in_the_order_of_the_text():
    faults = check_script("x = 1;\ny.z();\nlocal a: number = true;", Interface()).faults
    assert [fault.at[0] for fault in faults] == [1, 2, 3]


def test_an_interface_keeps_what_is_written_about_its_parts():
    found = read_interface(
        "--- Somebody.\n--- Who acts.\nobject A {\n--- Its name.\nname: string; };\n--- One.\nglobal a: A;"
    )
    assert found.types["A"].documentation == "Somebody.\nWho acts."
    assert found.types["A"].fields["name"].documentation == "Its name."
    assert found.documentation == {"a": "One."}
