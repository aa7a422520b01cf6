"""Converts token ids to exact bytes and text to token ids, for the two kinds of vocabulary in use.

Byte-level vocabularies (GPT-2 and its descendants) write each byte as one printable character.
SentencePiece vocabularies write text, with `▁` for a space and `<0x0A>` for a byte that no piece covers.
Decoding with the tokenizer itself would not do, because it replaces unfinished UTF-8 and may strip a leading
space, and the constraint needs every byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial

from tokenizers import Tokenizer

from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.models.errors import ModelError, is_panic
from fimlsp.models.prompts.typed_texts import TypedTexts

BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
SENTINEL = "\n"
VISIBLE_SPACE = "▁"
_LONG = 500
_MOST_PIECES = 8_192
_NO_TEXT = b"\0"
SAMPLE = "\n\tdéf  f(x ):\r\n    return {'中': X[0]}  #\u00a0ﬁ ½ 12\n\n\n"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Which tokens a text has, and which bytes a token.

    Attributes:
        ids: token ids of a text that stands alone; markers in it are text like any other.
        token_bytes: the exact bytes of each token (None: a special token, which has no text).
        adds_space: whether a text that stands alone gets a space in front.
        visible_space: the tokens of the character `▁` where that means a space.
    """

    ids: Callable[[str], list[int]]
    token_bytes: Sequence[bytes | None]
    adds_space: bool
    visible_space: Sequence[int] = ()
    _typed: TypedTexts = field(init=False, repr=False, compare=False)
    _first_tokens: BoundedDict[bytes, int | None] = field(
        default_factory=lambda: BoundedDict(_MOST_PIECES), init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        in_words = not (self.adds_space or self.visible_space)
        object.__setattr__(self, "_typed", TypedTexts(self.encode_whole, self.token_bytes, in_words))

    def encode(self, text: str) -> list[int]:
        """Token ids of *text* in the middle of a file: without markers or a space in front.

        The last few long texts are remembered, so that after an edit only what is near it is read again.
        """
        return self.encode_whole(text) if len(text) < _LONG else self._typed.tokens(text)

    def encode_first(self, text: str) -> list[int]:
        """Token ids of *text* at the start of a document, with the space that some vocabularies put there."""
        return self.encode(f" {text}" if self.adds_space and text else text)

    def encode_whole(self, text: str) -> list[int]:
        """Token ids of *text*, read as a whole.

        A vocabulary that writes spaces as `▁` writes that character itself as its bytes.
        """
        if not (self.adds_space or self.visible_space):
            return self.ids(text)
        if not self.visible_space or VISIBLE_SPACE not in text:
            return self._ids_inside(text)
        first, *others = map(self._ids_inside, text.split(VISIBLE_SPACE))
        return [*first, *(token for part in others for token in (*self.visible_space, *part))]

    def _ids_inside(self, text: str) -> list[int]:
        if not self.adds_space:
            return self.ids(text)
        return self.ids(SENTINEL + text)[len(self.ids(SENTINEL)) :]

    def first_token(self, piece: bytes) -> int | None:
        """The token that *piece*, a few bytes from the middle of a file, begins with; None if there is none.

        Inside a character it is the token of its single byte. The answers of the last pieces are remembered,
        as the texts around a cursor have the same ones after each key.
        """
        if piece not in self._first_tokens:
            self._first_tokens[piece] = self._first_token(piece)
        return self._first_tokens[piece]

    def _first_token(self, piece: bytes) -> int | None:
        if 0x80 <= piece[0] < 0xC0:
            single = piece[:1]
            return self.token_bytes.index(single) if single in self.token_bytes else None
        tokens = self.encode_whole(piece.decode(errors="ignore"))[:1]
        return tokens[0] if tokens and piece.startswith(self.token_bytes[tokens[0]] or _NO_TEXT) else None

    def is_exact(self) -> bool:
        """Whether text comes back unchanged, including spaces, tabs, line ends and rare characters."""
        try:
            return self.decode(self.encode(SAMPLE)) == SAMPLE.encode()
        except Exception:  # a vocabulary without its unknown token; the tokenizers library raises no narrower
            return False

    def decode(self, tokens: Sequence[int]) -> bytes:
        """Exact bytes of *tokens*."""
        return b"".join(self.token_bytes[token] or b"" for token in tokens)


def encoded_ids(tokenizer: Tokenizer, text: str) -> list[int]:
    """Token ids of *text* as *tokenizer* gives them.

    Raises:
        ModelError: the tokenizer fails on it, as do those whose regular expression backtracks too far.
    """
    try:
        return tokenizer.encode(text, add_special_tokens=False).ids
    except BaseException as error:
        if not is_panic(error):
            raise
        raise ModelError(
            "The tokenizer of the model fails on this text; use a model with another tokenizer."
        ) from error


def read_vocabulary(tokenizer: Tokenizer, silent: Collection[int]) -> Vocabulary:
    """Tabulate the bytes of every token of *tokenizer*; special tokens and those of *silent* have none.

    From now on *tokenizer* reads the texts of markers as plain text, since a file may contain them.
    """
    tokenizer.encode_special_tokens = True
    added = tokenizer.get_added_tokens_decoder()
    of_bytes = is_byte_level(tokenizer)
    piece_bytes = byte_level_bytes if of_bytes else sentence_piece_bytes
    table: list[bytes | None] = [None] * tokenizer.get_vocab_size(with_added_tokens=True)
    for text, token in tokenizer.get_vocab(with_added_tokens=True).items():
        if token >= len(table):
            table.extend([None] * (token + 1 - len(table)))
        if token not in added:
            table[token] = piece_bytes(text)
        elif not added[token].special:
            table[token] = text.encode() if of_bytes else sentence_piece_bytes(text)
    for token in silent:
        table[token] = None
    first = encoded_ids(tokenizer, "a")[0]
    adds_space = (table[first] or b"").startswith(b" ")
    return Vocabulary(partial(encoded_ids, tokenizer), table, adds_space, _visible_space(tokenizer))


def _visible_space(tokenizer: Tokenizer) -> list[int]:
    """The byte tokens of `▁` in a vocabulary of SentencePiece that has them."""
    pieces = [] if is_byte_level(tokenizer) else [f"<0x{byte:02X}>" for byte in VISIBLE_SPACE.encode()]
    ids = map(tokenizer.token_to_id, pieces)
    return [token for token in ids if token is not None]


def is_byte_level(tokenizer: Tokenizer) -> bool:
    """Whether tokens are written in the printable byte alphabet."""
    return '"ByteLevel"' in json.dumps(json.loads(tokenizer.to_str()).get("decoder"))


def byte_level_bytes(piece: str) -> bytes:
    """Bytes of a token of a byte-level vocabulary; a token with other characters means its own text."""
    if BYTE_OF_CHARACTER.keys() >= set(piece):
        return bytes(BYTE_OF_CHARACTER[character] for character in piece)
    return piece.encode()


def sentence_piece_bytes(piece: str) -> bytes:
    """Bytes of a token of a SentencePiece vocabulary."""
    if single := BYTE_PIECE.fullmatch(piece):
        return bytes([int(single[1], 16)])
    return piece.replace(VISIBLE_SPACE, " ").encode()


def _printable_alphabet() -> dict[str, int]:
    """GPT-2's alphabet: printable Latin-1 characters mean themselves, other bytes start at U+0100."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    return {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}


BYTE_OF_CHARACTER = _printable_alphabet()
