"""Reads the header of a GGUF file, and identifies the model in it: its family, if it was trained for that.

The file is untrusted. Only a regular file is opened. Lengths are compared with the rest of the file and with
fixed limits before anything is read. Nothing is mapped into memory: a mapped file that is truncated meanwhile
would end the process. Format: `docs/gguf.md` of github.com/ggml-org/ggml, versions 2 and 3, little-endian as
nearly all files.

Markers in the vocabulary alone prove nothing: some families put them into every tokenizer. For those, the
names in the file must identify the model for code.

| markers without training | source |
|---|---|
| Qwen without Coder | arXiv 2409.12186, section 3: trained with them are the Coder models alone |
| OpenCoder | its authors, discussion 2 of infly/OpenCoder-8B-Instruct on the hub |
| Replit-code-v1.5 | its authors, discussion 5 of replit/replit-code-v1_5-3b on the hub |
| OpenCodeInterpreter | commit 224ca34 of CISCai/OpenCodeInterpreter-DS-6.7B-SOTA-GGUF on the hub |
"""

from __future__ import annotations

import os
import re
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import BinaryIO

from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.families import LEFT, RIGHT, Family, Order, Project, family_beside
from fimlsp.models.prompts.fim_format import FimFormat, NoMarkersError, find_format
from fimlsp.models.prompts.vocabulary import byte_level_bytes, is_marker, sentence_piece_bytes

MAGIC = b"GGUF"
VERSIONS = (2, 3)
HEADER_BYTES_MAX = 64 << 20
"""The largest headers in use have about 40 MB, mostly a tokenizer in JSON."""

ENTRIES_MAX = 3 << 19
"""Total entries of all arrays, such as the tokens; files in use have up to 1,200,000."""

KEYS_MAX = 1 << 14
TENSORS_MAX = 1 << 16
DIMENSIONS_MAX = 4
NAME_BYTES_MAX = 1 << 16
ALIGNMENT = 32
"""Alignment of tensors in bytes, unless the file declares another."""

Scalar = int | float | bool | str
Value = Scalar | tuple[Scalar, ...]

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


class DamagedError(Exception):
    """The bytes are not the header of a GGUF file; the message is the reason, as a part of a sentence."""


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """The header of a GGUF file.

    Attributes:
        values: the metadata, by key. Bytes that are not UTF-8 are kept as lone surrogates.
        n_parameters: number of values in the tensors.
        size: size of the file in bytes.
    """

    values: Mapping[str, Value]
    n_parameters: int
    size: int

    def text(self, key: str) -> str:
        """The string at *key*; empty if there is none."""
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    def number(self, key: str) -> int | None:
        """The integer at *key*; None if there is none."""
        value = self.values.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def texts(self, key: str) -> tuple[str, ...]:
        """The array of strings at *key*; empty if there is none."""
        value = self.values.get(key)
        if isinstance(value, tuple) and all(isinstance(entry, str) for entry in value):
            return value  # type: ignore[return-value]  # every entry was checked
        return ()

    def numbers(self, key: str) -> tuple[int, ...]:
        """The array of integers at *key*; empty if there is none."""
        value = self.values.get(key)
        if isinstance(value, tuple) and all(isinstance(entry, int) for entry in value):
            return value  # type: ignore[return-value]  # every entry was checked
        return ()


