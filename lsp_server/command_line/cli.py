"""The command line: `fimlsp --stdio` is the server; the sub-commands are for people and other programs.

Everything but click is imported by the command that needs it, so that `fimlsp --help` is quick and
`fimlsp verify` never loads a model.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from fimlsp import __version__
from fimlsp.languages.command_options import GRAMMAR, INTERFACE, START
from fimlsp.lsp_server.command_line.generate_command import generate
from fimlsp.lsp_server.command_line.models_command import models
from fimlsp.lsp_server.command_line.parameters import (
    PYTHON,
    is_given,
    model_options,
    to_address,
    to_grammar,
    to_language,
    to_position,
    to_scripts,
)
from fimlsp.lsp_server.settings.options import Settings, load_of

if TYPE_CHECKING:
    from fimlsp.quotient.language.contract import Language


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="fimlsp")
@click.option("--stdio", is_flag=True, help="Be a language server on standard input and output.")
@click.option(
    "--tcp",
    metavar="HOST:PORT",
    callback=to_address,
    help="Be a language server for any number of clients on a port of this machine.",
)
@click.option(
    "--token",
    envvar="FIMLSP_TOKEN",
    help="With --tcp: serve only clients that have it in their initialization options, as `token`. "
    "FIMLSP_TOKEN in the environment does the same, and other users cannot see it.",
)
@click.pass_context
def command_line(context: click.Context, stdio: bool, tcp: tuple[str, int] | None, token: str | None) -> None:
    """Code completions that connect to what follows the cursor.

    An editor starts `fimlsp --stdio`.
    """
    if context.invoked_subcommand is not None:
        if stdio or tcp:
            raise click.UsageError(
                f"--stdio and --tcp start the server; leave out {context.invoked_subcommand}."
            )
        return
    if stdio and tcp:
        raise click.UsageError("Give either --stdio or --tcp.")
    if token == "":
        raise click.UsageError("The token is empty; leave out --token to serve everybody on this machine.")
    if not stdio and not tcp:
        click.echo(context.get_help())
        return
    from fimlsp.lsp_server.protocol.serving import serve_stdio, serve_tcp
    from fimlsp.lsp_server.worker_client.worker_pool import WorkerPool
    from fimlsp.lsp_server.worker_client.worker_process import WORKER_COMMAND

    pool = WorkerPool(WORKER_COMMAND)
    if tcp is None:
        context.exit(0 if serve_stdio(pool) else 1)
    try:
        serve_tcp(pool, *tcp, token)
    except OSError as error:
        raise click.ClickException(f"The server cannot be started ({error}); choose another port.") from error


@command_line.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--at",
    required=True,
    metavar="LINE:COLUMN",
    callback=to_position,
    help="The cursor stands before this character.",
)
@click.option(
    "--interface",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Of a FILE called *.slua: declarations of what the script is given.",
)
@model_options
@PYTHON
@click.option("--max-tokens", default=64, show_default=True, type=click.IntRange(1, 1024))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
def complete(
    file: Path,
    at: tuple[int, int],
    interface: Path | None,
    python: tuple[int, int],
    max_tokens: int,
    as_json: bool,
    **model: Any,  # noqa: ANN401 - of many types
) -> None:
    """Complete FILE at a line and column, and show the completion there.

    A FILE called *.json, *.lua, *.go or *.slua is completed as what it is, every other one as Python.
    """
    from fimlsp.lsp_server.command_line.complete_command import DEADLINE_MS, complete_file
    from fimlsp.lsp_server.messages import Limits

    limits = Limits(max_tokens, DEADLINE_MS)
    complete_file(file, at, load_of(Settings(**model)), limits, python, as_json, interface)


@command_line.command()
@model_options
def doctor(**model: Any) -> None:  # noqa: ANN401 - of many types
    """Check the installation: versions, model, and a completion with timings."""
    from fimlsp.lsp_server.command_line.doctor_command import run_checks

    raise SystemExit(0 if run_checks(load_of(Settings(**model))) else 1)


@command_line.command()
@click.option(
    "--language",
    metavar="NAME",
    default="python",
    show_default=True,
    callback=to_language,
    help="Whose rules hold: python, json, lua, go or slua.",
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
    help="What Python has to make of the whole.",
)
@click.pass_context
def verify(
    context: click.Context,
    language: Language,
    grammar: Path | None,
    start: str | None,
    interface: Path | None,
    python: tuple[int, int],
    check: Literal["parse", "compile"],
) -> None:
    """Judge middles: JSON lines in, JSON lines out, in the same order.

    A line is {"id", "left", "middle", "right"}; its answer {"id", "connectable", "complete", "viable_bytes",
    "shortest", "relaxed", "ignored", "setup_ms", "feed_ms"}, or {"id", "error"}. No model is loaded.
    """
    from fimlsp.languages.python import Python
    from fimlsp.lsp_server.command_line.verify_command import answer_lines

    if grammar is not None:
        if is_given(context, "language"):
            raise click.UsageError("Give either --language or --grammar.")
        language = to_grammar(grammar, start or "start")
    elif start is not None:
        raise click.UsageError("--start is a rule of --grammar; give that as well.")
    if interface is not None:
        language = to_scripts(language, interface)
    if isinstance(language, Python):
        language = Python(python, check)
    elif is_given(context, "python"):
        raise click.UsageError(f"--python-version is of Python alone; leave it out for {language.name}.")
    for line in answer_lines(sys.stdin.buffer, language):
        click.echo(line)


@command_line.command()
@click.argument(
    "scripts", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--interface",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Declarations of what the scripts are given.",
)
@click.option("--root", metavar="KIND", help="The kind of scripts, declared there, that they have to be.")
def check(scripts: tuple[Path, ...], interface: Path | None, root: str | None) -> None:
    """Check sLua SCRIPTS as a compiler does: a line for each fault; the exit status is 1 if there is one."""
    from fimlsp.languages.slua.interface import UnknownRootError
    from fimlsp.lsp_server.command_line.check_command import UnreadableError, check_files

    try:
        faults = check_files(scripts, interface, root)
    except (UnreadableError, UnknownRootError) as error:
        raise click.ClickException(str(error)) from None
    for fault in faults:
        click.echo(fault)
    if not faults:
        click.echo(f"{len(scripts)} {'script is' if len(scripts) == 1 else 'scripts are'} right.", err=True)
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
