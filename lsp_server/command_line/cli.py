"""The command line: `fimlsp --stdio` is the server; the sub-commands are for users and other programs.

Each command imports the modules that it needs, so that `fimlsp --help` is quick and `fimlsp verify` never
loads a model.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from fimlsp import __version__
from fimlsp.languages import LANGUAGES
from fimlsp.languages.command_options import GRAMMAR, INTERFACE, SCHEMA, START
from fimlsp.lsp_server.command_line.generate_command import generate
from fimlsp.lsp_server.command_line.models_command import models
from fimlsp.lsp_server.command_line.parameters import (
    PYTHON,
    is_given,
    model_options,
    refuse_token,
    to_address,
    to_grammar,
    to_known_name,
    to_language,
    to_position,
    to_scripts,
    to_token,
)
from fimlsp.lsp_server.options import Settings, load_of

if TYPE_CHECKING:
    from fimlsp.quotient.language.contract import Language


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="fimlsp")
@click.option("--stdio", is_flag=True, help="Run the language server on standard input and output.")
@click.option(
    "--tcp",
    metavar="HOST:PORT",
    callback=to_address,
    help="Run the language server for several clients on a port of this machine.",
)
@click.option(
    "--token-file",
    "token",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=to_token,
    help="For --tcp: serve only clients with the `token` in this file in their initialization options. "
    "The environment variable FIMLSP_TOKEN does the same.",
)
@click.option("--token", expose_value=False, hidden=True, callback=refuse_token)
@click.pass_context
def command_line(context: click.Context, stdio: bool, tcp: tuple[str, int] | None, token: str | None) -> None:
    """Code completions that connect to the text after the cursor.

    An editor starts `fimlsp --stdio`.
    """
    if context.invoked_subcommand is not None:
        if stdio or tcp:
            raise click.UsageError(f"--stdio and --tcp start the server; omit {context.invoked_subcommand}.")
        return
    if stdio and tcp:
        raise click.UsageError("Give either --stdio or --tcp.")
    if not stdio and not tcp:
        click.echo(context.get_help())
        return
    from fimlsp.lsp_server.protocol.serving import serve_stdio, serve_tcp
    from fimlsp.lsp_server.worker_pool import WorkerPool
    from fimlsp.lsp_server.worker_process import WORKER_COMMAND

    pool = WorkerPool(WORKER_COMMAND)
    if tcp is None:
        context.exit(0 if serve_stdio(pool) else 1)
    try:
        serve_tcp(pool, *tcp, token)
    except OSError as error:
        raise click.ClickException(f"Cannot start the server: {error}. Choose another port.") from error


@command_line.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--at",
    required=True,
    metavar="LINE:COLUMN",
    callback=to_position,
    help="The character after the cursor, counted from 1.",
)
@click.option(
    "--language",
    metavar="NAME",
    callback=to_known_name,
    help=f"The language, if the name of FILE does not show it: {', '.join(LANGUAGES)}.",
)
@click.option(
    "--interface",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="For a FILE named *.slua: the declarations that the script uses.",
)
@model_options
@PYTHON
@click.option("--max-tokens", default=64, show_default=True, type=click.IntRange(1, 1024))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def complete(
    file: Path,
    at: tuple[int, int],
    language: str | None,
    interface: Path | None,
    python: tuple[int, int],
    max_tokens: int,
    as_json: bool,
    **model: Any,
) -> None:
    """Complete FILE at a line and column, and show the completion in place.

    Unless given, the language follows from the name of FILE. A file of no known language is Python.
    """
    from fimlsp.lsp_server.command_line.complete_command import DEADLINE_MS, complete_file
    from fimlsp.lsp_server.messages import Limits

    limits = Limits(max_tokens, DEADLINE_MS)
    complete_file(file, at, load_of(Settings(**model)), limits, python, as_json, interface, language)


@command_line.command()
@model_options
def doctor(**model: Any) -> None:
    """Check the installation: versions, the model, and timed completions."""
    from fimlsp.lsp_server.command_line.doctor_command import run_checks

    raise SystemExit(0 if run_checks(load_of(Settings(**model))) else 1)


@command_line.command()
@click.option(
    "--language",
    metavar="NAME",
    default="python",
    show_default=True,
    callback=to_language,
    help=f"The language: {', '.join(LANGUAGES)}.",
)
@GRAMMAR
@START
@INTERFACE
@PYTHON
@click.option(
    "--check",
    type=click.Choice(["parse", "compile"]),
    default="parse",
    show_default=True,
    help="The check that the whole text passes: Python parses it, or compiles it as well.",
)
@click.option(
    "--try",
    "files",
    metavar="FILE",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --grammar: read this file instead, and name the place where it is refused. May be repeated.",
)
@click.pass_context
def verify(
    context: click.Context,
    language: Language,
    grammar: Path | None,
    start: str | None,
    files: tuple[Path, ...],
    interface: Path | None,
    python: tuple[int, int],
    check: Literal["parse", "compile"],
) -> None:
    """Check middles: JSON lines in, JSON lines out, in the same order.

    Input: {"id", "left", "middle", "right"}. Output: {"id", "connectable", "complete", "viable_bytes",
    "shortest", "relaxed", "ignored", "setup_ms", "feed_ms"}, or {"id", "error"}. No model is loaded.
    """
    from fimlsp.languages.python import Python
    from fimlsp.lsp_server.command_line.verify_command import answer_lines, try_files

    if grammar is not None:
        if is_given(context, "language"):
            raise click.UsageError("Give either --language or --grammar.")
        language = own = to_grammar(grammar, start or "start")
        if files:
            tried = [*try_files(own, files)]
            click.echo("\n".join(line for _, line in tried))
            sys.exit(not all(is_read for is_read, _ in tried))
    elif start is not None or files:
        raise click.UsageError(f"{'--start' if start is not None else '--try'} needs --grammar.")
    if interface is not None:
        language = to_scripts(language, interface)
    if isinstance(language, Python):
        language = Python(python, check)
    elif is_given(context, "python"):
        raise click.UsageError(f"--python-version is for --language python, not {language.name}.")
    for line in answer_lines(sys.stdin.buffer, language):
        click.echo(line)


@command_line.command()
@click.argument("scripts", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--interface",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The declarations that the scripts use.",
)
@click.option("--root", metavar="KIND", help="The kind of all scripts, as declared by --interface.")
@click.option(
    "--describe",
    is_flag=True,
    help="Print a text about sLua and --interface, or SQL and --schema, for a model (generate --context).",
)
@SCHEMA
def check(
    scripts: tuple[Path, ...], interface: Path | None, root: str | None, describe: bool, schema: Path | None
) -> None:
    """Check sLua SCRIPTS: one line for each fault. The exit status is 1 if there are any."""
    from fimlsp.errors import UserError
    from fimlsp.lsp_server.command_line.check_command import check_files, describe_interface, describe_schema

    if bool(scripts) is describe:
        raise click.UsageError("Give either SCRIPTS or --describe.")
    if schema is not None and (not describe or interface is not None or root is not None):
        raise click.UsageError("--schema needs --describe, and no --interface or --root.")
    try:
        if describe:
            text = describe_interface(interface, root) if schema is None else describe_schema(schema)
            click.echo(text, nl=False)
            return
        faults = check_files(scripts, interface, root)
    except UserError as error:
        raise click.ClickException(str(error)) from None
    for fault in faults:
        click.echo(fault)
    if not faults:
        click.echo(f"{len(scripts)} script{'s' * (len(scripts) != 1)}: no faults.", err=True)
    sys.exit(bool(faults))


@command_line.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def train(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Train a small model on Python source."""
    from fimlsp.models.training.command import train as train_model

    train_model.main(list(arguments), prog_name=context.command_path)


command_line.add_command(generate)
command_line.add_command(models)
