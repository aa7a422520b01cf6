"""A decoder-only transformer of the Llama family, small enough to read and fast enough for one CPU core.

`fimlsp train` trains it, and `fimlsp.models.networks.onnx_llama` decodes with the result. Parameter names
are those of transformers' Llama classes, so a checkpoint made here loads there; a test compares the logits.

Architecture: pre-norm blocks with root-mean-square normalisation (Zhang and Sennrich 2019), rotary
positions (Su et al. 2021, halves rotated against each other), grouped queries (Ainslie et al. 2023), gated
SiLU feed-forward (Shazeer 2020).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from fimlsp.models.networks.llama_shape import LlamaShape

QUERY_BLOCK = 128

Rotation = tuple[Tensor, Tensor]


def rotation(shape: LlamaShape, length: int) -> Rotation:
    """Cosines and sines of the positions 0..length-1, each [length, head_dim]."""
    frequency = shape.rope_theta ** (-torch.arange(0, shape.head_dim, 2).float() / shape.head_dim)
    angle = torch.outer(torch.arange(length).float(), frequency).repeat(1, 2)
    return angle.cos(), angle.sin()


def rotate(x: Tensor, turn: Rotation) -> Tensor:
    """Rotate the halves of each head of *x* [..., positions, head_dim] by the angles of its position."""
    first, second = x.chunk(2, dim=-1)
    return x * turn[0].to(x.dtype) + torch.cat((-second, first), dim=-1) * turn[1].to(x.dtype)


class Attention(nn.Module):
    """Causal self-attention with grouped queries."""

    def __init__(self, shape: LlamaShape) -> None:
        super().__init__()
        self.shape = shape
        queries = shape.num_attention_heads * shape.head_dim
        keys = shape.num_key_value_heads * shape.head_dim
        self.q_proj = nn.Linear(shape.hidden_size, queries, bias=False)
        self.k_proj = nn.Linear(shape.hidden_size, keys, bias=False)
        self.v_proj = nn.Linear(shape.hidden_size, keys, bias=False)
        self.o_proj = nn.Linear(queries, shape.hidden_size, bias=False)

    def forward(self, x: Tensor, turn: Rotation) -> Tensor:
        """Mix *x* [batch, positions, hidden] over the positions up to each."""
        heads = (*x.shape[:2], -1, self.shape.head_dim)
        query = rotate(self.q_proj(x).view(heads).transpose(1, 2), turn)
        key = rotate(self.k_proj(x).view(heads).transpose(1, 2), turn)
        value = self.v_proj(x).view(heads).transpose(1, 2)
        mix = in_blocks if x.device.type == "cpu" and torch.compiler.is_compiling() else fused
        output: Tensor = self.o_proj(mix(query, key, value).transpose(1, 2).flatten(2))
        return output


def fused(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Values mixed for *query* [batch, heads, positions, head_dim]; *key* and *value* have fewer heads."""
    groups = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    return functional.scaled_dot_product_attention(query, key, value, is_causal=True)


def in_blocks(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The same result as `fused`, and faster on a CPU once compiled.

    It works block by block, with only the keys before the end of a block. The heads that share keys are rows
    of one product, next to each other for each position.
    """
    batch, heads, length, size = query.shape
    n_keys = key.shape[1]
    groups = heads // n_keys
    rows = (query * size**-0.5).view(batch, n_keys, groups, length, size).transpose(2, 3).flatten(0, 1)
    key, value = key.flatten(0, 1).transpose(1, 2), value.flatten(0, 1)
    mixed: list[Tensor] = []  # `list[Tensor]()` would end the compiled graph here
    for begin in range(0, length, QUERY_BLOCK):
        end = min(begin + QUERY_BLOCK, length)
        scores = rows[:, begin:end].flatten(1, 2) @ key[:, :, :end]
        later = torch.ones(end - begin, end, dtype=torch.bool, device=scores.device).triu(begin + 1)
        hidden = scores.float().masked_fill(later.repeat_interleave(groups, 0), -math.inf)
        block = hidden.softmax(-1).to(value.dtype) @ value[:, :end]
        mixed.append(block.view(batch, n_keys, end - begin, groups, size))
    return torch.cat(mixed, dim=2).transpose(2, 3).flatten(1, 2)


class FeedForward(nn.Module):
    """Gated feed-forward layer."""

    def __init__(self, shape: LlamaShape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.up_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.down_proj = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Transform each position of *x* [..., hidden] alone."""
        output: Tensor = self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))
        return output


class Block(nn.Module):
    """One residual layer: attention, then feed-forward."""

    def __init__(self, shape: LlamaShape) -> None:
        super().__init__()
        self.input_layernorm = nn.RMSNorm(shape.hidden_size, shape.rms_norm_eps)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = nn.RMSNorm(shape.hidden_size, shape.rms_norm_eps)
        self.mlp = FeedForward(shape)

    def forward(self, x: Tensor, turn: Rotation) -> Tensor:
        """Refine *x* [batch, positions, hidden]."""
        x = x + self.self_attn(self.input_layernorm(x), turn)
        refined: Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return refined


class Stack(nn.Module):
    """Embedding, blocks and last normalisation: everything except the output layer."""

    def __init__(self, shape: LlamaShape) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(shape.vocab_size, shape.hidden_size)
        self.layers = nn.ModuleList(Block(shape) for _ in range(shape.num_hidden_layers))
        self.norm = nn.RMSNorm(shape.hidden_size, shape.rms_norm_eps)

    def forward(self, ids: Tensor, turn: Rotation) -> Tensor:
        """Hidden states [batch, positions, hidden] of *ids* [batch, positions]."""
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, turn)
        hidden: Tensor = self.norm(x)
        return hidden


class Transformer(nn.Module):
    """The whole network; the output layer is the embedding (tied)."""

    def __init__(self, shape: LlamaShape) -> None:
        super().__init__()
        self.shape = shape
        self.model = Stack(shape)
        self.cosine: Tensor
        self.sine: Tensor
        cosine, sine = rotation(shape, shape.max_position_embeddings)
        self.register_buffer("cosine", cosine, persistent=False)
        self.register_buffer("sine", sine, persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits [batch, positions, vocabulary] of the token after each of *ids* [batch, positions]."""
        length = ids.shape[1]
        hidden = self.model(ids, (self.cosine[:length], self.sine[:length]))
        return functional.linear(hidden, self.model.embed_tokens.weight)
