"""Scripts reach only the values that they are given, and always end."""

from pathlib import Path
from random import Random

import pytest

from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.incremental.statements import begin
from fimlsp.languages.slua.interface import Interface, read_interface
from fimlsp.languages.slua.runtime import Translation, translate
from fimlsp.languages.slua.syntax import MOST_HELD, MOST_NAMES, MOST_SLOTS

pytest.importorskip("lupa", reason="scripts run in lupa: pip install lupa")

from fimlsp.languages.slua.runtime import TEXT_BYTES, Sandbox, ScriptError

from ...sampling import sampled
from .walks import deep_walk

TOLD = read_interface("global Tell: (string) -> void; global Count: (number) -> void;")


def run(script, **limits):
    """The values that *script* passes to Tell and Count."""
    told = []
    sandbox = Sandbox(TOLD, {"Tell": told.append, "Count": told.append}, **limits)
    checked = check_script(script, TOLD)
    assert not checked.faults
    sandbox.run(translate(checked))
    return told


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("Count(7 % 0 + 1);", None),
        ("Count(2 ^ 3 * 2 - -1);", 17),
        ("Count(10 - 4 - 3);", 3),
        ("Count(2 ^ 3 ^ 2);", 512),
        ("Count(-2 ^ 2);", -4),
        ('local b: boolean = 0 and "" and not false; if b then Count(1); else Count(2); end;', 1),
        ('if not (1 < 2) or "a" .. "b" == "ab" then Count(1); end;', 1),
        ("local n: number = 0; while true do n = n + 1; end; Count(n);", 10_000),
        ("local n: number = 0; for i = 1, 100 do for j = 1, 1000 do n = n + 1; end; end; Count(n);", None),
        ("for i = 1, 3 do if i == 2 then Count(i); break; end; end;", 2),
        (
            "local f: (number) -> number = function(a) if a < 0 then return 0; end; return 8; end;"
            "Count(f(4));",
            8,
        ),
        (r'Tell("é\n\t\"\\");', 'é\n\t"\\'),
    ],
)
def test_a_script(script, told):
    found = run(script)
    if told is not None:
        assert found == [told]


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85"])
def test_what_unicode_takes_for_a_line_end_is_a_sign_of_a_text(sign):
    assert run(f'Tell("a{sign}b");\nTell("c");') == [f"a{sign}b", "c"]


