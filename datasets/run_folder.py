"""The output folder of a run: `run.json`, `results.jsonl`, `excluded.jsonl`.

Results are appended as they come, so that a run can be killed at any time. The same plan, which `run.json`
holds, continues it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar

from fimlsp.datasets.case_result import Result
from fimlsp.datasets.plan import About, AnyPlan, Plan
from fimlsp.datasets.sources import Excluded
from fimlsp.errors import UserError

RESULTS = "results.jsonl"
AnyResult = TypeVar("AnyResult")


class RunFolderError(UserError):
    """The folder cannot take or give a run; the message is a sentence for the user."""


def _change(name: str, before: object, now: object) -> str:
    """The change of one field of a plan; for a grammar, without its text."""
    if name in ("own_grammar", "interface"):
        return f"another {name.removeprefix('own_')}"
    return f"{name}: {before}, now {now}"


class RunFolder:
    """An output folder; while it is used as a context manager, results can be added."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results = path / RESULTS
        self._excluded = path / "excluded.jsonl"

    @property
    def has_run(self) -> bool:
        """True if a run was started here."""
        return (self.path / "run.json").exists()

    def claim(self, plan: Plan, about: About | None = None) -> None:
        """Reserve the folder for *plan*; *about* may change from start to start.

        Raises:
            RunFolderError: the folder has the results of another plan.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        now = json.loads(json.dumps(plan.to_json()))
        if self.has_run:
            before = dict(self._read_json("run.json")["plan"])
            changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
            if changed:
                changes = ", ".join(_change(name, before.get(name), now.get(name)) for name in changed)
                raise RunFolderError(
                    f"{self.path} holds a run with another configuration ({changes}); choose another --out."
                )
        self._write("run.json", {"plan": now, "about": {} if about is None else asdict(about)})
        self._drop_torn_line()

    def _write(self, name: str, value: object) -> None:
        (self.path / name).write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")

    def _drop_torn_line(self) -> None:
        """Remove a last line that was not finished when the run was killed."""
        if self._results.exists():
            with self._results.open("r+b") as file:
                data = file.read()
                file.truncate(data.rfind(b"\n") + 1)

    def plan(self, kind: type[AnyPlan]) -> AnyPlan:
        """The plan of the run, which is of this *kind*.

        Raises:
            RunFolderError: there is no run, or it has a plan of another kind or version.
        """
        try:
            return kind.from_json(self._read_json("run.json")["plan"])
        except (KeyError, TypeError) as error:
            raise RunFolderError(f"Cannot read the plan of {self.path} ({error}).") from error

    @property
    def about(self) -> About:
        """The last start of the run."""
        try:
            return About(**self._read_json("run.json")["about"])
        except (KeyError, TypeError) as error:
            raise RunFolderError(f"Cannot read the start of the run in {self.path} ({error}).") from error

    def _read_json(self, name: str) -> Any:  # noqa: ANN401 - any JSON value
        try:
            return json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RunFolderError(f"{self.path} holds no run ({name}: {error}).") from error

    def __enter__(self) -> RunFolder:
        self._results_file = self._results.open("a", encoding="utf-8")
        self._excluded_file = self._excluded.open("w", encoding="utf-8")
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._results_file.close()
        self._excluded_file.close()

    def add(self, result: Result) -> None:
        """Append a result; it is in the file when this returns."""
        self._results_file.write(json.dumps(result.to_json()) + "\n")
        self._results_file.flush()

    def exclude(self, excluded: Excluded) -> None:
        """Append a file that gives no cases."""
        self._excluded_file.write(json.dumps(asdict(excluded)) + "\n")

    def results(self) -> Iterator[Result]:
        """All results, in the order of their addition.

        Raises:
            RunFolderError: a line is damaged or was written by another version.
        """
        yield from read_results(self._results, Result.from_json)

    def done(self) -> set[str]:
        """The cases that have a result."""
        return {str(row["record"]["case"]) for row in read_rows(self._results)}

    def excluded(self) -> list[Excluded]:
        """The files that gave no cases when the sources were last read."""
        return [Excluded(**row) for row in read_rows(self._excluded)]


@dataclass(frozen=True, slots=True)
class SavedRun(Generic[AnyPlan, AnyResult]):
    """A finished or interrupted run: its name, its plan, its last start, and its results."""

    name: str
    plan: AnyPlan
    about: About
    results: Sequence[AnyResult]

    @classmethod
    def read(
        cls, folder: Path, plan: type[AnyPlan], from_json: Callable[[Mapping[str, Any]], AnyResult]
    ) -> SavedRun[AnyPlan, AnyResult]:
        """The run in *folder*, with a plan of that kind; *from_json* reads one result.

        Raises:
            RunFolderError: there is none, or it is damaged.
        """
        run = RunFolder(folder)
        results = list(read_results(folder / RESULTS, from_json))
        return cls(folder.name, run.plan(plan), run.about, results)


def read_results(path: Path, from_json: Callable[[Mapping[str, Any]], AnyResult]) -> Iterator[AnyResult]:
    """The results in a file of JSON lines, in the order of their addition; none if the file is missing.

    Raises:
        RunFolderError: a line is damaged or was written by another version.
    """
    try:
        yield from map(from_json, read_rows(path))
    except (KeyError, TypeError, AttributeError) as error:
        raise RunFolderError(f"{path} is of another version of fimlsp ({error}).") from error


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects in a file of JSON lines, without an unfinished last line; none if the file is missing.

    Raises:
        RunFolderError: a line is damaged.
    """
    if path.exists():
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.endswith("\n"):
                    yield _row(path, number, line)


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        return dict(json.loads(line))
    except (ValueError, TypeError) as error:
        raise RunFolderError(f"Line {number} of {path} is damaged; delete it.") from error
