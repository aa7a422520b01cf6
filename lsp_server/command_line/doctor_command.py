"""`fimlsp doctor`: checks and times everything that a completion needs."""

from __future__ import annotations

import ast
import json
import logging
import platform
import statistics
import subprocess
import time
from collections.abc import Callable

import click

from fimlsp import __version__
from fimlsp.errors import explain
from fimlsp.extras import package_version
from fimlsp.languages.python import Python
from fimlsp.languages.python.names.client import Analysis
from fimlsp.languages.python.names.known_names import NamesCursor
from fimlsp.languages.type_checker.process import CheckedPlace, Checker
from fimlsp.lsp_server.command_line.complete_command import DEADLINE_MS, TimedCompletion, make
from fimlsp.lsp_server.documents import NoSuggestion
from fimlsp.lsp_server.messages import DocumentId, Limits, Load
from fimlsp.lsp_server.text_positions import Text
from fimlsp.lsp_server.worker.backend import Backend
from fimlsp.lsp_server.worker.file_guard import CHECKER_COMMAND, GUARDED_COMMAND
from fimlsp.models.errors import MissingExtraError, require
from fimlsp.models.learnt import learnt_file, read_learnt
from fimlsp.models.remote.address import is_address
from fimlsp.models.remote.gguf_server import is_gguf
from fimlsp.processes.helper import command_of

log = logging.getLogger(__name__)

PACKAGES = ("pygls", "lsprotocol", "tokenizers", "onnxruntime", "transformers", "torch", "xllamacpp")

NEED_A_MODEL = frozenset({"learning", "first completion", "next completion", "cost"})

COST_SAMPLES = 5

START_S = 300.0
"""Seconds for a process that does not start. Its work has bounds of its own, of processor time."""

SAMPLE_LEFT = b"def area(width, height):\n    return width * "
SAMPLE_FAULT = b"heights"
SAMPLE_RIGHT = b"\n\n\nprint(area(2, 3))\n"


def run_checks(model: Load) -> bool:
    """Print the checks with *model*; true if all succeed."""
    click.echo(f"fimlsp {__version__}, Python {platform.python_version()} on {platform.platform()}")
    click.echo(", ".join(f"{name} {package_version(name)}" for name in PACKAGES))
    backend = Backend()
    checks = {
        "engine": lambda: parse_sample(backend),
        "names": find_names,
        "types": find_fault,
        "confinement": lambda: find_confinement(model),
        "device": lambda: find_device(model),
        "model": lambda: load(backend, model),
        "learning": lambda: find_learnt(backend),
        "first completion": lambda: complete_sample(backend),
        "next completion": lambda: complete_sample(backend),
        "cost": lambda: cost_of_completions(backend),
    }
    results = [
        passes(name, check) if backend.model is not None or name not in NEED_A_MODEL else skips(name)
        for name, check in checks.items()
    ]
    return all(results)


def skips(name: str) -> bool:
    """Print that the check *name* is left out, which is a failure as well."""
    click.echo(f"{click.style('skipped', fg='yellow')} {name}: no model is loaded")
    return False


def passes(name: str, check: Callable[[], str]) -> bool:
    """Run *check*, and print its result or the reason of its failure, and its time.

    A missing extra does not count as a failure: a check that needs the extra fails by itself.
    """
    started = time.perf_counter()
    try:
        outcome, mark = check(), click.style("ok    ", fg="green")
    except MissingExtraError as error:
        click.echo(f"{click.style('not installed', fg='yellow')} {name}: {error}")
        return True
    except Exception as error:
        outcome, mark = explain(error, f"the check of the {name}", log), click.style("failed", fg="red")
    click.echo(f"{mark} {name}: {outcome} ({1000 * (time.perf_counter() - started):.0f} ms)")
    return "ok" in mark


def parse_sample(backend: Backend) -> str:
    """Parse a sample with the engine."""
    backend.open(DocumentId(0, "sample"), 0, SAMPLE_LEFT + b"height" + SAMPLE_RIGHT, Python())
    while backend.prepare():
        pass
    return "the Python grammar is loaded and parses a sample"


def find_names() -> str:
    """Look up the names of the sample, in the same kind of process as for editors.

    Raises:
        NoSuggestion: They are not found; the message says why.
    """
    analysis, cursor = Analysis(GUARDED_COMMAND), NamesCursor(None, (), SAMPLE_LEFT, SAMPLE_RIGHT)
    try:
        analysis.look("sample", cursor)
        analysis.wait("sample", START_S)
        if (problem := analysis.problem("sample", cursor)) is not None:
            raise NoSuggestion(problem)
        visible = analysis.known("sample", cursor).visible
        if visible is None or not all(name in visible for name in (b"width", b"area", b"len")):
            raise NoSuggestion("jedi does not find all names of the sample")
    finally:
        analysis.close()
    return "the visible names of a sample are found"


