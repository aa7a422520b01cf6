"""Weights of 8 bits in safetensors files: half the bytes of half precision, for any reader.

A matrix [outputs, inputs] is stored as whole numbers from -127 to 127 under its own name. Under that name
with `_scale` each output has its scale, a 32-bit float. So a row keeps its own largest weight exactly
(the scheme of LLM.int8(), Dettmers et al. 2022, section 2.1, without its outliers). Vectors stay in half
precision. `config.json` declares it (`fimlsp_weight_bits: 8`).

The bundled model's network multiplies with these numbers as they are (`networks/onnx_llama.py`). All other
readers take the products of numbers and scales.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

BITS_KEY = "fimlsp_weight_bits"
SCALE = "_scale"
LARGEST = 127

Weights = dict[str, NDArray[Any]]


def quantised(weights: Mapping[str, NDArray[Any]]) -> Weights:
    """*weights* with each matrix as 8-bit numbers and their scales, and each vector in half precision."""
    stored: Weights = {}
    for name, value in weights.items():
        if value.ndim != 2:
            stored[name] = value.astype(np.float16)
            continue
        matrix = value.astype(np.float32)
        scale = np.maximum(np.abs(matrix).max(axis=1), np.finfo(np.float32).tiny) / np.float32(LARGEST)
        stored[name] = np.rint(matrix / scale[:, None]).astype(np.int8)
        stored[name + SCALE] = scale
    return stored


def read_tensors(paths: Iterable[Path]) -> Weights:
    """The weights in safetensors files; those of 8 bits as 32-bit floats, all others as they are.

    Raises:
        OSError: a file cannot be read.
        safetensors.SafetensorError: a file is damaged.
    """
    stored = stored_tensors(paths)
    return {
        name: value * stored[name + SCALE][:, None] if name + SCALE in stored else value
        for name, value in stored.items()
        if not name.endswith(SCALE)
    }


def stored_tensors(paths: Iterable[Path]) -> Weights:
    """The weights in safetensors files as they are stored.

    Raises:
        OSError: a file cannot be read.
        safetensors.SafetensorError: a file is damaged.
    """
    return {name: value for path in paths for name, value in load_file(path).items()}


def stored_bits(config: Mapping[str, Any]) -> int:
    """The bits of a weight in the files of a checkpoint with *config*."""
    return 8 if config.get(BITS_KEY) == 8 else 16
