"""The mixing learns from what was there, and its command writes weights that can be used."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from fimlsp.models.networks.mixing import Mixing, Suggested, evidence
from fimlsp.models.protocols import Candidates
from fimlsp.models.training import mixing
from fimlsp.models.training.mixing import PROJECTS, Example, fit, judged, main

NETWORK = Candidates([1, 2, 3], [math.log(0.6), math.log(0.3), math.log(0.1)], math.log(0.01))


def example(buffer, project, truth):
    """A place where the network would write 1, and these were suggested."""
    texts = [Suggested({}, 0), project, Suggested({}, 0)]
    found = [evidence(NETWORK, (buffer, each)) for each in texts]
    tokens, given, seen = zip(*found, strict=True)
    return Example(given, seen, tuple(each.index(truth) if truth in each else -1 for each in tokens))


SURE, UNSURE = Suggested({7: 1.0}, 20), Suggested({7: 1.0}, 2)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(mixing, "STEPS", 150)
    monkeypatch.setattr(mixing, "BATCH", 16)
    monkeypatch.setattr(mixing, "TOKENS", 8)


def test_long_agreements_are_trusted_if_they_were_right():
    known = [example(SURE, SURE, 7), example(UNSURE, UNSURE, 1)] * 20
    learnt = fit(known)
    for suggestion, likeliest in ((SURE, 7), (UNSURE, 1)):
        assert learnt.mixed(NETWORK, [suggestion, suggestion]).tokens[0] == likeliest
    for which in range(len(PROJECTS)):
        bits, first = judged(learnt, known, which)
        assert bits < judged(None, known, which)[0]
        assert first == 1


def test_what_nobody_lists_counts_as_one_in_a_million():
    bits, first = judged(None, [example(SURE, SURE, 99)], 0)
    assert bits == pytest.approx(math.log2(1e6))
    assert first == 0


def test_the_command_writes_weights(tmp_path, monkeypatch):
    names = [f"{first}{second}" for first in "abcdef" for second in ("ount", "idth")]
    packages = []
    for number in range(3):
        package = tmp_path / f"package{number}"
        package.mkdir()
        packages.append(str(package))
        for name in names:
            text = "".join(f"def get_{name}_{n}(self):\n    return self.{name} + {n}\n\n" for n in range(30))
            (package / f"{name}.py").write_text(text)
    monkeypatch.setattr(mixing, "STEPS", 10)
    out = tmp_path / "mixing.json"
    done = CliRunner().invoke(main, [*packages, "--cuts", "1", "--out", str(out)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "buffer and project" in done.output
    made = Mixing(*(np.array(part, np.float32) for part in json.loads(out.read_text()).values()))
    assert made.mixed(NETWORK, [SURE, SURE]).tokens
