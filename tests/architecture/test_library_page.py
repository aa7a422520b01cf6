"""What docs/library.md shows runs as it stands, and prints what it is about."""

import re

import pytest

from .library_page import programs

PRINTED = {
    "Complete at a cursor, and see how": r"(?s).*True \w+\n\d+ b'",
    "Stay inside": r"True True True\nFalse False True\n",
    "End where you say": r".+",
    "Score a given middle": r" *-\d+\.\d+ width \* height \(\d+",
    "Several middles, and draws that can be counted": r"(?s)(-?\d.*\n){3}5 \d",
    "Draws of one token": r"\[\(b'.+', \d+\)",
    "The model's distribution given the constraint": r"20 \{'.+'\}",
    "Write from left to right": r"(?s).+",
    "Write from left to right, 2": r"(?s)b'\d{4}-\d\d'\nb'\d.*' True None\n\[1\d*\]\nb'\)'",
    "JSON Schema": r"b'.*\"name\".*' None\n",
    "A loop of your own": r".+",
    "The distribution of the next token": r"(?s)\d+ tokens hold 0\.\d+\nallowed tokens .+\n(b'.+){3}",
    "A network of your own": r"b'(?P<first>.*)'\nb'(?!.*0)(?!(?P=first)).*'",
    "Fill a file of cases": r'\{"id": 1, "middle": ".*", "complete": true\}',
    "Read the vocabulary and the prompt": r"(?s)\[\d+.*def f\(x\):.*\nfimlsp with files \(\d+",
}


def test_every_program_is_checked():
    assert list(programs()) == list(PRINTED)


@pytest.mark.parametrize("heading", PRINTED)
def test_a_program_runs(heading, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(programs()[heading], heading, "exec"), {"__name__": "__main__"})
    assert re.match(PRINTED[heading], capsys.readouterr().out)
