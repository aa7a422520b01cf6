"""The same cases through a Ray cluster of two workers on this machine: `pytest -m ray`."""

import json
from importlib.util import find_spec

import pytest
from click.testing import CliRunner

from fimlsp.datasets.command_line.command import replay

pytestmark = [pytest.mark.ray, pytest.mark.skipif(find_spec("ray") is None, reason="needs fimlsp[ray]")]


def answers(folder):
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    texts = ({name: attempt["text"] for name, attempt in row["attempts"].items()} for row in rows)
    return {row["record"]["case"]: answer for row, answer in zip(rows, texts, strict=True)}


@pytest.mark.filterwarnings("ignore")
def test_two_workers_on_ray_answer_as_one_process_does(tmp_path):
    command = ["stdlib/json", "--per-file", "1", "--tokens", "20", "--cuts", "line,user"]
    for where in (["--workers", "2", "--ray", "local"], ["--workers", "1"]):
        done = CliRunner().invoke(replay, [*command, *where, "--out", str(tmp_path / where[1])])
        assert done.exit_code == 0, done.output
    assert answers(tmp_path / "2") == answers(tmp_path / "1")
    assert len(answers(tmp_path / "2")) > 6


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_is_not_there_is_named(tmp_path):
    done = CliRunner().invoke(
        replay, ["stdlib/json", "--ray", "127.0.0.1:1", "--out", str(tmp_path), "--limit", "1"]
    )
    assert done.exit_code == 1
    assert "127.0.0.1:1" in done.output
