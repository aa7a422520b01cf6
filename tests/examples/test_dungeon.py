"""The dungeon of the examples: its scripts are right, its fights end, and no script can break it."""

import json
import random
import sys
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from fimlsp import Engine, json_schema, load_model
from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.incremental.statements import begin
from fimlsp.languages.slua.interface import read_interface
from fimlsp.languages.slua.types import Function
from fimlsp.lsp_server.command_line.cli import command_line

pytest.importorskip("lupa", reason="scripts run in lupa: pip install lupa")

DUNGEON = Path(__file__).parents[2] / "examples" / "dungeon"
sys.path.insert(0, str(DUNGEON))  # its modules are found as `python examples/dungeon/fight.py` finds them

# ruff: noqa: E402 - the folder must be on the path before its modules are imported
from adventure import adventure_schema, played, write_adventure
from engine.fight import LAST_ROUND, Fight
from engine.library import Library, load_library
from engine.picture import picture

from tests.languages.slua.walks import walk

LIBRARY, WRITTEN = load_library(), load_library(generated=False)


@cache
def known_fight(seed):
    """A fight with all scripts that is over, the same for all tests."""
    return fought(LIBRARY, seed)


def fought(library, seed):
    """A fight that is over."""
    fight = Fight(library, seed)
    for _ in fight.turns():
        pass
    return fight


def with_scripts(folder, **texts):
    """The library with scripts of these *texts*, whose names begin with their kind."""
    paths = []
    for name, text in texts.items():
        path = folder / f"{name.partition('_')[0]}s" / f"{name}.slua"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        paths.append(path)
    library = WRITTEN
    for path in paths:
        library = library.with_scripts([path])
    assert not library.faults
    return library


def test_the_interface_is_of_that_size():
    interface = read_interface((DUNGEON / "interface.txt").read_text())
    objects = [table for table in interface.types.values() if table.is_object]
    functions = [
        field for table in objects for field in table.fields.values() if isinstance(field.type, Function)
    ]
    assert len(functions) >= 55


def test_all_scripts_are_right():
    assert not LIBRARY.faults
    kinds = [script.kind for script in WRITTEN.scripts]
    assert (kinds.count("effect"), kinds.count("talent")) == (8, 6)
    assert len(LIBRARY.scripts) > len(WRITTEN.scripts)


def test_scripts_that_need_no_others_pass_the_command():
    scripts = [str(DUNGEON / f"effects/{name}.slua") for name in ("poison", "burning", "shield", "thorns")]
    done = CliRunner().invoke(
        command_line, ["check", *scripts, "--interface", str(DUNGEON / "interface.txt")]
    )
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("seed", range(12))
def test_a_fight_ends_and_is_the_same_again(seed):
    fight = known_fight(seed)
    assert fight.winner() is not None
    assert fight.round <= LAST_ROUND
    assert not fight.stopped
    if seed < 1:
        assert [event.text for event in fought(LIBRARY, seed).events] == [
            event.text for event in fight.events
        ]


def test_every_script_is_used_in_some_fight():
    talents = {script.name for script in WRITTEN.scripts if script.kind == "talent"}
    borne = {kind.title for kind in Fight(WRITTEN, 0).effects.values()}
    for seed in range(8):
        fight = fought(WRITTEN, seed)
        talents -= set(fight.used)
        borne -= {event.text.partition(": ")[2] for event in fight.events}
        if not talents | borne:
            return
    raise AssertionError(f"never used: {talents | borne}")


