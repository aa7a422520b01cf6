"""The rules of the paper, written in plain steps, are those of a replay."""

from click.testing import CliRunner

from . import paper_rules
from .paper_rules import main


def test_every_rule_gives_what_a_replay_does():
    result = CliRunner().invoke(main, ["stdlib/json", "--cases", "12"])
    assert result.exit_code == 0, result.output
    assert "different" in result.output


def test_a_rule_that_differs_is_reported(monkeypatch):
    monkeypatch.setattr(paper_rules, "seed_of", lambda number, index: number + index)
    result = CliRunner().invoke(main, ["stdlib/json", "--cases", "4"])
    assert result.exit_code == 1


def test_missing_released_code_is_named(tmp_path):
    result = CliRunner().invoke(main, ["stdlib/json", "--released", str(tmp_path)])
    assert "Cannot find" in result.output