def read_header(path: Path, name: str) -> GgufHeader:
    """The header of the file at *path*, which the user knows as *name*. Never blocks; takes about 0.2 s.

    Raises:
        ModelError: the file is not GGUF, damaged, cut short, or unreadable, or its header is too large.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise ModelError(f"Cannot read {name}: it is not a regular file. Give a GGUF file.")
            return _Reader(file, status.st_size).header()
    except DamagedError as error:
        raise ModelError(f"Cannot use {name}: {error}. Download it again, or use another model.") from error
    except (OSError, ValueError) as error:
        raise ModelError(f"Cannot read {name}: {error}. Give a GGUF file.") from error


class _Reader:
    """Reads a file from its start, and never more than its size."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self._left = min(size, HEADER_BYTES_MAX)
        self._entries_left = ENTRIES_MAX

    def header(self) -> GgufHeader:
        if self._take(4) != MAGIC:
            raise DamagedError("it is not a GGUF file")
        version = self._number("I")
        if version not in VERSIONS:
            raise DamagedError(
                "its byte order is big-endian" if version > 1 << 16 else f"GGUF version {version} is unknown"
            )
        n_tensors, n_keys = self._number("Q", TENSORS_MAX), self._number("Q", KEYS_MAX)
        values = dict[str, Value]()
        for _ in range(n_keys):
            key = self._string(NAME_BYTES_MAX)
            values[key] = self._value(self._number("I"))
        n_parameters, last_start = 0, 0
        for _ in range(n_tensors):
            self._string(NAME_BYTES_MAX)
            sizes = [self._number("Q") for _ in range(self._number("I", DIMENSIONS_MAX))]
            n_parameters += prod(sizes)
            self._number("I")  # its type
            last_start = max(last_start, self._number("Q"))
        header = GgufHeader(values, n_parameters, self._size)
        alignment = max(header.number("general.alignment") or ALIGNMENT, 1)
        if n_tensors and -(-self._file.tell() // alignment) * alignment + last_start >= self._size:
            raise DamagedError("its end is missing")
        return header

    def _take(self, n: int) -> bytes:
        if n > self._left:
            raise DamagedError("it is cut short, or its header is damaged")
        self._left -= n
        data = self._file.read(n)
        if len(data) < n:
            raise DamagedError("it is cut short")
        return data

    def _number(self, code: str, most: int = 1 << 64) -> int:
        layout = f"<{code}"
        (value,) = struct.unpack(layout, self._take(struct.calcsize(layout)))
        if value > most:
            raise DamagedError("its header is damaged")
        return int(value)

    def _string(self, most: int = HEADER_BYTES_MAX) -> str:
        return self._take(self._number("Q", most)).decode(errors="surrogateescape")

    def _value(self, kind: int) -> Value:
        if kind == _STRING:
            return self._string()
        if kind != _ARRAY:
            return self._numbers(kind, 1)[0]
        kind, n = self._number("I"), self._number("Q", self._entries_left)
        self._entries_left -= n
        return self._strings(n) if kind == _STRING else self._numbers(kind, n)

    def _strings(self, n: int) -> tuple[str, ...]:
        """*n* times `_string`, inlined as there are hundreds of thousands."""
        read, left, strings = self._file.read, self._left, list[str]()
        for _ in range(n):
            size = int.from_bytes(read(8), "little")
            left -= 8 + size
            if left < 0:
                raise DamagedError("it is cut short, or its header is damaged")
            strings.append(read(size).decode(errors="surrogateescape"))
        self._left = left
        return tuple(strings)

    def _numbers(self, kind: int, n: int) -> tuple[Scalar, ...]:
        code = _NUMBERS.get(kind)
        if code is None:
            raise DamagedError("its header has values of an unknown type")
        layout = f"<{n}{code}"
        return struct.unpack(layout, self._take(struct.calcsize(layout)))


QUANTISATIONS = {
    **dict(enumerate(("F32", "F16", "Q4_0", "Q4_1"))),
    **dict(enumerate(("Q8_0", "Q5_0", "Q5_1", "Q2_K", "Q3_K_S", "Q3_K_M", "Q3_K_L", "Q4_K_S", "Q4_K_M"), 7)),
    **dict(enumerate(("Q5_K_S", "Q5_K_M", "Q6_K", "IQ2_XXS", "IQ2_XS", "Q2_K_S", "IQ3_XS", "IQ3_XXS"), 16)),
    **dict(enumerate(("IQ1_S", "IQ4_NL", "IQ3_S", "IQ3_M", "IQ2_S", "IQ2_M", "IQ4_XS", "IQ1_M", "BF16"), 24)),
    **dict(enumerate(("TQ1_0", "TQ2_0", "MXFP4", "NVFP4", "Q1_0"), 36)),
}
"""Names of `general.file_type`: `llama_ftype` in llama.cpp's `llama.h`."""

NAMES_NEEDED = {"Qwen-Coder": ("coder", "codefim")}
"""By family: words, one of which must be in the names of a model, as other models have the markers too."""

NOT_TRAINED = ("opencoder", "replit-code-v1_5", "replit-code-v1.5", "opencodeinterpreter")
"""Words in the names of models that have markers but were not trained with them."""

_FOR_CHAT = re.compile(r"instruct|chat|assistant|\d[bm][-_ ]it\b")
_NAME_KEYS = ("name", "basename", "finetune", "source.url", "source.repo_url", "repo_url")
_NORMAL, _CONTROL, _USER_DEFINED, _BYTE = 1, 3, 4, 6
_PRINTED_MAX = 80


@dataclass(frozen=True, slots=True)
class GgufModel:
    """The model in a GGUF file, as its header describes it.

    Attributes:
        name: name for people, on one printable line.
        architecture: for instance `qwen2`.
        size: size of the file in bytes.
        n_parameters: number of parameters.
        quantisation: for instance `Q4_K_M`; empty: unknown.
        context: number of tokens that it was trained to read; 0: unknown.
        licence: for instance `apache-2.0`; empty: unknown.
        has_chat_template: True if the file has a template for conversations.
        fim: markers and order of its prompts; None: it cannot fill in the middle.
        remark: why it cannot, or not well, as a part of a sentence; else None.
    """

    name: str
    architecture: str
    size: int
    n_parameters: int
    quantisation: str
    context: int
    licence: str
    has_chat_template: bool
    fim: FimFormat | None
    remark: str | None


def describe(path: Path, called: str | None = None) -> GgufModel:
    """Describe the model in the GGUF file at *path*, which the user knows as *called*.

    Raises:
        ModelError: the file is damaged or not GGUF.
    """
    name = called or path.stem
    return describe_header(read_header(path, name), name, family_beside(path.parent))


def describe_header(header: GgufHeader, called: str, family: Family | None = None) -> GgufModel:
    """Describe the model of *header*, which the user knows as *called*; *family* is that of a `fim.json`."""
    architecture = header.text("general.architecture")
    fim, remark = _fim_or_reason(header, called, family)
    return GgufModel(
        name=printable(header.text("general.name")) or printable(called),
        architecture=printable(architecture),
        size=header.size,
        n_parameters=header.n_parameters,
        quantisation=QUANTISATIONS.get(header.number("general.file_type") or 0, "")
        if "general.file_type" in header.values
        else "",
        context=header.number(f"{architecture}.context_length") or 0,
        licence=printable(header.text("general.license.name") or header.text("general.license")),
        has_chat_template="tokenizer.chat_template" in header.values,
        fim=fim,
        remark=remark,
    )


def fim_format(
    header: GgufHeader,
    called: str,
    *,
    family: str | Family | None = None,
    order: Order | None = None,
    untrained: bool = False,
) -> FimFormat:
    """Markers and order of the prompts of a model: those of a family, or those declared in the file.

    The tokens that end its texts, as the file declares, end a middle in any case. *family* and
    *order* override the detected ones; *untrained* is as in `find_format`.

    Raises:
        ModelError: the model was not trained to fill in the middle, or not in this family or order.
    """
    ids = {text: token for token, text in enumerate(header.texts("tokenizer.ggml.tokens"))}
    architecture = header.text("general.architecture")
    try:
        found = find_format(ids, called, architecture=architecture, family=family, order=order)
        return found.ending_also(_ends(header))
    except ModelError as error:
        declared = _declared_format(header)
        if declared is not None and not family and order != "spm":
            return declared
        if declared is not None or not (untrained and isinstance(error, NoMarkersError)):
            raise
        found = find_format(ids, called, order=order, untrained=True)
        return found.ending_also(_ends(header))


def check_names(family: str, names: str) -> tuple[bool, str | None]:
    """True if a model with the markers of *family* was trained with them, and a remark on that or None.

    *names* are its own and those of its base models.
    """
    names, needed = names.lower(), NAMES_NEEDED.get(family)
    if any(word in names for word in NOT_TRAINED) or (needed and not any(word in names for word in needed)):
        return False, "its vocabulary has markers for filling in the middle, but it was not trained with them"
    return True, "tuned for chat: the base model fills in better" if _FOR_CHAT.search(names) else None


def token_bytes(header: GgufHeader) -> list[bytes | None]:
    """The exact bytes of each token; None for markers and special tokens, which have no text.

    Raises:
        ModelError: the kind of the vocabulary is unknown.
    """
    kind = header.text("tokenizer.ggml.model")
    tokens, types = header.texts("tokenizer.ggml.tokens"), header.numbers("tokenizer.ggml.token_type")
    if kind not in ("gpt2", "llama"):
        raise ModelError(f"Cannot read the vocabulary: unknown kind {printable(kind)!r}. Use another model.")
    types = types if len(types) == len(tokens) else (_NORMAL,) * len(tokens)
    of_piece = byte_level_bytes if kind == "gpt2" else sentence_piece_bytes
    of_text = str.encode if kind == "gpt2" else sentence_piece_bytes
    kinds = [
        _CONTROL if type_ == _USER_DEFINED and is_marker(text) else type_
        for text, type_ in zip(tokens, types, strict=True)
    ]
    readers = {_NORMAL: of_piece, _BYTE: of_piece, _USER_DEFINED: of_text}
    return [
        readers[type_](text) if type_ in readers and _is_text(text) else None
        for text, type_ in zip(tokens, kinds, strict=True)
    ]


def printable(text: str) -> str:
    """*text* on one line of at most 80 characters, without those that would change a terminal."""
    return "".join(character if character.isprintable() else " " for character in text[:_PRINTED_MAX]).strip()


def _fim_or_reason(
    header: GgufHeader, called: str, family: Family | None
) -> tuple[FimFormat | None, str | None]:
    kind = header.text("general.type") or "model"
    if kind != "model":
        return None, f"it is part of a model, of the kind {printable(kind)}"
    names = _names(header, called)
    try:
        fim = fim_format(header, called, family=family)
    except ModelError as error:
        if family is not None:
            return None, str(error)
        made_for = "; it was made for chat" if _FOR_CHAT.search(names) else ""
        return None, f"it has no markers for filling in the middle{made_for}"
    is_trained, remark = (True, None) if family else check_names(fim.family, names)
    return fim if is_trained else None, remark


def _names(header: GgufHeader, called: str) -> str:
    """All names of the model and its base models in the file, in lower case."""
    keys = [f"general.{key}" for key in _NAME_KEYS]
    keys += [key for key in header.values if key.startswith("general.base_model.")]
    return " ".join([called, *(header.text(key) for key in keys)]).lower()


def _declared_format(header: GgufHeader) -> FimFormat | None:
    """The prompt with the prefix first, in the markers that the file declares; None if one is missing."""
    prefix, suffix, middle = (_declared(header, name) for name in ("fim_pre", "fim_suf", "fim_mid"))
    if prefix is None or suffix is None or middle is None:
        return None
    start = _declared(header, "bos") if header.values.get("tokenizer.ggml.add_bos_token") is True else None
    prompt = (*(() if start is None else (start,)), prefix, LEFT, suffix, RIGHT, middle)
    stops = _ends(header, ("eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep"))
    ids = {"prefix": prefix, "suffix": suffix, "middle": middle}
    return FimFormat(printable(header.text("general.architecture")), prompt, stops, Project(), ids)


def _declared(header: GgufHeader, name: str) -> int | None:
    """The token that the file declares as *name*; None if there is no such token."""
    token = header.number(f"tokenizer.ggml.{name}_token_id")
    n_tokens = len(header.texts("tokenizer.ggml.tokens"))
    return token if token is not None and 0 <= token < n_tokens else None


def _ends(header: GgufHeader, names: tuple[str, ...] = ("eos", "eot", "eom")) -> frozenset[int]:
    """Those of the tokens *names* that the file declares."""
    return frozenset(token for name in names if (token := _declared(header, name)) is not None)


def user_defined_markers(header: GgufHeader) -> list[str]:
    """The texts of markers that llama.cpp reads in any text, since the file does not mark them as special."""
    tokens, types = header.texts("tokenizer.ggml.tokens"), header.numbers("tokenizer.ggml.token_type")
    return [
        text for text, type_ in zip(tokens, types, strict=False) if type_ == _USER_DEFINED and is_marker(text)
    ]


def _is_text(text: str) -> bool:
    """True if *text* was read from valid UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
