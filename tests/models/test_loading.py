"""Checkpoints of all families, from disk to a middle."""

import json
import sys

import numpy as np
import pytest

from fimlsp.models.checkpoints.memory import FreeMemory
from fimlsp.models.confidence import GENERAL, ConfidenceEstimate, Regression, Weight
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import BUNDLED, load_model
from fimlsp.models.networks.onnx_llama import OnnxLlama
from fimlsp.models.prompts.families import LEFT, RIGHT
from fimlsp.models.prompts.prompt import build_prompt

from . import tiny_checkpoints as c
from .scripted import Brackets, completion
from .tiny_checkpoints import FAMILIES, logits_by_transformers


def top(logits):
    return np.argsort(-logits, kind="stable")[:10].tolist()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_completes(family, tmp_path):
    model = load_model(str(c.make(tmp_path, *FAMILIES[family])))
    assert (model.fim.family, model.context) == (family, 256)
    middle = completion(model)
    assert middle.complete
    assert Brackets(b"(").feed(middle.text).complete


@pytest.mark.parametrize("family", FAMILIES)
def test_candidates_are_those_of_transformers_also_when_work_is_reused(family, tmp_path):
    folder = c.make(tmp_path, *FAMILIES[family])
    network = load_model(str(folder)).network
    for tokens in (
        [5, 9, 30, 31, 40, 41, 42],
        [5, 9, 30, 31, 50],
        [5, 9, 30, 31, 50],
        [7],
        list(range(9, 60)),
    ):
        likeliest = network.begin(tokens).tokens[:10]
        assert likeliest == top(logits_by_transformers(folder, tokens)), tokens
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

    folder = c.make(tmp_path, network, c.DEEPSEEK, shard="50KB")
    loaded = load_model(str(folder)).network
    assert isinstance(loaded, OnnxLlama)
    tokens = np.random.default_rng(0).integers(5, 200, 300).tolist()
    loaded.begin(tokens[:-1])
    difference = loaded.logits(tokens[-1:]) - logits_by_transformers(folder, tokens)
    assert np.abs(difference).max() < 1e-4


def test_what_the_small_network_cannot_compute_goes_to_transformers(tmp_path):
    folder = c.make(tmp_path, lambda size: c.llama(size, attention_bias=True), c.DEEPSEEK)
    assert not isinstance(load_model(str(folder)).network, OnnxLlama)


@pytest.mark.parametrize("asked", [None, True, False])
@pytest.mark.parametrize("device", [None, "cpu"])
def test_the_buffer_cache_is_mixed_in_only_where_it_is_asked_for(asked, device, tmp_path):
    folder = c.make(tmp_path, c.llama, c.DEEPSEEK)
    options = {"device": device, "dtype": "float32" if device else None}
    assert load_model(str(folder), uses_buffer=asked, **options).uses_buffer is bool(asked)
    c.change_config(folder, fimlsp_buffer_cache=True)
    assert load_model(str(folder), uses_buffer=asked, **options).uses_buffer is (asked is not False)
    assert load_model(uses_buffer=asked).uses_buffer is (asked is not False)


def test_a_small_llama_writes_what_its_network_says(tmp_path):
    folder = c.make(tmp_path, c.llama, c.DEEPSEEK)
    left = b"some_long_name = 1\nsome_lo"
    texts = {
        completion(load_model(str(folder), dtype=dtype), left, tokens=8).text for dtype in (None, "float32")
    }
    assert len(texts) == 1, "the same through NumPy as through torch"


def test_the_context_is_bounded_on_the_cpu(tmp_path):
    folder = c.make(tmp_path, c.llama, c.DEEPSEEK)
    c.change_config(folder, max_position_embeddings=10**9)
    for dtype in (None, "float32"):
        assert load_model(str(folder), dtype=dtype).context == 2048
        assert load_model(str(folder), dtype=dtype, context=5000).context == 5000
    c.change_config(folder, max_position_embeddings=300)
    assert load_model(str(folder), context=5000).context == 300, "as it was trained"


@pytest.mark.parametrize("dtype", [None, "float32"])
def test_a_full_context_is_an_error_and_the_network_lives_on(dtype, tmp_path):
    network = load_model(str(c.make(tmp_path, c.llama, c.DEEPSEEK)), dtype=dtype).network
    text = [5 + n % 200 for n in range(255)]
    expected = network.begin(text[:9]).tokens
    network.begin(text)
    network.advance(7)
    for _ in range(2):
        with pytest.raises(ValueError, match="256 tokens were read and 1 more do not fit"):
            network.advance(8)
    with pytest.raises(ValueError, match="do not fit"):
        network.begin([*text, 7, 8])
    assert network.begin(text[:9]).tokens == expected


def test_sharded_weights(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER, shard="20KB")
    assert len(list(folder.glob("*.safetensors"))) > 1
    assert completion(load_model(str(folder))).complete


def test_a_package_that_is_missing_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.delitem(sys.modules, "fimlsp.models.networks.onnx_llama")
    with pytest.raises(ModelError, match=r"Cannot load bundled: .*onnxruntime.*\. Install fimlsp with"):
        load_model()


def test_half_precision_weights(tmp_path):
    folder = c.make(tmp_path, lambda size: c.llama(size).half(), c.DEEPSEEK)
    assert isinstance(load_model(str(folder)).network, OnnxLlama)
    assert completion(load_model(str(folder))).complete


ORDERS = [(c.SANTACODER, "psm"), (c.SANTACODER, "spm"), (c.STARCODER, "psm"), (c.STARCODER2, "spm")]


