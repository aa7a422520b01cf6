"""sLua through the same door as the other languages: engine, `fimlsp verify`, and the option `interface`."""

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from fimlsp.languages import language_named
from fimlsp.languages.slua.language import Slua
from fimlsp.lsp_server.command_line.cli import command_line
from fimlsp.lsp_server.session.workspace_reads import scripts_of
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.first_state import read_up_to

from .mutants import mutant
from .programs import Writer
from .test_incremental import faults
from .test_slua import INTERFACE

FILE = Path(__file__).with_name("interface.txt")
ENGINE = Engine(Slua(FILE.read_text()))


@pytest.mark.slow
def test_the_engine_gives_the_states_of_the_typed_parser():
    text = b"local a: number = 1;\nSay(b);\n"
    document = ENGINE.document(text)
    cursor = text.index(b"Say")
    state = document.middle(cursor, cursor).start
    assert state.shortest_completion == b'local b:string="";'
    document.edit(cursor, cursor, b'local b: string = "";\n')
    assert document.middle(len(document.data), len(document.data)).start.complete
    assert not ENGINE.document(b"local x: number = true;").middle(0, 0).connectable


def test_a_middle_that_may_not_escape_stays_in_its_brackets():
    text = b"Say(Text(1));\nSay();\n"
    document, cursor = ENGINE.document(text), len(text) - 3
    assert document.middle(cursor, cursor).start.feed(b'""); Say("') is not None
    assert document.middle(cursor, cursor, may_escape=False).start.feed(b'""); Say("') is None
    outside = ENGINE.document(b"Say();").middle(6, 6, may_escape=False)
    assert not outside.connectable


@pytest.mark.parametrize("seed", range(20))
def test_the_engine_reads_the_syntax(seed):
    """Its grammar takes every script, so contexts are known for all that is not broken."""
    rng = random.Random(seed)
    text = Writer(INTERFACE, rng).script()
    for _ in range(3):
        if not faults(text):
            found = read_up_to(ENGINE.document(text.encode()), len(text.encode()))
            assert found is not None
            assert not found[0].broken, text
        text = mutant(text, rng)


def test_slua_has_a_name():
    assert language_named("slua") == Slua()


@pytest.mark.parametrize(
    ("options", "case", "answer"),
    [
        (["--interface", str(FILE)], ("", 'local b: string = "";', "Say(b);"), (True, True, 21)),
        (["--interface", str(FILE)], ("", "local b: number = 1;", "Say(b);"), (True, False, 9)),
        ([], ("", "player.", ""), (True, False, 0)),
    ],
)
def test_verify(options, case, answer):
    line = json.dumps(dict(zip(("left", "middle", "right"), case, strict=True)))
    done = CliRunner().invoke(command_line, ["verify", "--language", "slua", *options], input=line)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["connectable"], found["complete"], found["viable_bytes"]) == answer


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--language", "lua", "--interface", str(FILE)], "--interface is for --language slua"),
        (["--language", "slua", "--interface", __file__], "has no closing"),
    ],
)
def test_what_verify_refuses(arguments, message):
    done = CliRunner().invoke(command_line, ["verify", *arguments], input="")
    assert done.exit_code != 0
    assert message in done.output


def test_the_option_names_a_file_of_the_workspace(tmp_path):
    (tmp_path / "game.txt").write_text(FILE.read_text())
    assert scripts_of("game.txt", [str(tmp_path)]) == Slua(FILE.read_text(), tidy=True)
    assert scripts_of(str(tmp_path / "game.txt"), []) == Slua(FILE.read_text(), tidy=True)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("missing.txt", None, "cannot be read"),
        ("a.txt", b"\xff", "is not UTF-8"),
        ("a.txt", b"global x: Foo;", "a.txt:1:11: unknown type `Foo`"),
        (".", None, "is not a regular file"),
    ],
)
def test_why_an_interface_cannot_be_used(tmp_path, name, data, message):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    found = scripts_of(name, [str(tmp_path)])
    assert message in found
    assert "(option interface)" in found


def test_an_interface_without_a_folder():
    assert "name it by its whole path" in scripts_of("game.txt", [])
