"""What may be written after a text, from left to right: in a language, by a grammar, or in sLua."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from fimlsp.languages.slua.incremental.parser import begin
from fimlsp.languages.slua.interface import Interface, InterfaceError, read_interface
from fimlsp.languages.slua.tidying.tidy import Tidy
from fimlsp.languages.slua.types import Function, Table
from fimlsp.lsp_server.command_line.reading import read_text
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.states.protocol import State


@dataclass(frozen=True, slots=True)
class Beginning:
    """A text that is there, and the state behind it; *ends_early*: writing ends where it first may."""

    text: bytes
    state: State
    ends_early: bool = False


def in_language(language: Language, text: bytes) -> Beginning:
    """The state behind *text* in *language*.

    Raises:
        click.ClickException: nothing valid begins so; the message names the line.
    """
    start = Engine(language).document(text).middle_at_bytes(len(text), len(text), relax=False).start
    if start is None:
        empty = Engine(language).document(b"").middle(0, 0, relax=False).start
        raise _no_beginning(text, empty, language.name)
    return Beginning(text, start)


def in_slua(interface: Path | None, root: str | None, text: bytes) -> Beginning:
    """The state behind *text* in a script that is given *interface*.

    *root* is a kind of scripts that the interface declares, or a type: then the script goes on with the call
    of the global function that takes one, and ends with it. No line ends within an expression.

    Raises:
        click.ClickException: the interface cannot be used, nothing takes a *root*, or no script begins so.
    """
    given = _interface(interface)
    is_kind = root in given.roots
    if root is not None and not is_kind:
        text += f"{_taker(given, root)}({{".encode()
    empty = begin(given, root if is_kind else None)
    state = empty.feed(text)
    if state is None:
        raise _no_beginning(text, empty, "sLua")
    return Beginning(text, Tidy.behind(state, text), ends_early=root is not None and not is_kind)


def _interface(file: Path | None) -> Interface:
    if file is None:
        return Interface()
    try:
        return read_interface(read_text(file).decode(), str(file))
    except InterfaceError as error:
        raise click.ClickException(str(error)) from None


def _taker(given: Interface, root: str) -> str:
    """The global function whose only parameter is a *root*, written in any case of letters."""
    takers = dict[str, str]()
    for name, type_ in given.globals.items():
        if isinstance(type_, Function) and len(type_.parameters) == 1:
            (taken,) = type_.parameters
            if isinstance(taken, Table) and not taken.is_object:
                takers.setdefault(taken.name.lower(), name)
    if root.lower() not in takers:
        known = ", ".join((*given.roots, *sorted(takers))) or "none"
        raise click.ClickException(
            f"{root} is no kind of scripts, and no function takes just one; what can be written: {known}."
        )
    return takers[root.lower()]


def _no_beginning(text: bytes, empty: State | None, language: str) -> click.ClickException:
    """That nothing begins with *text*, which line by line is fed to *empty*."""
    state = empty
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        state = state and state.feed(line)
        if state is None:
            return click.ClickException(f"No {language} begins like the prompt: line {number} does not fit.")
    return click.ClickException(f"No {language} begins like the prompt.")
