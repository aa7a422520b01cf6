"""The GGUF files that other programs downloaded, and the names by which users know them.

| name | file |
|---|---|
| `qwen2.5-coder-1.5b-q8_0` | the file of that name, without its suffix |
| `ollama:qwen2.5-coder:1.5b` | the model that Ollama knows by that name |
| `lmstudio:`, `llama.cpp:`, `hub:` before a name | the file in that store, if several stores have one |
| `qwen2.5-coder-1.5b` | the file of the catalogue, which `fimlsp models pull` downloads |

Folders and manifests are untrusted. The number of entries is limited, links to folders are not followed, and
a manifest cannot name files outside its store.
"""

from __future__ import annotations

import glob
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fimlsp.models.catalogue import known_gguf
from fimlsp.models.errors import ModelError
from fimlsp.models.regular_files import read_bounded

SUFFIX = ".gguf"
ENTRIES_MAX = 50_000
DEPTH_MAX = 8
MANIFEST_BYTES_MAX = 1 << 20
POINTER_BYTES_MAX = 4096
NAME = re.compile(r"(?:[a-z.]+:)?[\w.+-]+(?:[/:][\w.+-]+)*")
LATEST = ":latest"
_LATER_PART = re.compile(r"-(?!00001-)\d{5}-of-\d{5}$")
_FIRST_PART = re.compile(r"-00001-of-\d{5}$")
_NOT_A_MODEL = re.compile(r"mmproj|ggml-vocab|imatrix", re.IGNORECASE)
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_MODEL_LAYER = "application/vnd.ollama.image.model"
_MANIFEST_DEPTH = len(("host", "owner", "model", "tag"))
_DEFAULT_REGISTRY = ("registry.ollama.ai", "library")


@dataclass(frozen=True, slots=True)
class Store:
    """The models of a program.

    Attributes:
        program: name of the program.
        prefix: precedes the names of its models, before a colon.
        folders: possible folders of its models.
        has_manifests: True if names and files are separate, as in Ollama's store.
    """

    program: str
    prefix: str
    folders: tuple[Path, ...]
    has_manifests: bool = False


@dataclass(frozen=True, slots=True)
class StoredGguf:
    """A GGUF file in a store.

    Attributes:
        name: the program's name for it, without the prefix of the store.
        path: path of the file, or of the first of its parts.
        store: its store.
    """

    name: str
    path: Path
    store: Store

    @property
    def parts(self) -> list[Path]:
        """The file, or all existing parts that the model was split into."""
        part = _FIRST_PART.search(self.path.stem)
        if part is None:
            return [self.path]
        pattern = (
            glob.escape(self.path.stem[: part.start()]) + part[0].replace("00001", "*", 1) + self.path.suffix
        )
        return sorted(self.path.parent.glob(pattern))

    @property
    def full_name(self) -> str:
        """The name with the store's prefix, which no file of another store has."""
        return f"{self.store.prefix}:{self.name}"


def find_gguf(name: str) -> Path | None:
    """The GGUF file on this machine with this *name*; None if there is none.

    Compares names of files only. Paths, and hub names such as `owner/name`, are no names of files.

    Raises:
        ModelError: *name* is in the catalogue, and its file is not on this machine.
    """
    if not may_name_gguf(name):
        return None
    known = known_gguf(name)
    file_name = (known.file if known else name).casefold().removesuffix(SUFFIX)
    for stored in stored_ggufs():
        if file_name in map(str.casefold, names_of(stored)):
            return stored.path
    if known:
        raise ModelError(
            f"Cannot load {known.name}: it is not on this machine. Run `fimlsp models pull {known.name}`."
        )
    return None


def may_name_gguf(name: str) -> bool:
    """True if *name* has the form of names that `find_gguf` knows."""
    return NAME.fullmatch(name) is not None and ("/" not in name or ":" in name.partition("/")[0])


def stored_ggufs() -> Iterator[StoredGguf]:
    """All GGUF files in the stores of this machine."""
    for store in local_stores():
        yield from ggufs_in(store)


def names_of(stored: StoredGguf) -> list[str]:
    """The names of a file, the shortest first."""
    full = stored.full_name
    if stored.store.has_manifests:
        return [full.removesuffix(LATEST), full] if full.endswith(LATEST) else [full]
    if stored.store.prefix == "llama.cpp":  # its names start with owner and repository, joined by underscores
        starts = [at + 1 for at, character in enumerate(stored.name) if character == "_"]
        return [stored.name, full, *(stored.name[start:] for start in starts)]
    return [stored.name, full]


