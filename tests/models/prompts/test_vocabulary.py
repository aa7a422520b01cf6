"""Exact bytes of tokens, for both kinds of vocabulary."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.families import FAMILIES, FILES, HERE, LEFT, LINE_END, RIGHT
from fimlsp.models.prompts.fim_format import NoMarkersError, find_format
from fimlsp.models.prompts.vocabulary import (
    ModelVocabulary,
    byte_level_bytes,
    read_vocabulary,
    sentence_piece_bytes,
)

from ..tiny_checkpoints import DEEPSEEK, SANTACODER, byte_tokenizer, gemma_tokenizer, sentence_piece_tokenizer

VOCABULARIES = {
    "byte-level": (byte_tokenizer(SANTACODER), SANTACODER),
    "SentencePiece": (sentence_piece_tokenizer(), ["<s>", "</s>", "▁<PRE>", "▁<MID>"]),
    "SentencePiece with runs of spaces": (gemma_tokenizer(), ["<bos>", "<|fim_prefix|>", "<unk>"]),
}


def vocabulary_of(kind):
    tokenizer, _ = VOCABULARIES[kind]
    return read_vocabulary(tokenizer, find_format(tokenizer.get_vocab(), kind).markers)


@pytest.mark.parametrize("kind", VOCABULARIES)
@given(text=st.text(st.characters(exclude_categories=["Cs"])))
@example(text="<|endoftext|><fim-prefix>")
@example(text="a = '<s>'")
@example(text="a▁ ▁▁b")
@example(text="  a\n\n\n    b <table>")
def test_tokens_of_a_text_hold_exactly_its_bytes(kind, text):
    vocabulary = vocabulary_of(kind)
    assert vocabulary.decode(vocabulary.encode(text)) == text.encode()


@pytest.mark.parametrize("kind", VOCABULARIES)
def test_special_tokens_have_no_bytes(kind):
    tokenizer, special = VOCABULARIES[kind]
    vocabulary = vocabulary_of(kind)
    assert [vocabulary.token_bytes[tokenizer.token_to_id(text)] for text in special] == [None] * len(special)


@pytest.mark.parametrize("kind", VOCABULARIES)
def test_every_byte_can_be_written(kind):
    assert {bytes([byte]) for byte in range(256)} <= set(vocabulary_of(kind).token_bytes)


def test_bytes_of_single_pieces():
    assert byte_level_bytes("ĠifĊ") == b" if\n"
    assert byte_level_bytes("Ã©") == "é".encode()
    assert byte_level_bytes("<reserved 1>") == b"<reserved 1>"
    assert sentence_piece_bytes("▁▁if") == b"  if"
    assert sentence_piece_bytes("<0x0A>") == b"\n"
    assert sentence_piece_bytes("é") == "é".encode()


def test_added_tokens_that_are_text_keep_it():
    tokenizer = byte_tokenizer(DEEPSEEK)
    tokenizer.add_tokens(["é    "])
    table = read_vocabulary(tokenizer, ()).token_bytes
    assert table[tokenizer.token_to_id("é    ")] == "é    ".encode()


FIRST = {"a": "▁a", " a": "▁ ▁a", "": "", "\na": "▁ <0x0A> a"}


@pytest.mark.parametrize("text", FIRST)
def test_a_document_begins_with_the_space_that_a_vocabulary_puts_there(text):
    (tokenizer, _), vocabulary = VOCABULARIES["SentencePiece"], vocabulary_of("SentencePiece")
    pieces = [tokenizer.id_to_token(token) for token in vocabulary.encode_first(text)]
    assert " ".join(pieces) == FIRST[text]
    for kind in VOCABULARIES.keys() - {"SentencePiece"}:
        assert vocabulary_of(kind).encode_first(text) == vocabulary_of(kind).encode(text)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_is_recognised_by_its_markers(family):
    markers = dict.fromkeys([*family.markers, *family.project.markers, *family.stops])
    ids = {text: number for number, text in enumerate(markers)}
    name = f"a/{family.name}-base"
    fim = find_format(ids, name, architecture=next(iter(family.architectures), None))
    assert fim.family == family.name
    assert len(fim.stops) == len(family.stops)
    assert fim.markers == set(ids.values())
    assert len(fim.arrange([], [])) == fim.overhead
    ids |= {LINE_END: 500}
    texts = {**{number: text for text, number in ids.items()}, 100: LEFT, 200: RIGHT, 300: FILES, 400: HERE}
    for order, template in (("psm", family.psm), ("spm", family.spm)):
        if template is not None:
            arranged = find_format(ids, name, order=order).arrange([100], [200], [300], [400])
            assert tuple(texts[token] for token in arranged) == template


def test_markers_of_codegemma_end_a_middle():
    family = next(family for family in FAMILIES if family.name == "CodeGemma")
    fim = find_format({text: number for number, text in enumerate([*family.markers, *family.stops])}, "model")
    assert fim.stops >= {fim.marker_ids[text] for text in family.markers if text != "<bos>"}


BARRED = ["<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"]
GLM = ["<|endoftext|>", "<|user|>", "<|assistant|>", "<|code_prefix|>", "<|code_middle|>", "<|code_suffix|>"]
STARCODER_MARKERS = ["<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<filename>", "<|endoftext|>"]


@pytest.mark.parametrize(
    ("tokens", "name", "family"),
    [
        (STARCODER_MARKERS, "bigcode/starcoder", "StarCoder"),
        (STARCODER_MARKERS, "ibm-granite/granite-3.3-8b-base", "StarCoder"),
        (STARCODER_MARKERS, "JetBrains/Mellum-4b-base", "Mellum"),
        ([*STARCODER_MARKERS, "<|im_start|>"], "my-fine-tune", "Mellum"),
        (["<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|repo_name|>", "<|file_sep|>"],
         "Qwen/Qwen3-Coder-30B-A3B-Instruct", "Qwen-Coder"),
        ([*STARCODER_MARKERS, "<|im_start|>"], "Qwen/CodeQwen1.5-7B", "CodeQwen1.5"),
        (STARCODER_MARKERS, "refact-1_6B-fim.Q8_0.gguf", "Refact"),
        (STARCODER_MARKERS, "stable-code-3b", "Stable-Code"),
        ([*BARRED, "<|filename|>", "<|reponame|>", "<|end_of_text|>"], "ibm/granite-4.0-micro", "Granite 4"),
        ([*BARRED, "<|endoftext|>"], "somebody/own", "<|fim_*|>"),
        (GLM, "THUDM/codegeex4-all-9b", "CodeGeeX4"),
        (GLM, "zai-org/GLM-4.5-Air-Base", "GLM"),
        (["<s>", "</s>", "[SUFFIX]", "[PREFIX]", "[MIDDLE]"], "mistralai/Codestral-22B-v0.1", "Codestral"),
    ],
)  # fmt: skip
def test_vocabularies_like_those_of_another_family_are_not_mistaken(tokens, name, family):
    ids = {text: number for number, text in enumerate(tokens)}
    assert find_format(ids, name, architecture="llama").family == family


@pytest.mark.parametrize(
    ("tokens", "options", "message"),
    [
        (
            ["<PRE>", "<SUF>", "<MID>", "<b>"],
            {},
            r"has the markers <PRE>, <SUF>, <MID>, which are those of no",
        ),
        (STARCODER_MARKERS, {"family": "Qwen-Coder"}, "leave the family out, or use StarCoder"),
        (
            ["<PRE>", "<SUF>"],
            {"family": "StarCoder"},
            "it has <PRE>, <SUF>: describe them in a file fim.json",
        ),
        (["a"], {"family": "StarCoder"}, "it has no such markers at all"),
        (
            STARCODER_MARKERS,
            {"family": "no"},
            "Unknown family no for x; the known ones are fimlsp with files, fimlsp, SantaCoder",
        ),
        (["<s>", "[SUFFIX]", "[PREFIX]"], {"order": "psm"}, "leave the order out, or use spm"),
    ],
)
def test_a_family_never_ends_in_a_dead_end(tokens, options, message):
    with pytest.raises(ModelError, match=message):
        find_format({text: number for number, text in enumerate(tokens)}, "x", **options)


def test_no_family():
    with pytest.raises(NoMarkersError, match="model has no fill-in-the-middle markers"):
        find_format({"a": 1, "<s>": 2}, "model")
    with pytest.raises(NoMarkersError, match="model has no fill-in-the-middle markers"):
        find_format({"a": 1, "<s>": 2}, "model", untrained=True)  # nothing ends its texts


@pytest.mark.parametrize(
    ("tokens", "prompt", "stops"),
    [
        (["<|endoftext|>"], ["<|endoftext|>"], ["<|endoftext|>"]),  # CodeGen
        (["<s>", "</s>"], ["<s>", "</s>"], ["</s>"]),  # Llama 2
        (["<bos>", "<eos>", "<end_of_turn>"], ["<bos>", "<eos>"], ["<eos>", "<end_of_turn>"]),  # Gemma
        (
            ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"],  # Llama 3
            ["<|begin_of_text|>", "<|end_of_text|>"],
            ["<|end_of_text|>", "<|eot_id|>"],
        ),
        (["<|endoftext|>", "<fim-odd>"], ["<|endoftext|>"], ["<|endoftext|>"]),  # markers of no known family
    ],
)
def test_a_model_without_markers_reads_the_right_side_first(tokens, prompt, stops, caplog):
    ids = {text: number for number, text in enumerate(tokens)}
    fim = find_format(ids, "model", untrained=True)
    *start, end = (ids[text] for text in prompt)
    assert fim.arrange([100], [200], [300], [400]) == [*start, 200, end, 300, 400, 100]
    assert fim.continued([100]) == [*start, 100]
    assert (fim.stops, fim.is_trained, fim.is_prefix_first) == ({ids[text] for text in stops}, False, False)
    assert "reads the text after the cursor first" in caplog.text
    assert ("fim.json" in caplog.text) == ("<fim-odd>" in tokens)


@pytest.mark.parametrize(
    "piece", [b"def f(x):", b" total + 1", "né".encode(), "é = 1".encode()[1:], b"\n    x"]
)
def test_the_first_token_of_a_piece_is_read_once(piece, monkeypatch):
    vocabulary = vocabulary_of("byte-level")
    token = vocabulary.first_token(piece)
    assert token is not None
    assert piece.startswith(vocabulary.token_bytes[token])
    monkeypatch.setattr(ModelVocabulary, "encode_whole", None)
    assert vocabulary.first_token(piece) == token


def test_a_tokenizer_that_cannot_write_an_a_is_read():
    vocabulary = read_vocabulary(Tokenizer(models.BPE({"b": 0}, [])), ())
    assert list(vocabulary.token_bytes) == [b"b"]
