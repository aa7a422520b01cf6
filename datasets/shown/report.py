"""The report of one run of `fimlsp replay judge`, or of several side by side: `report` and `examples`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fimlsp.datasets import pages
from fimlsp.datasets.pages import Distribution, fenced, number, table, write_page
from fimlsp.datasets.shown.run import ShownRun
from fimlsp.datasets.shown.verdict import BAD, GOOD, Shown, Summary, Verdict, by_kind

EXAMPLES = 10
REASONS = 8
EXPLANATION = """\
*Exact*: the first line equals the truth; for cuts within a line, all of the text does. *Wholly right*: the
truth starts with the text. If the text leaves the cursor inside, as between brackets, it counts up to the
cursor. *Begins right*: at least its first four characters agree, to the end of a word. *Saved*: the
characters that word-wise acceptance saves, over all cursors. *Undefined names*: the text uses a name that
pyflakes reports as undefined. *Does not compile*: CPython refuses the file with the text. *Repeats*: the text
has a line that occurs within four lines of it, or a definition that exists in the block. *Leaves its block*:
one of its lines starts left of the block. Shares refer to the shown texts."""


def write_report(runs: Sequence[ShownRun], out: Path) -> None:
    """Write the pages about *runs* into *out*."""
    out.mkdir(parents=True, exist_ok=True)
    pictures = _pictures(runs)
    lines = ["# Suggestions", "", *_head(runs), EXPLANATION, ""]
    if len(runs) > 1:
        lines += ["## Runs", "", *_figures(_by_run(runs), "run")]
    for run in runs:
        lines += [f"## {run.name}", "", *_figures({"all": run.results, **by_kind(run.results)}, "kind")]
        lines += [*times(run.results), *reasons(run.results)]
    lines += [line for picture in pictures for line in (f"![{picture[:-4]}]({picture})", "")]
    write_page(out, "report", lines, pictures)
    write_page(out, "examples", examples(runs[-1].results), {})


def _by_run(runs: Sequence[ShownRun]) -> dict[str, Sequence[Shown]]:
    """The answers of each run, and of all runs together if their plans differ by the seed alone."""
    answers: dict[str, Sequence[Shown]] = {run.name: run.results for run in runs}
    seeds = {run.plan.seed for run in runs}
    plans = [replace(run.plan, seed=0) for run in runs]
    if len(seeds) == len(runs) and all(plan == plans[0] for plan in plans):
        answers["together"] = [answer for run in runs for answer in run.results]
    return answers


def _head(runs: Sequence[ShownRun]) -> list[str]:
    commands = [run.about.command for run in runs]
    rows = [
        [
            run.name,
            run.plan.model,
            ", ".join(run.plan.folders),
            run.plan.seed,
            ", ".join(f"{name}={value}" for name, value in run.plan.options.items()) or "defaults",
            f"{run.plan.fimlsp}, code {run.plan.code}",
            run.about.machine,
        ]
        for run in runs
    ]
    head = ["run", "model", "files", "seed", "options", "fimlsp", "machine"]
    return ["```sh", *commands, "```", "", *table(head, rows)]


def _figures(groups: Mapping[str, Sequence[Shown]], title: str) -> list[str]:
    head = [title, "cursors", "shown", *GOOD.values(), "saved a cursor", *BAD.values()]
    rows = list[list[object]]()
    for name, answers in groups.items():
        figures = Summary.of(answers)
        shown = f"{figures.shown:,} = {percent(figures.shown / max(1, figures.cursors))}"
        good, bad = ([percent(getattr(figures, field)) for field in fields] for fields in (GOOD, BAD))
        rows.append([name, f"{figures.cursors:,}", shown, *good, f"{figures.saved:.1f}", *bad])
    return table(head, rows)


def percent(share: float | None) -> str | None:
    """A share, 0 to 1, as a percentage; None stays None."""
    return None if share is None else f"{100 * share:.1f} %"


def times(answers: Sequence[Shown]) -> list[str]:
    """A table of the times to the answers."""
    spread = Distribution.of([answer.ms for answer in answers])
    if spread is None:
        return []
    figures = [number(value) for value in (spread.median, spread.p90, spread.max)]
    return table(["milliseconds to the answer", "median", "90 %", "max"], [["all cursors", *figures]])


BEST_GUESS = "best guess: "
"""The start of a reason that names the text of which the model was not confident enough."""


def reasons(answers: Sequence[Shown]) -> list[str]:
    """A table of the reasons why nothing was shown, without the best guesses before them."""
    given = (answer.reason or answer.status for answer in answers if answer.text is None)
    silences = Counter(
        reason.rpartition("; ")[2] if reason.startswith(BEST_GUESS) else reason for reason in given
    )
    nameless = Counter(answer.names for answer in answers if answer.names is not None)
    rows = [[reason, count] for reason, count in silences.most_common(REASONS)]
    rows += [[f"names were not known: {reason}", count] for reason, count in nameless.most_common(REASONS)]
    return table(["nothing shown because", "cursors"], rows) if rows else []


def _pictures(runs: Sequence[ShownRun]) -> dict[str, str]:
    groups = by_kind(runs[-1].results) if len(runs) == 1 else {run.name: run.results for run in runs}
    if not any(answer.verdict for answers in groups.values() for answer in answers):
        return {}
    summaries = [Summary.of(answers) for answers in groups.values()]

    def picture(title: str, fields: Mapping[str, str]) -> str:
        series = {
            name: [getattr(summary, field) or 0.0 for summary in summaries] for field, name in fields.items()
        }
        return pages.bars(title, ("", "of the shown texts"), list(groups), series)

    return {"right.svg": picture("How right", GOOD), "faults.svg": picture("Faults", BAD)}


def examples(shown_or_not: Sequence[Shown]) -> list[str]:
    """The worst texts of each kind: those with the most faults, and of these those that agree least."""
    legend = "`⟦ ⟧` encloses the shown text, `‸` marks the cursor after it is accepted."
    lines = ["# Examples", "", f"Texts with the most faults of each kind; {legend}", ""]
    for kind, answers in by_kind(shown_or_not).items():
        lines += [f"## {kind}", ""]
        shown = [(answer, answer.verdict) for answer in answers if answer.verdict is not None]
        for answer, verdict in sorted(shown, key=lambda pair: _quality(pair[1]))[:EXAMPLES]:
            result = "; ".join(verdict.faults) or ("right" if verdict.right else "another text")
            lines += [f"{answer.record['case']}, `{answer.record['name']}`: {result}", ""]
            lines += fenced(f"{_last_lines(answer.before)}⟦{_with_cursor(answer)}⟧", "python")
            lines += ["The truth:", "", *fenced(answer.truth, "python")]
    return lines


def _with_cursor(answer: Shown) -> str:
    text = answer.text or ""
    return f"{text.removesuffix(answer.closing)}‸{answer.closing}" if answer.closing else text


def _quality(verdict: Verdict) -> tuple[int, int]:
    return -len(verdict.faults), verdict.agreed


def _last_lines(text: str, n: int = 5) -> str:
    return "\n".join(text.split("\n")[-n:])
