"""`fimlsp doctor`: checks everything that a completion needs, and how long each step takes here."""

from __future__ import annotations

import ast
import logging
import platform
import statistics
import time
from collections.abc import Callable

import click

from fimlsp import __version__
from fimlsp.errors import explain
from fimlsp.extras import package_version
from fimlsp.languages.python import Python
from fimlsp.languages.python.analysis.client import Analysis
from fimlsp.languages.python.analysis.questions import Cursor
from fimlsp.lsp_server.command_line.complete_command import DEADLINE_MS, Shown, make
from fimlsp.lsp_server.documents.text_positions import Text
from fimlsp.lsp_server.errors import NoSuggestion
from fimlsp.lsp_server.messages import DocumentId, Limits, Load
from fimlsp.lsp_server.worker.backend import Backend
from fimlsp.lsp_server.worker.file_guard import GUARDED_COMMAND
from fimlsp.models.errors import MissingExtraError, require
from fimlsp.models.served.connecting.gguf_model import is_gguf
from fimlsp.models.served.http.address import is_address

log = logging.getLogger(__name__)

PACKAGES = ("pygls", "lsprotocol", "tokenizers", "transformers", "torch", "xllamacpp")

COST_SAMPLES = 5

NAMES_S = 20.0
"""How long names are waited for; while somebody types, nobody waits for them."""

SAMPLE_LEFT = b"def area(width, height):\n    return width * "
SAMPLE_RIGHT = b"\n\n\nprint(area(2, 3))\n"


def run_checks(model: Load) -> bool:
    """Print the checks with *model*; whether all went well."""
    click.echo(f"fimlsp {__version__}, Python {platform.python_version()} on {platform.platform()}")
    click.echo(", ".join(f"{name} {package_version(name)}" for name in PACKAGES))
    backend = Backend()
    checks = {
        "engine": lambda: parse_sample(backend),
        "names": find_names,
        "device": lambda: find_device(model),
        "model": lambda: load(backend, model),
        "first completion": lambda: complete_sample(backend),
        "next completion": lambda: complete_sample(backend),
        "cost": lambda: cost_of_completions(backend),
    }
    outcomes = [passes(name, check) for name, check in checks.items()]
    return all(outcomes)


def passes(name: str, check: Callable[[], str]) -> bool:
    """Run *check* and print what it found, or why it failed, and how long it took.

    What is not installed has not failed: a check that needs it fails by itself.
    """
    started = time.perf_counter()
    try:
        found, mark = check(), click.style("ok    ", fg="green")
    except MissingExtraError as error:
        click.echo(f"{click.style('not installed', fg='yellow')} {name}: {error}")
        return True
    except Exception as error:
        found, mark = explain(error, f"the check of the {name}", log), click.style("failed", fg="red")
    click.echo(f"{mark} {name}: {found} ({1000 * (time.perf_counter() - started):.0f} ms)")
    return "ok" in mark


def parse_sample(backend: Backend) -> str:
    """Parse a sample with the engine."""
    backend.open(DocumentId(0, "sample"), 0, SAMPLE_LEFT + b"height" + SAMPLE_RIGHT, Python())
    while backend.prepare():
        pass
    return "the grammar of Python is loaded and parses"


def find_names() -> str:
    """Look names up for the sample, in the process that does so for editors.

    Raises:
        NoSuggestion: They are not found; why.
    """
    analysis, cursor = Analysis(GUARDED_COMMAND), Cursor(None, (), SAMPLE_LEFT, SAMPLE_RIGHT)
    try:
        analysis.look("sample", cursor)
        analysis.wait("sample", NAMES_S)
        if (problem := analysis.problem("sample", cursor)) is not None:
            raise NoSuggestion(problem)
        visible = analysis.known("sample", cursor).visible
        if visible is None or not all(name in visible for name in (b"width", b"area", b"len")):
            raise NoSuggestion("jedi does not find all names of the sample")
    finally:
        analysis.close()
    return "those that are visible in a sample are found"


def find_device(model: Load) -> str:
    """Where the model will run; where checkpoints would, if it is the bundled one."""
    if model.model and is_address(model.model):
        return "the model runs where its server has it"
    if model.model and is_gguf(model.model):
        return f"the model runs through llama.cpp on {model.device or 'what that finds'}"
    require(
        "checkpoints", "checkpoints, that is models other than the bundled one, need PyTorch and transformers"
    )
    from fimlsp.models.networks.torch.placement import default_device
    from fimlsp.models.networks.torch.threads import default_threads

    threads = model.threads or default_threads()
    many = f"{threads} thread{'s' * (threads > 1)} of the CPU"
    return f"models other than the bundled one run on {model.device or default_device()}, with {many}"


def load(backend: Backend, model: Load) -> str:
    """Load the model; its name and device."""
    name = backend.load(model, lambda _, __: None)
    return f"{name} on {backend.model.device}" if backend.model else name


def complete_sample(backend: Backend) -> str:
    """Complete a sample and hold the outcome against Python's own parser.

    Raises:
        NoSuggestion: There is no completion.
        SyntaxError: There is one, and it breaks the file.
    """
    made = _completed(backend, SAMPLE_LEFT)
    if made.completion.reason is not None:
        raise NoSuggestion(made.completion.reason)
    ast.parse(SAMPLE_LEFT + made.completion.text.encode() + SAMPLE_RIGHT)
    return f"{made.completion.text!r}, {made.completion.tokens} tokens"


def cost_of_completions(backend: Backend) -> str:
    """What a completion costs while the text before the cursor grows, as it does while somebody types.

    Raises:
        NoSuggestion: There is none.
    """
    grown = [SAMPLE_LEFT + b"height + " * n for n in range(1, COST_SAMPLES + 1)]
    made = [_completed(backend, left) for left in grown]
    tokens = sum(each.completion.tokens for each in made)
    if not tokens:
        raise NoSuggestion(made[-1].completion.reason or "nothing was completed")
    spent = sum(each.ms for each in made)
    in_model = sum(each.completion.model_ms for each in made)
    return (
        f"{statistics.median(each.ms for each in made):.0f} ms a completion at the median, of "
        f"{tokens / len(made):.0f} tokens in the mean; {in_model / tokens:.1f} ms a token in the model, "
        f"{in_model / spent:.0%} of all"
    )


def _completed(backend: Backend, left: bytes) -> Shown:
    limits = Limits(max_tokens=16, deadline_ms=DEADLINE_MS)
    return make(backend, Text(left + SAMPLE_RIGHT), len(left), limits, Python())
