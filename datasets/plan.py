"""The plan of a run: every setting that decides its results, as a value that is kept in `run.json`.

Each kind of run has a plan of its own: `ReplayPlan` here, others beside the code that they belong to. The
fields of a plan are its keys in JSON.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import fimlsp
from fimlsp import __version__
from fimlsp.datasets.bench import BenchSettings
from fimlsp.datasets.cuts import Selection
from fimlsp.datasets.languages import LANGUAGES
from fimlsp.datasets.languages.lua import Scripts
from fimlsp.datasets.languages.own_grammar import OwnGrammar
from fimlsp.datasets.languages.python import PYTHON
from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.extras import package_version
from fimlsp.models.checkpoints.hub import find_folder
from fimlsp.models.loading import BUNDLED, gguf_file
from fimlsp.models.regular_files import sampled_digest
from fimlsp.models.remote.address import is_address

PACKAGES = ("processes", "lexing", "quotient", "languages", "models", "datasets")
"""The packages whose code decides the results of a replay."""

LIBRARIES = ("numpy", "tokenizers", "torch", "transformers")
DIGITS = 12
FILES_MAX = 1 << 62

AnyPlan = TypeVar("AnyPlan", bound="Plan")


@dataclass(frozen=True, slots=True)
class Plan:
    """The base of all plans. A run is continued only if no field of its plan has changed."""

    def to_json(self) -> dict[str, Any]:
        """The plan as an object of JSON, with its fields as keys."""
        return asdict(self)

    @classmethod
    def from_json(cls: type[AnyPlan], row: Mapping[str, Any]) -> AnyPlan:
        """The plan that `to_json` wrote. Keys of other versions are ignored.

        Raises:
            TypeError: a field without a default is missing.
        """
        known = {field.name for field in fields(cls)}
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
        return cls(**{name: value for name, value in values.items() if name in known})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPlan(Plan):
    """The plan of `fimlsp replay run`. Fields with defaults are missing in runs of earlier versions.

    Attributes:
        language: the name of the files' language.
        own_grammar: the user's own grammar, as `OwnGrammar.to_json` writes it; None if there is none.
        interface: the interface of sLua scripts, as `Scripts.to_json` writes it; None if there is none.
        sources: the names of the sources.
        files: the numbers of the files, as `START:STOP:STEP`.
        cuts: the kinds of cuts, or a digest of saved cases.
        per_file: the number of cuts of each kind in a file.
        seed: the seed of all cuts.
        shard: the part of the files, as `I/N`.
        bytes_max: the size up to which files are cut.
        model: the folder or name of the model.
        model_files: see `model_digest`.
        device: the chosen device, or `any`.
        precision: of the network's numbers.
        family: the family whose markers are used, or `recognised`.
        order: the order of the prompt, or `psm if known`.
        grammar: the name of the grammar.
        tokens: the maximum length of an answer.
        fimlsp: the version of fimlsp.
        code: see `code_digest`.
        python: the version of Python.
    """

    language: str = PYTHON.name
    own_grammar: Mapping[str, Any] | None = None
    interface: Mapping[str, Any] | None = None
    sources: tuple[str, ...]
    files: str
    cuts: tuple[str, ...] | str
    per_file: int
    seed: int
    shard: str
    bytes_max: int
    model: str
    model_files: str
    device: str
    precision: str = "not recorded"
    family: str = "recognised"
    order: str = "psm if known"
    grammar: str = "of the reference parser"
    tokens: int
    fimlsp: str
    code: str
    python: str

    @classmethod
    def of(cls, selection: Selection, settings: BenchSettings) -> ReplayPlan:
        """The plan for the cases of *selection*, run with *settings*.

        Raises:
            ModelError: the model is not on this machine.
        """
        files, shard, saved, own = selection.files, selection.shard, selection.saved, settings.own
        language = settings.replay_language
        return cls(
            language=language.name,
            own_grammar=own.to_json() if isinstance(own, OwnGrammar) else None,
            interface=own.to_json() if isinstance(own, Scripts) else None,
            sources=selection.sources,
            files=f"{files.start}:{'' if files.stop >= FILES_MAX else files.stop}:{files.step}",
            cuts=selection.kinds if saved is None else digest(sorted(saved)),
            per_file=selection.per_file,
            seed=selection.seed,
            shard=f"{shard.number}/{shard.count}",
            bytes_max=selection.filters.bytes_max,
            model=settings.model or "bundled",
            model_files=model_digest(settings.model),
            device=settings.device or "any",
            precision=settings.precision,
            family=settings.family or "recognised",
            order=settings.order or "psm if known",
            grammar=language.grammar.name,
            tokens=settings.tokens,
            fimlsp=__version__,
            code=code_digest(),
            python=platform.python_version(),
        )

    @property
    def replay_language(self) -> ReplayLanguage:
        """The language of the files."""
        if self.own_grammar is not None:
            return OwnGrammar.from_json(self.own_grammar).replay_language
        if self.interface is not None:
            return Scripts.from_json(self.interface).replay_language
        return LANGUAGES[self.language]


@dataclass(frozen=True, slots=True)
class About:
    """The start of a run, for its report: its *command*, its *machine*, and the versions of *libraries*."""

    command: str
    workers: int
    machine: str
    libraries: Mapping[str, str]

    @classmethod
    def this_process(cls, workers: int = 1) -> About:
        """The command and machine of this process."""
        return cls(
            command=shlex.join(["fimlsp", *sys.argv[1:]]),
            workers=workers,
            machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs, {_processor()}",
            libraries={name: package_version(name) for name in LIBRARIES},
        )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def digest(parts: Sequence[str]) -> str:
    """A short hash of *parts*."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:DIGITS]


def code_digest(packages: Sequence[str] = PACKAGES) -> str:
    """A short hash of the code and the grammars of *packages*."""
    root = Path(fimlsp.__file__).parent
    files = [path for name in packages for path in sorted((root / name).rglob("*"))]
    return digest([path.read_text(encoding="utf-8") for path in files if path.suffix in (".py", ".lark")])


def model_digest(model: str | None) -> str:
    """A short hash of a model: its texts and samples of its weights, or the address of its server."""
    if model is not None and is_address(model):
        return digest([model])
    if model is not None and (file := gguf_file(model)) is not None:
        return digest([sampled_digest(file)])
    folder = BUNDLED if model is None else find_folder(model)
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob("*.json"))]
    return digest([*texts, *map(sampled_digest, sorted(folder.glob("*.safetensors")))])
