"""A user with an empty home."""

import pytest

VARIABLES = [
    "LLAMA_CACHE",
    "OLLAMA_MODELS",
    "XDG_CACHE_HOME",
    "HF_HOME",
    "HF_HUB_CACHE",
    "HUGGINGFACE_HUB_CACHE",
]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The home of a user who set nothing; no store lies outside it."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "darwin")  # where Ollama has no folder of the system
    return tmp_path
