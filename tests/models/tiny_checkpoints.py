"""Tiny checkpoints with random weights, written to disk as real ones are."""

import json

import torch
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    GemmaConfig,
    GemmaForCausalLM,
    GPTBigCodeConfig,
    GPTBigCodeForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    StableLmConfig,
    StableLmForCausalLM,
    Starcoder2Config,
    Starcoder2ForCausalLM,
)

SANTACODER = ["<|endoftext|>", "<fim-prefix>", "<fim-middle>", "<fim-suffix>", "<fim-pad>"]
STARCODER = ["<|endoftext|>", "<fim_prefix>", "<fim_middle>", "<fim_suffix>", "<fim_pad>", "<filename>"]
STARCODER2 = [*STARCODER[:-1], "<repo_name>", "<file_sep>"]
QWEN = [
    "<|endoftext|>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
]
DEEPSEEK = [
    "<｜begin▁of▁sentence｜>",
    "<｜end▁of▁sentence｜>",
    "<｜fim▁begin｜>",
    "<｜fim▁hole｜>",
    "<｜fim▁end｜>",
]
GEMMA = [
    "<pad>",
    "<eos>",
    "<bos>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|file_separator|>",
]
FIMLSP = ["<|endoftext|>", "<|left|>", "<|right|>", "<|pad|>"]
FIMLSP_WITH_FILES = [*FIMLSP, "<|file|>"]
CODELLAMA = ["<unk>", "<s>", "</s>"]
CODELLAMA_PIECES = ["▁<PRE>", "▁<SUF>", "▁<MID>", "▁<EOT>"]
SIZES = {
    "hidden_size": 64,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 256,
}


def byte_tokenizer(special):
    """A byte-level vocabulary of the *special* tokens, the 256 bytes and a few merges."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("r", "e"), ("Ġ", "x"), ("t", "u"), ("re", "tu"), ("r", "n"), ("retu", "rn")]
    texts = [*special, *alphabet, *("".join(pair) for pair in merges)]
    tokenizer = Tokenizer(models.BPE({text: n for n, text in enumerate(dict.fromkeys(texts))}, merges))
    tokenizer.add_special_tokens(special)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def sentence_piece_tokenizer():
    """A SentencePiece vocabulary with byte pieces, and with markers as plain pieces."""
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    letters = ["▁", *map(chr, range(0x21, 0x7F)), "é"]
    merges = [("▁", "a"), ("▁", "x"), ("r", "e")]
    texts = [*CODELLAMA, *bytes_, *letters, *("".join(pair) for pair in merges), *CODELLAMA_PIECES]
    vocabulary = {text: n for n, text in enumerate(dict.fromkeys(texts))}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, byte_fallback=True, unk_token="<unk>"))
    tokenizer.add_special_tokens(CODELLAMA)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer


def gemma_tokenizer():
    """A vocabulary like Gemma's: SentencePiece, no space in front, runs of spaces added as text."""
    runs = ["\n\n", "▁▁", "▁▁▁", "<table>"]
    letters = ["▁", "\n", "\t", *map(chr, range(0x21, 0x7F)), "é"]
    texts = [*GEMMA, "<unk>", *runs, *(f"<0x{byte:02X}>" for byte in range(256)), *letters, "▁x"]
    merges = [("▁", "▁"), ("▁▁", "▁"), ("▁", "x")]
    vocabulary = {text: n for n, text in enumerate(texts)}
    tokenizer = Tokenizer(
        models.BPE(vocabulary, merges, byte_fallback=True, unk_token="<unk>", fuse_unk=True)
    )
    tokenizer.add_special_tokens([*GEMMA, "<unk>"])
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in runs])
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    return tokenizer


def santacoder(size):
    return GPTBigCodeForCausalLM(
        GPTBigCodeConfig(vocab_size=size, n_positions=256, n_embd=32, n_layer=2, n_head=4, multi_query=True)
    )


def llama(size, **changes):
    return LlamaForCausalLM(LlamaConfig(vocab_size=size, num_key_value_heads=2, **(SIZES | changes)))


def qwen(size):
    return Qwen2ForCausalLM(Qwen2Config(vocab_size=size, num_key_value_heads=2, **SIZES))


def starcoder2(size):
    return Starcoder2ForCausalLM(
        Starcoder2Config(vocab_size=size, num_key_value_heads=2, sliding_window=256, **SIZES)
    )


def gemma(size):
    return GemmaForCausalLM(GemmaConfig(vocab_size=size, num_key_value_heads=1, head_dim=8, **SIZES))


def stablelm(size):
    return StableLmForCausalLM(StableLmConfig(vocab_size=size, num_key_value_heads=2, **SIZES))


def lossy_tokenizer():
    """A unigram vocabulary of SentencePiece whose normaliser changes rare characters and spaces."""
    pieces = ["<unk>", "▁", *map(chr, range(0x21, 0x7F)), "é", "中"]
    tokenizer = Tokenizer(models.Unigram([(piece, -2.0) for piece in pieces], 0, byte_fallback=False))
    tokenizer.add_special_tokens(DEEPSEEK)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


SLOW_SIZE = 400


def train_sentence_piece(sentencepiece, path):
    """A `tokenizer.model` with the markers of CodeLlama, as SentencePiece itself writes it."""
    text = path.with_suffix(".txt")
    text.write_text("\n".join(f"def name{n}(value): return value + {n}" for n in range(300)))
    sentencepiece.SentencePieceTrainer.train(
        input=str(text),
        model_prefix=str(path.with_suffix("")),
        vocab_size=SLOW_SIZE,
        model_type="bpe",
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        user_defined_symbols=CODELLAMA_PIECES,
        minloglevel=2,
    )


def make(folder, network, special, **options):
    """A checkpoint of *network* with the tokenizer *special* makes, or a byte-level one of these tokens."""
    tokenizer = special() if callable(special) else byte_tokenizer(special)
    return write_checkpoint(folder, network(tokenizer.get_vocab_size()), tokenizer, **options)


def write_checkpoint(folder, network, tokenizer=None, shard="1GB"):
    """Save both as a hub repository has them, and give back the folder."""
    torch.manual_seed(0)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    network.save_pretrained(folder, max_shard_size=shard)
    if tokenizer:
        tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def drop_weight(path):
    """Take one tensor out of a file of weights."""
    tensors = load_file(path)
    del tensors[sorted(tensors)[0]]
    save_file(tensors, path, metadata={"format": "pt"})


def fill_weights(path, value):
    """Make all numbers of a file of weights the same."""
    tensors = {name: torch.full_like(tensor, value) for name, tensor in load_file(path).items()}
    save_file(tensors, path, metadata={"format": "pt"})


def change_config(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


FAMILIES = {
    "SantaCoder": (santacoder, SANTACODER),
    "Stable-Code": (stablelm, STARCODER),
    "StarCoder": (santacoder, STARCODER),
    "StarCoder2": (starcoder2, STARCODER2),
    "DeepSeek-Coder": (llama, DEEPSEEK),
    "Qwen-Coder": (qwen, QWEN),
    "CodeGemma": (gemma, gemma_tokenizer),
    "CodeLlama": (llama, sentence_piece_tokenizer),
    "fimlsp": (llama, FIMLSP),
    "fimlsp with files": (llama, FIMLSP_WITH_FILES),
}


NETWORKS = {make.__name__: make for make, _ in FAMILIES.values()}


def logits_by_transformers(folder, tokens):
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        return network(torch.tensor([tokens])).logits[0, -1].numpy()
