"""The network of the bundled model: sums in 8 bits are exact on any processor, and texts are read in parts.

`qemu-x86_64 -cpu Haswell python -m pytest -p no:xdist tests/models/networks/test_onnx_llama.py` runs them
without AVX-512 VNNI, where the fastest products overflow.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

from fimlsp.models.loading import load_model
from fimlsp.models.networks import onnx_llama
from fimlsp.models.networks.onnx_llama import LARGEST_LEVEL, PROBED, largest_sum_graph, sums_are_exact

TEXT = np.random.default_rng(0).integers(300, 8000, 300).tolist()


def test_the_largest_sum_of_products_is_exact_with_the_products_that_are_used():
    session = onnx_llama.session_of(largest_sum_graph(), 1, is_exact=sums_are_exact())
    (total,) = session.run(["sum"], {"inputs": np.ones((1, PROBED), np.float32)})
    assert total.item() == pytest.approx(PROBED * LARGEST_LEVEL)


@pytest.mark.slow
def test_products_for_processors_without_vnni_give_the_same_logits(monkeypatch):
    fast = load_model().network.log_probabilities(TEXT)
    monkeypatch.setattr(onnx_llama, "sums_are_exact", lambda: False)
    careful = load_model().network.log_probabilities(TEXT)
    np.testing.assert_allclose(careful, fast, atol=0.5)
    assert np.abs(careful - fast).mean() < 0.1


READINGS = {
    "at once": [300],
    "in halves": [150, 150],
    "token by token": [1] * 300,
    "beyond a chunk": [20, 280],
}


@pytest.mark.slow
@pytest.mark.parametrize("reading", READINGS)
def test_a_text_can_be_read_in_parts(reading):
    network = load_model().network
    ends = np.cumsum(READINGS[reading])
    for end in ends:
        network.begin(TEXT[:end])
    whole = load_model(threads=2).network.log_probabilities(TEXT)
    parts = network.log_probabilities(TEXT)
    assert np.abs(parts - whole).mean() < 0.1
    assert parts.argmax() == whole.argmax()


def test_the_runtime_reports_nothing(tmp_path):
    """Its own telemetry would store an id of the machine in the cache folder, and send from a thread."""
    code = "import fimlsp.models.networks.onnx_llama as m; m.sums_are_exact()"
    folders = dict.fromkeys(["HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME"], str(tmp_path))
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    environment["CI"] = ""
    subprocess.run([sys.executable, "-c", code], env={**environment, **folders}, check=True)
    assert [*tmp_path.iterdir()] == []
