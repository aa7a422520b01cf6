"""The report of a run over scripts: right ones, faults by kind, and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from fimlsp.datasets.reports.pages import number, share, table, write_page
from fimlsp.datasets.runs.run_folder import RunFolder
from fimlsp.datasets.scripts.faults import KINDS
from fimlsp.datasets.scripts.run import METHODS, Attempt, ScriptsPlan, Written, read_run

EXPLANATION = """\
A script is right if the checker accepts it: every name exists, every type fits, every function returns. After
a reflection the model has read its script with the faults, and has written it again. *At the limit*: the
tokens were used up. With the constraint such a script is steered to its end."""
FAULTS = """\
Scripts with at least one fault of that kind. A script that does not parse has a single fault, of the kind
`syntax`."""
MESSAGES = 8


def write_report(out: Path) -> None:
    """Write the pages about the run in *out*.

    Raises:
        RunFolderError: there is none, or it is damaged.
    """
    run, written = RunFolder(out), read_run(out)
    plan = run.plan(ScriptsPlan)
    names = ("reflections", "samples", "shots", "tokens", "temperature", "seed", "as_text", "given")
    rows = [["model", Path(plan.model).name], *([name, getattr(plan, name)] for name in names)]
    rows += [["fimlsp", f"{plan.fimlsp}, code {plan.code}"], ["machine", run.about.machine]]
    lines = ["# Scripts written to instructions", "", "```sh", run.about.command, "```", ""]
    lines += [*table(["", ""], rows), EXPLANATION, "", *_right(written, plan.reflections)]
    lines += ["## Kinds of faults", "", FAULTS, "", *_kinds(written, plan.reflections)]
    lines += ["## Frequent faults", "", *_messages(written)]
    write_page(out, "report", lines, {})


def _groups(written: Sequence[Written], reflections: int) -> Iterator[tuple[str, list[tuple[str, Attempt]]]]:
    """The name of each way to write, and the kind and the last attempt of its scripts."""
    for method in METHODS:
        chosen = [one for one in written if one.method == method]
        for count in range(1 + (reflections if method == "unconstrained" else 0)):
            name = f"{method}, {count} reflections" if method == "unconstrained" and reflections else method
            yield name, [(one.kind, one.after(count)) for one in chosen]


def _right(written: Sequence[Written], reflections: int) -> list[str]:
    kinds, rows = sorted({one.kind for one in written}), list[list[object]]()
    for name, attempts in _groups(written, reflections):
        last, n = [attempt for _, attempt in attempts], len(attempts)
        tokens = sum(attempt.tokens for attempt in last)
        rows.append(
            [
                name,
                n,
                _share_right(last),
                *(_share_right([attempt for of, attempt in attempts if of == kind]) for kind in kinds),
                share(sum(attempt.stop == "budget" for attempt in last), n),
                share(sum(attempt.steered for attempt in last), n),
                number(tokens / max(1, n)),
                number(1000 * tokens / max(1e-9, sum(attempt.ms for attempt in last))),
            ]
        )
    head = ["", "scripts", "right", *(f"right: {kind}" for kind in kinds), "at the limit", "steered"]
    return table([*head, "tokens a script", "tokens a second"], rows)


def _share_right(attempts: Sequence[Attempt]) -> str | None:
    return share(sum(attempt.is_right for attempt in attempts), len(attempts))


def _kinds(written: Sequence[Written], reflections: int) -> list[str]:
    rows, seen = dict[str, Counter[str]](), Counter[str]()
    for name, attempts in _groups(written, reflections):
        rows[name] = Counter(kind for _, attempt in attempts for kind in {kind for kind, _ in attempt.faults})
        seen += rows[name]
    kinds = [kind for kind in KINDS if seen[kind]]
    if not kinds:
        return ["No script has a fault.", ""]
    return table(["", *kinds], [[name, *(counted[kind] for kind in kinds)] for name, counted in rows.items()])


def _messages(written: Sequence[Written]) -> list[str]:
    faults = Counter(fault for one in written for attempt in one.attempts[:1] for fault in attempt.faults)
    if not faults:
        return ["None.", ""]
    return table(
        ["kind", "message", "faults"], [[*fault, count] for fault, count in faults.most_common(MESSAGES)]
    )
