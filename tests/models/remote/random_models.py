"""GGUF models with random weights and the vocabularies of three families, as llama.cpp runs them."""

from itertools import product

import numpy as np
from gguf import GGUFWriter, TokenType

from fimlsp.models.prompts.vocabulary import BYTE_OF_CHARACTER

from .. import tiny_checkpoints as c
from ..gguf_files import markers_of

WIDTH, LAYERS, HEADS, CONTEXT = 64, 2, 2, 512
STARCODER2_SIZE, GEMMA_SIZE = 49_152, 262_144
"""As many tokens as StarCoder2 has, and as Gemma has."""

LONGEST_LIST = 65_000
"""As many tokens as these vocabularies have at most, beside markers."""

OWN_MARKERS = ["<|endoftext|>", "<OWN_BEFORE>", "<OWN_AFTER>", "<OWN_HERE>"]
WORDS = ("def", "return", "self", "import", "for", "in", "if", "not", "print", "name", "value", "x", "y")
PAIRS = [(a, b) for a, b in product("ĠĊ()[]:,.='\"", repeat=2)]
_LETTERS = {byte: character for character, byte in BYTE_OF_CHARACTER.items()}


def write_model(path, tokens, types, *, kind, seed=0, certainty=1.0, **metadata):
    """A Llama of a few thousand weights, drawn with *seed*, at *path*; its logits times *certainty*."""
    random, writer = np.random.default_rng(seed), GGUFWriter(path, "llama")
    writer.add_vocab_size(len(tokens))
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_tokenizer_model(kind)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    for name, value in metadata.items():
        if "__" in name:
            writer.add_uint32(name.replace("__", "."), value)
        else:
            getattr(writer, f"add_{name}")(value)
    shapes = {"token_embd.weight": (len(tokens), WIDTH), "output_norm.weight": (WIDTH,)}
    for layer in range(LAYERS):
        for name, shape in LAYER.items():
            shapes[f"blk.{layer}.{name}.weight"] = shape
    for name, shape in shapes.items():
        flat = len(shape) == 1
        weights = np.ones(shape) if flat else 0.3 * random.normal(size=shape)
        scale = certainty if name == "output_norm.weight" else 1.0
        writer.add_tensor(name, (scale * weights).astype("f4"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


LAYER = {
    "attn_norm": (WIDTH,),
    "attn_q": (WIDTH, WIDTH),
    "attn_k": (WIDTH // HEADS, WIDTH),
    "attn_v": (WIDTH // HEADS, WIDTH),
    "attn_output": (WIDTH, WIDTH),
    "ffn_norm": (WIDTH,),
    "ffn_gate": (2 * WIDTH, WIDTH),
    "ffn_up": (2 * WIDTH, WIDTH),
    "ffn_down": (WIDTH, 2 * WIDTH),
}


def merged(wanted, size):
    """Tokens of single bytes, then of longer texts, up to *size*; and the merges that make them."""
    tokens = [_LETTERS[byte] for byte in range(256)]
    known, merges = set(tokens), []

    def add(first, second):
        if first + second not in known and len(tokens) < size:
            tokens.append(first + second)
            known.add(first + second)
            merges.append(f"{first} {second}")

    for word in wanted:
        for end in range(2, len(word) + 1):
            add(word[: end - 1], word[end - 1])
    for first, second in product(tokens[:256], tokens[:256]):
        add(first, second)
    return tokens, merges


def byte_level(path, markers, size, seed, pre, **metadata):
    """A byte-level vocabulary, as GPT-2's descendants have it."""
    wanted = [*WORDS, *(f"Ġ{word}" for word in WORDS), *map("".join, PAIRS)]
    tokens, merges = merged(wanted, size - len(markers))
    types = [TokenType.CONTROL] * len(markers) + [TokenType.NORMAL] * len(tokens)
    end = markers.index("<|endoftext|>")
    return write_model(
        path,
        [*markers, *tokens],
        types,
        kind="gpt2",
        seed=seed,
        token_merges=merges,
        tokenizer_pre=pre,
        bos_token_id=end,
        eos_token_id=end,
        add_bos_token=False,
        **metadata,
    )


def starcoder2(path):
    return byte_level(path, c.STARCODER2, STARCODER2_SIZE, 1, "starcoder")


def qwen(path):
    return byte_level(path, c.QWEN, 2000, 2, "qwen2")


def codellama(path):
    """A SentencePiece vocabulary, whose markers begin with a visible space."""
    special = ["<unk>", "<s>", "</s>"]
    singles = [f"<0x{byte:02X}>" for byte in range(256)]
    texts = [*map(chr, range(33, 127)), "▁", "▁▁", "▁▁▁▁", *WORDS, *(f"▁{word}" for word in WORDS)]
    markers = ["▁<PRE>", "▁<SUF>", "▁<MID>", "▁<EOT>"]
    tokens = [*special, *singles, *dict.fromkeys(texts), *markers]
    types = (
        [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL]
        + [TokenType.BYTE] * 256
        + [TokenType.NORMAL] * len(dict.fromkeys(texts))
        + [TokenType.CONTROL] * 4
    )
    return write_model(
        path,
        tokens,
        types,
        kind="llama",
        seed=3,
        token_scores=[float(len(text)) for text in tokens],
        bos_token_id=1,
        eos_token_id=2,
        add_bos_token=True,
    )


def with_as_many_tokens_as_gemma(path):
    """Nearly all of the tokens are unused, as in any such model at one position."""
    unused = [f"<unused_{number}>" for number in range(GEMMA_SIZE - LONGEST_LIST)]
    return byte_level(path, [*c.QWEN, *unused], GEMMA_SIZE, 7, "qwen2", certainty=6.0)


def unknown_markers(path):
    """Markers of an unknown family; the file declares their tokens."""
    return byte_level(path, OWN_MARKERS, 2000, 5, "qwen2", **markers_of(1, 2, 3))


MODELS = {"StarCoder2": starcoder2, "Qwen-Coder": qwen, "CodeLlama": codellama}
LARGE = {"as Gemma": with_as_many_tokens_as_gemma}
