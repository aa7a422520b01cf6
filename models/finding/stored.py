"""Lists the GGUF files of a store under the names by which users know them.

Folders and manifests may be anybody's: so many entries are looked at and no more, links to folders are not
followed, and a manifest names nothing outside its store.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fimlsp.models.checkpoints.regular_files import read_bounded
from fimlsp.models.finding.places import Store

ENDING = ".gguf"
ENTRIES_MAX = 50_000
DEPTH_MAX = 8
MANIFEST_BYTES_MAX = 1 << 20
_LATER_PART = re.compile(r"-(?!00001-)\d{5}-of-\d{5}$")
_FIRST_PART = re.compile(r"-00001-of-\d{5}$")
_NOT_A_MODEL = re.compile(r"mmproj|ggml-vocab|imatrix", re.IGNORECASE)
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_MODEL_LAYER = "application/vnd.ollama.image.model"
_USUAL = ("registry.ollama.ai", "library")


@dataclass(frozen=True, slots=True)
class Stored:
    """A GGUF file: the name by which its program knows it, without the prefix of the store, and its place."""

    name: str
    path: Path
    store: Store

    @property
    def parts(self) -> list[Path]:
        """The file, or all those that one model was cut into, as far as they are there."""
        cut = _FIRST_PART.search(self.path.stem)
        if cut is None:
            return [self.path]
        pattern = (
            glob.escape(self.path.stem[: cut.start()]) + cut[0].replace("00001", "*", 1) + self.path.suffix
        )
        return sorted(self.path.parent.glob(pattern))

    @property
    def full_name(self) -> str:
        """The name that no file of another store has."""
        return f"{self.store.prefix}:{self.name}"


def stored_in(store: Store) -> Iterator[Stored]:
    """The models of *store*, by name; a file that it has several times under one name once."""
    seen = set[tuple[str, Path]]()
    for folder in store.folders:
        for name, path in sorted(_manifests(folder) if store.has_manifests else _files(folder)):
            place = path.resolve()
            if name.isprintable() and (name, place) not in seen:  # others would change a terminal
                seen.add((name, place))
                yield Stored(name, path, store)


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in _walk(folder):
        if path.suffix.lower() == ENDING and not any(
            rule.search(path.stem) for rule in (_LATER_PART, _NOT_A_MODEL)
        ):
            yield _FIRST_PART.sub("", path.stem), path


def _manifests(folder: Path) -> Iterator[tuple[str, Path]]:
    """Ollama's: `manifests/host/owner/model/tag` is JSON that names files in `blobs`."""
    root = folder / "manifests"
    for path in _walk(root):
        parts = path.relative_to(root).parts
        blob = _blob_of(path) if len(parts) == len(("host", "owner", "model", "tag")) else None
        if blob is not None:
            *where, model, tag = parts
            shown = [
                part
                for part, usual in zip(where, _USUAL, strict=True)
                if where[0] != _USUAL[0] or part != usual
            ]
            yield "/".join([*shown, f"{model}:{tag}"]), folder / "blobs" / blob


def _blob_of(manifest: Path) -> str | None:
    """The name of the file that has the model of *manifest*; None if that cannot be told."""
    try:
        layers = json.loads(read_bounded(manifest, MANIFEST_BYTES_MAX))["layers"]
        digests = [layer["digest"] for layer in layers if layer["mediaType"] == _MODEL_LAYER]
        found = _DIGEST.fullmatch(digests[0])
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    return f"sha256-{found[1]}" if found else None


def _walk(folder: Path) -> Iterator[Path]:
    """The files below *folder*, links to files among them."""
    left = ENTRIES_MAX
    for place, folders, names in os.walk(folder):
        here = Path(place)
        left -= len(folders) + len(names)
        if left < 0:
            return
        if len(here.relative_to(folder).parts) >= DEPTH_MAX:
            folders.clear()
        yield from (here / name for name in names)
