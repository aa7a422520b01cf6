"""What tells the configuration of a run from another."""

import shutil

from fimlsp.datasets.runs.plan import model_digest
from fimlsp.models.loading import BUNDLED


def test_weights_of_the_same_sizes_are_told_apart(tmp_path):
    folder = shutil.copytree(BUNDLED, tmp_path / "model")
    same = model_digest(str(folder))
    assert same == model_digest(None)
    weights = folder / "model.safetensors"
    trained = bytearray(weights.read_bytes())
    trained[len(trained) // 2 :] = bytes(len(trained) - len(trained) // 2)
    weights.write_bytes(trained)
    assert model_digest(str(folder)) != same