HOSTILE = {
    "numbers": """local none: number = 0 / 0; local endless: number = 1 / 0;
        {hook} actor.armour = none; actor.power = endless; actor.Heal(endless); actor.Heal(none);
        actor.Stun(endless); actor.Jump(g_coord.At(none, endless));
        actor.PushFrom({x = endless, y = none}, endless); actor.GainEnergy(-endless);
        actor.Harm(g_damage.Fire(endless), actor); actor.Remember("a", none);
        g_level.ForEachPlaceWithin({x = none, y = 0}, endless, function(p) g_level.BuildWall(p); end);
        g_math.Random(none, endless); g_math.Floor(none); g_math.Root(-1);
        g_game.Tell(g_str.Number(none)); {end}""",
    "loops": """{hook} while true do g_game.Tell("again"); end;
        for i = 1, 1000000 do actor.Heal(1); end; {end}""",
    "bodies": """{hook} g_game.ForEachActor(function(a) g_game.ForEachActor(function(b)
        g_game.ForEachActor(function(c) g_game.ForEachActor(function(d)
        c.Harm(g_damage.Fire(1), d); end); end); end); end); {end}""",
    "crowds": """{hook} for i = 1, 1000 do g_game.Summon("rat", actor, g_level.RandomFreePlace(),
        function(rat) rat.Harm(g_damage.Blow(99), rat); end); end; {end}""",
    "texts": r"""local t: string = "[red]\n\t";
        {hook} local s: string = t; for i = 1, 100 do s = s .. s; end; actor.Say(s); g_game.Tell(s);
        for i = 1, 100 do actor.Remember(g_str.Number(i) .. t, i); end; {end}""",
    "walls": """{hook} while true do g_level.BuildWall(g_level.RandomFreePlace()); end; {end}""",
}
TALENT = r"""NewTalent({title = "[b]\n", cost = 0, range = 1 / 0, rest = -1, helps = false,
    GetDescription = function() return ""; end, Do = function(actor, at)"""
EFFECT = """NewEffect({title = "", GetDescription = function(with) return ""; end,
    OnTurnStart = function(borne, with) local actor: Actor = borne.bearer;"""
TURNS = {"crowds": 200}
"""So many that scripts were once given wrong objects by Lua's collection of garbage."""

SPREAD = """NewTalent({title = "spread", cost = 0, range = 20, rest = 0, helps = false,
    GetDescription = function() return ""; end, Do = function(user, at) g_game.ForEachActor(function(who)
    g_effects.effect_bad.Apply(who, user, 1 / 0, {}); end); end});"""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_script_cannot_break_the_game(name, tmp_path):
    hostile = HOSTILE[name].replace("{end}", "end});")
    library = with_scripts(
        tmp_path,
        effect_bad=hostile.replace("{hook}", EFFECT),
        talent_bad=hostile.replace("{hook}", TALENT),
        talent_spread=SPREAD,
    )
    fight = Fight(library, 1)
    for actor in fight.actors:
        actor.talents = ["talent_bad", "talent_spread"]
    for turn, _ in enumerate(fight.turns()):
        assert all(
            isinstance(each.health, int) and 0 <= each.health <= each.most_health for each in fight.actors
        )
        assert len(fight.living()) <= 14
        if turn > TURNS.get(name, 30):
            break
    assert fight.used
    assert all(event.text.isprintable() and len(event.text) < 200 for event in fight.events)


def test_hooks_that_set_each_other_off_come_to_an_end(tmp_path):
    mirror = """NewEffect({title = "mirror", GetDescription = function(with) return ""; end,
        OnDamageReceived = function(borne, with, damage) g_game.ForEachActor(function(other)
        other.Harm(damage, borne.bearer); end); return damage.amount; end,
        OnDeactivate = function(borne, with) borne.bearer.EndEffects(); end});"""
    fight = Fight(with_scripts(tmp_path, effect_mirror=mirror), 1)
    for actor in fight.actors:
        fight.effects["effect_mirror"].Apply(actor, actor, 20, {})
    for _ in fight.turns():
        pass
    assert fight.winner() is not None


def test_functions_that_double_are_stopped_and_told(tmp_path):
    doubling = "local f0: (Actor) -> void = function(a) a.Heal(1); end;\n" + "\n".join(
        f"local f{n}: (Actor) -> void = function(a) f{n - 1}(a); f{n - 1}(a); end;" for n in range(1, 30)
    )
    talent = (
        doubling
        + """NewTalent({title = "slow", cost = 0, range = 20, rest = 3, helps = false,
        GetDescription = function() return ""; end, Do = function(user, at) f29(user); end});"""
    )
    fight = Fight(with_scripts(tmp_path, talent_slow=talent), 1)
    fight.actors[0].talents = ["talent_slow"]
    for _ in fight.turns():
        if fight.stopped:
            break
    assert "instruction limit" in fight.stopped[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25))
