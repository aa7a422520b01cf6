"""Writes the report of a run from its files alone: `report` and `failures` as .md and .html, and charts.

The page of failures has each case that the constraint lost, with its cut, the truth and the answers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import linear_regression

from fimlsp.datasets import case_tables, pages
from fimlsp.datasets.case_result import BETWEEN_TOKENS, CONSTRAINED, METHODS, Result
from fimlsp.datasets.case_tables import MS_PER_TOKEN, SETUP_MS, SETUP_MS_PER_CHARACTER
from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.datasets.pages import fenced, size_class, table, write_page
from fimlsp.datasets.plan import About, ReplayPlan
from fimlsp.datasets.run_folder import RunFolder
from fimlsp.datasets.sources import Excluded

REJECTIONS = {"0": 0, "1": 1, "2": 2, "3–5": 3, "6–10": 6, "11–20": 11, "21–50": 21}
POINTS_MAX = 2_000
EXAMPLES = 3
SHOWN, ANSWER = 12, 1_000
"""Cases of each cause with their texts, and characters of an answer, on the page of failures."""


def write_report(folders: Sequence[RunFolder], out: Path) -> None:
    """Write the report of one run, or of all shards of a run, into *out*."""
    out.mkdir(parents=True, exist_ok=True)
    results = list(_results(folders))
    excluded = [file for folder in folders for file in folder.excluded()]
    plan, starts = folders[0].plan(ReplayPlan), [folder.about for folder in folders]
    language = plan.replay_language
    pictures = _pictures(results)
    lines = [
        *_head(plan, starts, results),
        *_body(results, language, list(pictures)),
        *_left_out(results, excluded),
    ]
    write_page(out, "report", lines, pictures)
    write_page(out, "failures", failures_page(results, language.name), {})


def _results(folders: Sequence[RunFolder]) -> Iterator[Result]:
    """All results, without the answers that the page of failures does not show."""
    for folder in folders:
        for result in folder.results():
            if result.excerpt is None:
                short = {
                    name: replace(attempt, text=None, written=None)
                    for name, attempt in result.attempts.items()
                }
                yield replace(result, attempts=short)
            else:
                yield result


def _head(plan: ReplayPlan, starts: Sequence[About], results: Sequence[Result]) -> list[str]:
    about = starts[0]
    files = len({str(result.record["source"]) for result in results})
    crashed = sum(result.crash is not None for result in results)
    rows: list[list[object]] = [
        ["model", f"{plan.model} ({plan.model_files})"],
        ["tokens at most", plan.tokens],
        ["language", plan.replay_language.name],
        ["sources", f"{', '.join(plan.sources)}; files {plan.files}"],
        ["cuts", cuts_of(plan)],
        ["precision, prompt", f"{plan.precision}; family {plan.family}, order {plan.order}"],
        ["grammar", plan.grammar],
        ["fimlsp", f"{plan.fimlsp}, code {plan.code}"],
        ["Python", plan.python],
        ["libraries", ", ".join(f"{name} {version}" for name, version in about.libraries.items())],
        ["machine", f"{about.machine}; workers: {about.workers}"],
    ]
    commands = [start.command for start in starts]
    return [
        "# Batch replay",
        "",
        f"{len(results):,} cases in {files:,} files; {crashed:,} crashed.",
        "",
        "```sh",
        *commands,
        "```",
        "",
        *table(["", ""], rows),
    ]


def cuts_of(plan: ReplayPlan) -> str:
    """The cuts of a run, in words."""
    if isinstance(plan.cuts, str):
        return f"saved cases ({plan.cuts})"
    return f"{', '.join(plan.cuts)}; {plan.per_file} of each in a file, seed {plan.seed}"


def _body(results: Sequence[Result], language: ReplayLanguage, pictures: Sequence[str]) -> list[str]:
    kinds = {kind: case_tables.of_kind(results, kind) for kind in case_tables.kinds_of(results)}
    lines = [
        "## Success",
        "",
        f"A case succeeds if {language.reference_parser} accepts left, answer and right together; a crash",
        "fails. The paper's model is SantaCoder (1.1 B parameters) on Python files of The Stack. Most of the",
        "gain of any constraint over the unconstrained output is the choice of the end. Checking a finished",
        'output has that gain as well. A text may end after any of its characters; "between tokens" are the',
        "figures if it may end only between tokens.",
        "",
    ]
    for kind, chosen in kinds.items():
        lines += case_tables.success(chosen, kind, language.name)
        lines += case_tables.paper_cells(chosen, kind, language.name)
        lines += case_tables.failures(chosen, kind, language.name)
    if language.compiler is not None:
        lines += _beyond_the_grammar(results)
    lines += ["## Cases that the constraint lost", "", *failures_summary(results)]
    lines += ["All methods:", "", *case_tables.causes(results)]
    for kind, chosen in kinds.items():
        ran = [result for result in chosen if result.attempts]
        lines += [f"## {kind}: successes where another method fails", "", *case_tables.pairwise(ran)]
        lines += [f"## {kind}: likeness to the truth", "", *case_tables.likeness(ran)]
    lines += ["## Costs", "", *case_tables.costs(results), *case_tables.endings(results)]
    lines += [
        f"The paper states {SETUP_MS:.0f} + {SETUP_MS_PER_CHARACTER} ms per character before",
        f"the first token of every cut, and {MS_PER_TOKEN} ms per token, on its authors' machine. For",
        "files of these sizes:",
        "",
        *case_tables.ratio(results),
        "## By size of the file",
        "",
        "Times are medians, in milliseconds: set-up is CPU time, decoding is time on the clock. All cuts /",
        "first is the sum of the set-up times of all cuts of these files divided by that of the first cuts.",
        "",
        *case_tables.by_size(results),
    ]
    return [*lines, *(line for picture in pictures for line in (f"![{picture[:-4]}]({picture})", ""))]


def _beyond_the_grammar(results: Sequence[Result]) -> list[str]:
    return [
        "## Beyond the grammar",
        "",
        "The constraint is the grammar, as in the paper. The compiler refuses some files that parse.",
        "",
        *case_tables.compiling(results),
    ]


def _left_out(results: Sequence[Result], excluded: Sequence[Excluded]) -> list[str]:
    reasons = defaultdict[str, list[Excluded]](list)
    for file in excluded:
        reasons[file.reason].append(file)
    rows = [
        [reason, len(group), "; ".join(map(_example, group[:EXAMPLES]))]
        for reason, group in sorted(reasons.items(), key=lambda item: -len(item[1]))
    ]
    swapped = sum(bool(result.record["swapped"]) for result in results)
    return [
        "## Left out",
        "",
        *(table(["reason", "files", "such as"], rows) if rows else ["Nothing.", ""]),
        f"Boundary cuts with both ends in one token, drawn in the wrong order: {swapped:,}. The paper's code",
        "has the text between them on both sides, and so have its own cuts (`paper-boundary`); the ends of",
        "`boundary` cuts are swapped.",
        "",
    ]


def _example(file: Excluded) -> str:
    return f"`{file.name}`" + (f" ({file.detail})" if file.detail else "")


def _pictures(results: Sequence[Result]) -> Mapping[str, str]:
    ran = [result for result in results if result.attempts]
    if not ran:
        return {}
    return {
        "success.svg": _success(ran),
        "setup.svg": _setup(ran),
        "time.svg": _time(ran),
        "rejections.svg": _rejections(ran),
    }


def _success(ran: Sequence[Result]) -> str:
    sizes = sorted({size_class(result.size) for result in ran})
    groups = [[result for result in ran if size_class(result.size) == size] for size in sizes]
    shown = [method for method in METHODS if method not in BETWEEN_TOKENS]
    series = {method: [case_tables.n_ok(group, method) / len(group) for group in groups] for method in shown}
    axes = ("characters of the file, below", "cases that parse")
    return pages.lines("Success by size of the file", axes, [f"{size // 1024} k" for size in sizes], series)


def _setup(ran: Sequence[Result]) -> str:
    """The left half of the paper's Figure 11."""
    chosen = ran[:: -(-len(ran) // POINTS_MAX)]
    series = {
        "first cut of a file": [(context_size(result), result.setup_ms) for result in chosen if result.first],
        "further cuts": [(context_size(result), result.setup_ms) for result in chosen if not result.first],
    }
    curves = {"the paper's fit": lambda size: case_tables.setup_ms(int(size))}
    for name, points in series.items():
        if len({size for size, _ in points}) > 1:
            curves[f"fit, {name}"] = fitted(points)
    return pages.scatter("Set-up", ("characters of both contexts", "ms"), series, curves)


def _time(ran: Sequence[Result]) -> str:
    """The right half of the paper's Figure 11: the constraint for each token, and a check after each."""
    chosen = ran[:: -(-len(ran) // POINTS_MAX)]
    series: dict[str, list[pages.Point]] = {
        method: [
            (context_size(result), case_tables.per_token(result.attempts[method]))
            for result in chosen
            if result.attempts[method].tokens
        ]
        for method in CONSTRAINED
    }
    series["the reference parser, per check"] = [(context_size(result), result.check_ms) for result in chosen]
    curves = {"the paper's": lambda _: MS_PER_TOKEN}
    axes = ("characters of both contexts", "ms per token, without the network")
    return pages.scatter("Time per token", axes, series, curves)


def context_size(result: Result) -> float:
    """The characters left and right of the hole together."""
    return float(result.size - result.truth)


def fitted(points: Sequence[pages.Point]) -> Callable[[float], float]:
    """The line through *points* with the least squared errors."""
    slope, intercept = linear_regression([x for x, _ in points], [y for _, y in points])
    return lambda x: intercept + slope * x


def _rejections(ran: Sequence[Result]) -> str:
    series = {method: _rejection_shares(ran, method) for method in CONSTRAINED}
    axes = ("refused candidates before a token", "tokens")
    return pages.bars("Rejections per token", axes, list(REJECTIONS), series)


def _rejection_shares(ran: Sequence[Result], method: str) -> list[float]:
    counts = Counter[str]()
    for attempt in case_tables.attempts(ran, method):
        for refused, tokens in attempt.rejections.items():
            counts[[name for name, least in REJECTIONS.items() if least <= int(refused)][-1]] += tokens
    total = max(1, counts.total())
    return [counts[name] / total for name in REJECTIONS]


def causes_of(result: Result) -> Iterator[str]:
    """Each reason for which the constraint lost this case, in words."""
    if result.crash is not None:
        yield f"crashed: {result.crash}"
    for method in CONSTRAINED:
        attempt = result.attempts.get(method)
        if attempt is not None and not attempt.ok:
            yield f"{METHODS[method]}: {attempt.cause}"


def by_cause(results: Sequence[Result]) -> Mapping[str, Sequence[Result]]:
    """The lost cases by their causes."""
    lost = defaultdict[str, list[Result]](list)
    for result in results:
        for cause in causes_of(result):
            lost[cause].append(result)
    return lost


def failures_summary(results: Sequence[Result]) -> list[str]:
    """A line for each cause, with links to the cases."""
    lines = list[str]()
    for cause, lost in sorted(by_cause(results).items()):
        links = ", ".join(f"[{result.case}](failures.md#{result.case})" for result in lost[:SHOWN])
        more = f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
        lines.append(f"- {len(lost):,} × {cause}: {links}{more}")
    return [*(lines or ["None."]), ""]


def failures_page(results: Sequence[Result], language: str) -> list[str]:
    """The page: a dozen cases of each cause with their texts in *language*, and the names of all others."""
    lines, shown = ["# Cases that the constraint lost", ""], set[str]()
    for cause, lost in sorted(by_cause(results).items()):
        lines += [f"# {cause} ({len(lost):,})", ""]
        for result in lost[:SHOWN]:
            if result.case not in shown:
                shown.add(result.case)
                lines += _section(result, language)
        if others := ", ".join(result.case for result in lost[SHOWN:]):
            lines += [f"Others, for `fimlsp replay show`: {others}.", ""]
    return lines


def _section(result: Result, language: str) -> list[str]:
    record = result.record
    lines = [f'<a id="{result.case}"></a>', "", f"## {result.case}", ""]
    lines += [f"Characters {record['start']} to {record['end']} of `{record['name']}`.", ""]
    lines += [f"- {cause}" for cause in causes_of(result)] + [""]
    for name, text in (result.excerpt or {}).items():
        lines += [f"{name.capitalize()}:", "", *fenced(text, language)]
    for method in CONSTRAINED:
        attempt = result.attempts.get(method)
        if attempt is not None and not attempt.ok and (answer := attempt.text or attempt.written):
            kind = "" if attempt.text else ", unfinished"
            lines += [f"{METHODS[method].capitalize()}{kind}:", "", *fenced(answer[:ANSWER], language)]
    return lines
