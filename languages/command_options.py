"""Options of commands that name a language: a grammar of the user's own, and what sLua scripts are given."""

from __future__ import annotations

from pathlib import Path

import click

GRAMMAR = click.option(
    "--grammar",
    metavar="FILE.lark",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A Lark grammar of your own that holds instead of a language.",
)

START = click.option(
    "--start", metavar="RULE", help="The rule of --grammar that a text is made of. Default: start."
)

INTERFACE = click.option(
    "--interface",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --language slua: declarations of what scripts are given.",
)
