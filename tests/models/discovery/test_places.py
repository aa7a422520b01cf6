"""Where other programs keep their models, on three systems and as their environment variables say."""

from pathlib import Path

import pytest

from fimlsp.models.gguf_stores import stores

HOME, HUB = Path("/home/me"), Path("/hub")
CASES = {  # system, environment; folders by prefix, where they differ from those on Linux
    "Linux": ("linux", {}, {}),
    "macOS": (
        "darwin",
        {},
        {"llama.cpp": ["/home/me/Library/Caches/llama.cpp"], "ollama": ["/home/me/.ollama/models"]},
    ),
    "Windows": (
        "win32",
        {"LOCALAPPDATA": "/local"},
        {"llama.cpp": ["/local/llama.cpp"], "ollama": ["/home/me/.ollama/models"]},
    ),
    "Windows without variables": (
        "win32",
        {},
        {"llama.cpp": ["/home/me/AppData/Local/llama.cpp"], "ollama": ["/home/me/.ollama/models"]},
    ),
    "XDG": (
        "linux",
        {"XDG_CACHE_HOME": "/c"},
        {"llama.cpp": ["/c/llama.cpp"]},
    ),
    "llama.cpp's own": (
        "darwin",
        {"LLAMA_CACHE": "/l"},
        {"llama.cpp": ["/l"], "ollama": ["/home/me/.ollama/models"]},
    ),
    "Ollama's own": ("linux", {"OLLAMA_MODELS": "/o"}, {"ollama": ["/o"]}),
}
ON_LINUX = {
    "llama.cpp": ["/home/me/.cache/llama.cpp"],
    "ollama": ["/home/me/.ollama/models", "/usr/share/ollama/.ollama/models"],
    "lmstudio": ["/home/me/.lmstudio/models", "/home/me/.cache/lm-studio/models"],
    "hub": ["/hub"],
}


@pytest.mark.parametrize("case", CASES)
def test_folders(case):
    system, environment, differences = CASES[case]
    folders = {
        store.prefix: [str(folder) for folder in store.folders]
        for store in stores(environment, HOME, system, HUB)
    }
    assert folders == ON_LINUX | differences


POINTERS = {
    b"/elsewhere/lm\n": ["/elsewhere/lm/models"],
    b"": ON_LINUX["lmstudio"],
    b"\xff": ON_LINUX["lmstudio"],
    b"x" * 5000: ON_LINUX["lmstudio"],
}


@pytest.mark.parametrize("content", POINTERS, ids=len)
def test_lm_studio_says_where_it_is(content, tmp_path):
    (tmp_path / ".lmstudio-home-pointer").write_bytes(content)
    (store,) = [store for store in stores({}, tmp_path, "linux", HUB) if store.prefix == "lmstudio"]
    expected = [path.replace("/home/me", str(tmp_path)) for path in POINTERS[content]]
    assert [str(folder) for folder in store.folders] == expected
