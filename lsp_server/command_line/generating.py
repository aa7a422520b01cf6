"""Generates a program from left to right: the constraint after the prompt, and the loop that writes.

The constraint is that of a language, of a grammar, of sLua with an interface, or of SQL with a schema.
"""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from fimlsp.errors import explain
from fimlsp.languages.slua.incremental.statements import begin
from fimlsp.languages.slua.interface import Interface, InterfaceError, read_interface
from fimlsp.languages.slua.tidy import Tidy
from fimlsp.languages.slua.types import Function, Table
from fimlsp.languages.sql.queries import begin as begin_query
from fimlsp.languages.sql.schema import SchemaError, read_schema
from fimlsp.languages.typed.state import Spaced
from fimlsp.lsp_server.command_line.parameters import read_text
from fimlsp.lsp_server.command_line.terminal import ProgramOutput
from fimlsp.lsp_server.messages import Load
from fimlsp.lsp_server.worker.backend import open_model
from fimlsp.models.completion import generate
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import FimModel
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.states.protocol import State

log = logging.getLogger(__name__)

STOP_REASONS = {
    "budget": "stopped at the token limit",
    "dead_end": "no likely token could continue the text",
    "cancelled": "interrupted",
    "asked": "the requested value is complete",
}
"""Stop reasons of a `Middle` in words for users."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A given text, and the state at its end.

    Attributes:
        text: the start of the program.
        state: the constraint after it.
        stop_when: as in `DecodeSettings`.
        context: a text to read before the program.
        instructions: a message for a model that was made for conversations.
    """

    text: bytes
    state: State
    stop_when: Callable[[bytes], bool] | None = None
    context: bytes = b""
    instructions: str = ""


def prompt_in_language(language: Language, text: bytes) -> Prompt:
    """The prompt *text* of a program in *language*.

    Raises:
        click.ClickException: No valid program starts with *text*; the message names the line.
    """
    start = Engine(language).document(text).middle_at_bytes(len(text), len(text), relax=False).start
    if start is None:
        empty = Engine(language).document(b"").middle(0, 0, relax=False).start
        raise _invalid_prompt(text, empty, language.name)
    return Prompt(text, start)


def prompt_in_slua(interface: Path | None, root: str | None, text: bytes) -> Prompt:
    """The prompt *text* of a script that uses *interface*.

    *root* is a kind of scripts that the interface declares, or a type. For a type, the script continues with
    a call of the global function that takes one, and ends with that call. No line ends within an expression.

    Raises:
        click.ClickException: The interface is invalid, *root* is unknown, or no valid script starts with
            *text*.
    """
    declared = _interface(interface)
    is_kind = root in declared.roots
    if root is not None and not is_kind:
        text += f"{_function_that_takes(root, declared)}({{".encode()
    empty = begin(declared, root if is_kind else None)
    state = empty.feed(text)
    if state is None:
        raise _invalid_prompt(text, empty, "sLua")
    is_single = root is not None and not is_kind
    return Prompt(text, Tidy.after(state, text), (lambda _: True) if is_single else None)


def prompt_in_sql(schema: Path, text: bytes) -> Prompt:
    """The prompt *text* of a query over the tables of *schema*. A semicolon ends the query.

    Raises:
        click.ClickException: The schema cannot be used, or no valid query starts with *text*.
    """
    try:
        empty = begin_query(read_schema(read_text(schema).decode(), str(schema)))
    except SchemaError as error:
        raise click.ClickException(str(error)) from None
    state = empty.feed(text)
    if state is None:
        raise _invalid_prompt(text, empty, "SQL over this schema")
    return Prompt(text, Spaced(state), lambda written: written.endswith(b";"))


def _interface(file: Path | None) -> Interface:
    if file is None:
        return Interface()
    try:
        return read_interface(read_text(file).decode(), str(file))
    except InterfaceError as error:
        raise click.ClickException(str(error)) from None


def _function_that_takes(type_name: str, declared: Interface) -> str:
    """The global function whose only parameter is a *type_name*, compared without case."""
    functions = dict[str, str]()
    for name, type_ in declared.globals.items():
        if isinstance(type_, Function) and len(type_.parameters) == 1:
            (parameter,) = type_.parameters
            if isinstance(parameter, Table) and not parameter.is_object:
                functions.setdefault(parameter.name.lower(), name)
    if type_name.lower() not in functions:
        known = ", ".join((*declared.roots, *sorted(functions))) or "none"
        raise click.ClickException(
            f"Unknown root {type_name}: not a kind of scripts, nor the only parameter of a function. Use one "
            f"of: {known}."
        )
    return functions[type_name.lower()]


def _invalid_prompt(text: bytes, empty: State | None, language: str) -> click.ClickException:
    """The error for a prompt that no valid program starts with. Feeds *empty* to find the line."""
    state = empty
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        state = state and state.feed(line)
        if state is None:
            return click.ClickException(f"Cannot continue the prompt: line {number} is not valid {language}.")
    return click.ClickException(f"Cannot continue the prompt: it is not valid {language}.")


def load(model: Load, context: int | None) -> FimModel:
    """The loaded model; *context* is that of `load_model`.

    Raises:
        click.ClickException: It cannot be loaded.
    """
    try:
        return open_model(model, lambda _: None, context)
    except Exception as error:
        raise click.ClickException(explain(error, "loading the model", log)) from error


def write_program(model: FimModel, prompt: Prompt, settings: DecodeSettings) -> None:
    """Print *prompt* and the text that *model* generates after it; a summary goes to standard error.

    Ctrl+C completes the text in the shortest way.

    Raises:
        click.ClickException: The model fails.
    """
    started = time.perf_counter()
    output = ProgramOutput()
    output.write(prompt.text, is_new=False)
    interrupted = False

    def interrupt(_signal: int, _frame: object) -> None:
        nonlocal interrupted
        interrupted = True

    old_handler = signal.signal(signal.SIGINT, interrupt)
    try:
        written = generate(
            model,
            prompt.text,
            prompt.state,
            settings,
            lambda: interrupted,
            output.write,
            context=prompt.context,
            instructions=prompt.instructions,
        )
    except ModelError as error:
        raise click.ClickException(str(error)) from error
    finally:
        signal.signal(signal.SIGINT, old_handler)
    if not written.complete:
        output.write(_shortest_end(prompt, written))
    output.end()
    click.secho(summary(written, time.perf_counter() - started), err=True, dim=True)


def _shortest_end(prompt: Prompt, written: Middle) -> bytes:
    """The shortest completion of a text that was interrupted."""
    state = prompt.state.feed(written.text)
    return b"" if state is None else state.shortest_completion


def summary(written: Middle, seconds: float) -> str:
    """Token counts, time and stop reason in one line."""
    parts = [f"{written.tokens} tokens, {written.rejected} refused, {seconds:.1f} s"]
    reason = STOP_REASONS.get(written.stop_reason)
    return "; ".join([*parts, reason] if reason else parts)
