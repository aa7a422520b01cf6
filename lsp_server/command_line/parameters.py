"""Parameters of several commands: command-line text converted to values, and the files that users name."""

from __future__ import annotations

import os
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fimlsp.lsp_server.options import MODEL_FIELDS, OPTIONS, Option, running_version

if TYPE_CHECKING:
    from fimlsp.languages.custom import LarkLanguage
    from fimlsp.quotient.language.contract import Language


def to_address(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, int] | None:
    """`HOST:PORT` of this machine: the server trusts its clients, so it listens nowhere else."""
    if value is None:
        return None
    host, colon, port = value.rpartition(":")
    if not (colon and port.isdecimal() and int(port) < 65_536):
        raise click.BadParameter(f"{value!r} is not HOST:PORT, such as 127.0.0.1:8765.")
    host = host.strip("[]")
    if not is_loopback(host):
        raise click.BadParameter(
            f"{host!r} is not this machine. Use 127.0.0.1: the server must not be reachable from a network."
        )
    return host, int(port)


LONGEST_TOKEN = 4096
"""Bytes of a file with a token."""


def refuse_token(_: click.Context, __: click.Parameter, value: str | None) -> None:
    """A token on the command line stands in the list of processes, which other users can read."""
    if value is not None:
        raise click.UsageError(
            "Cannot take a token from the command line: other users see it in the list of processes. "
            "Put it into a file and give --token-file FILE, or set FIMLSP_TOKEN in the environment."
        )


def to_token(_: click.Context, __: click.Parameter, file: Path | None) -> str | None:
    """The token in *file*, or else in the environment."""
    if file is None:
        token = os.environ.get("FIMLSP_TOKEN")
        if token == "":
            raise click.UsageError(
                "The token is empty. Unset FIMLSP_TOKEN to serve all users of this machine."
            )
        return token
    try:
        with file.open("rb") as opened:
            is_open_to_others = os.name == "posix" and os.fstat(opened.fileno()).st_mode & 0o077
            token = opened.read(LONGEST_TOKEN + 1).decode().strip()
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"Cannot read the token in {file} ({error}).") from error
    if is_open_to_others:
        raise click.BadParameter(f"Cannot use {file}: other users can read it. Run: chmod 600 {file}")
    if not 0 < len(token) <= LONGEST_TOKEN:
        raise click.BadParameter(f"Cannot use {file}: it has no token of 1 to {LONGEST_TOKEN:,} characters.")
    return token


def is_loopback(host: str) -> bool:
    """True if *host* names this machine and nothing else."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def to_position(_: click.Context, __: click.Parameter, value: str) -> tuple[int, int]:
    """`LINE:COLUMN`, both from 1."""
    line, _colon, column = value.partition(":")
    if not (line.isdecimal() and column.isdecimal() and int(line) > 0 and int(column) > 0):
        raise click.BadParameter(f"{value!r} is not LINE:COLUMN with numbers from 1, such as 12:5.")
    return int(line), int(column)


def to_python(_: click.Context, __: click.Parameter, value: str) -> tuple[int, int]:
    """A Python version, such as 3.11."""
    from fimlsp.languages.python.versions import PYTHON_VERSIONS, version_text

    versions = {version_text(version): version for version in PYTHON_VERSIONS}
    if value not in versions:
        raise click.BadParameter(f"{value!r} is not one of {', '.join(versions)}.")
    return versions[value]


def to_language(_: click.Context, __: click.Parameter, value: str) -> Language:
    """The language of a given name."""
    from fimlsp.languages import UnknownLanguageError, language_named

    try:
        return language_named(value)
    except UnknownLanguageError as error:
        raise click.BadParameter(f"{error}.") from None


def to_known_name(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """The name of a known language, if one is given."""
    if value is not None:
        to_language(context, parameter, value)
    return value


def to_grammar(file: Path, start: str) -> LarkLanguage:
    """The language of a Lark grammar."""
    from fimlsp.languages.custom import load_grammar
    from fimlsp.quotient.grammar.cfg import GrammarError

    try:
        return load_grammar(file, start)
    except GrammarError as error:
        raise click.ClickException(str(error)) from None


def to_scripts(language: Language, interface: Path) -> Language:
    """*language*, which must be sLua, with the declarations of *interface*."""
    from fimlsp.languages.slua.interface import InterfaceError
    from fimlsp.languages.slua.language import Slua, interface_of

    if not isinstance(language, Slua):
        raise click.UsageError("--interface is for --language slua.")
    text = read_text(interface).decode()
    try:
        interface_of(text, str(interface))
    except InterfaceError as error:
        raise click.ClickException(str(error)) from None
    return Slua(text)


def is_given(context: click.Context, name: str) -> bool:
    """True if the parameter *name* is on the command line."""
    return context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


def to_value(option: Option) -> Callable[[click.Context, click.Parameter, object], object]:
    """A callback that converts command-line text to a value of the server's *option*."""

    def convert(_: click.Context, __: click.Parameter, value: object) -> object:
        is_number = isinstance(option.default, int) and isinstance(value, str) and value.isdecimal()
        typed = int(str(value)) if is_number else value
        if not option.values.allows(typed):
            raise click.BadParameter(f"{option.name} must be {option.values.words}, not {value!r}.")
        if option.field == "model" and typed:
            from fimlsp.models.checkpoints.hub import find_on_command_line

            return find_on_command_line(str(typed))
        return typed

    return convert


def model_options(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator that gives *command* the options about models, as keyword arguments for `Settings`."""
    chosen = [option for option in OPTIONS if option.field in MODEL_FIELDS]
    for option in reversed(chosen):
        command = click.option(
            f"--{option.field.replace('_', '-')}",
            default=str(option.default),
            callback=to_value(option),
            metavar=option.name.upper(),
            help=f"{option.meaning} Values: {option.values.words}.",
        )(command)
    return command


def _running_python() -> str:
    from fimlsp.languages.python.versions import version_text

    return version_text(running_version())


PYTHON = click.option(
    "--python-version",
    "python",
    metavar="VERSION",
    default=_running_python,
    show_default="that of the running Python",
    callback=to_python,
    help="The Python version of the grammar: 3.8 to 3.15.",
)


def read_bytes(file: Path) -> bytes:
    """The bytes of *file*.

    Raises:
        click.ClickException: It cannot be read, or is not a regular file of at most 8 MB.
    """
    from fimlsp.lsp_server.documents import LARGEST_DOCUMENT
    from fimlsp.lsp_server.workspace_files import read_regular_file

    try:
        data = read_regular_file(file, LARGEST_DOCUMENT)
    except OSError as error:
        raise click.ClickException(f"Cannot read {file}: {error.strerror}.") from error
    if data is None:
        raise click.ClickException(
            f"Cannot read {file}: it is not a regular file of at most {LARGEST_DOCUMENT:,} bytes."
        )
    return data


def read_text(file: Path) -> bytes:
    """The bytes of a UTF-8 *file*.

    Raises:
        click.ClickException: As `read_bytes`, or it is not UTF-8.
    """
    data = read_bytes(file)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise click.ClickException(f"Cannot decode {file}: {error}. Save it as UTF-8.") from error
    return data
