"""Options of commands for a language: a user's own grammar, an interface of sLua, a schema of SQL."""

from __future__ import annotations

from pathlib import Path

import click

GRAMMAR = click.option(
    "--grammar",
    metavar="FILE.lark",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A Lark grammar of your own, used instead of a language.",
)

START = click.option("--start", metavar="RULE", help="The start rule of --grammar. Default: start.")

INTERFACE = click.option(
    "--interface",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --language slua: the interface that scripts are given.",
)

SCHEMA = click.option(
    "--schema",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="For SQL: CREATE statements of the tables that queries may use.",
)
