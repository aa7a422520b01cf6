"""Converts token ids to exact bytes and text to token ids, for the two kinds of vocabulary in use.

Byte-level vocabularies (GPT-2 and its descendants) write each byte as one printable character.
SentencePiece vocabularies write text, with `▁` for a space and `<0x0A>` for a byte that no piece covers.
Decoding with the tokenizer itself is not enough, because it replaces unfinished UTF-8 and may strip a leading
space, and the constraint needs every byte.

Markers are tokens that never stand for text of a file. Tokenizers mark some of them as text like any other:
Qwen3's `<|fim_prefix|>` and `<think>`, or DeepSeek-V3's markers. So a marker is known by its form. Gemma has
HTML tags as tokens, which are text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial

from tokenizers import Tokenizer

from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.models.errors import ModelError, is_panic
from fimlsp.models.prompts.incremental_tokenizer import IncrementalTokenizer

BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
SENTINEL = "\n"
LONG_TEXT = 500
"""Characters from which on a text is tokenised incrementally."""

MOST_FIRST_TOKENS = 8_192
"""Pieces whose first token is remembered."""

SAMPLE = "\n\tdéf  f(x ):\r\n    return {'中': X[0]}  #\u00a0ﬁ ½ 12\n\n\n"
"""Text that an exact vocabulary encodes and decodes without a change."""

VISIBLE_SPACE = "▁"
"""A space in SentencePiece vocabularies."""

CHAT = (
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"),
    *("<|im_start|>", "<|im_end|>", "<|endoftext|>"),
)
"""Markers of conversations that tokenizers mark as text, for servers that do not list their tokens."""

_HTML = re.compile(
    r"</?(?:table|caption|thead|tbody|tfoot|tr|th|td|h[1-6]|blockquote|strong|em|b|i|u|s|sub|sup|code|a|html"
    r"|body|img|span|bbox|ul|ol|li|div|p|br|iframe|footer)>"
)
_MARKER = re.compile(r"<[^<>\s]{1,80}>|\[[^\[\]\s]{1,80}\]")


class ModelVocabulary:
    """The tokens of a text, and the bytes of a token.

    Attributes:
        token_bytes: the exact bytes of each token (None: a special token, which has no text).
        is_open: True if any text is a token, as on a server that reports texts.
    """

    def __init__(
        self,
        ids: Callable[[str], list[int]],
        token_bytes: Sequence[bytes | None],
        adds_space: bool,
        visible_space: Sequence[int] = (),
        markers: Collection[str] = (),
        *,
        is_open: bool = False,
    ) -> None:
        """Make a vocabulary from the functions and tables of a tokenizer.

        Args:
            ids: token ids of a text that stands alone; markers in it are text like any other.
            token_bytes: as the attribute.
            adds_space: True if a text that stands alone gets a space in front.
            visible_space: the tokens of the character `▁` if that means a space.
            markers: texts that *ids* may read as one token, although they are only text here.
            is_open: as the attribute.
        """
        self.token_bytes = token_bytes
        self.is_open = is_open
        self._ids = ids
        self._adds_space = adds_space
        self._visible_space = visible_space
        self._markers = frozenset(markers)
        self._long_texts = IncrementalTokenizer(
            self.encode_whole, token_bytes, is_byte_level=not (adds_space or visible_space)
        )
        self._first_tokens = BoundedDict[bytes, int | None](MOST_FIRST_TOKENS)

    def encode(self, text: str) -> list[int]:
        """Token ids of *text* in the middle of a file: without markers or a space in front.

        The last few long texts are remembered, so after an edit only the text near it is tokenised again.
        """
        return self.encode_whole(text) if len(text) < LONG_TEXT else self._long_texts.tokens(text)

    def encode_first(self, text: str) -> list[int]:
        """Token ids of *text* at the start of a document, with the space that some vocabularies put there."""
        return self.encode(f" {text}" if self._adds_space and text else text)

    def encode_whole(self, text: str) -> list[int]:
        """Token ids of *text*, without use of earlier texts.

        A vocabulary that writes spaces as `▁` writes that character itself as its bytes.
        """
        if not self._markers:
            return self._without_markers(text)
        parts = split_markers(text, self._markers)
        return [token for part in parts for token in self._without_markers(part)]

    def _without_markers(self, text: str) -> list[int]:
        if not self._visible_space or VISIBLE_SPACE not in text:
            return self._ids_inside(text)
        first, *others = map(self._ids_inside, text.split(VISIBLE_SPACE))
        return [*first, *(token for part in others for token in (*self._visible_space, *part))]

    def _ids_inside(self, text: str) -> list[int]:
        """Token ids of *text* without the space that the tokenizer may put in front."""
        if not self._adds_space:
            return self._ids(text)
        return self._ids(SENTINEL + text)[len(self._ids(SENTINEL)) :]

    def first_token(self, piece: bytes) -> int | None:
        """The first token of *piece*, a few bytes from the middle of a file; None if it has none.

        If *piece* starts inside a character, that is the token of its first byte. Results are remembered,
        as after each key most pieces of text around the cursor are the same.
        """
        if piece not in self._first_tokens:
            self._first_tokens[piece] = self._find_first_token(piece)
        return self._first_tokens[piece]

    def listed_texts(self, listed: Sequence[int]) -> Mapping[bytes, int]:
        """The texts of the tokens *listed* by a network, for `token_of`; none unless any text is a token."""
        texts = ((self.token_bytes[token], token) for token in listed) if self.is_open else ()
        return {text: token for text, token in texts if text}

    def token_of(self, piece: bytes, listed: Mapping[bytes, int]) -> int | None:
        """The token with which *piece* continues a text; None if there is none.

        It is the longest of those *listed* that begin *piece*, or else its first token.
        """
        fitting = max((text for text in listed if piece.startswith(text)), key=len, default=None)
        return self.first_token(piece) if fitting is None else listed[fitting]

    def _find_first_token(self, piece: bytes) -> int | None:
        if _is_continuation(piece[0]):
            byte = piece[:1]
            return self.token_bytes.index(byte) if byte in self.token_bytes else None
        tokens = self.encode_whole(piece.decode(errors="ignore"))
        text = self.token_bytes[tokens[0]] if tokens else None
        return tokens[0] if text and piece.startswith(text) else None

    def is_exact(self) -> bool:
        """True if text comes back unchanged, including spaces, tabs, line ends and rare characters."""
        try:
            return self.decode(self.encode(SAMPLE)) == SAMPLE.encode()
        except Exception:  # a vocabulary without its unknown token; the tokenizers library raises no narrower
            return False

    def decode(self, tokens: Sequence[int]) -> bytes:
        """Exact bytes of *tokens*."""
        return b"".join(self.token_bytes[token] or b"" for token in tokens)


def _is_continuation(byte: int) -> bool:
    """True if *byte* continues a character in UTF-8."""
    return 0x80 <= byte < 0xC0


def encoded_ids(tokenizer: Tokenizer, text: str) -> list[int]:
    """Token ids of *text* from *tokenizer*.

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


