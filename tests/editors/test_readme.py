"""The tables of editors/README.md name tests that exist, and its configurations are well-formed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "editors" / "README.md").read_text(encoding="utf-8")
FEATURES = README.partition("## Features and their tests")[2]
NAMED = sorted(set(re.findall(r"`([\w/.-]+\.(?:py|ts)::[^`]+)`", README)))


@pytest.mark.parametrize("named", NAMED)
def test_a_test_that_is_named_is_there(named):
    file, _, name = named.partition("::")
    source = (ROOT / file).read_text(encoding="utf-8")
    assert (f"def {name}(" if file.endswith(".py") else f'"{name}"') in source


def test_every_row_names_a_test():
    rows = [line for line in FEATURES.splitlines() if line.startswith("| ") and "::" not in line]
    assert [row.split("|")[2].strip() for row in rows] == ["tests", "tests"]
    assert len(NAMED) > 30


@pytest.mark.parametrize("block", re.findall(r"```json\n(.*?)```", README, re.DOTALL))
def test_configurations_in_json_can_be_read(block):
    assert json.loads(block)
