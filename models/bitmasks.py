"""Bitmasks as inference engines keep them: a row of words for each text, a set bit for each allowed token."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fimlsp.quotient.masks.vocabulary import WORD_BITS, Bitmask, Vocabulary
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:  # heavy, and an extra
    import torch

    Tensor: TypeAlias = torch.Tensor
    Words: TypeAlias = Tensor | NDArray[np.generic]


def fill_bitmask(bitmask: Words, row: int, state: State, vocabulary: Vocabulary) -> None:
    """Write the mask of *state* into a *row* of a bitmask, whose words have 32 bits as engines allocate them.

    A bitmask of torch must be on the CPU.

    Raises:
        ValueError: the rows have fewer words than the vocabulary needs.
    """
    write_mask(bitmask, row, state.mask(vocabulary))


def write_mask(bitmask: Words, row: int, mask: Bitmask) -> None:
    """Write *mask* into a *row* of a bitmask; tokens that it lacks are refused.

    Raises:
        ValueError: the rows have fewer words than the mask.
    """
    words = bitmask[row] if isinstance(bitmask, np.ndarray) else bitmask[row].numpy()
    if words.shape[-1] < len(mask) or words.dtype.itemsize != mask.dtype.itemsize:
        raise ValueError(
            f"Cannot write {len(mask)} words of 32 bits into a row of {words.shape[-1]} of {words.dtype}."
        )
    words[: len(mask)] = mask.view(words.dtype)
    words[len(mask) :] = 0


def allocate_bitmask(rows: int, tokens: int) -> Tensor:
    """A bitmask of torch on the CPU for a number of *tokens*, with all of them allowed in all *rows*."""
    import torch

    words = -(-tokens // WORD_BITS)
    return torch.full((rows, words), -1, dtype=torch.int32, pin_memory=torch.cuda.is_available())


def apply_bitmask(logits: Tensor, bitmask: Tensor) -> None:
    """Set the *logits* [rows, tokens] of refused tokens to minus infinity in place, on any device.

    The bitmask is on the device of the logits.
    """
    import torch

    shifts = torch.arange(WORD_BITS, dtype=torch.int32, device=bitmask.device)
    allowed = (bitmask.unsqueeze(-1) >> shifts & 1).flatten(-2)[..., : logits.shape[-1]]
    logits[..., : allowed.shape[-1]].masked_fill_(allowed == 0, float("-inf"))
    logits[..., allowed.shape[-1] :] = float("-inf")
