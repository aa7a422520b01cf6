"""sLua: scripts that the checker accepts run without an error, and refusals are explained."""

import random
from functools import cache
from pathlib import Path

import pytest

from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.interface import read_interface

from ...sampling import sampled
from .mutants import mutant
from .programs import Writer

INTERFACE = read_interface(Path(__file__).with_name("interface.txt").read_text())


@cache
def host():
    pytest.importorskip("lupa", reason="scripts run in lupa: pip install lupa")
    from .host import Host

    return Host(INTERFACE)


@pytest.mark.parametrize("seed", range(150))
def test_a_script_that_is_made_from_types_is_right_and_runs(seed):
    text = Writer(INTERFACE, random.Random(seed)).script()
    checked = check_script(text, INTERFACE)
    assert not checked.faults, text
    host().run(checked)


@pytest.mark.parametrize("seed", sampled(range(150), 3))
def test_whatever_is_accepted_runs(seed):
    rng = random.Random(seed)
    text = Writer(INTERFACE, rng).script()
    for _ in range(8):
        changed = mutant(text, rng)
        checked = check_script(changed, INTERFACE)
        if not checked.faults:
            host().run(checked)
