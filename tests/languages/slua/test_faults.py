"""Faults of scripts are reported at the right place, with the expected or the known alternatives."""

import pytest

from fimlsp.languages.slua.checker import check_script
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

# The place of the fault, `^`, and the message.
SCRIPTS = [
    ('local x: number = ^"a";', "expected a number, got a string"),
    ("player.^hit(1, player);", "Actor has no field `hit`; did you mean `Hit`?"),
    ("player.^Zap(1);", "Actor has no field `Zap`; known: `health`, `name`, `friend`, `Hit`, `Power`"),
    ("player.Hit(1, ^plaier);", "unknown variable `plaier`; did you mean `player`?"),
    ("^player.Hit(1);", "expected 2 arguments for (number, Actor) -> void, got 1"),
    ("local x: number = ^player.Hit(1, player);", "this function returns no value"),
    ("local x: number = player.^friend;", "this field may be absent; it can only be tested, or assigned to"),
    ("local x: number = 1^", "unexpected end; a `;` is missing"),
    ("player.Hit(1, player)^\n", "unexpected end; a `;` is missing"),
    ("local x: number = ^", "unexpected end; expected a value"),
    ("local x: number: ^number = 1;", None),
    ("local x: number^: number = 1;", "unexpected `:`; expected ="),
    ("local x: number = 1\n^local y: number = 2;", "a `;` is missing before `local`"),
    ("player.Hit^:x();", "unexpected `:`; fields are reached with `.`"),
    ("local x: number = ^nil;", "scripts have no `nil`"),
    ("local x: number = ^*;", "unexpected `*`; expected a value"),
    ("local x: number = (1^;", "unexpected `;`; expected an operator or )"),
    ("^end;", "unexpected `end`; expected a statement or the end of the file"),
    ("local x ^= 1;", "unexpected `=`; expected :"),
    ("^-- a comment\nlocal x: number = 1;", "scripts have no comments"),
    ("local x: number = 1 -^- 1;", None),
    ("local x: number = 1 ^--1;", "scripts have no comments"),
    ('local x: string = ^"a', 'this string has no closing "'),
    ("local x: ^Actr = player;", "unknown type `Actr`; did you mean `Actor`?"),
    ("local x: ^void = player;", "`void` is only allowed after `->`"),
    ("local a: Actor = ^{};", "scripts cannot make an Actor"),
    ("Register(^{power = 1});", "Hooks needs `OnTurn` too"),
    ("Register({^Turn = 1, OnTurn = function(a) end});", "Hooks has no field `Turn`; did you mean `OnTurn`?"),
    ("Register({OnTurn = function(a) end, ^OnTurn = function(a) end});", "`OnTurn` is given twice"),
    ("At(1, ^function() end);", "expected 1 parameters for (Actor) -> void, got 0"),
    ("At(1, function(a) return ^1; end);", "this function returns no value"),
    (
        "local f: () -> number = ^function() end;",
        "this function has to return number on every path",
    ),
    (
        "local f: () -> number = ^function() while true do return 1; end; end;",
        "has to return number on every path",
    ),
    ("local f: () -> number = function() ^return; end;", "this function has to return number"),
    ("^return;", "`return` outside of a function"),
    ("At(1, function(a) ^return; a.Hit(1, a); end);", "`return` must be the last statement of its block"),
    ("^break;", "`break` outside of a loop of its function"),
    ("while true do At(1, function(a) ^break; end); end;", "`break` outside of a loop of its function"),
    ("^player.name = 1;", "cannot assign: the field `name` is not mutable"),
    ("^player = player;", "cannot assign: `player` is given by the program"),
    ("for i = 1, 2 do ^i = 3; end;", "cannot assign: `i` counts the loop"),
    ("^player.Power() = 3;", "cannot assign: results of functions"),
    ("local f: () -> void = function() end; ^f = f;", "`f` holds functions, so it never changes"),
    ("local f: () -> void = function() ^f(); end;", "unknown variable `f`"),
    (
        "local f: ^(Hooks) -> void = function(h) end;",
        "cannot take or return values that hold functions: Hooks",
    ),
    ("interface T { mutable ^f: () -> void; };", "`f` holds functions, so it cannot be mutable"),
    ("interface ^T { t: T; };", "no value of T can be made, as it requires another one"),
    ("interface T { a: number; ^a: number; };", "T already has a field `a`"),
    ("interface ^Actor { a: number; };", "type `Actor` is already declared"),
    ("local x: number = 1; local ^x: number = 2;", "`x` is already declared"),
    (f"local ^{'x' * 51}: number = 1;", "a name has at most 50 characters"),
    ("local x: boolean = ^player < player;", None),
    ("local x: boolean = player ^< player;", "an Actor cannot be compared with `<`"),
    ("local x: boolean = 1 == ^true;", "expected a number, got a boolean"),
    ("local x: string = 'a';", None),
    ("local ^end: number = 1;", "unexpected `end`; expected a name"),
    ("local x: number = " + "(" * 2 + "^);", "unexpected `)`"),
    ("local x: number = " + "- " * 200 + "1;", None),
]


@pytest.mark.parametrize(("marked", "message"), [script for script in SCRIPTS if script[1] is not None])
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
        ("global x: Foo;", "1:11: unknown type `Foo`"),
        ("interface A { f: (A) -> void; };", "cannot take or return values that hold functions: A"),
        (
            "interface A { f: () -> void; }; global g: () -> A;",
            "cannot return values that hold functions",
        ),
        ("interface A { f: () -> void; }; global a: A;", "cannot be given tables with functions"),
        ("interface A { f: () -> void; }; global g: ((A) -> void) -> void;", "cannot take or return"),
        ("object O { mutable f: () -> void; };", "cannot be mutable"),
        ("interface A { b: B; }; interface B { a: A; };", "no value of A can be made"),
        ("interface A { a: number; }; object A { a: number; };", "type `A` is already declared"),
        ("global x: number; global x: number;", "global `x` is already declared"),
        ("global x: void;", "`void` is only allowed after `->`"),
        ("global x number;", "1:10: unexpected `number`; expected :"),
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
    interface = read_interface(
        "--- Somebody.\n--- Who acts.\nobject A {\n--- Its name.\nname: string; };\n--- One.\nglobal a: A;"
    )
    assert interface.types["A"].documentation == "Somebody.\nWho acts."
    assert interface.types["A"].fields["name"].documentation == "Its name."
    assert interface.documentation == {"a": "One."}


DEEP = {
    "raised": "Tell(2" + " ^ 2" * 3_000 + ");",
    "nested": "if a then " * 3_000 + "end; " * 3_000,
}


@pytest.mark.parametrize("kind", DEEP)
def test_a_script_that_nests_too_deeply_has_a_fault(kind):
    (fault,) = check_script(DEEP[kind], Interface()).faults
    assert "nested deeper than 180 levels" in fault.message
