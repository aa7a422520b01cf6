"""Writes a small model of our own as a GGUF file, for llama.cpp and programs built on it.

- Weights are written in full precision, or in 8 bits, where a token takes half the time. Below full precision
  llama.cpp also rounds the activations, and its logits differ from ours by more than 0.01.
- llama.cpp rotates neighbouring coordinates of a head in pairs, the checkpoint its two halves. So the rows of
  queries and keys are reordered.
- llama.cpp lacks the splitting rule of our tokenizer. `NEAREST_SPLIT`, which splits at numbers alone, gives
  99 % of our tokens. Clients that need all of them send token ids: the tokenizer is in the file too, as
  `tokenizer.huggingface.json`.

Format and keys: `docs/gguf.md` of github.com/ggml-org/ggml.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from fimlsp.models.checkpoints.checkpoint_files import BUFFER_KEY, BUNDLED, CheckpointFiles, read_files
from fimlsp.models.checkpoints.eight_bits import read_tensors
from fimlsp.models.checkpoints.hub import find_folder
from fimlsp.models.confidence import FILE_NAME
from fimlsp.models.errors import ModelError, require
from fimlsp.models.networks.llama_shape import LlamaShape, is_supported
from fimlsp.models.prompts.fim_format import FimFormat, find_format
from fimlsp.models.remote.model_file import ESTIMATE_KEY, PROMPT_KEY

if TYPE_CHECKING:
    from gguf import GGUFWriter

Array = NDArray[Any]

OUR_FAMILIES = ("fimlsp", "fimlsp with files")
NEAREST_SPLIT = "superbpe"
TENSORS = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
}
LAYER_TENSORS = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def export_gguf(name_or_path: str, target: Path, bits: int = 32) -> int:
    """Write the model *name_or_path* into the file *target*; returns its size in bytes.

    Args:
        name_or_path: `bundled`, or a folder made by `fimlsp train`.
        target: a file that does not exist.
        bits: 32, or 8 for matrices of 8-bit numbers in blocks of 32 with one scale each (`Q8_0`).

    Raises:
        ModelError: the model is another, the package `gguf` is missing, or the file cannot be written.
    """
    files = read_files(BUNDLED if name_or_path == "bundled" else find_folder(name_or_path), name_or_path)
    fim = _our_format(files)
    require("gguf", "Cannot write GGUF files without llama.cpp's package")
    from gguf import GGMLQuantizationType, GGUFWriter, quantize

    partial = target.with_name(f"{target.name}.partial")
    try:
        if target.exists():
            raise ModelError(f"Cannot write {target}: it already exists. Choose another name or delete it.")
        writer = GGUFWriter(partial, "llama")
        _add_sizes(writer, files, bits)
        _add_vocabulary(writer, files.tokenizer, fim, LlamaShape.from_config(files.config).vocab_size)
        for tensor, value in _tensors(files).items():
            if bits == 8 and value.ndim == 2:
                eight = GGMLQuantizationType.Q8_0
                writer.add_tensor(tensor, quantize(value, eight), raw_dtype=eight)
            else:
                writer.add_tensor(tensor, value)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        partial.replace(target)
    except OSError as error:
        raise ModelError(f"Cannot write {target}: {error}. Choose another folder.") from error
    finally:
        partial.unlink(missing_ok=True)
    return target.stat().st_size


def _our_format(files: CheckpointFiles) -> FimFormat:
    """The markers of a model of our own.

    Raises:
        ModelError: the model is another.
    """
    if is_supported(files.config, files.weights):
        fim = find_format(files.tokenizer.get_vocab(), files.name, architecture=files.architecture)
        if fim.family in OUR_FAMILIES:
            return fim
    raise ModelError(
        f"Cannot export {files.name}: only the bundled model and those of `fimlsp train` can be exported. "
        f"Use a GGUF of `fimlsp models list`, or convert it with llama.cpp's convert_hf_to_gguf.py."
    )


def _add_sizes(writer: GGUFWriter, files: CheckpointFiles, bits: int) -> None:
    from gguf import LlamaFileType

    shape = LlamaShape.from_config(files.config)
    writer.add_name("fimlsp bundled" if files.folder == BUNDLED else files.folder.resolve().name)
    writer.add_description("A small fill-in-the-middle model for Python, made by fimlsp train")
    writer.add_file_type(LlamaFileType.MOSTLY_Q8_0 if bits == 8 else LlamaFileType.ALL_F32)
    writer.add_vocab_size(shape.vocab_size)
    writer.add_context_length(shape.max_position_embeddings)
    writer.add_embedding_length(shape.hidden_size)
    writer.add_feed_forward_length(shape.intermediate_size)
    writer.add_block_count(shape.num_hidden_layers)
    writer.add_head_count(shape.num_attention_heads)
    writer.add_head_count_kv(shape.num_key_value_heads)
    writer.add_key_length(shape.head_dim)
    writer.add_value_length(shape.head_dim)
    writer.add_rope_dimension_count(shape.head_dim)
    writer.add_rope_freq_base(shape.rope_theta)
    writer.add_layer_norm_rms_eps(shape.rms_norm_eps)
    writer.add_bool(f"fimlsp.{BUFFER_KEY.removeprefix('fimlsp_')}", files.asks_for_buffer)
    if files.prompt_tokens is not None:
        writer.add_uint32(PROMPT_KEY, files.prompt_tokens)
    estimate = files.folder / FILE_NAME
    if estimate.is_file():
        writer.add_string(ESTIMATE_KEY, estimate.read_text(encoding="utf-8"))


def _add_vocabulary(writer: GGUFWriter, tokenizer: Tokenizer, fim: FimFormat, size: int) -> None:
    from gguf import Keys, TokenType

    texts = {token: text for text, token in tokenizer.get_vocab(with_added_tokens=True).items()}
    added = tokenizer.get_added_tokens_decoder()

    def kind(token: int) -> TokenType:
        if token not in texts:
            return TokenType.UNUSED
        if token not in added:
            return TokenType.NORMAL
        return TokenType.CONTROL if added[token].special else TokenType.USER_DEFINED

    serialized = json.loads(tokenizer.to_str())
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(NEAREST_SPLIT)
    writer.add_token_list([texts.get(token, f"[PAD{token}]") for token in range(size)])
    writer.add_token_types([kind(token) for token in range(size)])
    writer.add_token_merges([" ".join(pair) for pair in serialized["model"]["merges"]])
    writer.add_string(Keys.Tokenizer.HF_JSON, tokenizer.to_str())
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)
    (end,) = fim.stops
    writer.add_bos_token_id(end)
    writer.add_eos_token_id(end)
    pad = tokenizer.token_to_id("<|pad|>")
    writer.add_pad_token_id(end if pad is None else pad)
    writer.add_uint32(Keys.Tokenizer.FIM_PRE_ID, fim.marker_ids["<|left|>"])
    writer.add_uint32(Keys.Tokenizer.FIM_SUF_ID, fim.marker_ids["<|right|>"])


def _tensors(files: CheckpointFiles) -> Mapping[str, Array]:
    """The weights under llama.cpp's names, in its order of rows."""
    shape = LlamaShape.from_config(files.config)
    weights = read_tensors(files.weights)
    tensors = {
        f"{gguf_name}.weight": weights[f"{name}.weight"]
        for name, gguf_name in TENSORS.items()
        if f"{name}.weight" in weights
    }
    for layer in range(shape.num_hidden_layers):
        for name, gguf_name in LAYER_TENSORS.items():
            tensors[f"blk.{layer}.{gguf_name}.weight"] = weights[f"model.layers.{layer}.{name}.weight"]
        for gguf_name in ("attn_q", "attn_k"):
            key = f"blk.{layer}.{gguf_name}.weight"
            tensors[key] = _in_pairs(tensors[key], shape.head_dim)
    return {name: value.astype(np.float32) for name, value in tensors.items()}


def _in_pairs(matrix: Array, head_dim: int) -> Array:
    """The rows [heads * head_dim, inputs] of *matrix*, with those that are rotated together side by side."""
    halves = matrix.reshape(-1, 2, head_dim // 2, matrix.shape[1])
    return np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(matrix.shape)
