"""GGUF files as models: those of every family, damaged ones, and missing ones."""

import sys

import pytest

from fimlsp.models.errors import ModelError
from fimlsp.models.loading import load_model
from fimlsp.models.remote import gguf_server

from ..gguf_files import write_gguf
from .random_models import MODELS

TEXT = "def f(x):\n\treturn 'é ▁' <fim_prefix> <|left|>\n\n"


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("name", [*MODELS, "bundled"])
def test_tokens_and_markers_are_those_that_llama_cpp_has(name, gguf, served):
    file, server = load_model(str(gguf(name))), load_model(served(name))
    assert (file.fim, file.fim.family) == (server.fim, "fimlsp with files" if name == "bundled" else name)
    text = TEXT if name != "CodeLlama" else "def f(x): print(y)"
    assert file.vocabulary.decode(file.vocabulary.encode(text)) == text.encode()
    assert not file.fim.markers.intersection(file.vocabulary.encode(text)), "text never becomes a marker"
    tokens = file.fim.arrange(file.vocabulary.encode_first("def f("), file.vocabulary.encode("):\n"))
    ranks = [model.network.begin(tokens) for model in (file, server)]
    assert ranks[0].tokens == ranks[1].tokens
    for token in ranks[0].tokens:
        assert file.vocabulary.token_bytes[token] == server.vocabulary.token_bytes[token]


def test_the_bundled_model_reads_and_predicts_as_in_this_process(gguf):
    file, bundled = load_model(str(gguf("bundled"))), load_model(dtype="float32")
    assert file.uses_buffer
    assert (file.fim, file.context) == (bundled.fim, bundled.context)
    text = "import os\n\n\ndef read(path):\n    with open(path)"
    assert file.vocabulary.encode(text) == bundled.vocabulary.encode(text)
    tokens = bundled.fim.arrange(bundled.vocabulary.encode(text), bundled.vocabulary.encode(":\n"))
    ours, theirs = bundled.network.begin(tokens), file.network.begin(tokens)
    assert ours.tokens[:5] == theirs.tokens[:5]
    assert theirs.log_probabilities == pytest.approx(ours.log_probabilities, abs=0.02)


def cut(data):
    return data[: len(data) // 2]


def garbled(data):
    return data[:4] + bytes(range(256)) * 8 + data[2052:]


DAMAGED = {"is cut short|end is missing": cut, "damaged|Cannot use": garbled}


@pytest.mark.parametrize("reason", DAMAGED)
def test_a_damaged_file_is_refused(reason, gguf, tmp_path):
    path = tmp_path / "damaged.gguf"
    path.write_bytes(DAMAGED[reason](gguf("bundled").read_bytes()))
    with pytest.raises(ModelError, match=reason):
        load_model(str(path))


def test_a_file_is_written_as_a_path():
    with pytest.raises(ModelError, match=r"\./mine\.gguf"):
        load_model("mine.gguf")
    with pytest.raises(ModelError, match="No such file"):
        load_model("./missing.gguf")


def test_without_llama_cpp_the_remedy_is_told(gguf, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelError, match=r"llama\.cpp is missing. Install what is missing with: .*xllamacpp"):
        load_model(str(gguf("Qwen-Coder")))


DEVICES = {  # `device`, has llama.cpp a GPU?, the model's own context, that chosen; tokens of context
    "a processor": (None, False, 32_768, None, 2048),
    "a GPU": (None, True, 32_768, None, 8192),
    "a certain GPU": ("cuda:1", True, 32_768, None, 8192),
    "the processor beside a GPU": ("cpu", True, 32_768, None, 2048),
    "a short context": (None, True, 4096, None, 4096),
    "one that was chosen": ("cpu", False, 32_768, 5000, 5000),
    "a longer one than the model's": ("cpu", False, 4096, 5000, 4096),
}


@pytest.mark.parametrize("case", DEVICES)
def test_the_context_is_longer_on_a_gpu(case, tmp_path, monkeypatch):
    device, has_gpu, own, chosen_context, expected = DEVICES[case]
    tokens = ["<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<|endoftext|>"]
    path = write_gguf(tmp_path / "a.gguf", tokens, "starcoder2", starcoder2__context_length=own)
    started = []

    def start(_path, _name, context, chosen, _threads):
        started.append((context, chosen))
        raise ModelError("It is not started here.")

    monkeypatch.setattr(gguf_server, "has_gpu", lambda: has_gpu)
    monkeypatch.setattr(gguf_server, "start_server", start)
    with pytest.raises(ModelError, match="not started here"):
        gguf_server.load_gguf(path, device, 1, None, None, chosen_context)
    assert started == [(expected, device)]
