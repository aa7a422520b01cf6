"""What is said about checkpoints that cannot be used: one sentence, with the remedy."""

import json
import os
from itertools import product
from pathlib import PurePosixPath, PureWindowsPath

import pytest
import torch
from tokenizers import Regex, pre_tokenizers

from fimlsp.extras import MODULES
from fimlsp.models.checkpoints.checkpoint_files import leads_outside
from fimlsp.models.errors import ModelError, OutOfMemoryError, is_out_of_memory
from fimlsp.models.loading import load_model
from fimlsp.models.networks.torch import placement
from fimlsp.models.networks.torch.checkpoint import CheckpointNetwork
from fimlsp.models.prompts.vocabulary import read_vocabulary

from .. import tiny_checkpoints as c


def check_error(folder, message, **options):
    with pytest.raises(ModelError, match=message) as caught:
        load_model(str(folder), **options)
    assert "\n" not in str(caught.value)


def test_pickled_weights_are_refused(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    check_error(folder, "its weights are pickles")


def test_a_folder_without_weights(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / "model.safetensors").unlink()
    check_error(folder, r"no \.safetensors file")


def test_a_folder_without_config(tmp_path):
    check_error(tmp_path, r"no config\.json")


CONFIGS = {
    "{": "Cannot read config.json of",
    "": "Cannot read config.json of",
    '{"a": "\xff"}': "Cannot read config.json of",
    "[]": "has no model_type",
    "null": "has no model_type",
    "{}": "has no model_type",
    '{"model_type": ["llama"]}': "has no model_type",
}


@pytest.mark.parametrize("text", CONFIGS)
def test_a_config_that_says_nothing(text, tmp_path):
    (tmp_path / "config.json").write_bytes(text.encode("latin-1"))
    check_error(tmp_path, CONFIGS[text])


def test_a_config_that_is_a_folder(tmp_path):
    (tmp_path / "config.json").mkdir()
    check_error(tmp_path, "Cannot read config.json of")


LIES = {
    "no heads": {"num_attention_heads": 0, "n_head": 0},
    "sizes in words": {"hidden_size": "64", "n_embd": "64"},
    "other sizes": {"hidden_size": 128, "n_embd": 128},
    "a context in words": {"max_position_embeddings": "256", "n_positions": "256"},
    "no context": {"max_position_embeddings": -1, "n_positions": -1},
    "positions of a kind that is not there": {"rope_parameters": {"rope_type": "nope"}},
    "more layers than there are": {"num_hidden_layers": 3, "n_layer": 3},
    "fewer layers than there are": {"num_hidden_layers": 1, "n_layer": 1},
    "a vocabulary that is too small for the markers": {"vocab_size": 3},
}
UNTOUCHED = {  # keys that an architecture does not use
    ("sizes in words", c.llama),
    ("other sizes", c.llama),
    ("a vocabulary that is too small for the markers", c.llama),
    ("positions of a kind that is not there", c.santacoder),
}


@pytest.mark.parametrize("network", [c.santacoder, c.llama, c.qwen])
@pytest.mark.parametrize("lie", LIES)
def test_a_config_that_lies(lie, network, tmp_path):
    folder = c.make(tmp_path, network, c.SANTACODER)
    c.change_config(folder, **LIES[lie])
    if (lie, network) not in UNTOUCHED:
        check_error(folder, "Cannot load|lacks 12 of its weights")
    else:
        load_model(str(folder))


def test_layers_that_predict_tokens_beyond_the_next_may_be_there(tmp_path):
    folder = c.make(tmp_path, c.llama, c.SANTACODER)
    c.change_config(folder, num_hidden_layers=1, num_nextn_predict_layers=1)
    load_model(str(folder))
    c.change_config(folder, num_nextn_predict_layers="1")
    check_error(folder, r"weights of 2 layers, .* has 1\.")


NO_NUMBERS = [
    *product((c.santacoder, c.llama, c.qwen), (float("nan"), float("inf"))),
    *((network, 1e30) for network in (c.santacoder, c.qwen)),  # ONNX Runtime scales such numbers to 0
]


@pytest.mark.parametrize(("network", "value"), NO_NUMBERS)
def test_weights_that_are_no_numbers(network, value, tmp_path):
    folder = c.make(tmp_path, network, c.SANTACODER)
    c.fill_weights(folder / "model.safetensors", value)
    check_error(folder, "on cpu: its scores are not finite. Its weights are damaged or too large.*float32")


def test_a_folder_without_tokenizer(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / "tokenizer.json").unlink()
    check_error(folder, "Cannot read the tokenizer of")


def test_a_tokenizer_that_is_broken(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / "tokenizer.json").write_text('{"model": 1}')
    check_error(folder, "Cannot read the tokenizer of")


def test_a_tokenizer_without_markers_or_a_token_that_ends_texts(tmp_path):
    check_error(c.make(tmp_path, c.llama, ["<odd>"]), "no fill-in-the-middle markers.*santacoder")


def test_a_name_that_is_nothing():
    check_error("no such folder", "Cannot find a model")


def test_a_checkpoint_that_brings_its_own_code(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    own = {"auto_map": {"AutoModelForCausalLM": "modeling.Own"}}
    c.change_config(folder, model_type="unheard_of", architectures=["Own"], **own)
    check_error(folder, "is a Own, for which it brings code of its own that is not run")
    c.change_config(folder, model_type="gpt2", architectures=["GPT2LMHeadCustomModel"], **own)
    check_error(folder, "GPT2LMHeadCustomModel.*bigcode/gpt_bigcode-santacoder")


NO_FILES = ["config.json", "model.safetensors", "tokenizer.json", "generation_config.json", "merges.txt"]
KINDS = {
    "a pipe": os.mkfifo,
    "a link to a pipe": lambda path: (os.mkfifo(f"{path}.pipe"), path.symlink_to(f"{path}.pipe")),
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NO_FILES)
def test_what_is_no_regular_file_is_not_opened(name, kind, tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / name).unlink(missing_ok=True)
    KINDS[kind](folder / name)
    check_error(folder, "is not a regular file")


def test_an_index_that_names_a_pipe_in_a_folder_below(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / "sub").mkdir()
    os.mkfifo(folder / "sub" / "a.safetensors")
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "sub/a.safetensors"}}')
    check_error(folder, "a.safetensors is not a regular file")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "generation_config.json"])
