"""The commands for scripts in sLua, with an interface."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fimlsp.datasets.command_line.command import replay
from fimlsp.lsp_server.command_line.cli import command_line

DUNGEON = Path(__file__).parents[3] / "examples" / "dungeon"
INTERFACE = ["--interface", str(DUNGEON / "interface.txt")]


def call(*arguments, command=command_line):
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("names", "options", "told"),
    [
        (["effects/poison", "talents/venom_dart"], [], None),
        (["talents/venom_dart", "effects/poison"], [], "Effects has no field `poison`"),
        (["effects/poison", "effects/poison"], [], None),
        (["effects/poison"], ["--root", "effect"], None),
        (["effects/poison"], ["--root", "talent"], "has to end with a call of NewTalent"),
        (["effects/poison"], ["--root", "spell"], "unknown kind of scripts `spell`"),
    ],
)
def test_check(names, options, told):
    done = call("check", *(DUNGEON / f"{name}.slua" for name in names), *INTERFACE, *options)
    assert (done.exit_code == 0) is (told is None), done.output
    assert told is None or told in done.output


def test_describe(tmp_path):
    done = call("check", "--describe", *INTERFACE, "--root", "effect")
    assert done.exit_code == 0, done.output
    assert "ends with one call of NewEffect(Effect)" in done.stdout
    schema = tmp_path / "shop.sql"
    schema.write_text("CREATE TABLE shops (name TEXT); INSERT INTO shops VALUES ('Ann');")
    done = call("check", "--describe", "--schema", schema)
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith("The schema:\n\nCREATE TABLE shops (name TEXT);\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give either SCRIPTS or --describe."),
        (["--describe", "--schema", __file__, "--root", "effect"], "--schema needs --describe"),
        (["--describe", "--schema", __file__], "Cannot read"),
        (["--describe", *INTERFACE, "--root", "spell"], "unknown kind of scripts `spell`"),
        (["--describe", "--interface", __file__], "this string has no closing"),
    ],
)
def test_descriptions_that_are_refused(arguments, message):
    done = call("check", *arguments)
    assert done.exit_code in (1, 2)
    assert message in done.output
    assert "Traceback" not in done.output


def test_complete(tmp_path):
    script = tmp_path / "a.slua"
    script.write_text("local damage: Damage = g_damage.\n")
    done = call("complete", script, "--at", "1:33", "--json", *INTERFACE)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["complete"]
    assert call("complete", DUNGEON / "README.md", "--at", "1:1", *INTERFACE).exit_code == 2


@pytest.mark.slow
def test_replay(tmp_path):
    options = ["--cuts", "line", "--per-file", 1, "--tokens", 8, "--limit", 2, "--out", tmp_path / "out"]
    poison = DUNGEON / "effects" / "poison.slua"
    done = call(poison, "--language", "slua", *INTERFACE, *options, command=replay)
    assert done.exit_code == 0, done.output
    (row,) = map(json.loads, (tmp_path / "out" / "results.jsonl").read_text().splitlines())
    assert row["connects"]
    assert row["attempts"]["steered"]["ok"]
    assert "fimlsp check" in (tmp_path / "out" / "report.md").read_text()
    case = row["record"]["case"]
    assert call("show", case, "--out", tmp_path / "out", command=replay).exit_code == 0
    refused = call(poison, "--language", "lua", *INTERFACE, *options, command=replay)
    assert "--interface is for --language slua" in refused.output
