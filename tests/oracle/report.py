"""Tables and files of what was found."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .laws import Disagreement
from .tally import Tally

_MOST_ROWS = 60
_MOST_GROUPS = 20
_MOST_CASES = 4


def table(title: str, tally: Tally) -> Table:
    """Cases and disagreements by construct: those with disagreements first, then the most frequent."""
    found = Table(title=title)
    found.add_column("construct")
    for column in ("cases", "disagreements", "explained"):
        found.add_column(column, justify="right")
    ranked = sorted(
        tally.cases, key=lambda name: (-tally.wrong[name], -tally.explained[name], -tally.cases[name])
    )
    for name in ranked[:_MOST_ROWS]:
        found.add_row(name, *_figures(tally.cases[name], tally.wrong[name], tally.explained[name]))
    if rest := ranked[_MOST_ROWS:]:
        found.add_row(f"{len(rest)} others", *_figures(sum(tally.cases[name] for name in rest), 0, 0))
    return found


def _figures(cases: int, wrong: int, explained: int) -> list[str]:
    return [f"{cases:,}", f"[red]{wrong:,}[/red]" if wrong else "0", f"{explained:,}"]


def groups(found: list[Disagreement]) -> list[list[Disagreement]]:
    """Disagreements that are probably of one cause, the smallest case first, large groups first."""
    by_signature: dict[tuple[str, ...], list[Disagreement]] = defaultdict(list)
    for disagreement in found:
        by_signature[disagreement.signature].append(disagreement)
    sorted_groups = [sorted(group, key=lambda one: len(one.case.whole)) for group in by_signature.values()]
    return sorted(sorted_groups, key=len, reverse=True)


def show_groups(console: Console, found: list[Disagreement]) -> None:
    """The smallest cases of each group."""
    for group in groups(found)[:_MOST_GROUPS]:
        first = group[0]
        console.rule(f"{first.law}: {len(group)} disagreements", style="red")
        console.print(f"expected {first.expected}", f"got {first.got}", first.message, sep="; ", markup=False)
        for case in list(dict.fromkeys(one.case for one in group))[:_MOST_CASES]:
            for name in ("left", "middle", "right", "forbid_escape"):
                console.print(
                    f"{name:8} {getattr(case, name)!r}", markup=False, highlight=False, soft_wrap=True
                )
            console.print()


def write(path: Path, suite: str, version: str, found: list[Disagreement]) -> None:
    """Append all of *found*, one JSON object a line."""
    with path.open("a", encoding="utf-8") as file:
        for one in found:
            parts = {
                name: repr(getattr(one.case, name)) for name in ("left", "middle", "right", "forbid_escape")
            }
            details = {name: getattr(one, name) for name in ("law", "expected", "got", "message")}
            where = {name: getattr(one, name) for name in ("construct", "seed", "origin")}
            file.write(json.dumps({"suite": suite, "python": version, **parts, **details, **where}) + "\n")
