"""Checkpoints of all families, from disk to a middle; and what is said about folders that cannot be used."""

import json

import numpy as np
import pytest
import torch
from fimlsp.models.completion import complete
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import load_model
from fimlsp.models.middle import DecodeSettings
from fimlsp.models.small import SmallNetwork
from transformers import AutoModelForCausalLM

from . import checkpoints as c
from .scripted import Brackets

FAMILIES = {
    "SantaCoder": (c.santacoder, c.SANTACODER),
    "StarCoder": (c.santacoder, c.STARCODER),
    "StarCoder2": (c.starcoder2, c.STARCODER2),
    "DeepSeek-Coder": (c.llama, c.DEEPSEEK),
    "Qwen-Coder": (c.qwen, c.QWEN),
    "CodeGemma": (c.gemma, c.GEMMA),
    "CodeLlama": (c.llama, None),
    "fimlsp": (c.llama, c.FIMLSP),
}


def tokenizer_of(special):
    return c.byte_tokenizer(special) if special else c.sentence_piece_tokenizer()


def make(folder, network, special, **options):
    tokenizer = tokenizer_of(special)
    return c.write_checkpoint(folder, network(tokenizer.get_vocab_size()), tokenizer, **options)


def completion(model, left=b"x = (a", right=b"\n", open_brackets=b"(", **limits):
    settings = DecodeSettings(**({"tokens": 24} | limits))
    return complete(model, left, right, Brackets(open_brackets), settings, lambda: False)


def logits_by_transformers(folder, tokens):
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        return network(torch.tensor([tokens])).logits[0, -1].numpy()


def top(logits):
    return np.argsort(-logits, kind="stable")[:10].tolist()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_completes(family, tmp_path):
    model = load_model(str(make(tmp_path, *FAMILIES[family])))
    assert (model.fim.family, model.context) == (family, 256)
    middle = completion(model)
    assert middle.complete
    assert Brackets(b"(").feed(middle.text).complete


@pytest.mark.parametrize("family", FAMILIES)
def test_candidates_are_those_of_transformers_also_when_work_is_reused(family, tmp_path):
    folder = make(tmp_path, *FAMILIES[family])
    network = load_model(str(folder)).network
    for tokens in (
        [5, 9, 30, 31, 40, 41, 42],
        [5, 9, 30, 31, 50],
        [5, 9, 30, 31, 50],
        [7],
        list(range(9, 60)),
    ):
        found = network.begin(tokens).tokens[:10]
        assert found == top(logits_by_transformers(folder, tokens)), tokens
    assert network.advance(12).tokens[:10] == top(logits_by_transformers(folder, [*range(9, 60), 12]))


LLAMAS = {
    "untied": {},
    "tied": {"tie_word_embeddings": True},
    "one group": {"num_key_value_heads": 1},
    "wide heads": {"head_dim": 16},
    "other base": {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
}


@pytest.mark.parametrize("case", LLAMAS)
def test_the_small_network_computes_what_transformers_does(case, tmp_path):
    changes = {"num_key_value_heads": 2, "max_position_embeddings": 512} | LLAMAS[case]

    def network(size):
        return c.LlamaForCausalLM(c.LlamaConfig(vocab_size=size, **(c.SIZES | changes)))

    folder = make(tmp_path, network, c.DEEPSEEK, shard="50KB")
    loaded = load_model(str(folder)).network
    assert isinstance(loaded, SmallNetwork)
    tokens = np.random.default_rng(0).integers(5, 200, 300).tolist()
    loaded.begin(tokens[:-1])
    difference = loaded.logits(tokens[-1:]) - logits_by_transformers(folder, tokens)
    assert np.abs(difference).max() < 1e-4


def test_what_the_small_network_cannot_compute_goes_to_transformers(tmp_path):
    folder = make(tmp_path, lambda size: c.llama(size, attention_bias=True), c.DEEPSEEK)
    assert not isinstance(load_model(str(folder)).network, SmallNetwork)


def test_sharded_weights(tmp_path):
    folder = make(tmp_path, c.santacoder, c.SANTACODER, shard="20KB")
    assert len(list(folder.glob("*.safetensors"))) > 1
    assert completion(load_model(str(folder))).complete


def test_half_precision_weights(tmp_path):
    folder = make(tmp_path, lambda size: c.llama(size).half(), c.DEEPSEEK)
    assert isinstance(load_model(str(folder)).network, SmallNetwork)
    assert completion(load_model(str(folder))).complete


def check_error(folder, message):
    with pytest.raises(ModelError, match=message) as caught:
        load_model(str(folder))
    assert "\n" not in str(caught.value)


def test_pickled_weights_are_refused(tmp_path):
    folder = make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    check_error(folder, "pickles only")


def test_a_folder_without_weights(tmp_path):
    folder = make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / "model.safetensors").unlink()
    check_error(folder, r"no \.safetensors file")


def test_a_folder_without_config(tmp_path):
    check_error(tmp_path, r"no config\.json")


def test_a_config_that_is_no_json(tmp_path):
    (tmp_path / "config.json").write_text("{")
    check_error(tmp_path, "not valid JSON")


def test_a_folder_without_tokenizer(tmp_path):
    folder = make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / "tokenizer.json").unlink()
    check_error(folder, "tokenizer of .* cannot be read")


def test_a_tokenizer_that_is_broken(tmp_path):
    folder = make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / "tokenizer.json").write_text('{"model": 1}')
    check_error(folder, "tokenizer of .* cannot be read")


def test_a_tokenizer_without_markers(tmp_path):
    check_error(make(tmp_path, c.llama, ["<|endoftext|>"]), "no fill-in-the-middle markers.*santacoder")


def test_a_checkpoint_that_brings_its_own_code(tmp_path):
    folder = make(tmp_path, c.santacoder, c.SANTACODER)
    c.change_config(folder, model_type="unheard_of", auto_map={"AutoModelForCausalLM": "modeling.Own"})
    check_error(folder, "cannot be loaded")


def test_weights_cut_short(tmp_path):
    folder = make(tmp_path, c.llama, c.DEEPSEEK)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    check_error(folder, "cannot be loaded")


def test_a_name_that_is_nothing():
    check_error("no such folder", "neither a folder nor a hub name")


def test_a_hub_name_is_looked_up_on_this_machine_only(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    check_error("someone/some-model", "hf download someone/some-model")
    cached = tmp_path / "models--someone--some-model"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text("0" * 40)
    (cached / "snapshots").mkdir()
    folder = cached / "snapshots" / ("0" * 40)
    folder.mkdir()
    make(folder, c.llama, c.DEEPSEEK)
    assert load_model("someone/some-model").name == "someone/some-model"


def test_the_cpu_can_be_asked_for(tmp_path):
    folder = make(tmp_path, c.santacoder, c.SANTACODER)
    assert load_model(str(folder), device="cpu").device == "cpu"


def test_a_device_that_is_not_there(tmp_path):
    folder = make(tmp_path, c.santacoder, c.SANTACODER)
    with pytest.raises(ModelError, match="cannot be loaded on cuda:99"):
        load_model(str(folder), device="cuda:99")


def test_tokenizer_and_network_of_different_size(tmp_path):
    folder = make(tmp_path, lambda size: c.llama(size + 64), c.DEEPSEEK)
    model = load_model(str(folder))
    assert completion(model).complete
    assert json.loads((folder / "config.json").read_text())["vocab_size"] > len(c.DEEPSEEK) + 256
