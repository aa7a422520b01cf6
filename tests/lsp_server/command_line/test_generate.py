"""`fimlsp generate` with the real engine and the bundled model."""

from __future__ import annotations

import ast
import json
import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner

from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.interface import read_interface
from fimlsp.lsp_server.command_line.cli import command_line

INTERFACE = """
object Actor { name: string; mutable health: number; };
interface Effect { id: string; OnTurn: (Actor) -> void; };
global NewEffect: (Effect) -> void;
global Tell: (text: string) -> void;
"""
SCHEMA = "CREATE TABLE customers (id INTEGER, name TEXT); CREATE TABLE orders (id INTEGER, total REAL);"
LISTS = 'start: "[" [start ("," start)*] "]"\n'


def run(*arguments, prompt=None):
    arguments = ["generate", "--tokens", 30, *arguments, *([] if prompt is None else ["--prompt", "-"])]
    return CliRunner().invoke(command_line, [str(argument) for argument in arguments], input=prompt)


def written(*arguments, prompt=None):
    result = run(*arguments, prompt=prompt)
    assert result.exit_code == 0, result.output
    assert " tokens, " in result.stderr.splitlines()[-1]
    return result.stdout


def test_a_program_that_goes_on_from_its_prompt():
    prompt = "def mean(values):\n    return "
    text = written("--temperature", 1.0, "--seed", 5, prompt=prompt)
    assert text.startswith(prompt)
    compile(text, "mean.py", "exec")


def test_the_prompt_may_be_a_file(tmp_path):
    (tmp_path / "a.py").write_text("x = [", encoding="utf-8")
    assert ast.parse(written("--prompt", tmp_path / "a.py"))


def test_a_context_is_no_part_of_the_program(tmp_path):
    (tmp_path / "notes.txt").write_text("this is } no program\n", encoding="utf-8")
    text = written("--context", tmp_path / "notes.txt", prompt="x = ")
    assert text.startswith("x = ")
    assert ast.parse(text)


@pytest.mark.slow
def test_the_size_of_the_context_may_be_chosen(tmp_path):
    (tmp_path / "notes.txt").write_text("a note\n" * 600, encoding="utf-8")
    refused = run("--context", tmp_path / "notes.txt", "--context-tokens", 64, prompt="x = ")
    assert "do not fit into a context of 64. Ask for fewer, shorten the context" in refused.stderr
    assert ast.parse(written("--context-tokens", 40, prompt="x = "))


@pytest.mark.slow
def test_other_languages(tmp_path):
    json.loads(written("--language", "json", prompt='{"a": '))
    (tmp_path / "lists.lark").write_text(LISTS, encoding="utf-8")
    text = written("--grammar", tmp_path / "lists.lark")
    assert text.strip("[],") == ""
    assert json.loads(text) is not None


def test_one_value_of_an_interface(tmp_path):
    (tmp_path / "game.txt").write_text(INTERFACE, encoding="utf-8")
    options = "--language", "slua", "--interface", tmp_path / "game.txt"
    text = written(*options, "--root", "effect")
    assert text.startswith("NewEffect({")
    assert text.count("NewEffect") == 1
    assert not check_script(text, read_interface(INTERFACE)).faults
    assert not check_script(written(*options, prompt="Tell("), read_interface(INTERFACE)).faults
    refused = run(*options, "--root", "Talent")
    assert refused.stderr == (
        "Error: Unknown root Talent: not a kind of scripts, nor the only parameter of a function. "
        "Use one of: effect.\n"
    )


def test_a_query_over_a_schema(tmp_path):
    (tmp_path / "shop.sql").write_text(SCHEMA, encoding="utf-8")
    options = "--language", "sql", "--schema", tmp_path / "shop.sql"
    for text in (written(*options), written(*options, prompt="SELECT c.name, count(*) FROM customers c ")):
        with closing(sqlite3.connect(":memory:")) as database:
            database.executescript(SCHEMA)
            database.execute(f"EXPLAIN {text}")
    assert text.startswith("SELECT c.name, count(*) FROM customers c ")
    refused = run(*options, prompt="SELECT nick")
    assert refused.stderr == (
        "Error: Cannot continue the prompt: line 1 is not valid SQL over this schema.\n"
    )
    (tmp_path / "shop.sql").write_text("CREATE", encoding="utf-8")
    assert "incomplete input. Give it statements that SQLite accepts" in run(*options).stderr


@pytest.mark.slow
def test_a_kind_of_scripts(tmp_path):
    interface = f"{INTERFACE}\nroot hail: Hail(Effect);"
    (tmp_path / "game.txt").write_text(interface, encoding="utf-8")
    text = written("--language", "slua", "--interface", tmp_path / "game.txt", "--root", "hail")
    assert not check_script(text, read_interface(interface), "hail").faults


REFUSED = [
    (
        ["--prompt", "-", "--python-version", "3.9"],
        "x = 1\ny = )\n",
        "Cannot continue the prompt: line 2 is not valid Python 3.9.",
    ),
    (["--start", "a"], None, "--start needs --grammar."),
    (["--root", "Effect"], None, "--root is for --language slua."),
    (["--language", "slua", "--root", "Effect"], None, "--root needs --interface."),
    (["--language", "sql"], None, "--language sql needs --schema."),
    (["--schema", __file__], None, "--schema is for --language sql."),
    (["--language", "json", "--check", "parse"], None, "--check is for --language python."),
    (["--language", "json", "--python-version", "3.9"], None, "--python-version is for --language python."),
    (["--model", "./nothing"], None, "Cannot find a model"),
    (["--tokens", "100000"], None, "do not fit into a context"),
    (["--instructions", "Write a stack."], None, "it has no chat template. Give the text as context."),
]


@pytest.mark.parametrize(("arguments", "prompt", "message"), REFUSED)
def test_what_cannot_be_done_is_said_in_a_sentence(arguments, prompt, message):
    result = (
        run(*arguments)
        if prompt is None
        else CliRunner().invoke(command_line, ["generate", *arguments], input=prompt)
    )
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert "Traceback" not in result.output