@pytest.mark.parametrize(("special", "order"), ORDERS)
def test_an_order_can_be_asked_for(special, order, tmp_path):
    model = load_model(str(c.make(tmp_path, c.santacoder, special)), order=order)
    left, right = (model.fim.prompt.index(side) for side in (LEFT, RIGHT))
    assert (left < right) == (order == "psm")
    assert completion(model).complete


def test_typing_only_appends_to_a_prompt_with_the_suffix_first(tmp_path):
    model = load_model(str(c.make(tmp_path, c.santacoder, c.SANTACODER)))
    prompts = []
    for typed in (b"x = f", b"x = f(", b"x = f(a"):
        prompts.append(build_prompt(model.vocabulary, model.fim, 200, typed, b" + y\n", 20).tokens)
    assert prompts[2][: len(prompts[1])] == prompts[1]
    assert prompts[1][: len(prompts[0])] == prompts[0]


def test_granite_has_the_markers_of_starcoder(tmp_path):
    model = load_model(str(c.make(tmp_path, c.llama, c.STARCODER)))
    assert (model.fim.family, completion(model).complete) == ("StarCoder", True)


def test_a_family_can_be_asked_for(tmp_path):
    folder = str(c.make(tmp_path, c.stablelm, c.STARCODER))
    assert load_model(folder, family="starcoder").fim.family == "StarCoder"


def test_precision_can_be_asked_for(tmp_path):
    folder = str(c.make(tmp_path, c.llama, c.DEEPSEEK))
    model = load_model(folder, dtype="bfloat16")
    assert completion(model).complete
    assert not isinstance(model.network, OnnxLlama)


def test_the_context_is_no_longer_than_a_sliding_window(tmp_path):
    folder = c.make(tmp_path, c.starcoder2, c.STARCODER2)
    c.change_config(folder, sliding_window=100)
    model = load_model(str(folder))
    assert model.context == 100
    assert completion(model, left=b"x = (" * 100, right=b")\n" * 100).complete


def test_slow_tokenizers_are_converted(tmp_path):
    spm = pytest.importorskip("sentencepiece", reason="slow tokenizers need the extra `sentencepiece`")
    folder = c.make(tmp_path, c.llama, c.sentence_piece_tokenizer)
    (folder / "tokenizer.json").unlink()
    c.train_sentence_piece(spm, folder / "tokenizer.model")
    c.change_config(folder, vocab_size=c.SLOW_SIZE)
    c.write_checkpoint(folder, c.llama(c.SLOW_SIZE))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "CodeLlamaTokenizer"}')
    model = load_model(str(folder))
    assert (model.fim.family, completion(model).complete) == ("CodeLlama", True)


def test_a_model_has_its_own_estimate_or_a_general_one(tmp_path):
    folder = c.make(tmp_path, *FAMILIES["StarCoder"])
    assert load_model(str(folder)).acceptance == ConfidenceEstimate.load(BUNDLED, GENERAL)
    assert load_model(str(folder)).estimates == folder
    own = ConfidenceEstimate(Regression(1.0, {"total": Weight(0.0, 1.0, 2.0)}), Regression(0.0, {}), 3, 4)
    path = own.save(folder)
    assert load_model(str(folder)).acceptance == own
    path.write_text("{}")
    with pytest.raises(ModelError, match="fimlsp calibrate"):
        load_model(str(folder))


@pytest.mark.parametrize(("told", "read"), [(8, 8), (None, 12), (0, 12), ("7", 12), (True, 12)])
def test_how_much_a_model_reads_is_told_by_its_config(told, read, tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    if told is not None:
        c.change_config(folder, fimlsp_prompt_tokens=told)
    model = load_model(str(folder))
    assert len(model.prompt(b"abcdef", b"ghijkl", 20).tokens) - model.fim.overhead == read


def test_the_cpu_can_be_asked_for(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    assert load_model(str(folder), device="cpu").device == "cpu"


def test_tokenizer_and_network_of_different_size(tmp_path):
    folder = c.make(tmp_path, lambda size: c.llama(size + 64), c.DEEPSEEK)
    model = load_model(str(folder))
    assert completion(model).complete
    assert json.loads((folder / "config.json").read_text())["vocab_size"] > len(c.DEEPSEEK) + 256


@pytest.mark.parametrize("options", [{}, {"bits": 8, "device": "cpu"}])
def test_the_share_of_the_weights_that_is_there_is_told(options, tmp_path, capfd):
    shares = []
    load_model(str(c.make(tmp_path, c.santacoder, c.SANTACODER)), on_progress=shares.append, **options)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1], len(set(shares)) > 5) == (0, 1, True)
    assert capfd.readouterr().out == ""


ROOMS = [
    (FreeMemory("cpu", 3 << 30), 1.1e9, "yes"),
    (FreeMemory("cpu", 2 << 30), 1.1e9, ""),
    (FreeMemory("cuda", 3 << 30), 1.1e9, "yes"),
    (FreeMemory("cuda:1", 2 << 30), 1.1e9, "in 8 bits"),
    (FreeMemory("cuda", 1 << 30), 1.1e9, "in 4 bits"),
    (FreeMemory("cuda", 1 << 29), 1.1e9, ""),
    (FreeMemory("mps", None), 1.1e9, ""),
]


@pytest.mark.parametrize(("room", "n_parameters", "expected"), ROOMS)
def test_what_fits(room, n_parameters, expected):
    assert room.fits(n_parameters) == expected
