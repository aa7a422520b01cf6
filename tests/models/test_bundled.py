"""The bundled model loads alone, agrees with transformers, and writes text that connects in real Python."""

import ast
import inspect
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from fimlsp.languages.python import python
from fimlsp.models.checkpoints.eight_bits import read_tensors
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import BUNDLED, load_model
from fimlsp.quotient.engine import Engine

from ..sampling import sampled

SIZE_MAX = 45_000_000


@pytest.fixture(scope="module")
def model():
    return load_model()


@pytest.fixture(scope="module")
def engine():
    return Engine(python())


def test_it_is_small_and_says_what_it_is(model):
    assert sum(path.stat().st_size for path in BUNDLED.iterdir() if path.is_file()) <= SIZE_MAX
    assert (model.name, model.device, model.fim.family) == ("bundled", "cpu", "fimlsp with files")
    assert "one GPU" in (BUNDLED / "README.md").read_text()


@pytest.fixture(scope="module")
def by_transformers():
    """The logits of each prefix of a text, and its tokens, as transformers computes them with 32 bits."""
    tokens = load_model().vocabulary.encode(inspect.getsource(ast.NodeVisitor))[:400]
    weights = read_tensors(sorted(BUNDLED.glob("*.safetensors")))
    network = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(BUNDLED), dtype=torch.float32)
    network.load_state_dict({key: torch.from_numpy(value) for key, value in weights.items()}, strict=False)
    network.tie_weights()
    with torch.inference_mode():
        return network(torch.tensor([tokens])).logits[0].numpy(), tokens


def test_it_computes_what_transformers_does_in_32_bits(by_transformers):
    expected, tokens = by_transformers
    network = load_model(dtype="float32").network
    network.begin(tokens[:-1])
    assert np.abs(network.logits(tokens[-1:]) - expected[-1]).max() < 1e-3


@pytest.mark.slow
def test_it_predicts_nearly_the_same_in_8_bits(model, by_transformers):
    logits, tokens = by_transformers
    expected = torch.from_numpy(logits).log_softmax(-1).numpy()
    predicted = np.stack([model.network.log_probabilities(tokens[: n + 1]) for n in range(len(tokens))])
    following = np.arange(len(tokens) - 1), tokens[1:]
    assert abs(predicted[following].mean() - expected[following].mean()) < 0.02
    assert (predicted.argmax(-1) == expected.argmax(-1)).mean() > 0.95


def test_it_runs_without_the_large_libraries():
    code = (
        "import sys, fimlsp.models.completion; from fimlsp.models.loading import load_model; load_model();"
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


BUFFERS = [
    "import os\n\ndef read(path):\n    with open(<|>\n        return file.read()\n",
    "import os\n\ndef read(path):\n    with open(<|>) as file:\n        return file.read()\n",
    "class A:\n    def __init__(self, a):\n        <|>\n\n    def b(self):\n        return self.a\n",
    "x = [<|>]\n",
    "if x:<|>",
    "<|>",
    "# <|>\nx = 1\n",
    'text = f"{na<|>}"\n',
    "def f():\n    '''Give <|> back.'''\n",
    "größe = 1\nprint(grö<|>)\n",
    "try:\n    run()\n<|>\nprint('done')\n",
]


@pytest.mark.parametrize("lines", [1, 4, None])
@pytest.mark.parametrize("buffer", sampled(BUFFERS, 3))
def test_what_it_writes_connects(model, engine, buffer, lines):
    left, right = (side.encode() for side in buffer.split("<|>"))
    start = engine.document(left + right).middle(len(left), len(left)).start
    for tokens in (1, 5, 40):
        (middle,) = complete_many(
            model, left, right, start, DecodeSettings(tokens=tokens, lines=lines), lambda: False
        )
        assert middle.complete
        ast.parse(left + middle.text + right)


def test_the_same_buffer_gets_the_same_completion(model, engine):
    left, right = b"def area(width, height):\n    return wid", b"\n"
    start = engine.document(left + right).middle(len(left), len(left)).start
    results = [complete_many(model, left, right, start, DecodeSettings(), lambda: False) for _ in range(3)]
    assert len({middle.text for (middle,) in results}) == 1


def test_what_was_not_read_to_the_end_is_read_again(monkeypatch):
    network, text = load_model().network, [5, 6, 7, 8, 9]
    expected = network.begin(text)
    network.begin([5, 6, 50, 51, 52])
    with monkeypatch.context() as broken:
        broken.setattr(network, "_session", mock.Mock(run_with_iobinding=mock.Mock(side_effect=MemoryError)))
        with pytest.raises(MemoryError):
            network.begin(text)
    candidates = network.begin(text)
    assert candidates.tokens == expected.tokens
    np.testing.assert_allclose(candidates.log_probabilities, expected.log_probabilities, atol=1e-4)