def find_fault() -> str:
    """Check the types of the sample with a fault, in the same kind of process as for editors.

    Raises:
        NoSuggestion: The fault is not found.
    """
    checker = Checker(CHECKER_COMMAND, is_installed=True)
    place = CheckedPlace(None, (), (), (3, 11), SAMPLE_LEFT, SAMPLE_RIGHT)
    try:
        faults = checker.faults(place, [SAMPLE_FAULT], {}, START_S)
        if faults is None or faults[-1] is None:
            raise NoSuggestion("ty finds no fault in a sample; suggestions with faults of types are shown")
    finally:
        checker.close()
    return f"a fault of a sample is found: {faults[-1].words}"


def find_confinement(model: Load) -> str:
    """The confinement of the worker process with *model*, as the kernel of this machine offers it.

    Raises:
        CalledProcessError, JSONDecodeError: No such process starts.
    """
    if not model.can_be_confined:
        return "the worker process is not confined, as this model may need devices, caches or a server"
    command = command_of("fimlsp.lsp_server.worker.worker_confinement", "report_missing")
    ended = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True)
    missing = json.loads(ended.stdout)
    if not missing:
        return "Landlock and a filter of system calls confine the worker process"
    return f"the worker process is confined in part: there is no {', no '.join(missing)}"


def find_device(model: Load) -> str:
    """The device of the model; for the bundled model, the device that checkpoints would use."""
    if model.model and is_address(model.model):
        return "the model runs on its server"
    if model.model and is_gguf(model.model):
        return f"the model runs in llama.cpp on {model.device or 'the device that it selects'}"
    require("checkpoints", "checkpoints (models other than the bundled one) need PyTorch and transformers")
    from fimlsp.models.networks.torch.placement import default_device
    from fimlsp.models.networks.torch.threads import default_threads

    threads = model.threads or default_threads()
    on_cpu = f"{threads} CPU thread{'s' * (threads > 1)}"
    return f"models other than the bundled one run on {model.device or default_device()}, with {on_cpu}"


def load(backend: Backend, model: Load) -> str:
    """Load the model; returns its name and device, and the family and order of its prompt."""
    name = backend.load(model, lambda _, __: None)
    if backend.model is None:
        return name
    fim = backend.model.fim
    first = "prefix" if fim.is_prefix_first else "suffix"
    return f"{name} on {backend.model.device}, with the prompt of {fim.family}, the {first} first"


def find_learnt(backend: Backend) -> str:
    """The file with the counts by which the estimate of the model is corrected in editors."""
    path = None if backend.model is None else learnt_file(backend.model.estimate_key)
    if path is None:
        return "there is no cache folder, so nothing is kept (option learn)"
    if not path.exists():
        return f"nothing yet; {path} will have counts, and no text (option learn)"
    return f"from {read_learnt(path).places:,} places; {path} has counts, and no text (option learn)"


def complete_sample(backend: Backend) -> str:
    """Complete a sample, and check the result with Python's own parser.

    Raises:
        NoSuggestion: There is no completion.
        SyntaxError: The completion breaks the file.
    """
    made = _completed(backend, SAMPLE_LEFT)
    if made.completion.reason is not None:
        raise NoSuggestion(made.completion.reason)
    ast.parse(SAMPLE_LEFT + made.completion.text.encode() + SAMPLE_RIGHT)
    return f"{made.completion.text!r}, {made.completion.tokens} tokens"


def cost_of_completions(backend: Backend) -> str:
    """Cost of a completion while the text before the cursor grows, as it does during typing.

    Raises:
        NoSuggestion: There is no completion.
    """
    grown = [SAMPLE_LEFT + b"height + " * n for n in range(1, COST_SAMPLES + 1)]
    made = [_completed(backend, left) for left in grown]
    tokens = sum(sample.completion.tokens for sample in made)
    if not tokens:
        raise NoSuggestion(made[-1].completion.reason or "the completion is empty")
    spent = sum(sample.ms for sample in made)
    in_model = sum(sample.completion.model_ms for sample in made)
    return (
        f"{statistics.median(sample.ms for sample in made):.0f} ms per completion (median) of "
        f"{tokens / len(made):.0f} tokens (mean); {in_model / tokens:.1f} ms per token in the model, "
        f"{in_model / spent:.0%} of the time"
    )


def _completed(backend: Backend, left: bytes) -> TimedCompletion:
    limits = Limits(max_tokens=16, deadline_ms=DEADLINE_MS)
    return make(backend, Text(left + SAMPLE_RIGHT), len(left), limits, Python())
