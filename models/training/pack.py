"""A corpus as tokens in a few files: small enough to travel, and read in seconds by whatever trains on it.

| file | content |
|---|---|
| `tokens.xz` | the token ids of all documents, one after the other, 16 bits each |
| `documents.json.xz` | package, path, split and length of each document, and the edits |
| `tokenizer.json` | the tokenizer, learnt from the same documents |
| `manifest.json` | sizes and SHA-256 of the others, the sources with licences, everything left out |

A document is a file, in its newest release. If an earlier release has it in another form, that form is a
document of its own, of the split `earlier`. xz reduces it to the differences. An *edit* has the hunks between
the two, four numbers of tokens each. The hunk starts and stops in the new document. The text that follows
starts in the old one, with or without the lines that the hunk replaces.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from fimlsp.models.errors import ModelError
from fimlsp.models.training.corpus import SourceFile, Split, repeated_files
from fimlsp.models.training.sources import is_permissive

TOKENS, DOCUMENTS, TOKENIZER, MANIFEST = "tokens.xz", "documents.json.xz", "tokenizer.json", "manifest.json"
FORMAT = 1
TOGETHER = 256
"""Documents that are encoded at once."""

XZ: list[dict[str, int]] = [
    {"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 64 << 20, "lc": 0, "lp": 1, "pb": 1, "nice_len": 128}
]
"""Two bytes a token: the literal coder knows which of them it codes."""

COPIED, COPIED_LINES = 0.5, 4
"""The part of at least so many distinctive lines from which on a file of a pack is a copy.

A pack has a part of the held-out packages alone. So fewer lines are known to be common property than when it
was made, and small files without a fault share one or two.
"""

DIFFERING_ROWS_MAX = 4000
"""Rows between the common start and end of two releases of a file, above which it gives no edit."""

Tokens = NDArray[np.uint16]
_NO_TOKENS: Tokens = np.zeros(0, np.uint16)


@dataclass(frozen=True, slots=True)
class Document:
    """The tokens from *start* to *stop* of a pack: a file of a package."""

    package: str
    path: str
    split: Split | Literal["earlier"]
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Edit:
    """The numbers of the *new* and the *old* document, and the *hunks* between them, each four offsets."""

    new: int
    old: int
    hunks: tuple[tuple[int, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Pack:
    """The documents of a corpus as tokens; *manifest* has their sources."""

    tokenizer: Tokenizer
    tokens: Tokens
    documents: Sequence[Document]
    edits: Sequence[Edit]
    manifest: Mapping[str, Any] = field(default_factory=dict)

    def text(self, document: Document) -> str:
        """The text of *document*."""
        ids = self.tokens[document.start : document.stop].tolist()
        return self.tokenizer.decode(ids, skip_special_tokens=False)

    def files(self, split: Split) -> list[SourceFile]:
        """The documents of a split as text."""
        chosen = [document for document in self.documents if document.split == split]
        texts = self.tokenizer.decode_batch(
            [self.tokens[document.start : document.stop].tolist() for document in chosen],
            skip_special_tokens=False,
        )
        return [
            SourceFile(document.package, document.path, text, split)
            for document, text in zip(chosen, texts, strict=True)
        ]

    def of_paths(self, paths: Container[str], manifest: Mapping[str, Any]) -> Pack:
        """The pack of the documents with these *paths*, with another manifest."""
        kept, places, parts, end = list[Document](), dict[int, int](), list[Tokens](), 0
        for number, document in enumerate(self.documents):
            if document.path in paths:
                places[number] = len(kept)
                parts.append(self.tokens[document.start : document.stop])
                kept.append(replace(document, start=end, stop=end + len(parts[-1])))
                end += len(parts[-1])
        edits = [
            Edit(places[edit.new], places[edit.old], edit.hunks) for edit in self.edits if edit.new in places
        ]
        return Pack(self.tokenizer, np.concatenate([_NO_TOKENS, *parts]), kept, edits, manifest)


def make_pack(
    tokenizer: Tokenizer, files: Sequence[SourceFile], earlier: Mapping[str, str], manifest: Mapping[str, Any]
) -> Pack:
    """Encode *files*; *earlier* has the text of an earlier release for some of their names."""
    documents, edits, parts = list[Document](), list[Edit](), list[Tokens]()
    end = 0
    for file, encoding in zip(files, _encoded(tokenizer, (file.text for file in files)), strict=True):
        documents.append(Document(file.package, file.name, file.split, end, end := end + len(encoding.ids)))
        parts.append(np.array(encoding.ids, np.uint16))
        if (text := earlier.get(file.name)) is not None:
            before = tokenizer.encode(text, add_special_tokens=False)
            if hunks := tuple(_hunks(file.text, encoding, text, before)):
                documents.append(
                    Document(file.package, file.name, "earlier", end, end := end + len(before.ids))
                )
                parts.append(np.array(before.ids, np.uint16))
                edits.append(Edit(len(documents) - 2, len(documents) - 1, hunks))
    return Pack(tokenizer, np.concatenate([_NO_TOKENS, *parts]), documents, edits, manifest)


def _encoded(tokenizer: Tokenizer, texts: Iterable[str]) -> Iterator[Encoding]:
    group = list[str]()
    for text in texts:
        group.append(text)
        if len(group) == TOGETHER:
            yield from tokenizer.encode_batch(group, add_special_tokens=False)
            group.clear()
    yield from tokenizer.encode_batch(group, add_special_tokens=False)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a text, with the offsets of their code in characters and the tokens that start there."""

    lines: list[str]
    starts: list[int]
    token_starts: NDArray[np.int64]

    @classmethod
    def of(cls, text: str, encoding: Encoding) -> _Rows:
        lines = text.split("\n")
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        return cls(lines, starts, np.array([start for start, _ in encoding.offsets], np.int64))

    def code(self, row: int) -> int:
        """The token with which the code of *row* starts."""
        line = self.lines[row]
        return self._token(self.starts[row] + len(line) - len(line.lstrip(" \t")))

    def after(self, row: int) -> int:
        """The token after the code of *row*, or of the last row before it that has any: a line end."""
        while row >= 0 and not self.lines[row].strip():
            row -= 1
        return 0 if row < 0 else self._token(self.starts[row] + len(self.lines[row].rstrip()))

    def _token(self, offset: int) -> int:
        return int(np.searchsorted(self.token_starts, offset))


