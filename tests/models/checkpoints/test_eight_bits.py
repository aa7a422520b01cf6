"""Weights of 8 bits are the same network for every reader, and nearly that of 16 bits."""

import numpy as np
import pytest
import torch
from gguf import GGUFReader
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fimlsp.models.checkpoints.checkpoint_files import read_files
from fimlsp.models.checkpoints.eight_bits import quantised, read_tensors
from fimlsp.models.gguf_export import export_gguf
from fimlsp.models.loading import load_model
from fimlsp.models.networks.llama_shape import is_supported
from fimlsp.models.training.checkpoint import Sizes, new, save, trained_before
from fimlsp.models.training.examples import train_tokenizer
from fimlsp.models.training.loop import Progress

TEXT = "def area(radius):\n    return radius * radius\n"
TOKENIZER = train_tokenizer([TEXT], 300)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    torch.manual_seed(0)
    model = new(Sizes(width=128, layers=2), TOKENIZER)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.08)
    folder = tmp_path_factory.mktemp("models")
    for bits in (8, 16):
        save(model, TOKENIZER, folder / str(bits), Progress(), bits)
    return {bits: folder / str(bits) for bits in (8, 16)}


@given(
    arrays.arrays(np.float32, (3, 5), elements=st.floats(-8, 8, width=32)),
)
def test_a_number_is_within_half_a_step(matrix):
    stored = quantised({"m": matrix, "v": matrix[0]})
    assert (stored["m"].dtype, stored["v"].dtype) == (np.int8, np.float16)
    steps = np.abs(matrix).max(axis=1, keepdims=True) / 127
    assert (np.abs(stored["m"] * stored["m_scale"][:, None] - matrix) <= steps * 0.501 + 1e-37).all()


def test_the_files_are_half_as_large(folders):
    sizes = {
        bits: sum(path.stat().st_size for path in folder.glob("*.safetensors"))
        for bits, folder in folders.items()
    }
    assert 0.5 < sizes[8] / sizes[16] < 0.56


@pytest.mark.parametrize("device", [None, "cpu"])
def test_all_readers_compute_the_same(folders, device):
    tokens = TOKENIZER.encode(TEXT).ids
    network, _ = trained_before(str(folders[8]))
    expected = network(torch.tensor([tokens]))[0, -1].log_softmax(-1).detach().numpy()
    small = load_model(str(folders[8]), device=device)
    torch_model = load_model(str(folders[8]), dtype="float32")
    for model, tolerance in ((small, 0.01), (torch_model, 1e-3)):  # the first rounds its inputs as well
        assert np.allclose(model.network.log_probabilities(tokens), expected, atol=tolerance)
    assert type(small.network) is not type(torch_model.network)
    half = load_model(str(folders[16])).network.log_probabilities(tokens)
    assert 0 < np.abs(half - expected).max() < 0.3


def test_the_export_has_the_products(folders, tmp_path):
    stored = read_tensors(read_files(folders[8], "model").weights)
    export_gguf(str(folders[8]), tmp_path / "model.gguf")
    exported = {tensor.name: tensor.data for tensor in GGUFReader(tmp_path / "model.gguf").tensors}
    assert np.array_equal(exported["token_embd.weight"], stored["model.embed_tokens.weight"])
    assert np.array_equal(exported["blk.1.ffn_up.weight"], stored["model.layers.1.mlp.up_proj.weight"])


def test_a_limit_in_half_precision_counts_them_twice(folders, monkeypatch):
    files = read_files(folders[8], "model")
    size = sum(path.stat().st_size for path in files.weights)
    monkeypatch.setattr("fimlsp.models.networks.llama_shape.BYTES_MAX", size * 1.5)
    assert not is_supported(files.config, files.weights)
    assert is_supported({**files.config, "fimlsp_weight_bits": 16}, files.weights)
