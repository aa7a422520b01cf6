"""Files of other programs are found under the names that these give them."""

import json
import os

import pytest

from fimlsp.models.gguf_stores import find_gguf, names_of, stored_ggufs

BLOB = "sha256-" + "ab" * 32
MODEL = "application/vnd.ollama.image.model"


def put(home, *paths):
    for path in paths:
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(b"GGUF")


def manifest(home, place, content=None, folder=".ollama/models"):
    """A manifest of Ollama, by default of a model in `BLOB`."""
    layers = [
        {"mediaType": "x", "digest": "sha256:" + "cd" * 32},
        {"mediaType": MODEL, "digest": BLOB.replace("-", ":")},
    ]
    path = home / folder / "manifests" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"layers": layers}) if content is None else content)


LLAMA = "Library/Caches/llama.cpp/ggml-org_Qwen2.5-Coder-1.5B-Q8_0-GGUF_qwen2.5-coder-1.5b-q8_0.gguf"
STUDIO = ".lmstudio/models/owner/repo-GGUF/Model-Q4_K_M.gguf"
HUB = "hub/models--a--b/snapshots/" + "c" * 40 + "/some-q8_0.gguf"


def test_files_have_the_names_without_their_endings(home):
    put(home, LLAMA, STUDIO, HUB)
    assert [names_of(stored)[0] for stored in stored_ggufs()] == [
        "ggml-org_Qwen2.5-Coder-1.5B-Q8_0-GGUF_qwen2.5-coder-1.5b-q8_0",
        "Model-Q4_K_M",
        "some-q8_0",
    ]
    for name in ("Model-Q4_K_M", "model-q4_k_m", "Model-Q4_K_M.gguf", "lmstudio:Model-Q4_K_M"):
        assert find_gguf(name) == home / STUDIO
    assert find_gguf("hub:some-q8_0") == home / HUB
    assert find_gguf("lmstudio:some-q8_0") is None


NOT_ALONE = [
    "mmproj-model-f16.gguf",
    "model-00002-of-00003.gguf",
    "model-00010-of-00012.gguf",
    "model.gguf.partial",
    "model.txt",
    "a/b/c/d/e/f/g/h/i/deep.gguf",
]


def test_what_is_no_model_of_its_own(home):
    put(home, *(f"Library/Caches/llama.cpp/{name}" for name in [*NOT_ALONE, "model-00001-of-00003.gguf"]))
    assert [stored.name for stored in stored_ggufs()] == ["model"]
    assert find_gguf("model").name == "model-00001-of-00003.gguf"


def test_a_file_that_two_snapshots_have_is_one(home):
    put(home, HUB)
    other = home / HUB.replace("c" * 40, "d" * 40)
    other.parent.mkdir()
    other.symlink_to(home / HUB)
    assert len([*stored_ggufs()]) == 1


MANIFESTS = {
    "registry.ollama.ai/library/qwen2.5-coder/1.5b": "qwen2.5-coder:1.5b",
    "registry.ollama.ai/library/codellama/latest": "codellama:latest",
    "registry.ollama.ai/someone/model/v1": "someone/model:v1",
    "hf.co/owner/repo-GGUF/Q4_K_M": "hf.co/owner/repo-GGUF:Q4_K_M",
    "hf.co/library/repo/Q4": "hf.co/library/repo:Q4",
}


@pytest.mark.parametrize("place", MANIFESTS)
def test_models_of_ollama(place, home):
    manifest(home, place)
    put(home, f".ollama/models/blobs/{BLOB}")
    (stored,) = stored_ggufs()
    assert stored.name == MANIFESTS[place]
    assert find_gguf(f"ollama:{stored.name}") == home / ".ollama/models/blobs" / BLOB
    assert find_gguf(stored.name) is None


def test_one_model_of_ollama_may_have_several_names(home):
    manifest(home, "registry.ollama.ai/library/model/1b")
    manifest(home, "registry.ollama.ai/library/model/latest")
    put(home, f".ollama/models/blobs/{BLOB}")
    assert find_gguf("ollama:model:1b") == find_gguf("ollama:model") is not None


def test_the_latest_of_ollama_may_be_left_out(home):
    manifest(home, "registry.ollama.ai/library/codellama/latest")
    put(home, f".ollama/models/blobs/{BLOB}")
    assert find_gguf("ollama:codellama") == find_gguf("ollama:codellama:latest") is not None


NO_MANIFESTS = [
    "",
    "[]",
    "{}",
    '{"layers": 1}',
    '{"layers": []}',
    '{"layers": [1]}',
    json.dumps({"layers": [{"mediaType": MODEL, "digest": "sha256:../../etc/passwd"}]}),
    json.dumps({"layers": [{"mediaType": MODEL, "digest": 1}]}),
    json.dumps({"layers": [{"mediaType": MODEL}]}),
    "[" * 100_000,
]


@pytest.mark.parametrize("content", NO_MANIFESTS, ids=lambda content: content[:40])
def test_manifests_that_name_no_file(content, home):
    manifest(home, "registry.ollama.ai/library/model/latest", content)
    manifest(home, "registry.ollama.ai/toofew")
    put(home, f".ollama/models/blobs/{BLOB}")
    assert [*stored_ggufs()] == []


def test_a_manifest_that_is_no_file(home):
    (home / ".ollama/models/manifests/registry.ollama.ai/library/model").mkdir(parents=True)
    os.mkfifo(home / ".ollama/models/manifests/registry.ollama.ai/library/model/latest")
    assert [*stored_ggufs()] == []


NO_NAMES = [
    "",
    ".",
    "..",
    "owner/Model-Q4_K_M",
    "./Model-Q4_K_M",
    "/x",
    "a\0b",
    "http://127.0.0.1:80",
    "~",
    "x" * 5000,
]


@pytest.mark.parametrize("name", NO_NAMES, ids=lambda name: name[:20])
def test_paths_and_hub_names_stand_for_no_file(name, home):
    put(home, STUDIO)
    assert find_gguf(name) is None
