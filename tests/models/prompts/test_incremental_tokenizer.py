"""A text re-tokenised in part has the same tokens as one read as a whole."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from fimlsp.models import loading
from fimlsp.models.checkpoints.checkpoint_files import read_files
from fimlsp.models.prompts import incremental_tokenizer
from fimlsp.models.prompts.incremental_tokenizer import (
    IncrementalTokenizer,
    common_prefix_length,
    line_ends_before,
)
from fimlsp.models.prompts.vocabulary import read_vocabulary

from ...sampling import sampled
from ..tiny_checkpoints import DEEPSEEK, SANTACODER, byte_tokenizer, sentence_piece_tokenizer

SOURCE = Path(incremental_tokenizer.__file__).read_text()
TOKENIZERS = {
    "bundled": lambda: read_files(loading.BUNDLED, "bundled").tokenizer,
    "byte-level": lambda: byte_tokenizer(SANTACODER),
    "added words": lambda: with_words(byte_tokenizer(DEEPSEEK), ["\n    ", "):\n", "    return"]),
    "SentencePiece": sentence_piece_tokenizer,
}
TYPED = ["x", " ", "(", ":\n", "\n\n", "\t", "é", "e\u0301", "中", "\r\n", "▁", "'''", "-" * 300, " " * 300]
TYPED += ["\n" * 200, "):\n    return x\n"]


def with_words(tokenizer, words):
    tokenizer.add_tokens(words)
    return tokenizer


class Reader:
    """A vocabulary that counts the characters read of the last text."""

    def __init__(self, kind):
        self.vocabulary = read_vocabulary(TOKENIZERS[kind](), ())
        self.texts = IncrementalTokenizer(self.encode, self.vocabulary.token_bytes, kind != "SentencePiece")
        self.n_read = 0

    def encode(self, text):
        self.n_read += len(text)
        return self.vocabulary.encode_whole(text)

    def tokens(self, text):
        self.n_read = 0
        return self.texts.tokens(text)


def edited(text, random):
    """*text* after a change, most likely near its end."""
    at = max(0, len(text) - random.choice([0, 0, 0, 1, 5, 40, 400, 1500]))
    return text[:at] + random.choice(["", *TYPED]) + text[at + random.choice([0, 0, 0, 1, 3, 600]) :]


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("seed", sampled(range(4), 4))
def test_tokens_are_those_of_the_whole_text(kind, seed):
    random, reader, text = Random(seed), Reader(kind), SOURCE
    for _ in range(40):
        text = edited(text, random) if len(text) > 600 else SOURCE
        assert reader.tokens(text) == reader.vocabulary.encode_whole(text), text[-900:]


@pytest.mark.parametrize(("kind", "part"), [("bundled", 800), ("byte-level", 800), ("SentencePiece", None)])
def test_only_the_end_of_what_is_typed_is_read(kind, part):
    reader = Reader(kind)
    reader.tokens(SOURCE)
    assert reader.n_read == len(SOURCE)
    for text in (SOURCE + "x", SOURCE + "xy", SOURCE + "xy(\n", SOURCE):
        reader.tokens(text)
        assert reader.n_read < part if part else reader.n_read == len(text)


def test_what_stands_on_the_other_side_is_not_read_again():
    reader = Reader("bundled")
    other = SOURCE[::-1]
    for n in range(10):
        reader.tokens(SOURCE + "x" * n)
        reader.tokens(other)
        assert reader.n_read == (0 if n else len(other))


def test_what_comes_out_may_be_changed():
    reader = Reader("bundled")
    reader.tokens(SOURCE).clear()
    assert reader.tokens(SOURCE)


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [("", "", 0), ("", "a", 0), ("a", "b", 0), ("ab", "ac", 1), ("ab", "abc", 2), ("ab", "ab", 2)],
)
def test_how_alike_two_texts_are(one, other, count):
    assert (
        common_prefix_length(one.encode(), other.encode())
        == common_prefix_length(other.encode(), one.encode())
        == count
    )


LINE_ENDS = [
    (b"", 5, []),
    (b"\n\n", 2, []),
    (b"a\nb\nc\nd", 7, [5, 3, 1]),
    (b"a\nb\nc\nd", 5, [3, 1]),
    (b"a\nb", -3, []),
    (b"a \nb\n\n  c\n", 9, [4]),
    (b"a\n" + b" " * 200 + b"b", 150, []),
    ("é\nb".encode(), 4, []),
]


@pytest.mark.parametrize(("data", "limit", "ends"), LINE_ENDS)
def test_lines_after_which_a_text_is_read_again(data, limit, ends):
    assert [*line_ends_before(data, limit)] == ends
