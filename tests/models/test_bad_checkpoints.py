"""What is said about checkpoints that cannot be used: one sentence, with the remedy."""

import pytest
import torch
from fimlsp.models import placement
from fimlsp.models.errors import ModelError, OutOfMemoryError
from fimlsp.models.loading import load_model

from . import checkpoints as c


def check_error(folder, message, **options):
    with pytest.raises(ModelError, match=message) as caught:
        load_model(str(folder), **options)
    assert "\n" not in str(caught.value)


def test_pickled_weights_are_refused(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    check_error(folder, "pickles only")


def test_a_folder_without_weights(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / "model.safetensors").unlink()
    check_error(folder, r"no \.safetensors file")


def test_a_folder_without_config(tmp_path):
    check_error(tmp_path, r"no config\.json")


def test_a_config_that_is_no_json(tmp_path):
    (tmp_path / "config.json").write_text("{")
    check_error(tmp_path, "not valid JSON")


def test_a_folder_without_tokenizer(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / "tokenizer.json").unlink()
    check_error(folder, "tokenizer of .* cannot be read")


def test_a_tokenizer_that_is_broken(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    (folder / "tokenizer.json").write_text('{"model": 1}')
    check_error(folder, "tokenizer of .* cannot be read")


def test_a_tokenizer_without_markers(tmp_path):
    check_error(c.make(tmp_path, c.llama, ["<|endoftext|>"]), "no fill-in-the-middle markers.*santacoder")


def test_a_name_that_is_nothing():
    check_error("no such folder", "neither a folder nor a hub name")


def test_a_checkpoint_that_brings_its_own_code(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    own = {"auto_map": {"AutoModelForCausalLM": "modeling.Own"}}
    c.change_config(folder, model_type="unheard_of", architectures=["Own"], **own)
    check_error(folder, "is a Own, for which it brings code of its own that is not run")
    c.change_config(folder, model_type="gpt2", architectures=["GPT2LMHeadCustomModel"], **own)
    check_error(folder, "GPT2LMHeadCustomModel.*bigcode/gpt_bigcode-santacoder")


def test_weights_cut_short(tmp_path):
    folder = c.make(tmp_path, c.llama, c.DEEPSEEK)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    check_error(folder, r"model\.safetensors of .* is damaged or cut short")


def test_a_shard_that_is_missing_or_cut_short(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER, shard="20KB")
    shard = sorted(folder.glob("*.safetensors"))[1]
    data = shard.read_bytes()
    shard.write_bytes(data[:-10])
    check_error(folder, f"{shard.name} of .* is damaged or cut short")
    shard.unlink()
    check_error(folder, f"lacks {shard.name}, one of its")
    shard.write_bytes(data)
    (folder / "model.safetensors.index.json").write_text('{"weight_map": 1}')
    check_error(folder, "index.json of .* cannot be read")


@pytest.mark.parametrize("network", [c.santacoder, c.llama])
def test_a_weight_that_is_missing(network, tmp_path):
    folder = c.make(tmp_path, network, c.SANTACODER)
    c.drop_weight(folder / "model.safetensors")
    check_error(folder, "lacks 1 of its weights|cannot be loaded")


def test_a_tokenizer_that_changes_text(tmp_path):
    tokenizer = c.lossy_tokenizer()
    folder = c.write_checkpoint(tmp_path, c.llama(tokenizer.get_vocab_size()), tokenizer)
    check_error(folder, "The tokenizer of .* changes the text that it reads")


def test_a_family_that_it_is_not(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    check_error(folder, "is no StarCoder model: its tokenizer lacks <fim_prefix>", family="StarCoder")
    check_error(folder, "no family Unheard.*SantaCoder", family="Unheard")


def test_an_order_that_it_has_not_learnt(tmp_path):
    check_error(c.make(tmp_path, c.llama, c.DEEPSEEK), "know no spm order", order="spm")


DEVICES = {
    "cuda:99": "There is no cuda:99 on this machine, only cpu",
    "tpu": "tpu is no device; use cpu, cuda, cuda:N or mps",
    "cuda:x": "cuda:x is no device",
}


@pytest.mark.parametrize("device", DEVICES)
def test_a_device_that_is_not_there(device, tmp_path):
    check_error(c.make(tmp_path, c.santacoder, c.SANTACODER), DEVICES[device], device=device)


def test_more_than_fits_into_memory(tmp_path, monkeypatch):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    monkeypatch.setattr(placement, "_free_memory", lambda _: 3 << 30)
    assert load_model(str(folder)).context == 256
    monkeypatch.setattr(placement, "needed_bytes", lambda *_: 8 << 30)
    check_error(folder, r"about 8\.0 GiB on cpu, where 3\.0 are free: deepseek-ai/.* would fit;.*4 bits")
    monkeypatch.setattr(placement, "_free_memory", lambda _: 1 << 20)
    check_error(folder, "only the bundled model would fit")


def test_quantising_without_its_packages(tmp_path, monkeypatch):
    monkeypatch.setattr(placement, "find_spec", lambda _: None)
    check_error(c.make(tmp_path, c.santacoder, c.SANTACODER), "fimlsp\\[quantized\\]", bits=4)


NO_MEMORY = {
    "on a GPU": torch.OutOfMemoryError("out of memory\nand more"),
    "on a Mac": RuntimeError("MPS backend out of memory (MPS allocated: 8 GB"),
    "on the CPU": RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
    "in Python": MemoryError(),
}


@pytest.mark.parametrize("text", [[5, 6, 8], [9, 6, 8]], ids=["one token", "several tokens"])
@pytest.mark.parametrize("where", NO_MEMORY)
def test_memory_that_runs_out_while_completing(where, text, tmp_path, monkeypatch):
    network = load_model(str(c.make(tmp_path, c.santacoder, c.SANTACODER))).network
    before = network.begin([5, 6, 7]).tokens

    def run_out(*_, **__):
        raise NO_MEMORY[where]

    with monkeypatch.context() as patched:
        patched.setattr(network._network, "forward", run_out)
        patched.setattr(network, "_step", run_out)
        with pytest.raises(OutOfMemoryError, match="ran out of memory while completing"):
            network.begin(text)
    assert network.begin([5, 6, 7]).tokens == before, "it lives on"