def test_files_of_text_have_a_bounded_size(name, tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    with (folder / name).open("ab") as file:
        file.truncate(1 << 32)
    check_error(folder, f"{name} is larger than")


def test_other_files_may_have_any_size(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    for name in ("model.gguf", "training.state"):
        with (folder / name).open("wb") as file:
            file.truncate(1 << 32)
    assert load_model(str(folder)).name == str(folder)


ATTENTION = ["some/kernel", "kernels-community/flash-attn", "flash_attention_2", {"": "some/kernel"}, 3]


@pytest.mark.parametrize("value", ATTENTION, ids=str)
@pytest.mark.parametrize("key", ["_attn_implementation", "attn_implementation", "_experts_implementation"])
@pytest.mark.parametrize("is_nested", [False, True])
def test_kernels_are_not_fetched(key, value, is_nested, tmp_path):
    folder = c.make(tmp_path, c.qwen, c.SANTACODER)
    c.change_config(folder, **({"text_config": {key: value}} if is_nested else {key: value}))
    check_error(folder, f"asks for code of its own for {key}")


@pytest.mark.parametrize("value", ["eager", "sdpa", None])
def test_ways_of_attention_that_are_here_may_be_named(value, tmp_path):
    folder = c.make(tmp_path, c.qwen, c.SANTACODER)
    c.change_config(folder, _attn_implementation=value)
    assert load_model(str(folder)).name == str(folder)


@pytest.mark.parametrize("number", [1 << 22, 2**31, 2**32 - 1])
def test_a_token_whose_number_is_a_memory_bomb(number, tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    file = folder / "tokenizer.json"
    tokenizer = json.loads(file.read_text())
    tokenizer["model"]["vocab"]["!"] = number
    file.write_text(json.dumps(tokenizer))
    check_error(folder, f"token id {number} is too large")


def panicking(tokenizer, pattern):
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(pattern), "isolated")
    return tokenizer


PANICS = r"(a|a|aa)+$|(.+)+!|(\w+\s?)+$"


def test_a_tokenizer_that_panics_on_every_text(tmp_path):
    tokenizer = panicking(c.byte_tokenizer(c.SANTACODER), PANICS)
    folder = c.write_checkpoint(tmp_path, c.santacoder(tokenizer.get_vocab_size()), tokenizer)
    check_error(folder, "its tokenizer fails on ordinary text, or changes it")


def test_a_tokenizer_that_panics_on_some_text():
    tokenizer = c.byte_tokenizer(c.SANTACODER)
    vocabulary = read_vocabulary(panicking(tokenizer, PANICS), ())
    for _ in range(2):
        with pytest.raises(ModelError, match="tokenizer of the model fails on this text"):
            vocabulary.encode("x y z w " * 30 + "?")
    assert vocabulary.encode("a")


def test_a_config_that_is_nested_too_deeply(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / "config.json").write_text("[" * 100_000)
    check_error(folder, "Cannot read config.json of")


def test_weights_cut_short(tmp_path):
    folder = c.make(tmp_path, c.llama, c.DEEPSEEK)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    check_error(folder, r"model\.safetensors of .* damaged or cut short")


def test_a_shard_that_is_missing_or_cut_short(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER, shard="20KB")
    shard = sorted(folder.glob("*.safetensors"))[1]
    data = shard.read_bytes()
    shard.write_bytes(data[:-10])
    check_error(folder, f"{shard.name} of .* damaged or cut short")
    shard.unlink()
    check_error(folder, f"its weight file {shard.name} is missing")
    shard.write_bytes(data)
    (folder / "model.safetensors.index.json").write_text('{"weight_map": 1}')
    check_error(folder, "Cannot read .*index.json of")
    for elsewhere in ("../model.safetensors", "/model.safetensors"):
        (folder / "model.safetensors.index.json").write_text(f'{{"weight_map": {{"a": "{elsewhere}"}}}}')
        check_error(folder, "index.json lists files outside the folder")


@pytest.mark.parametrize("network", [c.santacoder, c.llama])
def test_a_weight_that_is_missing(network, tmp_path):
    folder = c.make(tmp_path, network, c.SANTACODER)
    c.drop_weight(folder / "model.safetensors")
    check_error(folder, "lacks 1 of its weights|Cannot load")


def test_a_tokenizer_that_changes_text(tmp_path):
    tokenizer = c.lossy_tokenizer()
    folder = c.write_checkpoint(tmp_path, c.llama(tokenizer.get_vocab_size()), tokenizer)
    check_error(folder, "its tokenizer fails on ordinary text, or changes it")


def test_a_family_that_it_is_not(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    check_error(folder, "is not a StarCoder model: its tokenizer lacks <fim_prefix>", family="StarCoder")
    check_error(folder, "Unknown family Unheard.*SantaCoder", family="Unheard")


def test_an_order_that_it_has_not_learnt(tmp_path):
    check_error(c.make(tmp_path, c.llama, c.DEEPSEEK), "do not support spm order", order="spm")


DEVICES = {
    "cuda:99": "There is no cuda:99 on this machine, only cpu",
    "tpu": "Unknown device 'tpu'; use cpu, cuda, cuda:N or mps",
    "cuda:x": "Unknown device 'cuda:x'",
}


@pytest.mark.parametrize("device", DEVICES)
def test_a_device_that_is_not_there(device, tmp_path):
    check_error(c.make(tmp_path, c.santacoder, c.SANTACODER), DEVICES[device], device=device)


def test_more_than_fits_into_memory(tmp_path, monkeypatch):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    monkeypatch.setattr(placement, "free_memory", lambda _: 3 << 30)
    assert load_model(str(folder)).context == 256
    monkeypatch.setattr(placement, "needed_bytes", lambda *_: 8 << 30)
    check_error(folder, r"about 8\.0 GiB on cpu, where 3\.0 are free \(deepseek-ai/.* would fit\)\. .*4 bits")
    monkeypatch.setattr(placement, "free_memory", lambda _: 1 << 20)
    check_error(folder, "only the bundled model would fit")


def test_quantising_without_its_packages(tmp_path, monkeypatch):
    monkeypatch.setitem(MODULES, "quantized", ("no_such_module",))
    needs = "needs two more packages. Install what is missing with: .* install .*bitsandbytes"
    check_error(c.make(tmp_path, c.santacoder, c.SANTACODER), needs, bits=4)


def test_more_than_fits_into_memory_for_a_small_network(tmp_path, monkeypatch):
    folder = c.make(tmp_path, c.llama, c.DEEPSEEK)
    assert load_model(str(folder)).context == 256
    monkeypatch.setattr("fimlsp.models.loading.free_main_memory", lambda: 1 << 20)
    c.change_config(folder, num_key_value_heads=10**6)
    check_error(folder, r"on cpu, where 0.0 are free \(only the bundled model would fit\)")


def test_only_what_says_so_is_out_of_memory():
    assert all(map(is_out_of_memory, NO_MEMORY.values()))
    assert not is_out_of_memory(ValueError("a file named 'out of memory'"))
    assert not is_out_of_memory(RuntimeError("sizes do not match"))


NO_MEMORY = {
    "on a GPU": torch.OutOfMemoryError("out of memory\nand more"),
    "on a Mac": RuntimeError("MPS backend out of memory (MPS allocated: 8 GB"),
    "on the CPU": RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
    "in Python": MemoryError(),
}


@pytest.mark.parametrize("where", NO_MEMORY)
def test_memory_that_runs_out_while_loading(where, tmp_path, monkeypatch):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)

    def run_out(*_, **__):
        raise NO_MEMORY[where]

    monkeypatch.setattr(CheckpointNetwork, "load", run_out)
    check_error(folder, "not enough free memory .*smaller model")


def test_memory_that_runs_out_for_texts_side_by_side(tmp_path, monkeypatch):
    network = load_model(str(c.make(tmp_path, c.santacoder, c.SANTACODER))).network
    before = network.begin([5, 6, 7]).tokens

    def run_out(*_, **__):
        raise NO_MEMORY["on a GPU"]

    rows = network.side_by_side([5, 6], 10)
    monkeypatch.setattr("fimlsp.models.networks.torch.checkpoint.copied_cache", run_out)
    with pytest.raises(OutOfMemoryError):
        rows.begin([[7], [8]])
    assert network.begin([5, 6, 7]).tokens == before, "it lives on"


@pytest.mark.parametrize("text", [[5, 6, 8], [9, 6, 8]], ids=["one token", "several tokens"])
@pytest.mark.parametrize("where", NO_MEMORY)
def test_memory_that_runs_out_while_completing(where, text, tmp_path, monkeypatch):
    network = load_model(str(c.make(tmp_path, c.santacoder, c.SANTACODER))).network
    before = network.begin([5, 6, 7]).tokens

    def run_out(*_, **__):
        raise NO_MEMORY[where]

    with monkeypatch.context() as patched:
        patched.setattr(network.network, "forward", run_out)
        patched.setattr(network, "step", run_out)
        with pytest.raises(OutOfMemoryError, match="ran out of memory while completing"):
            network.begin(text)
    assert network.begin([5, 6, 7]).tokens == before, "it lives on"


NAMES_OF_SHARDS = [
    ("model-1.safetensors", False, False),
    ("a/b.safetensors", False, False),
    ("a..b", False, False),
    ("../a", True, True),
    ("a/../../b", True, True),
    ("/a", True, True),
    ("c:a", False, True),
    ("C:/a", False, True),
    ("\\a", False, True),
    ("a\\..\\..\\b", False, True),
    ("\\\\server\\share\\a", False, True),
    ("//server/share/a", True, True),
    ("\\\\?\\C:\\a", False, True),
]


@pytest.mark.parametrize(("name", "on_posix", "on_windows"), NAMES_OF_SHARDS)
def test_files_that_lead_outside_of_their_folder(name, on_posix, on_windows):
    assert leads_outside(PurePosixPath(name)) is on_posix
    assert leads_outside(PureWindowsPath(name)) is on_windows
