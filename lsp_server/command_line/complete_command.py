"""`fimlsp complete`: makes one completion in a file and shows it there or as JSON."""

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
from fimlsp.lsp_server.command_line.parameters import to_scripts
from fimlsp.lsp_server.command_line.reading import read_bytes
from fimlsp.lsp_server.command_line.waiting import shown_if_slow
from fimlsp.lsp_server.documents.text_positions import Text, encode
from fimlsp.lsp_server.messages import Complete, Completion, DocumentId, Limits, Load
from fimlsp.lsp_server.session.status import describe_relaxed
from fimlsp.lsp_server.worker.backend import Backend
from fimlsp.quotient.language.contract import Language

log = logging.getLogger(__name__)

DEADLINE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Shown:
    """A completion at byte *offset* of *text*, made in *ms* milliseconds (loading the model apart)."""

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
) -> None:
    """Print the completion of *file*, in its own language or *python*, at (line, column), both from 1.

    A script in sLua is given *interface*.

    Raises:
        click.ClickException: The file cannot be read, it has no such line or column, or the model cannot be
        loaded.
    """
    name = name_of_language(file)
    grammar = Python(python, "compile") if name == "python" else language_named(name)
    if interface is not None:
        if not isinstance(grammar, Slua):
            raise click.UsageError("--interface is for files called *.slua.")
        grammar = to_scripts(grammar, interface)
    if isinstance(grammar, Slua):
        grammar = replace(grammar, tidy=True)
    text = Text(read_source(file, is_python=name == "python"))
    offset = find_offset(text, *at)
    backend = Backend()
    with shown_if_slow() as tell:
        try:
            backend.load(model, lambda step, _: tell(step))
        except Exception as error:
            raise click.ClickException(explain(error, "loading the model", log)) from error
        tell(f"completing {file.name}")
        shown = make(backend, text, offset, limits, grammar)
    if as_json:
        click.echo(to_json(shown))
    else:
        show(shown, name)


def make(backend: Backend, text: Text, offset: int, limits: Limits, grammar: Language) -> Shown:
    """Ask *backend* for a completion."""
    started = time.perf_counter()
    document = DocumentId(0, "")
    backend.open(document, 0, text.data, grammar)
    request = Complete(0, document, 0, offset, limits, time.monotonic())
    completion = backend.complete(request, lambda: False)
    return Shown(text, offset, completion, 1000 * (time.perf_counter() - started))


def name_of_language(file: Path) -> str:
    """The language of a file of that name; Python if no other has such names."""
    matching = (name for name, known in LANGUAGES.items() if any(map(file.match, known.patterns)))
    return next(matching, "python")


def read_source(file: Path, *, is_python: bool) -> bytes:
    """A file as UTF-8 without a byte order mark; of Python, whatever encoding its first lines declare."""
    data = read_bytes(file)
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0] if is_python else "utf-8-sig"
        return encode(data.decode(encoding))
    except (SyntaxError, UnicodeDecodeError) as error:
        raise click.ClickException(f"{file} cannot be decoded ({error}); save it as UTF-8.") from error


def find_offset(text: Text, line: int, column: int) -> int:
    """Byte offset of (line, column), both from 1; one past the last character is the line's end."""
    if not text.has_line(line - 1):
        raise click.ClickException(f"There is no line {line}; the file has {text.n_lines}.")
    length = len(text.line(line - 1).decode())
    if column > length + 1:
        raise click.ClickException(f"Line {line} has no column {column}; its end is column {length + 1}.")
    return text.offset(line - 1, column - 1, "utf-32")


def to_json(shown: Shown) -> str:
    """One object with the completion and how it was made."""
    completion = shown.completion
    return json.dumps(
        {
            "text": completion.text,
            "complete": completion.complete,
            "relaxed": completion.relaxed,
            "tokens": completion.tokens,
            "rejected": completion.rejected,
            "ms": round(shown.ms, 1),
            "reason": completion.reason,
        }
    )


def show(shown: Shown, language: str) -> None:
    """Print the lines around the cursor with the completion among them, in colour on a terminal.

    *language* is its name in `LANGUAGES`.
    """
    from fimlsp.lsp_server.command_line.rendering import print_in_place

    data = shown.text.data
    left, right = data[: shown.offset].decode(), data[shown.offset :].decode()
    print_in_place(left, shown.completion.text, right, describe(shown), language)


def describe(shown: Shown) -> str:
    """How the completion was made, in one line."""
    completion = shown.completion
    parts = [f"{completion.tokens} tokens, {completion.rejected} rejected, {shown.ms:.0f} ms"]
    if completion.relaxed:
        parts.append(describe_relaxed(completion.relaxed))
    if completion.reason is not None:
        parts.insert(0, f"no completion: {completion.reason}")
    return "; ".join(parts)
