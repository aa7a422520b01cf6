"""The examples of docs/slua.md are correct."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from fimlsp.lsp_server.command_line.cli import command_line

pytest.importorskip("lupa", reason="scripts run in lupa: pip install lupa")

PAGE = Path(__file__).parents[3] / "docs" / "slua.md"
BLOCKS = [found.group(1, 2) for found in re.finditer(r"```(\w*)\n(.*?)```", PAGE.read_text(), re.DOTALL)]
INTERFACE, SCRIPT = (text for kind, text in BLOCKS if kind == "lua")


def test_the_python_runs(capsys):
    actor = SimpleNamespace(name="Ann", health=10, Hit=print)
    names = {"interface_text": INTERFACE, "script_text": SCRIPT, "actor": actor}
    for kind, text in BLOCKS:
        if kind == "python":
            exec(compile(text, str(PAGE), "exec"), names)
    completion = "b'0,0,function(a)end);'"
    declared = "b'local damage:number=0;'"
    assert capsys.readouterr().out == f"()\n7\n{completion}\n()\nNone\n{declared}\n"


def test_the_command_tells_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ((command, told),) = re.findall(r"^\$ fimlsp (.*)\n(.*)$", PAGE.read_text(), re.MULTILINE)
    Path("game.txt").write_text(INTERFACE)
    Path("poison.slua").write_text(SCRIPT.replace("victim.health =", "victim.heath ="))
    done = CliRunner().invoke(command_line, command.split())
    assert (done.exit_code, done.stdout) == (1, f"{told}\n")
    Path("poison.slua").write_text(SCRIPT)
    assert CliRunner().invoke(command_line, command.split()).exit_code == 0


@pytest.mark.parametrize(
    ("data", "message"), [(b"\xff", "is not UTF-8"), (b" " * 1_000_001, "is larger than 1,000,000 bytes")]
)
def test_what_cannot_be_read(tmp_path, data, message):
    file = tmp_path / "a.slua"
    file.write_bytes(data)
    done = CliRunner().invoke(command_line, ["check", str(file)])
    assert done.exit_code == 1
    assert message in done.output
