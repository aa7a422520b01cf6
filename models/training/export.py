"""Writes a trained model as a checkpoint folder in the common layout, readable here and by transformers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

from fimlsp.models.checkpoints.checkpoint_files import BUFFER_KEY
from fimlsp.models.networks.numpy.shape import Shape
from fimlsp.models.training.data.tokenizer import END_OF_TEXT, LEFT, PAD, RIGHT
from fimlsp.models.training.network import Transformer


def save(model: Transformer, tokenizer: Tokenizer, folder: Path) -> None:
    """Write `config.json`, the tokenizer and half-precision weights into *folder*."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(folder / "config.json", _config(model.shape, tokenizer))
    _write_json(folder / "tokenizer_config.json", _tokenizer_config(model.shape))
    tokenizer.save(str(folder / "tokenizer.json"))
    weights = {name: value.half().contiguous() for name, value in model.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def _config(shape: Shape, tokenizer: Tokenizer) -> dict[str, Any]:
    end = tokenizer.token_to_id(END_OF_TEXT)
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": str(torch.float16).removeprefix("torch."),
        "vocab_size": shape.vocab_size,
        "hidden_size": shape.hidden_size,
        "intermediate_size": shape.intermediate_size,
        "num_hidden_layers": shape.num_hidden_layers,
        "num_attention_heads": shape.num_attention_heads,
        "num_key_value_heads": shape.num_key_value_heads,
        "head_dim": shape.head_dim,
        "max_position_embeddings": shape.max_position_embeddings,
        "rope_theta": shape.rope_theta,
        "rms_norm_eps": shape.rms_norm_eps,
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        BUFFER_KEY: True,
        "bos_token_id": end,
        "eos_token_id": end,
        "pad_token_id": tokenizer.token_to_id(PAD),
    }


def _tokenizer_config(shape: Shape) -> dict[str, Any]:
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
