"""`fimlsp generate`: writes a program from left to right, valid when it ends, and shows it as it comes."""

from __future__ import annotations

import codecs
import logging
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from fimlsp.languages import LANGUAGES, language_named
from fimlsp.languages.command_options import GRAMMAR, INTERFACE, START
from fimlsp.lsp_server.command_line.parameters import PYTHON, is_given, model_options, to_grammar
from fimlsp.lsp_server.settings.options import Settings, load_of

if TYPE_CHECKING:
    from fimlsp.languages.python.versions import PythonVersion
    from fimlsp.lsp_server.command_line.first_states import Beginning
    from fimlsp.lsp_server.messages import Load
    from fimlsp.models.decoding.middle import Middle
    from fimlsp.models.decoding.settings import DecodeSettings
    from fimlsp.models.loading import FimModel

log = logging.getLogger(__name__)

SLUA = "slua"
ENDINGS = {
    "budget": "it was ended at the limit of tokens",
    "dead_end": "no likely token could go on",
    "cancelled": "interrupted",
    "asked": "all that was asked for",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be written, as the options say."""

    language: str
    grammar: Path | None
    start: str | None
    interface: Path | None
    root: str | None
    python: PythonVersion
    check: Literal["parse", "compile"]

    def beginning(self, text: bytes) -> Beginning:
        """The state behind *text*."""
        from fimlsp.languages.python import Python
        from fimlsp.lsp_server.command_line.first_states import in_language, in_slua

        if self.grammar is not None:
            return in_language(to_grammar(self.grammar, self.start or "start"), text)
        if self.language == SLUA:
            return in_slua(self.interface, self.root, text)
        if self.language == "python":
            return in_language(Python(self.python, self.check), text)
        return in_language(language_named(self.language), text)

    def check_options(self, context: click.Context) -> None:
        """Refuse options that do not go together.

        Raises:
            click.UsageError: some do not.
        """
        if self.grammar is not None and is_given(context, "language"):
            raise click.UsageError("Give either --language or --grammar.")
        if self.start is not None and self.grammar is None:
            raise click.UsageError("--start is a rule of --grammar; give that as well.")
        is_slua = self.language == SLUA and self.grammar is None
        for name in ("interface", "root"):
            if is_given(context, name) and not is_slua:
                raise click.UsageError(f"--{name} is for --language slua.")
        if self.root is not None and self.interface is None:
            raise click.UsageError("--root is a kind of scripts of --interface; give that as well.")
        is_python = self.language == "python" and self.grammar is None
        for name, option in (("python", "python-version"), ("check", "check")):
            if is_given(context, name) and not is_python:
                raise click.UsageError(f"--{option} is of Python alone; leave it out.")


@click.command()
@click.option(
    "--language",
    default="python",
    show_default=True,
    type=click.Choice(list(LANGUAGES)),
    help="What is written.",
)
@click.option(
    "--prompt",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help="How it begins; - is standard input. Without it, it begins with nothing.",
)
@GRAMMAR
@START
@INTERFACE
@click.option(
    "--root",
    metavar="NAME",
    help="With slua: a kind of scripts that --interface declares, or the type of the one value to write.",
)
@PYTHON
@click.option(
    "--check",
    type=click.Choice(["parse", "compile"]),
    default="compile",
    show_default=True,
    help="What Python has to make of the whole.",
)
@click.option("--tokens", default=256, show_default=True, type=click.IntRange(1), help="The most to write.")
@click.option(
    "--temperature",
    default=0.0,
    show_default=True,
    type=click.FloatRange(0),
    help="0 takes the likeliest token; otherwise tokens are drawn, the more evenly the higher it is.",
)
@click.option(
    "--top-p",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True),
    help="Draw from the likeliest tokens that hold this share of the probability.",
)
@click.option("--top-k", type=click.IntRange(1), help="Draw from so many of the likeliest tokens.")
@click.option(
    "--min-p",
    default=0.0,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Draw from tokens at least so many times as likely as the likeliest.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of the draws.")
@click.option(
    "--beams",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Search with so many texts side by side, and show the best when it is found.",
)
@model_options
def generate(
    language: str,
    prompt: Path | None,
    grammar: Path | None,
    start: str | None,
    interface: Path | None,
    root: str | None,
    python: PythonVersion,
    check: Literal["parse", "compile"],
    tokens: int,
    temperature: float,
    top_p: float,
    top_k: int | None,
    min_p: float,
    seed: int,
    beams: int,
    **model: Any,  # noqa: ANN401 - of many types
) -> None:
    """Write a program from left to right, and show it as it comes.

    It is valid when it ends, also where it ends because --tokens are used up or by Ctrl+C.
    """
    from fimlsp.lsp_server.command_line.reading import read_text
    from fimlsp.models.decoding.settings import DecodeSettings

    if beams > 1 and temperature:
        raise click.UsageError("A beam search draws nothing; give either --beams or --temperature.")
    wanted = Wanted(language, grammar, start, interface, root, python, check)
    wanted.check_options(click.get_current_context())
    if prompt is None:
        text = b""
    elif str(prompt) == "-":
        text = sys.stdin.buffer.read()
    else:
        text = read_text(prompt)
    beginning = wanted.beginning(text)
    settings = DecodeSettings(
        tokens=tokens,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        min_p=min_p,
        seed=seed,
        beams=beams,
        stop_when=(lambda _: True) if beginning.ends_early else None,
    )
    write(load(load_of(Settings(**model))), beginning, settings)


def load(model: Load) -> FimModel:
    """The model.

    Raises:
        click.ClickException: it cannot be loaded.
    """
    from fimlsp.errors import explain
    from fimlsp.lsp_server.worker.backend import loaded

    try:
        return loaded(model, lambda _: None)
    except Exception as error:
        raise click.ClickException(explain(error, "loading the model", log)) from error


def write(model: FimModel, beginning: Beginning, settings: DecodeSettings) -> None:
    """Print *beginning* and what *model* writes behind it, and on standard error what it took.

    Raises:
        click.ClickException: the model fails.
    """
    from fimlsp.models.errors import ModelError
    from fimlsp.models.generation import generate as generate_text

    started = time.perf_counter()
    terminal = Terminal()
    terminal.write(beginning.text, is_new=False)
    interrupted = False

    def interrupt(_signal: int, _frame: object) -> None:
        nonlocal interrupted
        interrupted = True

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        written = generate_text(
            model, beginning.text, beginning.state, settings, lambda: interrupted, terminal.write
        )
    except ModelError as error:
        raise click.ClickException(str(error)) from error
    finally:
        signal.signal(signal.SIGINT, before)
    if not written.complete:
        terminal.write(rest_of(beginning, written))
    terminal.end()
    click.secho(told(written, time.perf_counter() - started), err=True, dim=True)


def rest_of(beginning: Beginning, written: Middle) -> bytes:
    """What completes a text that was interrupted."""
    state = beginning.state.feed(written.text)
    return b"" if state is None else state.shortest_completion


def told(written: Middle, seconds: float) -> str:
    """How it was written, in one line."""
    parts = [f"{written.tokens} tokens, {written.rejected} refused, {seconds:.1f} s"]
    ending = ENDINGS.get(written.stop_reason)
    return "; ".join([*parts, ending] if ending else parts)


class Terminal:
    """Standard output: exact bytes, or on a terminal text in which nothing steers the terminal."""

    def __init__(self) -> None:
        self._is_terminal = sys.stdout.isatty()
        self._decode: Callable[..., str] = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._last = ""

    def write(self, data: bytes, *, is_new: bool = True) -> None:
        """Show *data*, which may end inside a character, at once; what was there already is dimmed."""
        if not self._is_terminal:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            return
        from fimlsp.lsp_server.command_line.rendering import printable

        text = self._decode(data)
        self._last = text or self._last
        click.secho(printable(text), nl=False, dim=not is_new)

    def end(self) -> None:
        """Leave the terminal at the beginning of a line."""
        if self._is_terminal and not self._last.endswith("\n"):
            click.echo()