def local_stores() -> tuple[Store, ...]:
    """The possible stores of this user on this system."""
    try:
        home = Path.home()
    except RuntimeError:  # the user has no home
        return ()
    from huggingface_hub import constants

    return stores(os.environ, home, sys.platform, Path(constants.HF_HUB_CACHE))


def stores(environment: Mapping[str, str], home: Path, system: str, hub: Path) -> tuple[Store, ...]:
    """The possible stores of a user with this *home* and hub cache; *system* is as of `sys.platform`.

    | program | source |
    |---|---|
    | llama.cpp | `fs_get_cache_directory` in its `common/common.cpp`; newer versions use the hub's cache |
    | Ollama | "Where are models stored?" in `docs/faq.md` of github.com/ollama/ollama |
    | LM Studio | lmstudio.ai/docs/basics/import-model; `findLMStudioHome` of its own plugins |
    """
    return (
        Store("llama.cpp", "llama.cpp", (_llama_cpp(environment, home, system),)),
        Store("Ollama", "ollama", _ollama(environment, home, system), has_manifests=True),
        Store("LM Studio", "lmstudio", _lm_studio(home)),
        Store("the hub", "hub", (hub,)),
    )


def _llama_cpp(environment: Mapping[str, str], home: Path, system: str) -> Path:
    if cache := environment.get("LLAMA_CACHE"):
        return Path(cache)
    if system == "win32":
        caches = environment.get("LOCALAPPDATA") or home / "AppData" / "Local"
    elif system == "darwin":
        caches = home / "Library" / "Caches"
    else:
        caches = environment.get("XDG_CACHE_HOME") or home / ".cache"
    return Path(caches, "llama.cpp")


def _ollama(environment: Mapping[str, str], home: Path, system: str) -> tuple[Path, ...]:
    if folder := environment.get("OLLAMA_MODELS"):
        return (Path(folder),)
    own = home / ".ollama" / "models"
    return (own, Path("/usr/share/ollama/.ollama/models")) if system == "linux" else (own,)


def _lm_studio(home: Path) -> tuple[Path, ...]:
    try:
        pointer = read_bounded(home / ".lmstudio-home-pointer", POINTER_BYTES_MAX).decode().strip()
    except (OSError, ValueError):
        pointer = ""
    homes = [Path(pointer)] if pointer else [home / ".lmstudio", home / ".cache" / "lm-studio"]
    return tuple(folder / "models" for folder in homes)


def ggufs_in(store: Store) -> Iterator[StoredGguf]:
    """The models of *store*, sorted by name; the same file with the same name only once."""
    seen = set[tuple[str, Path]]()
    for folder in store.folders:
        for name, path in sorted(_named_by_manifests(folder) if store.has_manifests else _files(folder)):
            target = path.resolve()
            if name.isprintable() and (name, target) not in seen:  # other characters would change a terminal
                seen.add((name, target))
                yield StoredGguf(name, path, store)


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in _walk(folder):
        if path.suffix.lower() == SUFFIX and not any(
            pattern.search(path.stem) for pattern in (_LATER_PART, _NOT_A_MODEL)
        ):
            yield _FIRST_PART.sub("", path.stem), path


def _named_by_manifests(folder: Path) -> Iterator[tuple[str, Path]]:
    """Ollama's files: `manifests/host/owner/model/tag` is JSON that names files in `blobs`."""
    root = folder / "manifests"
    for path in _walk(root):
        parts = path.relative_to(root).parts
        blob = _blob_of(path) if len(parts) == _MANIFEST_DEPTH else None
        if blob is not None:
            *registry, model, tag = parts
            shown = [
                part
                for part, default in zip(registry, _DEFAULT_REGISTRY, strict=True)
                if registry[0] != _DEFAULT_REGISTRY[0] or part != default
            ]
            yield "/".join([*shown, f"{model}:{tag}"]), folder / "blobs" / blob


def _blob_of(manifest: Path) -> str | None:
    """The name of the file with the model of *manifest*; None if the manifest is invalid."""
    try:
        layers = json.loads(read_bounded(manifest, MANIFEST_BYTES_MAX))["layers"]
        digests = [layer["digest"] for layer in layers if layer["mediaType"] == _MODEL_LAYER]
        digest = _DIGEST.fullmatch(digests[0])
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    return f"sha256-{digest[1]}" if digest else None


def _walk(folder: Path) -> Iterator[Path]:
    """The files below *folder*, including links to files."""
    entries_left = ENTRIES_MAX
    for path, folders, names in os.walk(folder):
        current = Path(path)
        entries_left -= len(folders) + len(names)
        if entries_left < 0:
            return
        if len(current.relative_to(folder).parts) >= DEPTH_MAX:
            folders.clear()
        yield from (current / name for name in names)