def test_a_random_script_cannot_break_the_game(seed, tmp_path):
    rng = random.Random(seed)
    effect = walk(begin(WRITTEN.interface, "effect"), rng, 150)
    library = with_scripts(tmp_path, effect_random=effect)
    talent = walk(begin(library.interface, "talent"), rng, 150)
    fight = Fight(with_scripts(tmp_path, effect_random=effect, talent_random=talent), seed)
    for actor in fight.actors:
        actor.talents = ["talent_random"]
    checked = check_script(effect, WRITTEN.interface, "effect").interface
    has_settings = bool(checked.types["Settings"].fields)
    for turn, _ in enumerate(fight.turns()):
        for actor in () if has_settings else fight.living():
            fight.effects["effect_random"].Apply(actor, actor, 2, {})
        if turn > 40:
            break
    assert not fight.stopped


def test_a_script_with_faults_is_told_and_left_out(tmp_path):
    path = tmp_path / "effects" / "bad.slua"
    path.parent.mkdir()
    path.write_text("NewEffect({});")
    library = Library(WRITTEN.interface).with_scripts([path])
    assert library.faults == (f"{path}:1:11: Effect needs `title`, `GetDescription` too",)
    assert not library.scripts


def test_the_picture_shows_everybody():
    from io import StringIO

    from rich.console import Console

    console = Console(file=StringIO(), width=150)
    console.print(picture(known_fight(7), "seed 7"))
    shown = console.file.getvalue()
    assert all(actor.name in shown for actor in known_fight(7).actors[:8])


HERO = {"name": "Ada", "health": 46, "talents": ["venom_dart"], "effects": []}
ADVENTURE = {
    "title": "Under the old mill",
    "opening": "Something walks below.",
    "heroes": [HERO, {**HERO, "effects": ["shield"]}],
    "rooms": [
        {"name": "The stair", "monsters": [{**HERO, "name": "Rat", "health": 20, "effects": ["poison"]}]},
        {"name": "The cellar", "monsters": [{**HERO, "name": "Imp", "health": 30}]},
    ],
}


@pytest.fixture(scope="module")
def adventures():
    """The state before an adventure with the scripts of the library."""
    return Engine(json_schema(adventure_schema(LIBRARY))).document(b"").middle(0, 0).start


@pytest.mark.parametrize(
    ("change", "is_one"),
    [
        ({}, True),
        ({"heroes": [HERO]}, False),
        ({"heroes": [HERO, {**HERO, "talents": ["no_such_talent"]}]}, False),
        ({"heroes": [HERO, {**HERO, "effects": ["venom_dart"]}]}, False),
        ({"heroes": [HERO, {**HERO, "health": 61}]}, False),
        ({"rooms": []}, False),
    ],
)
def test_an_adventure_has_the_scripts_of_the_library(adventures, change, is_one):
    state = adventures.feed(json.dumps(ADVENTURE | change).encode())
    assert (state is not None and state.complete) is is_one


def test_an_adventure_is_played_room_by_room():
    lines = list(played(LIBRARY, ADVENTURE, 1))
    assert lines[0] == "Under the old mill: Something walks below."
    rooms = [line for line in lines if not line.startswith(" ")][1:]
    assert rooms[0] == "The stair: Rat"
    assert rooms[-1].endswith(("return", "stay in the dungeon"))
    assert any("Ada 2" in line for line in lines), "equal names are numbered"
    assert not any("stopped" in line for line in lines)


def test_a_model_writes_an_adventure(adventures):
    adventure = write_adventure(load_model(), LIBRARY, 1, 40)
    assert adventures.feed(json.dumps(adventure).encode()).complete
    assert list(played(LIBRARY, adventure, 1))
