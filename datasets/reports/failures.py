"""The page of failures: each case that the constraint lost, with its cut, the truth and the answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from fimlsp.datasets.cases.result import CONSTRAINED, METHODS, Result
from fimlsp.datasets.reports.pages import fenced

SHOWN = 12
ANSWER = 1_000


def causes_of(result: Result) -> Iterator[str]:
    """Each reason why the constraint lost this case, in words."""
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


def summary(results: Sequence[Result]) -> list[str]:
    """A line for each cause, with links to the cases."""
    lines = list[str]()
    for cause, lost in sorted(by_cause(results).items()):
        links = ", ".join(f"[{result.case}](failures.md#{result.case})" for result in lost[:SHOWN])
        more = f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
        lines.append(f"- {len(lost):,} × {cause}: {links}{more}")
    return [*(lines or ["None."]), ""]


def page(results: Sequence[Result], language: str) -> list[str]:
    """The page: a dozen cases of each cause with their texts in *language*, and the names of all others."""
    lines, shown = ["# Cases that the constraint lost", ""], set[str]()
    for cause, lost in sorted(by_cause(results).items()):
        lines += [f"# {cause} ({len(lost):,})", ""]
        for result in lost[:SHOWN]:
            if result.case not in shown:
                shown.add(result.case)
                lines += _section(result, language)
        if others := ", ".join(result.case for result in lost[SHOWN:]):
            lines += [f"And, to be seen with `fimlsp replay show`: {others}.", ""]
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
            what = "" if attempt.text else ", what it wrote"
            lines += [f"{METHODS[method].capitalize()}{what}:", "", *fenced(answer[:ANSWER], language)]
    return lines