def read_vocabulary(tokenizer: Tokenizer, silent: Collection[int]) -> ModelVocabulary:
    """Tabulate the bytes of every token of *tokenizer*; special tokens and those of *silent* have none.

    From now on *tokenizer* reads the texts of markers as plain text, since a file may contain them.
    """
    tokenizer.encode_special_tokens = True
    added = tokenizer.get_added_tokens_decoder()
    markers = {token: entry.content for token, entry in added.items() if is_marker(entry.content)}
    table = _token_bytes(tokenizer)
    for token in (*silent, *markers):
        table[token] = None
    first = next(iter(encoded_ids(tokenizer, "a")), None)
    adds_space = first is not None and (table[first] or b"").startswith(b" ")
    return ModelVocabulary(
        partial(encoded_ids, tokenizer), table, adds_space, _visible_space(tokenizer), markers.values()
    )


def _token_bytes(tokenizer: Tokenizer) -> list[bytes | None]:
    """The bytes of every token of *tokenizer*; None for special tokens and for ids that no token has."""
    added = tokenizer.get_added_tokens_decoder()
    has_bytes = is_byte_level(tokenizer)
    bytes_of_piece: Callable[[str], bytes] = byte_level_bytes if has_bytes else sentence_piece_bytes
    bytes_of_added: Callable[[str], bytes] = str.encode if has_bytes else sentence_piece_bytes
    vocabulary = tokenizer.get_vocab(with_added_tokens=True)
    size = max(tokenizer.get_vocab_size(with_added_tokens=True), max(vocabulary.values(), default=-1) + 1)
    table: list[bytes | None] = [None] * size
    for text, token in vocabulary.items():
        if token not in added:
            table[token] = bytes_of_piece(text)
        elif not added[token].special:
            table[token] = bytes_of_added(text)
    return table


def _visible_space(tokenizer: Tokenizer) -> list[int]:
    """The byte tokens of `▁` in a SentencePiece vocabulary that has them."""
    pieces = [] if is_byte_level(tokenizer) else [f"<0x{byte:02X}>" for byte in VISIBLE_SPACE.encode()]
    ids = map(tokenizer.token_to_id, pieces)
    return [token for token in ids if token is not None]


def is_byte_level(tokenizer: Tokenizer) -> bool:
    """True if tokens are written in the printable byte alphabet."""
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


def is_marker(text: str) -> bool:
    """True if an added token with this *text* is a marker."""
    return bool(_MARKER.fullmatch(text)) and not _HTML.fullmatch(text)


def split_markers(text: str, markers: Collection[str]) -> Iterator[str]:
    """*text* in parts, none of which has a whole one of *markers*: each is cut after its first character."""
    start = 0
    for found in _MARKER.finditer(text):
        if found[0] in markers:
            yield text[start : found.start() + 1]
            start = found.start() + 1
    yield text[start:]
