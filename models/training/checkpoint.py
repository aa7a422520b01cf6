"""The network of a training run as a folder: random at first or read again, made wider, and written.

The folder has the common layout of checkpoints, which fimlsp and transformers read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from torch import Tensor

from fimlsp.models.checkpoints.checkpoint_files import BUFFER_KEY, INDEX, PROMPT_KEY, read_files
from fimlsp.models.checkpoints.eight_bits import BITS_KEY, Weights, quantised, read_tensors
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import BUNDLED
from fimlsp.models.networks.llama_shape import LlamaShape
from fimlsp.models.training.examples import END_OF_TEXT, FILE, LEFT, PAD, RIGHT
from fimlsp.models.training.loop import Progress
from fimlsp.models.training.network import Transformer

HEAD = 64
CONTEXT = 1024
PROMPT_TOKENS = 512
PIECE_BYTES = 15 << 20
"""Bytes of tensors in one file of weights, with room for its header below 16 MiB."""

PROGRESS = "fimlsp_progress"

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


def new(sizes: Sizes, tokenizer: Tokenizer) -> Transformer:
    """A network with random weights for the tokens of *tokenizer*."""
    model = Transformer(shape_of(sizes, tokenizer))
    initialise(model)
    return model


def trained_before(name: str) -> tuple[Transformer, Tokenizer]:
    """The network and the tokenizer of the folder *name*, or of the `bundled` model.

    Raises:
        ModelError: the folder is damaged, or contains a model that this command did not make.
    """
    files = read_files(BUNDLED if name == "bundled" else Path(name), name)
    try:
        model = Transformer(LlamaShape.from_config(files.config))
        tensors = read_tensors(files.weights)
        model.load_state_dict({key: torch.from_numpy(value) for key, value in tensors.items()})
        if any(files.tokenizer.token_to_id(marker) is None for marker in (END_OF_TEXT, LEFT, RIGHT, PAD)):
            raise KeyError(END_OF_TEXT)
    except (KeyError, RuntimeError) as error:
        raise ModelError(
            f"{name} was not made by this command, so it cannot be trained further; "
            "start from `bundled` or from a folder that `fimlsp train` wrote."
        ) from error
    return model, files.tokenizer


def interrupted(folder: Path) -> tuple[Transformer, Tokenizer, Progress]:
    """The network, the tokenizer and the progress of a run in *folder* that has not ended.

    Raises:
        ModelError: there is no such run, or it has ended.
    """
    progress = read_progress(folder)
    if progress.share >= 1:
        raise ModelError(
            f"The run in {folder} has ended. Use --start-from {folder} to train its model further."
        )
    return *trained_before(str(folder)), progress


def read_progress(folder: Path) -> Progress:
    """The progress of the run that wrote *folder*.

    Raises:
        ModelError: there was no such run.
    """
    try:
        return Progress(**json.loads((folder / INDEX).read_text())["metadata"][PROGRESS])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError(
            f"Cannot read the progress of a run in {folder}: {error}. Give a folder of `fimlsp train run`."
        ) from error


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


def save(model: Transformer, tokenizer: Tokenizer, folder: Path, progress: Progress, bits: int = 16) -> None:
    """Write `config.json`, the tokenizer, and weights of 8 or 16 *bits* in files below 16 MiB.

    The index of the weights also has the progress. It is replaced at once, when all else is written, and only
    then are the files of older weights deleted. So the folder is whole whenever the process ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    values = {name: value.detach().cpu().numpy() for name, value in model.state_dict().items()}
    stored = (
        quantised(values) if bits == 8 else {name: value.astype(np.float16) for name, value in values.items()}
    )
    pieces = list(_pieces(stored))
    names = [
        f"step-{progress.steps}-{number:05}-of-{len(pieces):05}.safetensors"
        for number in range(1, len(pieces) + 1)
    ]
    for name, piece in zip(names, pieces, strict=True):
        save_file(piece, folder / name, metadata={"format": "pt"})
    texts = {
        "config.json": _json(_config(model.shape, tokenizer, bits)),
        "tokenizer_config.json": _json(_tokenizer_config(model.shape, tokenizer)),
        "tokenizer.json": tokenizer.to_str(),
        INDEX: _json(
            {
                "metadata": {
                    "total_size": sum(value.nbytes for value in stored.values()),
                    PROGRESS: asdict(progress),
                },
                "weight_map": {key: name for name, piece in zip(names, pieces, strict=True) for key in piece},
            }
        ),
    }
    for name, text in texts.items():
        unfinished = folder / f"{name}.unfinished"
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(folder / name)
    for path in folder.glob("*.safetensors"):
        if path.name not in names:
            path.unlink()


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1) + "\n"


def _pieces(weights: Mapping[str, NDArray[Any]]) -> Iterator[Weights]:
    """*weights* in groups of at most `PIECE_BYTES`; a larger tensor is alone."""
    piece: Weights = {}
    for name, value in weights.items():
        if piece and sum(other.nbytes for other in piece.values()) + value.nbytes > PIECE_BYTES:
            yield piece
            piece = {}
        piece[name] = np.ascontiguousarray(value)
    yield piece


def _config(shape: LlamaShape, tokenizer: Tokenizer, bits: int) -> dict[str, Any]:
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
        PROMPT_KEY: PROMPT_TOKENS,
        **({BITS_KEY: 8} if bits == 8 else {}),
        "bos_token_id": end,
        "eos_token_id": end,
        "pad_token_id": tokenizer.token_to_id(PAD),
    }


def _tokenizer_config(shape: LlamaShape, tokenizer: Tokenizer) -> dict[str, Any]:
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": shape.max_position_embeddings,
        "bos_token": END_OF_TEXT,
        "eos_token": END_OF_TEXT,
        "pad_token": PAD,
        "additional_special_tokens": [
            marker for marker in (LEFT, RIGHT, FILE) if tokenizer.token_to_id(marker) is not None
        ],
        "clean_up_tokenization_spaces": False,
    }
