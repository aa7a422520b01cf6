"""Measures the checks of types: `python benchmarks/type_faults.py WORKSPACE FOLDER... [--javascript]`.

WORKSPACE has `node_modules`, and each FOLDER in it the sources of a package. Lines are drawn from its files.
Each is checked as it was written, with the rest of its file and as the last line. Then a random name of the
file stands in place of one in the line. Times are those of the clock.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from fimlsp.languages.type_checker.faults import TypeFault
from fimlsp.languages.type_checker.process import CheckedPlace, CheckQuestion, TypeChecker
from fimlsp.languages.typescript.checker.compiler import TypeScriptProjects, compiler_in
from fimlsp.languages.typescript.checker.configuration import JAVASCRIPT_ENDINGS
from fimlsp.lexing.automata.cached_files import cache_folder

LARGEST = 60_000
LINES = 8
"""Lines of a file."""

_LINE = re.compile(rb"(?m)^[ \t]*(?!//|\*|/\*)(\S.*)$")
_WORD = re.compile(rb"[A-Za-z_]\w{2,}")


@dataclass
class Measures:
    """The counts, the seconds of each check, and the faults of lines that were really written."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    first_seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@dataclass
class Lines:
    """Checks lines of files in the folder *root* with *compiler*."""

    root: Path
    compiler: Path
    checker: TypeChecker = field(default_factory=lambda: TypeChecker(TypeScriptProjects(), lambda _: read))
    measures: Measures = field(default_factory=Measures)

    def fault(self, path: Path, left: bytes, text: bytes, right: bytes) -> TypeFault | None:
        """The first fault of *text* between *left* and *right*."""
        began = perf_counter()
        place = CheckedPlace(path, (self.root,), (), self.compiler, left, right)
        (found,) = self.checker.answer(CheckQuestion(place, (text,)))
        self.measures.seconds.append(perf_counter() - began)
        return found

    def measure(self, path: Path, rng: Random) -> None:
        """Check some lines of the file at *path*."""
        data, counts = path.read_bytes(), self.measures.counts
        began = perf_counter()
        self.checker.answer(CheckQuestion(CheckedPlace(path, (self.root,), (), self.compiler, data, b"")))
        self.measures.first_seconds.append(perf_counter() - began)
        counts["files"] += 1
        lines = [*_LINE.finditer(data)]
        for line in rng.sample(lines, min(LINES, len(lines))):
            left, text, right = data[: line.start(1)], line[1], data[line.end(1) :]
            counts["lines"] += 1
            for name, after in (("whole", right), ("last", b"\n")):
                fault = self.fault(path, left, text, after)
                counts[name] += fault is not None
                if fault is not None:
                    self.measures.wrong.append(f"{path.name}, {name}: {text.decode()}\n    {fault.words}")
            for changed in changes(text, data, rng):
                counts["changed"] += 1
                counts["found"] += self.fault(path, left, changed, right) is not None


def changes(text: bytes, data: bytes, rng: Random) -> Iterator[bytes]:
    """*text* with a random name of *data* in place of one of its own, if it has one."""
    names = [*_WORD.finditer(text)]
    if names:
        name = rng.choice(names)
        others = sorted({*_WORD.findall(data)} - {name[0]})
        yield text[: name.start()] + rng.choice(others) + text[name.end() :]


def read(path: Path) -> bytes | None:
    """The text of the file at *path*; None if there is none."""
    return path.read_bytes() if path.is_file() else None


def sources(folder: Path, endings: frozenset[str]) -> list[Path]:
    """The files in *folder* with one of *endings* that are no tests."""
    files = (path for path in sorted(folder.rglob("*")) if path.suffix in endings and path.is_file())
    inside = [(path, str(path.relative_to(folder))) for path in files if path.stat().st_size < LARGEST]
    return [path for path, name in inside if not name.endswith(".d.ts") and "test" not in name]


def table_of(results: dict[str, Measures]) -> Table:
    """A row for each folder."""
    table = Table()
    columns = "files", "lines", "held back: whole file", "as the last line", "changed names", "held back"
    for name in ("", *columns, "ms, median", "ms, 90 %", "first, ms"):
        table.add_column(name, justify="right")
    for name, one in results.items():
        counts = (one.counts[key] for key in ("files", "lines", "whole", "last", "changed", "found"))
        ordered = sorted(one.seconds)
        seconds = median(ordered), ordered[9 * len(ordered) // 10], one.first_seconds[0]
        table.add_row(name, *map(str, counts), *(f"{1000 * each:.0f}" for each in seconds))
    return table


@click.command(help=__doc__)
@click.argument("workspace", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("folders", nargs=-1, required=True)
@click.option("--typescript", default=cache_folder() / "typescript", type=Path, show_default=True)
@click.option("--files", default=25, show_default=True, help="Files of each folder.")
@click.option("--seed", default=1, show_default=True)
@click.option("--javascript", is_flag=True, help="Files of JavaScript in place of TypeScript.")
def main(
    workspace: Path, folders: tuple[str, ...], typescript: Path, files: int, seed: int, *, javascript: bool
) -> None:
    """See `__doc__`."""
    results = {}
    for folder in folders:
        rng, lines = Random(seed), Lines(workspace.absolute(), compiler_in(typescript))
        endings = JAVASCRIPT_ENDINGS if javascript else frozenset((".ts", ".tsx"))
        found = sources(workspace.absolute() / folder, endings)
        for path in track(rng.sample(found, min(files, len(found))), folder):
            lines.measure(path, rng)
        lines.checker.end()
        results[folder] = lines.measures
    console = Console()
    for one in results.values():
        for text in one.wrong:
            console.print(text, markup=False, highlight=False)
    console.print(table_of(results))


if __name__ == "__main__":
    main()
