"""Exact bytes of tokens, for both kinds of vocabulary."""

import pytest
from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.fim_format import FAMILIES, FILES, HERE, LEFT, RIGHT, find_format
from fimlsp.models.prompts.vocabulary import byte_level_bytes, read_vocabulary, sentence_piece_bytes
from hypothesis import example, given
from hypothesis import strategies as st

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
    tokenizer, found = VOCABULARIES["SentencePiece"](), vocabulary_of("SentencePiece")
    pieces = [tokenizer.id_to_token(token) for token in found.encode_first(text)]
    assert " ".join(pieces) == FIRST[text]
    for kind in VOCABULARIES.keys() - {"SentencePiece"}:
        assert vocabulary_of(kind).encode_first(text) == vocabulary_of(kind).encode(text)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_is_recognised_by_its_markers(family):
    markers = dict.fromkeys([*family.markers, *family.project.markers, *family.stops])
    ids = {text: number for number, text in enumerate(markers)}
    found = find_format(ids, "model", architecture=family.architecture)
    assert found.family == family.name
    assert len(found.stops) == len(family.stops)
    assert found.markers == set(ids.values())
    assert len(found.arrange([], [])) == found.overhead
    texts = {**{number: text for text, number in ids.items()}, 100: LEFT, 200: RIGHT, 300: FILES, 400: HERE}
    for order, template in (("psm", family.psm), ("spm", family.spm)):
        if template is not None:
            arranged = find_format(ids, "model", order=order).arrange([100], [200], [300], [400])
            assert tuple(texts[token] for token in arranged) == template


def test_markers_of_codegemma_end_a_middle():
    family = next(family for family in FAMILIES if family.name == "CodeGemma")
    found = find_format(
        {text: number for number, text in enumerate([*family.markers, *family.stops])}, "model"
    )
    assert found.stops >= {found.marker_ids[text] for text in family.markers if text != "<bos>"}


def test_no_family():
    with pytest.raises(ModelError, match="model has no fill-in-the-middle markers"):
        find_format({"<fim_prefix>": 1, "<fim_suffix>": 2}, "model")
