"""`fimlsp complete` and `fimlsp doctor` with the real engine and the bundled model."""

from __future__ import annotations

import ast
import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from fimlsp.lsp_server.command_line import doctor_command
from fimlsp.lsp_server.command_line.cli import command_line
from fimlsp.models.gguf_export import export_gguf

from ..waiting import HANG_GUARD_S

EXAMPLE = Path(__file__).parents[3] / "examples" / "inventory.py"

PLACES = [
    ("x = 1\nfoo(x<|>)\n", "utf-8"),
    ("# -*- coding: latin-1 -*-\né = 'ü'\nprint(<|>)\n", "latin-1"),
    ("é = '😋' + <|>\r\nx = 1\r\n", "utf-8"),
    ("x = <|>", "utf-8-sig"),
    ("<|>", "utf-8"),
]


def run(*arguments):
    return CliRunner().invoke(command_line, [str(argument) for argument in arguments])


@pytest.mark.parametrize(("marked", "encoding"), PLACES)
def test_one_json_object_whose_text_connects(tmp_path, marked, encoding):
    left, _, right = marked.partition("<|>")
    (tmp_path / "a.py").write_bytes((left + right).encode(encoding))
    line, column = left.count("\n") + 1, len(left.rpartition("\n")[2]) + 1
    result = run("complete", tmp_path / "a.py", "--at", f"{line}:{column}", "--json", "--max-tokens", 8)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer.keys() == {"text", "complete", "relaxed", "tokens", "rejected", "ms", "reason"}
    assert answer["complete"]
    if answer["text"]:
        ast.parse(left + answer["text"] + right)


def test_the_language_may_be_given(tmp_path):
    (tmp_path / "a.js").write_text("export const a = () => {\n  return <p>x</\n};\n")
    place = "complete", tmp_path / "a.js", "--at", "2:16", "--json", "--max-tokens", 8
    answer = json.loads(run(*place, "--language", "jsx").stdout)
    assert answer["text"].startswith("p>")
    assert not answer["relaxed"]
    assert json.loads(run(*place).stdout)["relaxed"]
    assert "is not one of python" in run(*place, "--language", "none").output


SCRIPT = "# %%\n%matplotlib inline\nsizes = [1]\nawait later()\n# %%\ntotal = sum(<|>)\n!ls\n"


def test_a_script_of_cells_is_read_without_its_commands(tmp_path):
    left, _, right = SCRIPT.partition("<|>")
    (tmp_path / "a.py").write_text(left + right)
    result = run("complete", tmp_path / "a.py", "--at", "6:13", "--json", "--max-tokens", 8)
    assert result.exit_code == 0, result.output
    assert not json.loads(result.stdout)["relaxed"]
    shown = run("complete", tmp_path / "a.py", "--at", "6:13", "--max-tokens", 8)
    assert "%matplotlib inline" in shown.stdout
    refused = run("complete", tmp_path / "a.py", "--at", "2:5")
    assert "Cannot complete an IPython command." in refused.output


def test_the_example_of_the_readme():
    at = next(n for n, line in enumerate(EXAMPLE.read_text().splitlines(), 1) if line.endswith("raise"))
    result = run("complete", EXAMPLE, "--at", f"{at}:18")
    assert result.exit_code == 0, result.output
    assert f"   {at} +             raise " in result.stdout
    assert f"   {at + 1}           self.items[name].quantity -= " in result.stdout
    assert " tokens, " in result.stdout


REFUSED = {
    "--threads=many": "threads must be 0 to 1024, not 'many'",
    "--threads=-1": "threads must be 0 to 1024",
    "--device=gpu": 'device must be "auto", "cpu"',
    "--precision=8": 'precision must be "auto", "float32"',
    "--family=GPT": "Unknown family GPT for bundled; the known ones are fimlsp with files, fimlsp",
    "--model=nothing": "nothing'. Give a folder",
    "--model=a/b --revision=v1": "a/b at v1: it is not on this machine",
    "--family=StarCoder": "bundled is not a StarCoder model",
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_cannot_be_used_is_refused_in_a_sentence(options):
    result = run("complete", EXAMPLE, "--at", "1:1", *options.split())
    assert result.exit_code != 0
    assert REFUSED[options] in " ".join(result.output.split()), result.output
    assert "Traceback" not in result.output


def test_a_file_that_is_broken_elsewhere_says_so(tmp_path):
    (tmp_path / "a.py").write_text("x = = 1\n\n\ndef f(a):\n    return \n")
    result = run("complete", tmp_path / "a.py", "--at", "5:12")
    assert result.exit_code == 0, result.output
    told = "the file is broken elsewhere; it was read with these changes: line 1: with"
    assert told in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("model", "code", "said"),
    [
        (
            [],
            0,
            [
                "ok     names: ",
                "ok     model: bundled on cpu, with the prompt of fimlsp with files, the suffix first",
                "ok     learning: ",
                "ok     next completion: ",
                "ok     cost: ",
                " ms per token",
            ],
        ),
        (
            ["--model", os.devnull],
            1,
            [
                "ok     engine",
                f"Cannot find a model {os.devnull!r}",
                "skipped next completion: no model is loaded",
            ],
        ),
    ],
)
def test_doctor(monkeypatch, model, code, said):
    monkeypatch.setattr(doctor_command, "find_device", lambda _: "")  # imports torch, which takes seconds
    monkeypatch.setattr(doctor_command, "START_S", HANG_GUARD_S)
    result = run("doctor", *model)
    assert result.exit_code == code, result.output
    for words in said:
        assert words in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("command", "check"), [("GUARDED_COMMAND", "names"), ("CHECKER_COMMAND", "types")])
def test_doctor_tells_that_names_or_faults_are_not_found(monkeypatch, command, check):
    monkeypatch.setattr(doctor_command, "find_device", lambda _: "")
    monkeypatch.setattr(doctor_command, command, (sys.executable, "-c", "raise SystemExit(1)"))
    monkeypatch.setattr(doctor_command, "START_S", HANG_GUARD_S)
    result = run("doctor")
    assert result.exit_code == 1, result.output
    assert f"failed {check}: " in result.stdout
    assert "ok     next completion: " in result.stdout


@pytest.mark.slow
def test_doctor_tries_a_model_server(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor_command, "START_S", HANG_GUARD_S)
    pytest.importorskip("xllamacpp", reason="xllamacpp has no wheel here")
    from ...models.llama_cpp import serving

    export_gguf("bundled", tmp_path / "own.gguf")
    with serving(tmp_path / "own.gguf", n_ctx=1024) as ask:
        result = run("doctor", "--model", ask.address)
    assert result.exit_code == 0, result.output
    where = ask.address.removeprefix("http://")
    for words in (
        "device: the model runs on its server",
        f"model: own.gguf (llama-server) on {where}",
        "cost: ",
    ):
        assert f"ok     {words}" in result.stdout


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"]
)
def test_only_regular_files_are_completed(tmp_path, make):
    make(tmp_path / "a.py")
    result = run("complete", tmp_path / "a.py", "--at", "1:1")
    assert result.exit_code == 1
    assert "is not a regular file of at most 8,000,000 bytes" in " ".join(result.output.split())
