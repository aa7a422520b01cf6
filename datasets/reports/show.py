"""`fimlsp replay show`: one case on the terminal, with the truth and each method's answer in its place."""

from __future__ import annotations

from itertools import chain

import click
from fimlsp.datasets.cuts.cut_record import CutRecord
from fimlsp.datasets.runs.attempt import METHODS, Attempt, Result
from fimlsp.datasets.runs.run_folder import RunFolder
from fimlsp.datasets.sources.filters import Filters
from fimlsp.datasets.sources.source_file import SourceFile
from fimlsp.datasets.sources.sources import SourceError, read_source
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

CONTEXT_LINES = 4
GOOD, BAD, TRUTH = "on dark_green", "on dark_red", "on dark_blue"


def show_case(folder: RunFolder, case: str) -> None:
    """Print a case.

    Raises:
        click.ClickException: there is none of that name, or its file is no longer in the sources.
    """
    result = next((each for each in folder.results() if each.case == case), None)
    if result is None:
        raise click.ClickException(f"{folder.path} has no case {case}; the names stand in results.jsonl.")
    record = CutRecord.from_json(result.record)
    file = find_file(folder, record)
    console = Console(highlight=False)
    console.print(Text(f"{case}: characters {record.cut.start} to {record.cut.end} of {record.name}", "bold"))
    left, right = record.cut.left(file.text), record.cut.right(file.text)
    print_in_place(
        console, left, record.cut.middle(file.text), right, Text("what was cut out", "bold"), TRUTH
    )
    if result.crash is not None:
        console.print(Text(f"crashed: {result.crash}", "bold red"))
    for method, attempt in result.attempts.items():
        print_attempt(console, left, right, method, attempt)
    console.print(Text(costs(result), "dim"))


def find_file(folder: RunFolder, record: CutRecord) -> SourceFile:
    """The file of *record* in the sources of the run, by its hash."""
    plan = folder.plan
    filters = Filters(int(plan["bytes_max"]))
    try:
        for found in chain.from_iterable(map(read_source, plan["sources"])):
            file = filters.identify(found) if found.name == record.name else None
            if isinstance(file, SourceFile) and file.hash == record.source:
                return file
    except SourceError as error:
        raise click.ClickException(str(error)) from error
    raise click.ClickException(f"{record.name} is not in {', '.join(plan['sources'])} as it was in the run.")


def print_attempt(console: Console, left: str, right: str, method: str, attempt: Attempt) -> None:
    """Print what a method answered, or why it has no answer."""
    refused = f", but does not compile ({attempt.compile_error})" if attempt.compile_error else ""
    verdict = f"parses{refused}" if attempt.ok else attempt.cause or "does not parse"
    told = f", {attempt.tokens} tokens, {attempt.rejected} refused" if attempt.tokens else ""
    title = Text(f"{METHODS[method]}: {verdict}{told}", "bold green" if attempt.ok else "bold red")
    if attempt.text is None:
        console.print(title)
    else:
        print_in_place(console, left, attempt.text, right, title, GOOD if attempt.ok else BAD)


def print_in_place(console: Console, left: str, text: str, right: str, title: Text, style: str) -> None:
    """Print *text* between its neighbouring lines, on a ground of its own; marked with `⟦ ⟧` as well."""
    console.print(title)
    marked = f"⟦{readable(text)}⟧"
    first = left.count("\n") + 1
    last = first + marked.count("\n")
    column = len(left) - left.rfind("\n") - 1
    code = Syntax(
        left + marked + right,
        "python",
        line_numbers=True,
        line_range=(max(1, first - CONTEXT_LINES), last + CONTEXT_LINES),
        background_color="default",
        word_wrap=True,
    )
    end = column + len(marked) if first == last else len(marked) - marked.rfind("\n") - 1
    code.stylize_range(style, (first, column), (last, end))
    console.print(code)


def readable(text: str) -> str:
    """*text* with pictures for what would steer the terminal, and without lone surrogates."""
    pictures = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
    return text.encode(errors="replace").decode().translate(pictures)


def costs(result: Result) -> str:
    """Set-up and engine times in one line."""
    engine = ", ".join(f"{name} {a.engine_ms:.1f} ms" for name, a in result.attempts.items() if a.engine_ms)
    return f"{result.size:,} characters; set-up {result.setup_ms:.1f} ms; engine: {engine}"
