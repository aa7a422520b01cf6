"""Options that the commands of `fimlsp replay` share, and the cases that they choose."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fimlsp.datasets.cuts import Selection, Shard
    from fimlsp.datasets.languages.lua import Scripts
    from fimlsp.datasets.languages.own_grammar import OwnGrammar
    from fimlsp.languages.python.versions import PythonVersion

KINDS = ("boundary", "randspan", "line", "block", "user", "paper-boundary", "paper-randspan")
EXISTING = click.Path(exists=True, path_type=Path)
EXISTING_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
LANGUAGES = ("python", "json", "lua", "go", "typescript", "tsx", "javascript", "jsx", "toml", "slua")


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
    from fimlsp.datasets.cuts import Shard

    number, slash, count = value.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and 0 < int(number) <= int(count)):
        raise click.BadParameter(f"{value!r} is not I/N, such as 1/8.")
    return Shard(int(number), int(count))


def to_version(_: click.Context, __: click.Parameter, value: str | None) -> PythonVersion | None:
    """`3.N`: a version that has a grammar, and is not newer than the running Python."""
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
    running = sys.version_info[:2]
    if version > running:
        raise click.BadParameter(f"this is Python {version_text(running)}; run fimlsp with Python {value}.")
    return version


def to_options(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, object]:
    """`option=value` pairs; a value is JSON, or else a text."""
    options = dict[str, object]()
    for pair in values:
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"{pair!r} is not OPTION=VALUE, such as maxTokens=32.")
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
    help="Names of the files in --grammar; may be repeated.  [default: *.NAME of NAME.lark]",
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
SEED = click.option("--seed", default=0, show_default=True, help="Seed of all cuts.")
LIMIT = click.option("--limit", type=click.IntRange(1), help="Maximum number of cases.")
FILES = click.option(
    "--files",
    default="0:",
    metavar="START:STOP:STEP",
    callback=to_files,
    help="Numbers of the files to read; the paper has 0:10000.",
)
SHARD = click.option(
    "--shard", default="1/1", metavar="I/N", callback=to_shard, help="Part I of N equal parts."
)
BYTES = click.option(
    "--bytes-max",
    default=1_000_000,
    show_default=True,
    type=click.IntRange(1),
    help="Leave out larger files.",
)
SOURCES = click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
CONTEXT_TOKENS = click.option(
    "--context-tokens",
    type=click.IntRange(1),
    help="The most that the model reads and writes together.  [default: 2,048 on a CPU, more on a GPU]",
)
OUT = click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder.")


@dataclass(frozen=True, slots=True)
class CaseOptions:
    """The options of `run` and `cut` that choose the files and the holes in them."""

    sources: tuple[str, ...]
    language: str
    grammar: Path | None
    start: str | None
    patterns: tuple[str, ...]
    interface: Path | None
    kinds: tuple[str, ...]
    per_file: int
    seed: int
    files: range
    shard: Shard
    bytes_max: int

    def own_language(self) -> OwnGrammar | Scripts | None:
        """The user's own grammar, or sLua with an interface; None without either.

        Raises:
            click.ClickException: the options contradict one another, or a file cannot be used.
        """
        if self.grammar is not None:
            return _own_grammar(self.grammar, self.start, self.patterns)
        if self.start is not None or self.patterns:
            raise click.UsageError("--start and --called need --grammar.")
        if self.interface is None:
            return None
        if self.language != "slua":
            raise click.UsageError("--interface is for --language slua.")
        return _scripts(self.interface)

    def selection(self, cases: Path | None = None) -> Selection:
        """The cases to run: new ones, or those saved in the file *cases*.

        Raises:
            click.ClickException: a source or the file cannot be used.
        """
        from fimlsp.datasets.cuts import Selection, read_cases
        from fimlsp.datasets.languages import LANGUAGES as KNOWN
        from fimlsp.datasets.sources import Filters, Source, SourceError

        own = self.own_language()
        language = KNOWN[self.language] if own is None else own.replay_language
        try:
            for source in self.sources:
                Source(source, language).check()
            saved = None if cases is None else read_cases(cases)
        except (SourceError, ValueError, OSError) as error:
            raise click.ClickException(str(error)) from error
        return Selection(
            self.sources,
            self.kinds,
            self.per_file,
            self.seed,
            self.files,
            self.shard,
            Filters(language, self.bytes_max),
            saved,
        )


def takes_cases(command: Callable[..., None]) -> Callable[..., None]:
    """*command*, which gets the options in `CaseOptions` as one argument, `case_options`."""

    @wraps(command)
    def with_case_options(**arguments: object) -> None:
        values = {field.name: arguments.pop(field.name) for field in fields(CaseOptions)}
        command(case_options=CaseOptions(**values), **arguments)  # type: ignore[arg-type]  # click passes the types of the fields

    return with_case_options


def _own_grammar(file: Path, start: str | None, patterns: tuple[str, ...]) -> OwnGrammar:
    from fimlsp.datasets.languages.own_grammar import OwnGrammar
    from fimlsp.languages.custom import load_grammar
    from fimlsp.quotient.grammar.cfg import GrammarError

    try:
        return OwnGrammar(load_grammar(file, start or "start"), patterns or (f"*.{file.stem}",))
    except GrammarError as error:
        raise click.ClickException(str(error)) from None


def _scripts(interface: Path) -> Scripts:
    from fimlsp.datasets.languages.lua import Scripts
    from fimlsp.languages.slua.interface import InterfaceError
    from fimlsp.languages.slua.language import interface_of

    try:
        text = interface.read_text("utf-8")
        interface_of(text, str(interface))
    except (InterfaceError, UnicodeDecodeError, OSError) as error:
        raise click.ClickException(str(error)) from None
    return Scripts(text)
