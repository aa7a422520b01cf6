"""Where other programs keep the GGUF files that they fetched, on each system.

The cache of the hub is where its own client says.

| program | source |
|---|---|
| llama.cpp | `fs_get_cache_directory` in its `common/common.cpp`; newer ones use the hub's cache |
| Ollama | "Where are models stored?" in `docs/faq.md` of github.com/ollama/ollama |
| LM Studio | lmstudio.ai/docs/basics/import-model; `findLMStudioHome` of its own plugins |
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fimlsp.models.checkpoints.regular_files import read_bounded

POINTER_BYTES_MAX = 4096


@dataclass(frozen=True, slots=True)
class Store:
    """Where a program keeps models.

    Attributes:
        program: its name.
        prefix: precedes the names of its models, before a colon.
        folders: those that may be there.
        has_manifests: whether names and files are kept apart, as Ollama does.
    """

    program: str
    prefix: str
    folders: tuple[Path, ...]
    has_manifests: bool = False


def stores_here() -> tuple[Store, ...]:
    """The stores that there may be for this user on this system."""
    try:
        home = Path.home()
    except RuntimeError:  # nobody has a home
        return ()
    from huggingface_hub import constants

    return stores(os.environ, home, sys.platform, Path(constants.HF_HUB_CACHE))


def stores(environment: Mapping[str, str], home: Path, system: str, hub: Path) -> tuple[Store, ...]:
    """The stores that there may be, for a user with this *home* and the cache *hub*.

    *system* is as of `sys.platform`.
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