def _hunks(
    text: str, encoding: Encoding, former: str, before: Encoding
) -> Iterator[tuple[int, int, int, int]]:
    new, old = _Rows.of(text, encoding), _Rows.of(former, before)
    for old_rows, new_rows in _differences(old.lines, new.lines):
        filled = [row for row in new_rows if new.lines[row].strip()]
        if filled:
            places = old.after(old_rows.start - 1), old.after(old_rows.stop - 1)
            yield new.code(filled[0]), new.after(filled[-1]), *places


def _differences(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[range, range]]:
    """The rows of *old* and *new* that differ, in pairs."""
    least = min(len(old), len(new))
    same = next((n for n in range(least) if old[n] != new[n]), least)
    kept = next((n for n in range(least - same) if old[-1 - n] != new[-1 - n]), least - same)
    middle_old, middle_new = old[same : len(old) - kept], new[same : len(new) - kept]
    if len(middle_old) + len(middle_new) > DIFFERING_ROWS_MAX:
        return
    matcher = SequenceMatcher(None, middle_old, middle_new, autojunk=False)
    for tag, old_start, old_stop, new_start, new_stop in matcher.get_opcodes():
        if tag in ("replace", "insert"):
            yield range(old_start + same, old_stop + same), range(new_start + same, new_stop + same)


def write_pack(pack: Pack, folder: Path) -> int:
    """Write *pack* into *folder*; returns the bytes of all its files."""
    folder.mkdir(parents=True, exist_ok=True)
    described = {
        "documents": [[d.package, d.path, d.split, d.stop - d.start] for d in pack.documents],
        "edits": [[edit.new, edit.old, edit.hunks] for edit in pack.edits],
    }
    contents = {
        TOKENS: lzma.compress(pack.tokens.astype("<u2").tobytes(), filters=XZ),
        DOCUMENTS: lzma.compress(json.dumps(described, separators=(",", ":")).encode()),
        TOKENIZER: pack.tokenizer.to_str().encode(),
    }
    manifest = {
        "format": FORMAT,
        **pack.manifest,
        "tokens": len(pack.tokens),
        "documents": len(pack.documents),
        "files": {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in contents.items()
        },
    }
    contents[MANIFEST] = (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode()
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    return sum(map(len, contents.values()))


def read_pack(folder: Path) -> Pack:
    """Read a pack; takes some ten seconds for 100 million tokens.

    Raises:
        ModelError: a file is missing, or is not the one that the manifest describes.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        contents = {name: (folder / name).read_bytes() for name in (TOKENS, DOCUMENTS, TOKENIZER)}
        for name, data in contents.items():
            if hashlib.sha256(data).hexdigest() != manifest["files"][name]["sha256"]:
                raise ValueError(f"{name} is not the file of its manifest")
        described = json.loads(lzma.decompress(contents[DOCUMENTS]))
        tokens = np.frombuffer(lzma.decompress(contents[TOKENS]), "<u2")
        documents, end = list[Document](), 0
        for package, path, split, length in described["documents"]:
            documents.append(Document(package, path, split, end, end := end + length))
        edits = [Edit(new, old, tuple(map(tuple, hunks))) for new, old, hunks in described["edits"]]
        tokenizer = Tokenizer.from_buffer(contents[TOKENIZER])
    except (OSError, ValueError, KeyError, TypeError, lzma.LZMAError) as error:
        raise ModelError(
            f"Cannot read the pack {folder}: {error}. Make it again with `fimlsp train pack`."
        ) from error
    return Pack(tokenizer, tokens, documents, edits, manifest)


def faults_of(pack: Pack) -> Iterator[str]:
    """The faults of a pack that `read_pack` accepts, each as a sentence.

    Decodes all documents and compares their lines with those held out: about a minute.
    """
    sizes = [document.stop - document.start for document in pack.documents]
    if sum(sizes) != len(pack.tokens) or (
        len(pack.tokens) and pack.tokens.max() >= pack.tokenizer.get_vocab_size()
    ):
        yield "The documents are not those of the tokens."
    for edit in pack.edits:
        ends = (sizes[edit.new], sizes[edit.new], sizes[edit.old], sizes[edit.old])
        if any(not 0 <= at <= end for hunk in edit.hunks for at, end in zip(hunk, ends, strict=True)):
            yield f"An edit of {pack.documents[edit.new].path} is outside its file."
    for source in pack.manifest.get("sources", ()):
        if not is_permissive(source["licence"]):
            yield f"The licence of {source['name']} is not known to be permissive: {source['licence']}."
    files = [file for split in ("train", "val", "ood") for file in pack.files(split)]
    for file in repeated_files(files, COPIED, COPIED_LINES):
        yield f"{file.name} repeats held-out packages."
