"""The configuration of a run: everything that decides its results, and how it was started."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fimlsp import __version__
from fimlsp.datasets.cases.bench import BenchSettings
from fimlsp.datasets.cuts.selection import Selection
from fimlsp.datasets.languages.own_grammar import OwnGrammar
from fimlsp.datasets.languages.scripts import Scripts
from fimlsp.extras import package_version
from fimlsp.models.checkpoints.hub import find_folder
from fimlsp.models.loading import BUNDLED

ROOMS = ("lexing", "quotient", "languages", "models", "datasets")
DIGITS = 12
N_SAMPLES, SAMPLE_BYTES = 16, 1 << 16
LIBRARIES = ("numpy", "tokenizers", "torch", "transformers")


def plan_of(selection: Selection, settings: BenchSettings) -> dict[str, Any]:
    """Everything that decides the results. A run is continued only if none of it has changed.

    Raises:
        ModelError: the model is not on this machine.
    """
    files, shard = selection.files, selection.shard
    saved = selection.saved
    return {
        "language": settings.replay_language.name,
        "own_grammar": settings.own.to_json() if isinstance(settings.own, OwnGrammar) else None,
        "interface": settings.own.to_json() if isinstance(settings.own, Scripts) else None,
        "sources": list(selection.sources),
        "files": f"{files.start}:{'' if files.stop >= 1 << 62 else files.stop}:{files.step}",
        "cuts": list(selection.kinds) if saved is None else digest(sorted(saved)),
        "per_file": selection.per_file,
        "seed": selection.seed,
        "shard": f"{shard.number}/{shard.count}",
        "bytes_max": selection.filters.bytes_max,
        "model": settings.model or "bundled",
        "model_files": model_digest(settings.model),
        "device": settings.device or "any",
        "precision": settings.precision,
        "family": settings.family or "recognised",
        "order": settings.order or "psm if known",
        "grammar": settings.replay_language.grammar.name,
        "tokens": settings.tokens,
        "fimlsp": __version__,
        "code": code_digest(),
        "python": platform.python_version(),
    }


def about(command: Sequence[str], workers: int) -> dict[str, Any]:
    """How and on which machine the run was started, for the report."""
    return {
        "command": shlex.join(command),
        "workers": workers,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs, {_processor()}",
        "libraries": {name: package_version(name) for name in LIBRARIES},
    }


def digest(parts: Sequence[str]) -> str:
    """A short hash of *parts*."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:DIGITS]


def code_digest(rooms: Sequence[str] = ROOMS) -> str:
    """A short hash of the code and the grammars of *rooms*, by default those that decide the results."""
    root = Path(__file__).parents[2]
    files = [
        path for room in rooms for path in sorted((root / room).rglob("*")) if path.suffix in (".py", ".lark")
    ]
    return digest([path.read_text(encoding="utf-8") for path in files])


def model_digest(model: str | None) -> str:
    """A short hash of a checkpoint: its configuration, its tokenizer, and samples of its weights."""
    folder = BUNDLED if model is None else find_folder(model)
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob("*.json"))]
    return digest([*texts, *map(_sampled, sorted(folder.glob("*.safetensors")))])


def _sampled(path: Path) -> str:
    """The name, the size and a hash of samples of a file, which may be too large to be read whole."""
    size, samples = path.stat().st_size, hashlib.sha256()
    with path.open("rb") as file:
        for number in range(N_SAMPLES):
            file.seek(size * number // N_SAMPLES)
            samples.update(file.read(SAMPLE_BYTES))
    return f"{path.name} {size} {samples.hexdigest()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
