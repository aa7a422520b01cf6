"""`fimlsp replay judge`, `compare` and `calibrate` as a user has them: the real server, the bundled model."""

import json

import pytest
from click.testing import CliRunner

from fimlsp.datasets.command_line.command import replay
from fimlsp.datasets.command_line.shown_commands import calibrate
from fimlsp.models.checkpoints.hub import find_on_command_line
from fimlsp.models.confidence import ConfidenceEstimate
from fimlsp.models.gguf_export import export_gguf
from fimlsp.models.loading import load_model

SOURCE = '''\
def area(width, height):
    """Of a box."""
    size = width * height
    print(size, width)
    return size


def volume(width, height, depth):
    size = area(width, height) * depth
    print(size, depth)
    return size
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "box.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(command, *arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.mark.slow
def test_a_server_is_judged_and_compared(folder):
    command = (
        "judge",
        "src",
        "--out",
        "out",
        "--set",
        "maxTokens=8",
        "--set",
        "oneLine=always",
        "--set",
        "confidence=0",
        "--set",
        "deadlineMs=60000",
    )
    done = call(replay, *command, "--cursors", 6)
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in (folder / "out" / "results.jsonl").read_text().splitlines()]
    assert {row["record"]["kind"] for row in rows} == {
        "line",
        "whole-line",
        "bracket",
        "word",
        "block",
        "body",
    }
    assert any(row["text"] for row in rows)
    assert rows[-1]["names"] is None, "the server knows the names, on a busy machine not from the start"
    assert (
        "maxTokens=8, oneLine=always, confidence=0, deadlineMs=60000"
        in (folder / "out" / "report.md").read_text()
    )

    assert call(replay, *command, "--cursors", 8).exit_code == 0
    more = (folder / "out" / "results.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in more[:6]] == rows
    assert len(more) == 8
    other = call(replay, "judge", "src", "--out", "out", "--cursors", 6)
    assert other.exit_code == 1
    assert "choose another --out" in other.output

    assert call(replay, "compare", "out", "out", "--out", "both").exit_code == 0
    assert (folder / "both" / "report.html").exists()
    assert "| together |" not in (folder / "both" / "report.md").read_text()


@pytest.mark.slow
def test_runs_that_differ_by_their_seed_are_reported_together(folder):
    for seed in (0, 1):
        done = call(replay, "judge", "src", "--out", f"seed-{seed}", "--seed", seed, "--cursors", 2)
        assert done.exit_code == 0, done.output
    assert call(replay, "compare", "seed-0", "seed-1", "--out", "both").exit_code == 0
    assert "| together | 4 |" in (folder / "both" / "report.md").read_text()


@pytest.mark.slow
def test_writing_is_judged_and_compared(folder):
    for release in ("old", "new"):
        (folder / release / "box").mkdir(parents=True)
    (folder / "old" / "box" / "box.py").write_text(SOURCE.replace("    print(size, width)\n", ""))
    (folder / "new" / "box" / "box.py").write_text(SOURCE)
    command = ("judge", "--edits", "old/box", "new/box", "--typing", "src", "--out", "out")
    done = call(replay, *command, "--cursors", 2, "--set", "confidence=0", "--set", "deadlineMs=60000")
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in (folder / "out" / "results.jsonl").read_text().splitlines()]
    assert {row["record"]["kind"].partition("-")[0] for row in rows} == {"edit", "type", "mend"}
    assert "old/box → new/box" in (folder / "out" / "report.md").read_text()
    assert call(replay, "compare", "out", "--out", "one").exit_code == 0
    assert (folder / "one" / "report.md").read_text() == (folder / "out" / "report.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("judge", "src", "--out", "out", "--set", "maxTokens"), "is not OPTION=VALUE"),
        (("judge", "empty", "--out", "out"), "no Python files"),
        (("judge", "src", "--typing", "src", "--out", "out"), "Give either FOLDERS"),
        (("judge", "--out", "out"), "Give either FOLDERS"),
        (("judge", "--typing", "empty", "--out", "out"), "no code that is written"),
        (("judge", "--edits", "src", "src/box.py", "--out", "out"), "is a file"),
        (("compare", "empty", "--out", "out"), "holds no run"),
    ],
)
def test_errors_are_one_sentence(folder, arguments, message):
    (folder / "empty").mkdir()
    done = call(replay, *arguments)
    assert done.exit_code in (1, 2)
    assert message in done.output


@pytest.mark.slow
def test_an_estimate_for_a_served_file_is_kept_in_the_cache(folder, monkeypatch):
    pytest.importorskip("xllamacpp", reason="xllamacpp has no wheel here")
    from ...models.llama_cpp import serving

    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    export_gguf("bundled", folder / "model.gguf")
    with serving(folder / "model.gguf", n_ctx=1024) as ask:
        command = ("--typing", "src", "--out", "out", "--cursors", 10, "--model", ask.address, "--install")
        done = call(calibrate, *command)
        assert done.exit_code == 0, done.output
        fitted = ConfidenceEstimate.load(folder / "out")
        for model in (ask.address, "model.gguf"):  # a server on this machine shares the estimate of its file
            assert load_model(find_on_command_line(model)).acceptance == fitted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Give --edits OLD NEW or --typing FOLDER"),
        (("--typing", "empty"), "no code that is written"),
        (("--typing", "src", "--model", "broken.gguf"), "Cannot calibrate: "),
    ],
)
def test_nothing_is_fitted_to_no_code_or_to_another_model(folder, arguments, message):
    (folder / "empty").mkdir()
    (folder / "broken.gguf").write_bytes(b"GGUF, but no model")
    done = call(calibrate, *arguments, "--out", "out")
    assert done.exit_code in (1, 2)
    assert message in done.output
    assert not (folder / "out" / "acceptance.json").exists()


@pytest.mark.slow
def test_an_estimate_is_fitted_and_a_second_run_adds_nothing(folder):
    command = ("--typing", "src", "--out", "out", "--cursors", 10)
    done = call(calibrate, *command)
    assert done.exit_code == 0, done.output
    acceptance = ConfidenceEstimate.load(folder / "out")
    assert acceptance is not None
    assert acceptance.cursors <= 10
    recorded = (folder / "out" / "recording.jsonl").read_text()
    assert call(calibrate, *command).exit_code == 0
    assert (folder / "out" / "recording.jsonl").read_text() == recorded
    assert "| the best cut, with hindsight |" in (folder / "out" / "report.md").read_text()
    other = call(calibrate, *command, "--seed", 1)
    assert other.exit_code == 1
    assert "choose another --out" in other.output
