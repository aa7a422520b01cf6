"""Starts a training run from random weights, or from those of a model that was trained before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from safetensors.torch import load_file
from tokenizers import Tokenizer

from fimlsp.models.checkpoints.checkpoint_files import read_files
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import BUNDLED
from fimlsp.models.networks.numpy.shape import Shape
from fimlsp.models.training.data.corpus import SourceFile
from fimlsp.models.training.data.examples import Examples
from fimlsp.models.training.data.tokenizer import SPECIAL, train_tokenizer
from fimlsp.models.training.loop import initialise
from fimlsp.models.training.network import Transformer

HEAD = 64
CONTEXT = 1024
TOKENIZER_PASSAGES, TOKENIZER_PASSAGE = 4000, 6000


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
    """A tokenizer of *size* tokens learnt from 24 MB drawn as training examples are."""
    drawn = Examples(files, train_tokenizer([], 260), Random(0))
    passages = (drawn.passage(TOKENIZER_PASSAGE) for _ in range(TOKENIZER_PASSAGES))
    return train_tokenizer(passages, size)


def shape_of(sizes: Sizes, tokenizer: Tokenizer) -> Shape:
    """The shape of a network: heads of 64, one head of keys and values, a feed-forward layer 8/3 as wide."""
    return Shape(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=sizes.width,
        intermediate_size=-(-sizes.width * 8 // 3 // HEAD) * HEAD,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.width // HEAD,
        num_key_value_heads=1,
        head_dim=HEAD,
        max_position_embeddings=CONTEXT,
    )


def trained_before(name: str) -> tuple[Transformer, Tokenizer]:
    """The network and the tokenizer of the folder *name*, or of the `bundled` model.

    Raises:
        ModelError: the folder is damaged, or holds a model that this command did not make.
    """
    files = read_files(BUNDLED if name == "bundled" else Path(name), name)
    try:
        model = Transformer(Shape.from_config(files.config))
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
