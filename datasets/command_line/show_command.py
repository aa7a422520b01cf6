"""`fimlsp replay show`: prints one case, with the truth and each method's answer in its place."""

from __future__ import annotations

from dataclasses import dataclass, field

import click
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from fimlsp.datasets.cases.result import METHODS, Attempt, Result
from fimlsp.datasets.cuts.cut_record import CutRecord
from fimlsp.datasets.runs.run_folder import RunFolder
from fimlsp.datasets.sources.filters import Filters
from fimlsp.datasets.sources.source import Source, SourceError
from fimlsp.datasets.sources.source_file import SourceFile

CONTEXT_LINES = 4
GOOD, BAD, TRUTH = "on dark_green", "on dark_red", "on dark_blue"


def show_case(folder: RunFolder, case: str) -> None:
    """Print a case.

    Raises:
        click.ClickException: the run has no such case, or its file is no longer in the sources.
    """
    result = next((each for each in folder.results() if each.case == case), None)
    if result is None:
        raise click.ClickException(f"{folder.path} has no case {case}; results.jsonl has the names of all.")
    record = CutRecord.from_json(result.record)
    text = find_file(folder, record).text
    printer = CasePrinter(record.cut.left(text), record.cut.right(text), folder.language.name)
    printer.print_case(record, result, record.cut.middle(text))


def find_file(folder: RunFolder, record: CutRecord) -> SourceFile:
    """The file of *record* in the sources of the run.

    Raises:
        click.ClickException: there is no file with its name and hash.
    """
    plan = folder.plan
    filters = Filters(folder.language, int(plan["bytes_max"]))
    try:
        for source in plan["sources"]:
            for found in Source(source, folder.language).files():
                file = filters.identify(found) if found.name == record.name else None
                if isinstance(file, SourceFile) and file.hash == record.source:
                    return file
    except SourceError as error:
        raise click.ClickException(str(error)) from error
    raise click.ClickException(f"{record.name} is not in {', '.join(plan['sources'])} as it was in the run.")


@dataclass(frozen=True, slots=True)
class CasePrinter:
    """Prints texts in the hole between *left* and *right* to the terminal, highlighted as *language*."""

    left: str
    right: str
    language: str
    console: Console = field(default_factory=lambda: Console(highlight=False))

    def print_case(self, record: CutRecord, result: Result, truth: str) -> None:
        """Print the truth, each answer, the error that ended the case if there was one, and the costs."""
        title = f"{result.case}: characters {record.cut.start} to {record.cut.end} of {record.name}"
        self.console.print(Text(title, "bold"))
        self.print_in_place(truth, Text("what was cut out", "bold"), TRUTH)
        if result.crash is not None:
            self.console.print(Text(f"crashed: {result.crash}", "bold red"))
            self.console.print(Text(result.traceback or "", "dim"))
        for method, attempt in result.attempts.items():
            self.print_attempt(method, attempt)
        self.console.print(Text(costs(result), "dim"))

    def print_attempt(self, method: str, attempt: Attempt) -> None:
        """Print what a method answered, or why it has no answer."""
        refused = f", but does not compile ({attempt.compile_error})" if attempt.compile_error else ""
        verdict = f"parses{refused}" if attempt.ok else attempt.cause or "does not parse"
        cost = f", {attempt.tokens} tokens, {attempt.rejected} refused" if attempt.tokens else ""
        title = Text(f"{METHODS[method]}: {verdict}{cost}", "bold green" if attempt.ok else "bold red")
        text = attempt.written if attempt.text is None else attempt.text
        if text is None:
            self.console.print(title)
        else:
            self.print_in_place(text, title, GOOD if attempt.ok else BAD)

    def print_in_place(self, text: str, title: Text, style: str) -> None:
        """Print *text* with the lines around the hole, in its own *style* and between `⟦` and `⟧`."""
        self.console.print(title)
        marked = f"⟦{readable(text)}⟧"
        first = self.left.count("\n") + 1
        last = first + marked.count("\n")
        column = len(self.left) - self.left.rfind("\n") - 1
        code = Syntax(
            self.left + marked + self.right,
            self.language,
            line_numbers=True,
            line_range=(max(1, first - CONTEXT_LINES), last + CONTEXT_LINES),
            background_color="default",
            word_wrap=True,
        )
        end = column + len(marked) if first == last else len(marked) - marked.rfind("\n") - 1
        code.stylize_range(style, (first, column), (last, end))
        self.console.print(code)


def readable(text: str) -> str:
    """*text* with visible signs for control characters, and with `?` for lone surrogates."""
    pictures = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
    return text.encode(errors="replace").decode().translate(pictures)


def costs(result: Result) -> str:
    """Set-up and engine times in one line."""
    engine = ", ".join(f"{name} {a.engine_ms:.1f} ms" for name, a in result.attempts.items() if a.engine_ms)
    return f"{result.size:,} characters; set-up {result.setup_ms:.1f} ms; engine: {engine}"
