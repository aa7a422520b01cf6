"""`fimlsp replay scripts`: kinds of faults, prompts, reflection, and the command with the bundled model."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fimlsp.datasets.command_line.command import replay
from fimlsp.datasets.scripts import (
    KINDS,
    OTHER,
    Attempt,
    TasksError,
    Written,
    kind_of,
    read_given,
    read_run,
    read_tasks,
    unfenced,
)
from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.interface import read_interface

INTERFACE = """
--- Somebody.
object Actor { name: string; mutable health: number; Hit: (number) -> void; Friend: () -> Actor; };
interface Effect { title: string; OnTurn: (Actor) -> void; optional Describe: () -> string; };
interface Talent { cost: number; };
--- The kinds that are there already.
object Effects {};
object EffectKind { title: string; };
global g_effects: Effects;
global hero: Actor;
root effect: NewEffect(Effect) as EffectKind in Effects;
root talent: NewTalent(Talent);
"""
DECLARED = read_interface(INTERFACE)
EFFECT = 'NewEffect({title = "a", OnTurn = function(who) who.Hit(1); end});'
DUNGEON = Path(__file__).parents[3] / "examples" / "dungeon"

FAULTS = [
    ("hero.Hit(1", "syntax"),
    ("hero.Hit(1); break;", "syntax"),
    ("heroine.Hit(1);", "invented variable"),
    ("local a: Hero = hero;", "invented type"),
    ("hero.Heal(1);", "invented field"),
    ("local e: Effect = {title = 1, name = 2};", "invented field"),
    ("local e: Effect = {title = 1};", "missing field"),
    ('hero.Hit("x");', "wrong type"),
    ("local a: number = hero < 1;", "wrong type"),
    ("local a: Actor = {};", "wrong type"),
    ("hero.Hit();", "number of arguments"),
    ("local a: number = hero.Hit(1);", "missing result"),
    ("local f: () -> number = function() end;", "missing result"),
    ("hero.name = 1;", "assignment"),
    ("local hero: number = 1;", "declared twice"),
    ("hero.Friend() = hero;", "assignment"),
    ("NewEffect({});", "missing field"),
    (f"local {'a' * 51}: number = 1;", "limit"),
]


@pytest.mark.parametrize(("script", "kind"), FAULTS)
def test_the_kind_of_a_fault(script, kind):
    checked = check_script(script, DECLARED)
    assert kind in {kind_of(fault, checked) for fault in checked.faults}
    assert kind in KINDS


def test_scripts_of_a_kind_end_with_its_call():
    checked = check_script("hero.Hit(1);", DECLARED, "effect")
    assert [kind_of(fault, checked) for fault in checked.faults] == ["end of the script"]


def test_no_known_fault_is_of_an_unknown_kind():
    for script, _ in FAULTS:
        checked = check_script(script, DECLARED)
        assert OTHER not in {kind_of(fault, checked) for fault in checked.faults}, script


FENCED = [
    ("a;\n", "a;\n"),
    ("a;\n```\nand more", "a;\n"),
    ("```lua\na;\n```\nIt does so.", "a;\n"),
    ("```\na;\n```", "a;\n"),
    ("Here it is:\n```lua\na;\n```\n", "a;\n"),
    ("Here it is:\n```lua\na;", "a;"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "script"), FENCED)
def test_the_script_in_an_answer(text, script):
    assert unfenced(text) == script


def files(folder, tasks, interface=INTERFACE):
    (folder / "game.txt").write_text(interface)
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    (folder / "burn.slua").write_text(EFFECT)
    return folder


TASK = {"task": "harm", "kind": "effect", "instructions": "harms the bearer"}
UNUSABLE = [
    ([], "has no tasks"),
    ([{**TASK, "kind": "spell"}], "has the kind spell; the interface has effect, talent"),
    ([{"task": "a"}], "Line 1 of .* has no task"),
    ([1], "Line 1 of .* has no task"),
]


@pytest.mark.parametrize(("tasks", "message"), UNUSABLE)
def test_a_file_of_tasks_that_cannot_be_used(tmp_path, tasks, message):
    with pytest.raises(TasksError, match=message):
        read_tasks(files(tmp_path, tasks) / "tasks.jsonl", DECLARED)


def test_given_scripts_extend_the_interface(tmp_path):
    given = read_given(files(tmp_path, []) / "game.txt", [tmp_path / "burn.slua"])
    assert not check_script("local t: string = g_effects.burn.title;", given.interface).faults
    introduction = given.introduction("effect", 1)
    for words in ("sLua", "object Actor", "already: burn (effect)", EFFECT, "NewEffect(Effect)"):
        assert words in introduction
    assert EFFECT not in given.introduction("effect", 0)
    (tmp_path / "wrong.slua").write_text("hero.Heal();")
    with pytest.raises(TasksError, match=r"wrong\.slua:1:\d+"):
        read_given(tmp_path / "game.txt", [tmp_path / "wrong.slua"])
    with pytest.raises(TasksError, match="Cannot use"):
        read_given(tmp_path / "none.txt", [])


def test_an_attempt_stands_until_the_next_reflection():
    attempts = tuple(Attempt(text, (), "end", False, 1, 1.0) for text in "ab")
    written = Written("a/0", "effect", "unconstrained", attempts)
    assert [written.after(count).text for count in range(4)] == ["a", "b", "b", "b"]


def run(folder, out, *options):
    named = "--interface", folder / "game.txt", "--tasks", folder / "tasks.jsonl", "--out", folder / out
    return CliRunner().invoke(replay, ["scripts", *map(str, (folder / "burn.slua", *named, *options))])


@pytest.mark.slow
def test_scripts_are_written_checked_and_reported(tmp_path):
    tasks = [TASK, {"task": "hit", "kind": "talent", "instructions": "costs little"}]
    options = "--tokens", 24, "--reflections", 1, "--shots", 1, "--samples", 2, "--temperature", 0.9
    first = run(files(tmp_path, tasks), "a", *options)
    assert first.exit_code == 0, first.output
    written = read_run(tmp_path / "a")
    assert [one.case for one in written if one.method == "constrained"] == [
        "harm/0",
        "harm/1",
        "hit/0",
        "hit/1",
    ]
    for one in written:
        assert len(one.attempts) <= (1 if one.method == "constrained" else 2)
        assert all(not attempt.is_right for attempt in one.attempts[:-1])
        assert one.method == "unconstrained" or one.attempts[0].is_right
        assert all(
            bool(check_script(a.text, DECLARED, one.kind).faults) is not a.is_right for a in one.attempts
        )
    report = (tmp_path / "a" / "report.md").read_text(encoding="utf-8")
    assert "| unconstrained, 1 reflections | 4 |" in report
    assert "| constrained | 4 | 4 = 100.00 % | 2 = 100.00 % | 2 = 100.00 % |" in report
    before = (tmp_path / "a" / "results.jsonl").read_bytes()
    assert run(tmp_path, "a", *options).exit_code == 0
    assert (tmp_path / "a" / "results.jsonl").read_bytes() == before, "nothing is done twice"
    assert "holds a run with another configuration" in run(tmp_path, "a", "--tokens", 9).output


def test_errors_are_one_sentence(tmp_path):
    faulty = run(files(tmp_path, [{**TASK, "kind": "spell"}]), "a")
    assert (faulty.exit_code, faulty.output.count("\n")) == (1, 1)
    assert "has the kind spell" in faulty.output
    without = run(files(tmp_path, [TASK]), "a", "--model", tmp_path)
    assert (without.exit_code, "Traceback" in without.output) == (1, False)


def test_the_tasks_of_the_dungeon_fit_its_interface():
    interface = read_interface((DUNGEON / "interface.txt").read_text("utf-8"))
    tasks = read_tasks(DUNGEON / "tasks.jsonl", interface)
    assert {task.kind for task in tasks} == {"effect", "talent"}