def test_a_text_is_cut_between_characters():
    (text,) = run('local s: string = "é"; for i = 1, 100 do s = s .. s; end; Tell("a" .. s);')
    assert text == "a" + "é" * ((TEXT_BYTES - 1) // 2)


def test_calls_that_double_and_double_are_stopped():
    functions = "\n".join(
        f"local f{n}: () -> void = function() f{n - 1}(); f{n - 1}(); end;" for n in range(1, 40)
    )
    with pytest.raises(ScriptError, match=r":\d+: script stopped: instruction limit"):
        run(f"local f0: () -> void = function() end;\n{functions}\nf39();")


def test_the_limits_hold_for_each_call_anew():
    told = []
    sandbox = Sandbox(TOLD, {"Tell": told.append, "Count": told.append}, rounds=5)
    script = translate(check_script("local n: number = 0; while true do n = n + 1; end; Count(n);", TOLD))
    for _ in range(3):
        sandbox.run(script)
    assert told == [5, 5, 5]


@pytest.mark.parametrize(
    "text",
    ["os.exit()", "require('os')", "load('')", "debug.sethook()", "print(1)", "io.open('x')", "_G.x = 1"],
)
def test_nothing_of_lua_is_there(text):
    with pytest.raises(ScriptError, match="nil value"):
        Sandbox(Interface(), {}).run(Translation(f"{text}\n", (7,)))


@pytest.mark.parametrize("text", ["a.secret", "a.__class__", "a.name = 'x'", "a._x"])
def test_only_declared_fields_are_reached(text):
    class Actor:
        name, health, secret, _x = "Ann", 3, "key", 1

    interface = read_interface("object Actor { name: string; mutable health: number; }; global a: Actor;")
    sandbox = Sandbox(interface, {"a": Actor()})
    sandbox.run(
        translate(check_script('a.health = 4; if a.name == "Ann" then a.health = 5; end;', interface))
    )
    statement = text if "=" in text else f"local x = {text}"
    with pytest.raises(AttributeError, match="scripts"):
        sandbox.run(Translation(f"{statement}\n", (1,)))
    assert (Actor.name, Actor.health) == ("Ann", 3)


def test_a_fault_of_the_program_is_its_own_and_the_next_script_runs():
    def tell(text):
        if text == "b":
            raise KeyError(text)

    sandbox = Sandbox(TOLD, {"Tell": tell, "Count": print})
    with pytest.raises(KeyError, match="b"):
        sandbox.run(translate(check_script('Tell("b");', TOLD)))
    sandbox.run(translate(check_script('Tell("a");', TOLD)))


def test_what_is_stopped_is_told_with_the_line_of_the_script():
    sandbox = Sandbox(TOLD, {"Tell": print, "Count": print})
    with pytest.raises(ScriptError, match=r"^mine:12: "):
        sandbox.run(Translation("local a = nil\na.b = 1\n", (3, 12)), "mine")


def test_an_object_may_be_given_to_a_function_of_its_own():
    class Actor:
        def Is(self, other):  # noqa: N802 - named as the interface does
            return self is other

    interface = read_interface(
        "object A { Is: (A) -> boolean; }; global a: A; global b: A; global Tell: (boolean) -> void;"
    )
    told = []
    sandbox = Sandbox(interface, {"a": Actor(), "b": Actor(), "Tell": told.append})
    sandbox.run(translate(check_script("Tell(a.Is(a)); Tell(a.Is(b));", interface)))
    assert told == [True, False]


def test_a_global_without_a_value():
    with pytest.raises(ValueError, match="missing values for Count, Tell"):
        Sandbox(TOLD, {})


def nested(opening, closing, count, inner=""):
    return opening * count + inner + closing * count


FUNCTIONS = (
    "local f0: (number) -> number = function(a) return a; end;"
    "local is: (boolean) -> boolean = function(a) return a; end;"
    "local t: (string) -> string = function(a) return a; end;"
)
AT_LIMITS = {  # a script with so many of a construct; how many the checker accepts, and how many are written
    "blocks": (lambda n: nested("do ", "end; ", n), 180, 141),
    "conditions": (lambda n: nested("if true then ", "end; ", n), 179, 141),
    "loops": (lambda n: nested("while false do ", "end; ", n), 179, 139),
    "counted loops": (lambda n: "".join(f"for i{k} = 1, 0 do " for k in range(n)) + "end; " * n, 46, 40),
    "operands": (lambda n: f"Count({nested('1 - (2 - ', ')', n, '3')});", 88, 68),
    "signs": (lambda n: f"Count({'- ' * n}1);", 178, 139),
    "negations": (lambda n: f"local b: boolean = {'not ' * n}1;", 177, 69),
    "powers": (lambda n: f"Count({' ^ '.join(['1'] * n)});", 179, 139),
    "remainders": (lambda n: f"Count({nested('(1 % ', ')', n, '2')});", 89, 46),
    "arguments": (lambda n: f"Count({nested('f0(', ')', n, '1')});", 178, 139),
    "texts as arguments": (lambda n: f"""Tell({nested('t("a" .. ', ")", n, '"b"')});""", 78, 45),
    "conditions as arguments": (
        lambda n: f"local b: boolean = {nested('is(1 == f0(1) and ', ')', n, '2')};",
        88,
        34,
    ),
    "functions": (
        lambda n: "".join(f"local g{k}: () -> void = function() " for k in range(n)) + "end; " * n,
        90,
        71,
    ),
    "brackets": (
        lambda n: f"Count({nested('(', ')', n, '3')});",
        300,
        139,
    ),  # any number, as brackets without effect are dropped
    "parts of a text": (lambda n: "Tell(" + " .. ".join(['"a"'] * n) + ");", 235, 197),
    "variables": (lambda n: "".join(f"local x{k}: number = {k};" for k in range(n)), 187, 157),
}


def most(is_possible):
    """The largest number up to 300 for which *is_possible* is true."""
    low, high = 1, 301
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_possible(middle) else (low, middle)
    return low


@pytest.mark.slow
@pytest.mark.parametrize("kind", AT_LIMITS)
def test_lua_takes_the_deepest_script_and_the_parser_writes_nearly_as_deep_ones(kind):
    make, deepest, written = AT_LIMITS[kind]
    assert most(lambda n: not check_script(FUNCTIONS + make(n), TOLD).faults) == deepest
    run(FUNCTIONS + make(deepest))
    start = begin(TOLD).feed(FUNCTIONS.encode())
    assert most(lambda n: start.feed(make(n).encode()) is not None) == written
    text = make(written)[: len(make(written)) // 2].encode()
    finished = text + start.feed(text).shortest_completion
    assert not check_script(FUNCTIONS + finished.decode(), TOLD).faults


@pytest.mark.parametrize("seed", sampled(range(20), 4))
def test_lua_loads_what_the_parser_writes_at_its_limits(seed):
    interface = read_interface(Path(__file__).with_name("interface.txt").read_text())
    text = deep_walk(begin(interface), Random(seed), 800)
    checked = check_script(text, interface)
    assert not checked.faults, text
    given = dict.fromkeys((*interface.globals, *interface.endings(None)), print)
    sandbox = Sandbox(interface, given)
    sandbox.run(Translation(f"local function script()\n{translate(checked).text}end\n", (1,) * len(text)))


@pytest.mark.parametrize(
    "script",
    [
        "\n".join(f"local x{n}: number = {n};" for n in range(MOST_SLOTS)),
        f"Tell({' .. '.join(['{}'] * (MOST_HELD - 2))});".replace("{}", '"a"'),
        f"Count({' + '.join(['1'] * 3_000)});",
        f"Count({' % '.join(['1'] * 3_000)});",
        f"while {' and '.join(['false'] * 3_000)} do end;",
        f"while {' == '.join(['false'] * 3_001)} do end;",
        "interface A { Me: () -> number; };"
        + "\n".join(f"do local x{n}: number = {n}; end;" for n in range(999)),
        "\n".join(f"local x{n}: number = {n};" for n in range(MOST_SLOTS - 1))
        + "\nlocal f: () -> number = function()\nreturn "
        + " + ".join(f"x{n}" for n in range(0, MOST_SLOTS - 1))
        + ";\nend;\nCount(f());",
        "\n".join(f"local x{n}: number = {n};" for n in range(MOST_SLOTS - 1))
        + f"\nTell({' .. '.join(['{}'] * (MOST_HELD - MOST_SLOTS - 2))});".replace("{}", '"a"'),
    ],
    ids=[
        *("variables", "texts", "sums", "remainders", "conditions", "comparisons", "blocks"),
        *("captured", "variables and texts"),
    ],
)
def test_lua_takes_what_the_limits_allow(script):
    assert MOST_SLOTS <= MOST_NAMES
    run(script)


def test_a_path_has_any_number_of_calls():
    class Actor:
        def Me(self):  # noqa: N802 - named as the interface does
            return self

    interface = read_interface("object A { Me: () -> A; }; global a: A; global Tell: (A) -> void;")
    actor, told = Actor(), []
    script = f"Tell(a{'.Me()' * 3_000});"
    checked = check_script(script, interface)
    Sandbox(interface, {"a": actor, "Tell": told.append}).run(translate(checked))
    assert told == [actor]
    assert begin(interface).feed(script.encode()).complete


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("\n".join(f"local x{n}: number = {n};" for n in range(MOST_SLOTS + 1)), "at most 190 variables"),
        (f"Tell({' .. '.join(['{}'] * MOST_HELD)});".replace("{}", '"a"'), "values at once"),
        (f"Count({'-(' * 5_000}1{')' * 5_000});", "nested deeper"),
    ],
)
def test_what_exceeds_the_limits_is_refused(script, message):
    assert message in check_script(script, TOLD).faults[0].message
