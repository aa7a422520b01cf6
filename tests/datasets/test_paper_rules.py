"""The rules of the paper, told in plain steps, are those of a replay."""

from click.testing import CliRunner

from fimlsp.datasets.paper_rules import main


def test_every_rule_gives_what_a_replay_does():
    result = CliRunner().invoke(main, ["stdlib/json", "--cases", "12"])
    assert result.exit_code == 0, result.output
    assert "different" in result.output


def test_a_rule_that_differs_is_told(monkeypatch):
    monkeypatch.setattr("fimlsp.datasets.paper_rules.seed_of", lambda number, index: number + index)
    result = CliRunner().invoke(main, ["stdlib/json", "--cases", "4"])
    assert result.exit_code == 1


def test_released_code_that_is_not_there_is_named(tmp_path):
    result = CliRunner().invoke(main, ["stdlib/json", "--released", str(tmp_path)])
    assert "text_cuts.py does not exist" in result.output
