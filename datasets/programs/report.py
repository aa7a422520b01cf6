"""The report of a run over problems: from left to right, and into holes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fimlsp.datasets.programs.estimates import mean_pass_at
from fimlsp.datasets.programs.holes import KINDS
from fimlsp.datasets.programs.run import LEFT_TO_RIGHT, Tested, read_run
from fimlsp.datasets.programs.writing import METHODS, Written
from fimlsp.datasets.reports.distribution import Distribution
from fimlsp.datasets.reports.pages import number, share, table, write_page
from fimlsp.datasets.runs.run_folder import RunFolder

PASS_AT = (1, 10)
REASONS = 6
STATED = (
    ("Bavarian et al. 2022, 6.9 B, FIM rate 0.5", (73.0, 40.6, 52.1)),
    ("Bavarian et al. 2022, 6.9 B, FIM rate 0.9", (75.1, 44.1, 55.1)),
)
"""Pass rates of their Table 4 (arXiv 2207.14255), in percent, for the kinds of holes in their order."""

EXPLANATION = """\
*Syntax errors*: CPython (in Go, `go/parser`) refuses prompt and answer together. *At the limit*: the tokens
were used up; with the constraint such an answer is steered to a short end, and counts like all others.
*pass@k*: the unbiased estimate of Chen et al. 2021 from all answers to a problem. *ms an answer*: on the
clock, with the set-up of the constraint, without reading the prompt and without the tests. Both ways draw
with the same noise. An answer ends at the latest where a new statement of the file begins with `class`,
`def`, `#`, `if` or `print` (Chen et al. 2021), in Go with the function; with the constraint only where the
program may end."""
HOLES = """\
Single lines, runs of lines and spans of characters are cut out of the canonical solutions as by Bavarian et
al. 2022 (theirs are as many; the ends of spans are drawn anew). The likeliest token is taken. Without the
constraint an answer is all that the model writes up to its own end; with it, all up to that end too, or up to
the best place where the program is whole."""
ENFORCED = """\
Each answer was tested in a process and a folder of its own: limits of processor time, memory, sizes and
number of files by `setrlimit`; no sockets, no other programs and no writing outside the folder by audit
events of Python; on Linux (x86-64, ARM64) no sockets and no processes by a filter of system calls as well. On
macOS memory is not limited and no system calls are filtered; on Windows nothing is tested."""


def write_report(out: Path) -> None:
    """Write the pages about the run in *out*.

    Raises:
        RunFolderError: there is none, or it is damaged.
    """
    run, answers = RunFolder(out), read_run(out)
    groups = defaultdict[str, list[Tested]](list)
    for answer in answers:
        groups[answer.form].append(answer)
    lines = ["# Programs with tests", "", *_head(run.plan, run.about)]
    if written := groups.get(LEFT_TO_RIGHT):
        lines += ["## From left to right", "", EXPLANATION, "", *_left_to_right(written)]
    if any(kind in groups for kind in KINDS):
        lines += ["## Holes", "", HOLES, "", *_holes(groups), *_stated(groups)]
    lines += ["## What failed", "", *_reasons(answers), "## How it was tested", "", ENFORCED, ""]
    write_page(out, "report", lines, {})


def _head(plan: Mapping[str, Any], about: Mapping[str, Any]) -> list[str]:
    names = ("problems", "model", "temperature", "top_p", "samples", "tokens", "seed", "check", "limit")
    rows = [[name, plan[name]] for name in names]
    rows += [["fimlsp", f"{plan['fimlsp']}, code {plan['code']}"], ["machine", about["machine"]]]
    return ["```sh", str(about["command"]), "```", "", *table(["", ""], rows)]


def _left_to_right(answers: Sequence[Tested]) -> list[str]:
    rows = list[list[object]]()
    for method in METHODS:
        found = [each for each in answers if each.method == method]
        if not found:
            continue
        written = [each.written for each in found]
        faults = Counter(each.fault for each in written)
        tokens = sum(each.tokens for each in written)
        rows.append(
            [
                method,
                f"{len(found):,}",
                share(len(found) - faults[""], len(found)),
                share(faults["indentation"], len(found)),
                share(sum(each.stop == "budget" for each in written), len(found)),
                share(sum(each.steered for each in written), len(found)),
                number(sum(each.refused for each in written) / max(1, tokens)),
                *(_percent(_pass_at(k, found)) for k in PASS_AT),
                number(sum(each.ms for each in written) / len(found)),
                number(sum(each.ms for each in written) / max(1, tokens)),
            ]
        )
    head = ["", "answers", "syntax errors", "of indentation", "at the limit", "steered", "refused a token"]
    head += [*(f"pass@{k}" for k in PASS_AT), "ms an answer", "ms a token"]
    return [*table(head, rows), *_ratio(answers)]


def _ratio(answers: Sequence[Tested]) -> list[str]:
    """How much longer answers take with the constraint: all of them, and a token of one."""
    times = defaultdict[str, dict[str, Written]](dict)
    for each in answers:
        times[each.case][each.method] = each.written
    pairs = [(each["unconstrained"], each["constrained"]) for each in times.values() if len(each) == 2]
    pairs = [(alone, held) for alone, held in pairs if alone.tokens and held.tokens]
    found = Distribution.of([held.ms / held.tokens / (alone.ms / alone.tokens) for alone, held in pairs])
    if found is None:
        return []
    ratio = sum(held.ms for _, held in pairs) / sum(alone.ms for alone, _ in pairs)
    return [
        f"All answers with the constraint took {ratio:.2f} times as long as those without it; a token,",
        f"answer by answer, {found.median:.2f} times at the median (90 %: {found.p90:.2f}).",
        "",
    ]


def _pass_at(k: int, answers: Sequence[Tested]) -> float | None:
    right = defaultdict[str, list[bool]](list)
    for each in answers:
        right[each.task].append(each.passed)
    return mean_pass_at(k, [(len(each), sum(each)) for each in right.values()])


def _percent(value: float | None) -> str | None:
    return None if value is None else f"{100 * value:.1f} %"


def _holes(groups: Mapping[str, Sequence[Tested]]) -> list[str]:
    rows = list[list[object]]()
    for kind in KINDS:
        for method in METHODS:
            found = [each for each in groups.get(kind, ()) if each.method == method]
            if found:
                n = len(found)
                rows.append(
                    [
                        kind,
                        method,
                        f"{n:,}",
                        share(sum(not each.written.fault for each in found), n),
                        share(sum(each.exact for each in found), n),
                        share(sum(each.passed for each in found), n),
                        number(sum(each.written.ms for each in found) / n),
                    ]
                )
    return table(["holes", "", "cases", "parse", "exact", "pass@1", "ms an answer"], rows)


def _stated(groups: Mapping[str, Sequence[Tested]]) -> list[str]:
    rows = list[list[object]]()
    for method in METHODS:
        found = [[each.passed for each in groups.get(kind, ()) if each.method == method] for kind in KINDS]
        rows.append(
            [f"here, {method}", *(_percent(sum(each) / len(each)) if each else None for each in found)]
        )
    rows += [[name, *(f"{value:.1f} %" for value in values)] for name, values in STATED]
    return ["What papers state beside it:", "", *table(["pass@1", *KINDS], rows)]


def _reasons(answers: Sequence[Tested]) -> list[str]:
    rows = list[list[object]]()
    for method in METHODS:
        told = Counter(_kind_of(each.reason) for each in answers if each.method == method and not each.passed)
        rows += [[method, reason, f"{count:,}"] for reason, count in told.most_common(REASONS)]
    return table(["", "reason", "answers"], rows)


def _kind_of(reason: str) -> str:
    """The kind of error in *reason*, without what differs from answer to answer."""
    return reason.partition(":")[0][:60]
