"""The report of one run of the judge, or of several side by side: `report` and `examples`, with pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fimlsp.datasets.reports import charts
from fimlsp.datasets.reports.distribution import Distribution
from fimlsp.datasets.reports.pages import fenced, number, table, write_page
from fimlsp.datasets.runs.run_folder import RunFolder
from fimlsp.datasets.shown.run import read_run
from fimlsp.datasets.shown.summary import BAD, GOOD, Summary, by_kind, faults
from fimlsp.datasets.shown.verdict import Shown

EXAMPLES = 10
REASONS = 8
EXPLANATION = """\
*Exact*: the first line is what stood there; for cuts within a line, all of it. *Wholly right*: all that is
shown is what stood there, as far as it goes; where it leaves the cursor inside, as between brackets, it goes
as far as the cursor. *Begins right*: at least its first four characters are, to a word's end. *Saved*:
characters that accepting it word by word saves, over all cursors. *Undefined names*: it uses a name that
pyflakes finds nowhere. *Does not compile*: CPython refuses the file with it. *Repeats*: it writes a line that
stands within four lines, or a definition that the block has already. *Leaves its block*: a line of it begins
left of the block. Shares are of what is shown."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A finished or interrupted run: its name, configuration and results."""

    name: str
    plan: Mapping[str, Any]
    about: Mapping[str, Any]
    answers: Sequence[Shown]

    @classmethod
    def read(cls, folder: Path) -> Judged:
        """The run in *folder*.

        Raises:
            RunFolderError: there is none, or it is damaged.
        """
        run = RunFolder(folder)
        return cls(folder.name, run.plan, run.about, read_run(folder))


def write_report(runs: Sequence[Judged], out: Path) -> None:
    """Write the pages about *runs* into *out*."""
    out.mkdir(parents=True, exist_ok=True)
    pictures = _pictures(runs)
    lines = ["# What is shown", "", *_head(runs), EXPLANATION, ""]
    if len(runs) > 1:
        lines += ["## Runs", "", *_figures(_by_run(runs), "run")]
    for run in runs:
        lines += [f"## {run.name}", "", *_figures({"all": run.answers, **by_kind(run.answers)}, "kind")]
        lines += [*_times(run.answers), *_reasons(run.answers)]
    lines += [line for picture in pictures for line in (f"![{picture[:-4]}]({picture})", "")]
    write_page(out, "report", lines, pictures)
    write_page(out, "examples", _examples(runs[-1]), {})


def _by_run(runs: Sequence[Judged]) -> dict[str, Sequence[Shown]]:
    """The answers of each run and, if they are of one plan but for the seed, of all of them together."""
    found: dict[str, Sequence[Shown]] = {run.name: run.answers for run in runs}
    seeds = {run.plan["seed"] for run in runs}
    others = [{name: value for name, value in run.plan.items() if name != "seed"} for run in runs]
    if len(seeds) == len(runs) and all(each == others[0] for each in others):
        found["together"] = [answer for run in runs for answer in run.answers]
    return found


def _head(runs: Sequence[Judged]) -> list[str]:
    commands = [str(run.about["command"]) for run in runs]
    rows = [
        [
            run.name,
            run.plan["model"],
            ", ".join(run.plan["folders"]),
            run.plan["seed"],
            ", ".join(f"{name}={value}" for name, value in run.plan["options"].items()) or "defaults",
            f"{run.plan['fimlsp']}, code {run.plan['code']}",
            run.about["machine"],
        ]
        for run in runs
    ]
    head = ["run", "model", "files", "seed", "options", "fimlsp", "machine"]
    return ["```sh", *commands, "```", "", *table(head, rows)]


def _figures(groups: Mapping[str, Sequence[Shown]], title: str) -> list[str]:
    head = [title, "cursors", "shown", *GOOD.values(), "saved a cursor", *BAD.values()]
    rows = list[list[object]]()
    for name, answers in groups.items():
        found = Summary.of(answers)
        shown = f"{found.shown:,} = {_percent(found.shown / max(1, found.cursors))}"
        good, bad = ([_percent(getattr(found, field)) for field in fields] for fields in (GOOD, BAD))
        rows.append([name, f"{found.cursors:,}", shown, *good, f"{found.saved:.1f}", *bad])
    return table(head, rows)


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.1f} %"


def _times(answers: Sequence[Shown]) -> list[str]:
    found = Distribution.of([each.ms for each in answers])
    if found is None:
        return []
    figures = [number(value) for value in (found.median, found.p90, found.max)]
    return table(["milliseconds to the answer", "median", "90 %", "max"], [["all cursors", *figures]])


def _reasons(answers: Sequence[Shown]) -> list[str]:
    told = Counter(each.reason or each.status for each in answers if each.text is None)
    nameless = Counter(each.names for each in answers if each.names is not None)
    rows = [[reason, count] for reason, count in told.most_common(REASONS)]
    rows += [[f"names were not known: {reason}", count] for reason, count in nameless.most_common(REASONS)]
    return table(["nothing shown because", "cursors"], rows) if rows else []


def _pictures(runs: Sequence[Judged]) -> dict[str, str]:
    groups = by_kind(runs[-1].answers) if len(runs) == 1 else {run.name: run.answers for run in runs}
    if not any(each.verdict for answers in groups.values() for each in answers):
        return {}
    sums = [Summary.of(answers) for answers in groups.values()]

    def picture(title: str, fields: Mapping[str, str]) -> str:
        series = {name: [getattr(each, field) or 0.0 for each in sums] for field, name in fields.items()}
        return charts.bars(title, ("", "of what is shown"), list(groups), series)

    return {"right.svg": picture("How right", GOOD), "faults.svg": picture("Faults", BAD)}


def _examples(run: Judged) -> list[str]:
    """The worst of each kind: texts with the most faults, and of these those that agree least."""
    legend = "`⟦ ⟧` encloses what was shown, `‸` is where the cursor would stay in it."
    lines = ["# Examples", "", f"Texts with the most faults of each kind; {legend}", ""]
    for kind, answers in by_kind(run.answers).items():
        lines += [f"## {kind}", ""]
        shown = [each for each in answers if each.verdict is not None]
        for each in sorted(shown, key=_badness)[:EXAMPLES]:
            assert each.verdict is not None
            told = "; ".join(faults(each.verdict)) or ("right" if each.verdict.right else "another text")
            lines += [f"{each.record['case']}, `{each.record['name']}`: {told}", ""]
            lines += fenced(f"{_last_lines(each.before)}⟦{_with_cursor(each)}⟧", "python")
            lines += ["What stood there:", "", *fenced(each.truth, "python")]
    return lines


def _with_cursor(each: Shown) -> str:
    text = each.text or ""
    return f"{text.removesuffix(each.closing)}‸{each.closing}" if each.closing else text


def _badness(each: Shown) -> tuple[int, int]:
    return (-len(faults(each.verdict)), each.verdict.agreed) if each.verdict else (0, 0)


def _last_lines(text: str, n: int = 5) -> str:
    return "\n".join(text.split("\n")[-n:])
