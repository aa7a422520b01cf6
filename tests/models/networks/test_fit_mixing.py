"""The mixing learns from true tokens, and its command writes usable weights."""

import importlib.util
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fimlsp.models.networks.copy_cache import CopyVotes, Mixing, evidence
from fimlsp.models.protocols import Candidates

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "models" / "fit_mixing.py"
SPEC = importlib.util.spec_from_file_location("fit_mixing", SCRIPT)
fit_mixing = importlib.util.module_from_spec(SPEC)
sys.modules["fit_mixing"] = fit_mixing  # dataclasses look their module up there
SPEC.loader.exec_module(fit_mixing)

NETWORK = Candidates([1, 2, 3], [math.log(0.6), math.log(0.3), math.log(0.1)], math.log(0.01))


def example(buffer, project, truth):
    """A place at which the network prefers 1, with these votes."""
    texts = [CopyVotes({}, 0), project, CopyVotes({}, 0)]
    evidences = [evidence(NETWORK, (buffer, votes)) for votes in texts]
    token_lists, scores, features = zip(*evidences, strict=True)
    return fit_mixing.Example(
        scores, features, tuple(tokens.index(truth) if truth in tokens else -1 for tokens in token_lists)
    )


SURE, UNSURE = CopyVotes({7: 1.0}, 20), CopyVotes({7: 1.0}, 2)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(fit_mixing, "STEPS", 150)
    monkeypatch.setattr(fit_mixing, "BATCH", 16)
    monkeypatch.setattr(fit_mixing, "TOKENS", 8)


def test_long_agreements_are_trusted_if_they_were_right():
    known = [example(SURE, SURE, 7), example(UNSURE, UNSURE, 1)] * 20
    learnt = fit_mixing.fit(known)
    for suggestion, likeliest in ((SURE, 7), (UNSURE, 1)):
        assert learnt.mixed(NETWORK, [suggestion, suggestion]).tokens[0] == likeliest
    for which in range(len(fit_mixing.PROJECTS)):
        bits, first = fit_mixing.judged(learnt, known, which)
        assert bits < fit_mixing.judged(None, known, which)[0]
        assert first == 1


def test_what_nobody_lists_counts_as_one_in_a_million():
    bits, first = fit_mixing.judged(None, [example(SURE, SURE, 99)], 0)
    assert bits == pytest.approx(math.log2(1e6))
    assert first == 0


@pytest.mark.slow
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
    monkeypatch.setattr(fit_mixing, "STEPS", 10)
    out = tmp_path / "mixing.json"
    done = CliRunner().invoke(
        fit_mixing.main, [*packages, "--cuts", "1", "--out", str(out)], catch_exceptions=False
    )
    assert done.exit_code == 0
    assert "buffer and project" in done.output
    made = Mixing(*(np.array(part, np.float32) for part in json.loads(out.read_text()).values()))
    assert made.mixed(NETWORK, [SURE, SURE]).tokens
