"""`fimlsp complete`: makes one completion in a file, and prints it in place or as JSON."""

from __future__ import annotations

import io
import json
import logging
import time
import tokenize
from dataclasses import dataclass, replace
from pathlib import Path

import click

from fimlsp.errors import explain
from fimlsp.languages import LANGUAGES, language_named
from fimlsp.languages.python import Python
from fimlsp.languages.python.versions import PythonVersion
from fimlsp.languages.slua.language import Slua
from fimlsp.lsp_server.command_line.parameters import read_bytes, to_scripts
from fimlsp.lsp_server.command_line.terminal import progress_if_slow
from fimlsp.lsp_server.messages import Complete, Completion, DocumentId, Limits, Load
from fimlsp.lsp_server.notebook_cells import is_script, read_script
from fimlsp.lsp_server.session.status import describe_relaxed
from fimlsp.lsp_server.text_positions import Text, encode
from fimlsp.lsp_server.worker.backend import Backend
from fimlsp.quotient.language.contract import Language

log = logging.getLogger(__name__)

DEADLINE_MS = 60_000


@dataclass(frozen=True, slots=True)
class TimedCompletion:
    """A completion at byte *offset* of *text*; *ms* milliseconds exclude the loading of the model."""

    text: Text
    offset: int
    completion: Completion
    ms: float


def complete_file(
    file: Path,
    at: tuple[int, int],
    model: Load,
    limits: Limits,
    python: PythonVersion,
    as_json: bool,
    interface: Path | None = None,
    language: str | None = None,
) -> None:
    """Print the completion of *file* at (line, column), both from 1.

    The *language* follows from the name of the file if it is None. *python* is the version of a Python file;
    *interface* has the declarations for an sLua script. In a script of cells, such as `# %%` starts, IPython
    commands are skipped.

    Raises:
        click.ClickException: The file cannot be read, the position does not exist or is in an IPython
            command, or the model cannot be loaded.
    """
    name = language or name_of_language(file)
    source = read_source(file, is_python=name == "python")
    script = read_script(source) if name == "python" and is_script(source) else None
    grammar = language_named(name)
    if name == "python":
        grammar = Python(python, "compile", top_level_await=script is not None)
    if interface is not None:
        if not isinstance(grammar, Slua):
            raise click.UsageError("--interface needs a file named *.slua.")
        grammar = to_scripts(grammar, interface)
    if isinstance(grammar, Slua):
        grammar = replace(grammar, tidy=True)
    text = Text(source)
    offset = find_offset(text, *at)
    if script is not None and script.is_command(offset):
        raise click.ClickException("Cannot complete an IPython command. Move the cursor to a line of Python.")
    backend = Backend()
    with progress_if_slow() as report:
        try:
            backend.load(model, lambda step, _: report(step))
        except Exception as error:
            raise click.ClickException(explain(error, "loading the model", log)) from error
        report(f"completing {file.name}")
        made = make(backend, text, offset, limits, grammar, None if script is None else script.data)
    if as_json:
        click.echo(to_json(made))
    else:
        show(made, name)


def make(
    backend: Backend,
    text: Text,
    offset: int,
    limits: Limits,
    grammar: Language,
    code: bytes | None = None,
) -> TimedCompletion:
    """The completion that *backend* makes in *text*, or in *code*, the same without IPython commands."""
    started = time.perf_counter()
    document = DocumentId(0, "")
    backend.open(document, 0, text.data if code is None else code, grammar)
    request = Complete(0, document, 0, offset, limits, time.monotonic())
    completion = backend.complete(request, lambda: False)
    return TimedCompletion(text, offset, completion, 1000 * (time.perf_counter() - started))


def name_of_language(file: Path) -> str:
    """The key in `LANGUAGES` whose patterns match the name of *file*; Python by default."""
    matching = (name for name, known in LANGUAGES.items() if any(map(file.match, known.patterns)))
    return next(matching, "python")


def read_source(file: Path, *, is_python: bool) -> bytes:
    """A file as UTF-8 without a byte order mark. A Python file may declare another encoding."""
    data = read_bytes(file)
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0] if is_python else "utf-8-sig"
        return encode(data.decode(encoding))
    except (SyntaxError, UnicodeDecodeError) as error:
        raise click.ClickException(f"Cannot decode {file}: {error}. Save it as UTF-8.") from error


def find_offset(text: Text, line: int, column: int) -> int:
    """Byte offset of (line, column), both from 1. The column after the last character is the line's end."""
    if not text.has_line(line - 1):
        raise click.ClickException(f"Line {line} does not exist: the file has {text.n_lines} lines.")
    length = len(text.line(line - 1).decode())
    if column > length + 1:
        raise click.ClickException(
            f"Column {column} of line {line} does not exist: the line ends at column {length + 1}."
        )
    return text.offset(line - 1, column - 1, "utf-32")


def to_json(made: TimedCompletion) -> str:
    """The completion and its counts as one JSON object."""
    completion = made.completion
    return json.dumps(
        {
            "text": completion.text,
            "complete": completion.complete,
            "relaxed": completion.relaxed,
            "tokens": completion.tokens,
            "rejected": completion.rejected,
            "ms": round(made.ms, 1),
            "reason": completion.reason,
        }
    )


def show(made: TimedCompletion, language: str) -> None:
    """Print the completion with the lines around the cursor, in colour on a terminal.

    *language* is a key of `LANGUAGES`.
    """
    from fimlsp.lsp_server.command_line.terminal import print_in_place

    data = made.text.data
    left, right = data[: made.offset].decode(), data[made.offset :].decode()
    print_in_place(left, made.completion.text, right, describe(made), language)


def describe(made: TimedCompletion) -> str:
    """Token counts, time and assumptions in one line."""
    completion = made.completion
    parts = [f"{completion.tokens} tokens, {completion.rejected} rejected, {made.ms:.0f} ms"]
    if completion.relaxed:
        parts.append(describe_relaxed(completion.relaxed))
    if completion.reason is not None:
        parts.insert(0, f"no completion: {completion.reason}")
    return "; ".join(parts)
