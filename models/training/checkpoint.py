"""The network of a training run as a folder: random at first or read again, made wider, and written.

The folder has the common layout of checkpoints, which fimlsp and transformers read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor

from fimlsp.models.checkpoints.checkpoint_files import BUFFER_KEY, read_files
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import BUNDLED
from fimlsp.models.networks.numpy_llama import LlamaShape
from fimlsp.models.training.corpus import SourceFile
from fimlsp.models.training.examples import END_OF_TEXT, LEFT, PAD, RIGHT, SPECIAL, Examples, train_tokenizer
from fimlsp.models.training.network import Transformer

HEAD = 64
CONTEXT = 1024
TOKENIZER_PASSAGES, TOKENIZER_PASSAGE = 4000, 6000

NOISE = 0.5
"""Standard deviation of the noise of `widened`, in those of the matrix that it is added to."""

_ONE_HEAD = ("k_proj.weight", "v_proj.weight")
_EMBEDDING, _LAST_NORM = "model.embed_tokens.weight", "model.norm.weight"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of a new network: tokens, width (a multiple of 64), layers."""

    vocabulary: int = 4096
    width: int = 192
    layers: int = 6


def new(sizes: Sizes, files: Sequence[SourceFile]) -> tuple[Transformer, Tokenizer]:
    """A network with random weights, and a tokenizer learnt from *files*."""
    tokenizer = make_tokenizer(files, sizes.vocabulary)
    model = Transformer(shape_of(sizes, tokenizer))
    initialise(model)
    return model, tokenizer


def make_tokenizer(files: Sequence[SourceFile], size: int) -> Tokenizer:
    """A tokenizer of *size* tokens learnt from 24 MB, drawn in the same way as training examples."""
    drawn = Examples(files, train_tokenizer([], 260), Random(0))
    passages = (drawn.passage(TOKENIZER_PASSAGE) for _ in range(TOKENIZER_PASSAGES))
    return train_tokenizer(passages, size)


def shape_of(sizes: Sizes, tokenizer: Tokenizer) -> LlamaShape:
    """The shape of a network: heads of 64, one head of keys and values, a feed-forward layer 8/3 as wide."""
    return LlamaShape(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=sizes.width,
        intermediate_size=-(-sizes.width * 8 // 3 // HEAD) * HEAD,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.width // HEAD,
        num_key_value_heads=1,
        head_dim=HEAD,
        max_position_embeddings=CONTEXT,
    )


def initialise(model: Transformer) -> None:
    """Make every block start as the identity, and every next token about equally likely."""
    torch.nn.init.normal_(model.model.embed_tokens.weight, std=0.02)
    for name, parameter in model.named_parameters():
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            torch.nn.init.zeros_(parameter)


def trained_before(name: str) -> tuple[Transformer, Tokenizer]:
    """The network and the tokenizer of the folder *name*, or of the `bundled` model.

    Raises:
        ModelError: the folder is damaged, or contains a model that this command did not make.
    """
    files = read_files(BUNDLED if name == "bundled" else Path(name), name)
    try:
        model = Transformer(LlamaShape.from_config(files.config))
        tensors = {key: value for path in files.weights for key, value in load_file(path).items()}
        model.load_state_dict(tensors)
        if any(files.tokenizer.token_to_id(marker) is None for marker in SPECIAL):
            raise KeyError(SPECIAL)
    except (KeyError, RuntimeError) as error:
        raise ModelError(
            f"{name} was not made by this command, so it cannot be trained further; "
            "start from `bundled` or from a folder that `fimlsp train` wrote."
        ) from error
    return model, files.tokenizer


def widened(model: Transformer) -> Transformer:
    """A network twice as wide as *model* with the same logits and room to learn more.

    Every hidden feature, query head and unit of the feed-forward layers gets a twin (HyperCloning, Samragh et
    al. 2024, after Net2Net, Chen et al. 2016). Noise lets the twins diverge in training. It is added to the
    weights of a feature and subtracted from those of its twin, so it cancels out at first. *model* must have
    one head of keys and values.
    """
    shape = model.shape
    wide = Transformer(
        replace(
            shape,
            hidden_size=2 * shape.hidden_size,
            intermediate_size=2 * shape.intermediate_size,
            num_attention_heads=2 * shape.num_attention_heads,
        )
    )
    noise = torch.Generator().manual_seed(0)
    wide.load_state_dict(
        {name: _twinned(name, weight.detach(), noise) for name, weight in model.state_dict().items()}
    )
    return wide


def _twinned(name: str, weight: Tensor, noise: torch.Generator) -> Tensor:
    """The weights (outputs, inputs) or (features,) of *name*, for twice as many features."""
    if name == _EMBEDDING:
        return torch.cat([weight, weight], dim=1)
    if name == _LAST_NORM:  # the output layer, which is the embedding, sums over twice as many features
        return torch.cat([weight, weight]) / 2
    if weight.ndim == 1:
        return torch.cat([weight, weight])
    outputs = weight if name.endswith(_ONE_HEAD) else torch.cat([weight, weight])
    apart = torch.randn(outputs.shape, generator=noise) * weight.std() * NOISE
    return torch.cat([outputs / 2 + apart, outputs / 2 - apart], dim=1)


def save(model: Transformer, tokenizer: Tokenizer, folder: Path) -> None:
    """Write `config.json`, the tokenizer and half-precision weights into *folder*."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(folder / "config.json", _config(model.shape, tokenizer))
    _write_json(folder / "tokenizer_config.json", _tokenizer_config(model.shape))
    tokenizer.save(str(folder / "tokenizer.json"))
    weights = {name: value.half().contiguous() for name, value in model.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def _config(shape: LlamaShape, tokenizer: Tokenizer) -> dict[str, Any]:
    end = tokenizer.token_to_id(END_OF_TEXT)
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": str(torch.float16).removeprefix("torch."),
        **asdict(shape),
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        BUFFER_KEY: True,
        "bos_token_id": end,
        "eos_token_id": end,
        "pad_token_id": tokenizer.token_to_id(PAD),
    }


def _tokenizer_config(shape: LlamaShape) -> dict[str, Any]:
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": shape.max_position_embeddings,
        "bos_token": END_OF_TEXT,
        "eos_token": END_OF_TEXT,
        "pad_token": PAD,
        "additional_special_tokens": [LEFT, RIGHT],
        "clean_up_tokenization_spaces": False,
    }


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")
