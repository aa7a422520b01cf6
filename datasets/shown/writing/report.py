"""The report of one run of the judge of writing, or of several side by side: `report` and `examples`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fimlsp.datasets.pages import table, write_page
from fimlsp.datasets.shown.report import examples, percent, reasons, times
from fimlsp.datasets.shown.writing.answers import SORTS, Answer, Summary
from fimlsp.datasets.shown.writing.faults import FAULTS
from fimlsp.datasets.shown.writing.run import WritingRun

EXPLANATION = """\
*Wholly right*: the text that was really written starts with all of the suggestion, up to the cursor that it
leaves. *Exact*: its first line is the rest of the line, or of what the open bracket holds. *Begins right*: at
least its first four characters agree, to the end of a word. *Saved*: the characters that word-wise acceptance
saves, as a share of those written, over all places. At a place these are the rest of the line, or the lines
in which the right part of a suggestion ends. *Doubled*: the text writes again a part of the word at the
cursor or of the text that follows. *Unreachable*: one of its statements follows a jump in its block. *Deleted
text back*: it restores a word or a line that was deleted a moment ago. *Wrong line ends*: they are not those
of the document. All shares but *saved* refer to the shown texts. Where the next text is not known, as after a
deleted word, no text is right or wrong. Inside a finished word and after a mended typo nothing is to be
written, so no text is right."""

HEAD = ("places", "shown", "wholly right", "exact", "begins right", "saved", *FAULTS.values())


def write_report(runs: Sequence[WritingRun], out: Path) -> None:
    """Write the pages about *runs* into *out*."""
    out.mkdir(parents=True, exist_ok=True)
    lines = ["# Suggestions while writing", "", *_head(runs), EXPLANATION, ""]
    if len(runs) > 1:
        lines += ["## Runs", "", *_runs(runs)]
    for run in runs:
        lines += [f"## {run.name}", ""]
        for sort, title in SORTS.items():
            answers = [answer for answer in run.results if answer.sort == sort]
            if answers:
                lines += [f"### {title}", "", *_figures({"all": answers, **_by_kind(answers)}, "place")]
                shown = [answer.shown for answer in answers]
                lines += [*times(shown), *reasons(shown)]
    write_page(out, "report", lines, {})
    write_page(out, "examples", examples([answer.shown for answer in runs[-1].results]), {})


def _by_kind(answers: Sequence[Answer]) -> dict[str, list[Answer]]:
    kinds = sorted({answer.shown.kind for answer in answers})
    return {kind: [answer for answer in answers if answer.shown.kind == kind] for kind in kinds}


def _runs(runs: Sequence[WritingRun]) -> list[str]:
    """The figures of each sort in each run, and in all together if their plans differ by the seed alone."""
    groups = {run.name: run.results for run in runs}
    plans = [replace(run.plan, seed=0) for run in runs]
    if len({run.plan.seed for run in runs}) == len(runs) and all(plan == plans[0] for plan in plans):
        groups["together"] = [answer for run in runs for answer in run.results]
    parts = {
        f"{name}, {title.lower()}": [answer for answer in answers if answer.sort == sort]
        for name, answers in groups.items()
        for sort, title in SORTS.items()
    }
    return _figures({name: answers for name, answers in parts.items() if answers}, "run")


def _head(runs: Sequence[WritingRun]) -> list[str]:
    rows = [
        [
            run.name,
            run.plan.model,
            ", ".join((*run.plan.edits, *run.plan.typing)),
            run.plan.seed,
            ", ".join(f"{name}={value}" for name, value in run.plan.options.items()) or "defaults",
            f"{run.plan.fimlsp}, code {run.plan.code}",
            run.about.machine,
        ]
        for run in runs
    ]
    head = ["run", "model", "files", "seed", "options", "fimlsp", "machine"]
    return ["```sh", *(run.about.command for run in runs), "```", "", *table(head, rows)]


def _figures(groups: Mapping[str, Sequence[Answer]], title: str) -> list[str]:
    rows = list[list[object]]()
    for name, answers in groups.items():
        figures = Summary.of(answers)
        shown = f"{figures.shown:,} = {percent(figures.shown / max(1, figures.places))}"
        good = map(percent, (figures.right, figures.exact, figures.begins, figures.saved))
        rows.append([name, f"{figures.places:,}", shown, *good, *map(percent, figures.faults.values())])
    return table([title, *HEAD], rows)
