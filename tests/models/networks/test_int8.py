"""Weights of 8 bits on the CPU: near the exact ones, in every family."""

import pytest
import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

from fimlsp.models.loading import load_model
from fimlsp.models.networks.torch import placement, weights
from fimlsp.models.networks.torch.weights import (
    FbgemmProduct,
    Int8Linear,
    OneDnnProduct,
    has_fbgemm,
    quantise,
)

from ...sampling import sampled
from .. import tiny_checkpoints as c
from ..scripted import completion
from ..tiny_checkpoints import FAMILIES, logits_by_transformers

LIBRARIES = [
    pytest.param(FbgemmProduct, marks=pytest.mark.skipif(not has_fbgemm(), reason="no FBGEMM here")),
    OneDnnProduct,
]


@pytest.fixture(params=LIBRARIES, autouse=True)
def library(request, monkeypatch):
    monkeypatch.setattr(weights, "has_fbgemm", lambda: request.param is FbgemmProduct)
    return request.param


def layers(bias, inputs=48, outputs=40):
    torch.manual_seed(0)
    linear = nn.Linear(inputs, outputs, bias)
    nn.init.normal_(linear.weight)
    return linear, Int8Linear(linear.weight, linear.bias)


def test_it_is_the_library_that_is_tested(library):
    assert isinstance(layers(bias=True)[1].product, library)


@pytest.mark.parametrize("size", [1e-5, 1, 1e5])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (3, 2)])
@torch.inference_mode()
def test_products_are_near_the_exact_ones(bias, shape, size):
    exact, rounded = layers(bias)
    inputs = torch.randn(*shape, 48) * size
    expected, product = exact(inputs), rounded(inputs)
    assert product.shape == expected.shape
    near = 0.04 if weights.largest_weight() == weights.LARGEST else 0.06
    assert (product - expected).abs().max() < near * (expected - exact(torch.zeros(48))).std()
    assert (product != expected).any(), "it was rounded"


ROWS = {
    "any": lambda rows: rows,
    "none negative": torch.abs,
    "none positive": lambda rows: -rows.abs(),
    "nothing but one": lambda rows: rows * (rows == rows.amax(-1, keepdim=True)),
    "zero": torch.zeros_like,
}


@pytest.mark.parametrize("kind", ROWS)
@torch.inference_mode()
def test_a_token_does_not_depend_on_those_beside_it(kind):
    _, rounded = layers(bias=True)
    tokens = ROWS[kind](torch.randn(5, 48) * torch.tensor([1e-5, 1, 1e5, 1, 1])[:, None])
    together = rounded(tokens[None])[0]
    alone = torch.cat([rounded(token[None]) for token in tokens])
    assert torch.allclose(together, alone, rtol=1e-5, atol=1e-5)


@torch.inference_mode()
def test_channels_have_scales_of_their_own():
    linear = nn.Linear(16, 3, bias=False)
    linear.weight.data = torch.randn(3, 16) * torch.tensor([1e-4, 1, 1e4])[:, None]
    inputs = torch.randn(1, 16)
    expected, product = linear(inputs), Int8Linear(linear.weight, None)(inputs)
    assert torch.allclose(product, expected, rtol=0.1)


@torch.inference_mode()
def test_zeros_give_the_bias():
    exact, rounded = layers(bias=True)
    assert torch.equal(rounded(torch.zeros(2, 48)), exact.bias.expand(2, -1))
    assert torch.equal(Int8Linear(torch.zeros(40, 48), None)(torch.randn(1, 48)), torch.zeros(1, 40))


@torch.inference_mode()
def test_the_transposed_layers_of_old_checkpoints_count_too():
    network = nn.Sequential(Conv1D(40, 48), nn.LayerNorm(40).half())
    inputs = torch.randn(1, 48)
    expected = network[0](inputs)
    quantise(network)
    assert isinstance(network[0], Int8Linear)
    assert network[1].weight.dtype == torch.float32
    assert torch.allclose(network[0](inputs), expected, atol=0.01)


@pytest.mark.parametrize("family", sampled(FAMILIES, 3))
def test_every_family_completes_and_says_nearly_the_same(family, tmp_path):
    folder = c.make(tmp_path, *FAMILIES[family])
    model = load_model(str(folder), bits=8, device="cpu")
    assert any(isinstance(module, Int8Linear) for module in model.network.network.modules())
    assert not any(isinstance(module, nn.Linear) for module in model.network.network.modules())
    tokens = list(range(9, 60))
    candidates = model.network.begin(tokens)
    exact = torch.tensor(logits_by_transformers(folder, tokens)).log_softmax(-1)
    errors = [abs(score - exact[token]) for token, score in zip(*listed(candidates), strict=True)]
    assert max(errors) < 0.2 * exact.std()
    assert completion(model).complete


def listed(candidates):
    return candidates.tokens, candidates.log_probabilities


def test_half_precision_files(tmp_path):
    folder = c.make(tmp_path, lambda size: c.llama(size).half(), c.DEEPSEEK)
    assert completion(load_model(str(folder), bits=8, device="cpu")).complete


CHOICES = [
    ({}, True),
    ({"dtype": "float32"}, False),
    ({"bits": None}, False),
    ({"bits": 8}, True),
]


@pytest.mark.parametrize(("asked", "is_int8"), CHOICES)
def test_large_models_get_it_unless_a_precision_is_asked_for(asked, is_int8, tmp_path, monkeypatch):
    monkeypatch.setattr(placement, "EXACT_ON_CPU_MAX", 1000)
    network = load_model(str(c.make(tmp_path, c.santacoder, c.SANTACODER)), device="cpu", **asked).network
    assert any(isinstance(module, Int8Linear) for module in network.network.modules()) == is_int8


def test_where_torch_cannot_do_it_large_models_stay_exact(tmp_path, monkeypatch):
    monkeypatch.setattr(placement, "EXACT_ON_CPU_MAX", 1000)
    monkeypatch.setattr(placement, "int8_is_possible", lambda: False)
    network = load_model(str(c.make(tmp_path, c.santacoder, c.SANTACODER)), device="cpu").network
    assert not any(isinstance(module, Int8Linear) for module in network.network.modules())
