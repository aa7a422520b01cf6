"""Options that commands of `fimlsp replay` share, and how what is given for them is read."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fimlsp.datasets.cuts.selection import Shard
    from fimlsp.languages.python.versions import PythonVersion

KINDS = ("boundary", "randspan", "line", "block", "user", "paper-boundary", "paper-randspan")
LANGUAGES = ("python", "json", "lua", "go", "slua")


def to_kinds(_: click.Context, __: click.Parameter, value: str) -> tuple[str, ...]:
    """Kinds of cuts, separated by commas."""
    kinds = tuple(dict.fromkeys(kind.strip() for kind in value.split(",")))
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(KINDS)}.")
    return kinds


def to_files(_: click.Context, __: click.Parameter, value: str) -> range:
    """`START:STOP` or `START:STOP:STEP`; each number may be left out."""
    try:
        numbers = [int(part) if part else None for part in value.split(":")]
        start, stop, step = (*numbers, None, None)[:3] if 1 < len(numbers) < 4 else (None, None, 0)
        return range(start or 0, 1 << 62 if stop is None else stop, 1 if step is None else step)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is not START:STOP or START:STOP:STEP.") from error


def to_shard(_: click.Context, __: click.Parameter, value: str) -> Shard:
    """`I/N` with 1 <= I <= N."""
    from fimlsp.datasets.cuts.selection import Shard

    number, slash, count = value.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and 0 < int(number) <= int(count)):
        raise click.BadParameter(f"{value!r} is not I/N, such as 1/8.")
    return Shard(int(number), int(count))


def to_version(_: click.Context, __: click.Parameter, value: str | None) -> PythonVersion | None:
    """`3.N`: a version that the grammar knows, and no newer than the judge."""
    from fimlsp.languages.python.versions import UnknownVersionError, known_version, version_text

    if value is None:
        return None
    major, _dot, minor = value.partition(".")
    if not (major.isdecimal() and minor.isdecimal()):
        raise click.BadParameter(f"{value!r} is not a version such as 3.11.")
    try:
        version = known_version((int(major), int(minor)))
    except UnknownVersionError as error:
        raise click.BadParameter(str(error)) from error
    judge = sys.version_info[:2]
    if version > judge:
        raise click.BadParameter(f"the judge is Python {version_text(judge)}; use that of {value}.")
    return version


def to_options(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, object]:
    """`option=value` pairs; a value is JSON, or else a text."""
    options = dict[str, object]()
    for each in values:
        name, equals, value = each.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"{each!r} is not OPTION=VALUE, such as maxTokens=32.")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options


LANGUAGE = click.option(
    "--language",
    default="python",
    show_default=True,
    type=click.Choice(LANGUAGES),
    help="The language of the files.",
)
CALLED = click.option(
    "--called",
    "patterns",
    multiple=True,
    metavar="GLOB",
    help="What files in --grammar are called; may be given again.  [default: *.NAME of NAME.lark]",
)
CUTS = click.option(
    "--cuts",
    "kinds",
    default="boundary,randspan",
    show_default=True,
    metavar="NAME[,NAME]",
    callback=to_kinds,
    help=f"Kinds of holes: {', '.join(KINDS)}.",
)
PER_FILE = click.option("--per-file", default=10, show_default=True, type=click.IntRange(1))
SEED = click.option("--seed", default=0, show_default=True, help="Of all cuts.")
LIMIT = click.option("--limit", type=click.IntRange(1), help="At most so many cases.")
FILES = click.option(
    "--files",
    default="0:",
    metavar="START:STOP:STEP",
    callback=to_files,
    help="Numbers of the files to look at; the paper has 0:10000.",
)
SHARD = click.option(
    "--shard", default="1/1", metavar="I/N", callback=to_shard, help="Only part I of N equal parts."
)
BYTES = click.option(
    "--bytes-max",
    default=1_000_000,
    show_default=True,
    type=click.IntRange(1),
    help="Leave out larger files.",
)
SOURCES = click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
OUT = click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder.")
