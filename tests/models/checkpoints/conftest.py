"""A hub on this machine, and the cache of its models."""

import pytest

from .. import tiny_checkpoints as c
from .fake_hub import FakeHub, running

HUB_PATH = "/{repo_id}/resolve/{revision}/{filename}"


@pytest.fixture
def hub(tmp_path):
    folder = tmp_path / "hub"
    folder.mkdir()
    c.make(folder, c.santacoder, c.SANTACODER)
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    (folder / "modeling_own.py").write_text("raise SystemExit")
    with running(FakeHub(folder)) as server:
        yield server


@pytest.fixture
def cache(tmp_path, hub, monkeypatch):
    """The folder of the models on this machine, where no other program has any; the hub is the one here."""
    constants = "huggingface_hub.constants"
    monkeypatch.setattr(f"{constants}.ENDPOINT", hub.url)
    monkeypatch.setattr(f"{constants}.HUGGINGFACE_CO_URL_TEMPLATE", hub.url + HUB_PATH)
    monkeypatch.setattr(f"{constants}.HF_HUB_CACHE", str(tmp_path / "cache"))
    for variable in ("LLAMA_CACHE", "OLLAMA_MODELS"):
        monkeypatch.setenv(variable, str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    return tmp_path / "cache"
