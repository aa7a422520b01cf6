"""A user with an empty home."""

import pytest


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The home of a user who set nothing; no store lies outside it."""
    for name in ("LLAMA_CACHE", "OLLAMA_MODELS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "darwin")  # where Ollama has no folder of the system
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("fimlsp.models.local_models.models_on_servers", list)
    return tmp_path
