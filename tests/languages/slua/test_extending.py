"""Kinds of scripts: the calls that end them, the types that they fill, and their use by later scripts."""

import pytest

from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.incremental.statements import begin
from fimlsp.languages.slua.interface import (
    InterfaceError,
    NameTakenError,
    UnknownRootError,
    extended,
    read_interface,
)

GIVEN = read_interface(
    """
    object Actor { mutable health: number; };
    open interface Settings;
    interface Effect { OnTurn: (Actor, Settings) -> void; };
    --- An effect.
    object Kind { Apply: (to: Actor, with: Settings) -> void; };
    object Kinds { };
    global g_effects: Kinds;
    global player: Actor;
    --- A script that brings an effect.
    root effect: NewEffect(Effect) as Kind in Kinds;
    root line: Say(Line);
    interface Line { text: string; };
    """
)
POISON = """interface Settings { harm: number; };
NewEffect({OnTurn = function(who, with) who.health = who.health - with.harm; end});"""
AFTER = extended(GIVEN, GIVEN.roots["effect"], "poison", check_script(POISON, GIVEN).interface)

# The kind, the script, and the message; None if it is valid.
SCRIPTS = [
    ("effect", POISON, None),
    (None, POISON, None),
    ("line", POISON, "`NewEffect` can only be called as the last statement"),
    (None, "player.health = 1;", None),
    ("effect", "player.health = 1;", "the script has to end with a call of NewEffect"),
    ("effect", "", "the script has to end with a call of NewEffect"),
    ("line", 'local a: number = 1; Say({text = "a"});', None),
    (None, 'Say({text = "a"}); player.health = 1;', "`Say` can only be called as the last statement"),
    (None, 'do Say({text = "a"}); end;', "`Say` can only be called as the last statement"),
    (None, "local Say: number = 1;", "`Say` is already declared"),
    (None, "Say(1);", "expected a Line, got a number"),
    (None, "Say();", "expected 1 argument, got 0"),
    (None, "interface Settings { a: Actor; }; local x: Settings = {a = player};", None),
    (None, "interface Settings { optional next: Settings; };", None),
    (None, "interface Settings { next: Settings; };", "no value of Settings can be made"),
    (None, "interface Settings { f: () -> void; };", "`f` holds functions"),
    (None, "interface Settings { f: Effect; };", "`f` holds functions"),
    (None, "player.health = 1; interface Settings { };", "has to be declared before anything else"),
    (None, "interface T { }; interface Settings { };", "has to be declared before anything else"),
    (None, "interface Settings { }; interface Settings { };", "type `Settings` is already declared"),
    (None, "do interface Settings { }; end;", "type `Settings` is already declared"),
    (None, "g_effects.poison.Apply(player, {harm = 2});", None),
    (None, "g_effects.poison.Apply(player, {});", "poison_Settings needs `harm` too"),
    (None, "g_effects.frost.Apply(player, {});", "Kinds has no field `frost`; known: `poison`"),
    (None, "interface Settings { with: poison_Settings; };", None),
]


@pytest.mark.parametrize(("root", "text", "message"), SCRIPTS)
def test_a_script(root, text, message):
    faults = check_script(text, AFTER, root).faults
    if message is None:
        assert not faults
    else:
        assert message in faults[0].message
    state = begin(AFTER, root).feed(text.encode())
    assert (state is not None and state.complete) is (message is None)


@pytest.mark.parametrize("root", ["effect", "line", None])
def test_whatever_is_begun_can_be_finished_as_such_a_script(root):
    for text in (POISON, 'local a: number = 1; Say({text = "a"});', "interface T { a: number; };"):
        for end in range(len(text)):
            state = begin(AFTER, root).feed(text[:end].encode())
            if state is not None:
                whole = text[:end] + state.shortest_completion.decode()
                assert not check_script(whole, AFTER, root).faults, whole


def test_what_an_earlier_script_brought_has_its_documentation():
    assert AFTER.types["poison_Kind"].documentation == "An effect."
    assert GIVEN.roots["effect"].documentation == "A script that brings an effect."
    assert "poison" not in GIVEN.types["Kinds"].fields


def test_a_kind_that_offers_nothing_changes_nothing():
    assert extended(GIVEN, GIVEN.roots["line"], "hello", GIVEN) is GIVEN


def test_a_name_is_taken_once():
    with pytest.raises(NameTakenError, match="`poison`"):
        extended(AFTER, AFTER.roots["effect"], "poison", AFTER)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("root a: A(B); interface B { }; root a: C(B);", "kind of scripts `a` is already declared"),
        ("root a: A(B); interface B { }; root b: A(B);", "global `A` is already declared"),
        ("root a: A(B); interface B { }; global A: number;", "global `A` is already declared"),
        ("root a: A(B); object B { };", "expected an interface"),
        ("root a: A(number);", "expected an interface"),
        ("root a: A(B) as B in B; interface B { };", "expected an object"),
        ("root a: A(B) as B; interface B { };", "expected in"),
        ("open interface O; root a: A(B); interface B { o: O; };", "values of an open type"),
        ("open interface O; root a: A(B); interface B { o: () -> O; };", "values of an open type"),
        ("open object O;", "expected interface"),
    ],
)
def test_a_fault_of_a_kind_of_scripts(text, message):
    with pytest.raises(InterfaceError) as error:
        read_interface(text)
    assert message in str(error.value)


@pytest.mark.parametrize("use", [begin, lambda interface, root: check_script("", interface, root)])
def test_there_is_no_such_kind(use):
    with pytest.raises(UnknownRootError, match="unknown kind of scripts `efect`; did you mean `effect`"):
        use(GIVEN, "efect")


def test_no_script_can_end_so():
    interface = read_interface("object O { }; interface A { o: O; }; root a: A_(A);")
    with pytest.raises(UnknownRootError, match="no script can be of the kind `a`"):
        begin(interface, "a")
