"""Plans: they are read as written, also those of earlier versions, and differ if the weights do."""

import json
import shutil
from pathlib import Path

import pytest

from fimlsp.datasets.bench import BenchSettings
from fimlsp.datasets.cuts import Selection
from fimlsp.datasets.plan import PACKAGES, ReplayPlan, code_digest, digest, model_digest
from fimlsp.datasets.run_folder import RunFolder
from fimlsp.models.loading import BUNDLED


def test_weights_of_the_same_sizes_have_different_digests(tmp_path):
    folder = shutil.copytree(BUNDLED, tmp_path / "model")
    same = model_digest(str(folder))
    assert same == model_digest(None)
    weights = next(folder.glob("*.safetensors"))
    trained = bytearray(weights.read_bytes())
    trained[len(trained) // 2 :] = bytes(len(trained) - len(trained) // 2)
    weights.write_bytes(trained)
    assert model_digest(str(folder)) != same


def test_a_file_and_an_address_have_digests(tmp_path):
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF one")
    before = model_digest(str(file))
    file.write_bytes(b"GGUF two")
    addresses = [model_digest(f"http://127.0.0.1:{port}") for port in (1, 2)]
    assert len({before, model_digest(str(file)), *addresses}) == 4


RUNS = Path(__file__).parents[3] / "datasets" / "results"
KEYS = [
    "language", "own_grammar", "interface", "sources", "files", "cuts", "per_file", "seed", "shard",
    "bytes_max", "model", "model_files", "device", "precision", "family", "order", "grammar", "tokens",
    "fimlsp", "code", "python",
]  # fmt: skip


def test_a_plan_is_read_as_written():
    plan = ReplayPlan.of(Selection(("stdlib/json",)), BenchSettings())
    row = json.loads(json.dumps(plan.to_json()))
    assert list(row) == KEYS
    assert row["cuts"] == ["boundary", "randspan"]
    assert ReplayPlan.from_json(row) == plan
    assert plan.replay_language.name == "python"


@pytest.mark.parametrize("name", ["held-out-packages", "santacoder-size"])
def test_plans_of_earlier_versions_are_read(name):
    folder = RunFolder(RUNS / name)
    row = json.loads((RUNS / name / "run.json").read_text())["plan"]
    plan = folder.plan(ReplayPlan)
    assert json.loads(json.dumps(plan.to_json())).items() >= row.items()
    assert folder.about.workers


def test_the_digest_of_code_has_the_files_of_each_package():
    digests = [code_digest([name]) for name in (*PACKAGES, "lsp_server")]
    assert len({*digests, digest([])}) == len(digests) + 1
