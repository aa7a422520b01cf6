"""Small GGUF files with the metadata of real ones, written with llama.cpp's package; one tensor."""

import numpy as np
from gguf import GGUFWriter, Keys, TokenType

from . import tiny_checkpoints as c

QWEN = [*c.QWEN, "<|im_start|>", "<|im_end|>"]


def write_gguf(path, markers, architecture="llama", kind="gpt2", marker_type=TokenType.CONTROL, **values):
    """A file at *path* with a vocabulary of the *markers* and a few texts; *values* with `__` for dots."""
    texts = ["a", "Ġx", "Ċ", "é"] if kind == "gpt2" else ["<0x0A>", "▁x", "a"]
    types = [marker_type] * len(markers) + [TokenType.NORMAL] * len(texts)
    writer = GGUFWriter(path, architecture)
    writer.add_context_length(2048)
    writer.add_tokenizer_model(kind)
    writer.add_token_list([*markers, *texts])
    writer.add_token_types(types)
    for key, value in values.items():
        add(writer, key.replace("__", "."), value)
    writer.add_tensor("token_embd.weight", np.zeros((len(types), 32), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def add(writer, key, value):
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, list):
        writer.add_array(key, value)
    else:
        writer.add_string(key, value)


def markers_of(prefix, suffix, middle, **others):
    """Metadata that names these token ids."""
    ids = {Keys.Tokenizer.FIM_PRE_ID: prefix, Keys.Tokenizer.FIM_SUF_ID: suffix} | others
    return {
        key.replace(".", "__"): token for key, token in (ids | {Keys.Tokenizer.FIM_MID_ID: middle}).items()
    }
