"""The output folder of a run: `run.json`, `results.jsonl`, `excluded.jsonl`.

Results are appended as they come, so that a run can be killed at any time and be continued with the same
configuration, which `run.json` holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from fimlsp.datasets.cases.result import Result
from fimlsp.datasets.languages.known import LANGUAGES, PYTHON
from fimlsp.datasets.languages.own_grammar import OwnGrammar
from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.datasets.languages.scripts import Scripts
from fimlsp.datasets.sources.source_file import Excluded
from fimlsp.errors import UserError


class RunFolderError(UserError):
    """The folder cannot take or give a run; the message is a sentence for the user."""


def _change(name: str, before: object, now: object) -> str:
    """What of a plan has changed; of a grammar not its whole text."""
    if name in ("own_grammar", "interface"):
        return f"another {name.removeprefix('own_')}"
    return f"{name}: {before}, now {now}"


class RunFolder:
    """An output folder; while it is used as a context manager, results can be added."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results = path / "results.jsonl"
        self._excluded = path / "excluded.jsonl"

    @property
    def has_run(self) -> bool:
        """Whether a run was begun here."""
        return (self.path / "run.json").exists()

    def claim(self, plan: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Reserve the folder for *plan*, which decides the results; *about* describes the run and may change.

        Raises:
            RunFolderError: the folder has the results of another plan.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        plan = json.loads(json.dumps(plan))
        if self.has_run:
            before = self.plan
            changed = [name for name in {**before, **plan} if before.get(name) != plan.get(name)]
            if changed:
                changes = ", ".join(_change(name, before.get(name), plan.get(name)) for name in changed)
                raise RunFolderError(
                    f"{self.path} holds a run with another configuration ({changes}); choose another --out."
                )
        self._write("run.json", {"plan": plan, "about": about})
        self._drop_torn_line()

    def _write(self, name: str, value: object) -> None:
        (self.path / name).write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")

    def _drop_torn_line(self) -> None:
        """Remove a last line that was not finished when the run was killed."""
        if self._results.exists():
            with self._results.open("r+b") as file:
                data = file.read()
                file.truncate(data.rfind(b"\n") + 1)

    @property
    def plan(self) -> dict[str, Any]:
        """The configuration of the run."""
        return dict(self._read_json("run.json")["plan"])

    @property
    def language(self) -> ReplayLanguage:
        """The language of the files; runs from before there were several are in Python."""
        own = self.plan.get("own_grammar")
        if own is not None:
            return OwnGrammar.from_json(own).replay_language
        interface = self.plan.get("interface")
        if interface is not None:
            return Scripts.from_json(interface).replay_language
        return LANGUAGES[self.plan.get("language", PYTHON.name)]

    @property
    def about(self) -> dict[str, Any]:
        """How the run was last started, and on which machine."""
        return dict(self._read_json("run.json")["about"])

    def _read_json(self, name: str) -> Any:  # noqa: ANN401 - whatever JSON holds
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
        """All results, in the order in which they were added.

        Raises:
            RunFolderError: a line is damaged or was written by another version.
        """
        try:
            yield from (Result.from_json(row) for row in read_rows(self._results))
        except (KeyError, TypeError, AttributeError) as error:
            raise RunFolderError(f"{self._results} is of another version of fimlsp ({error}).") from error

    def done(self) -> set[str]:
        """The cases that have a result."""
        return {str(row["record"]["case"]) for row in read_rows(self._results)}

    def excluded(self) -> list[Excluded]:
        """The files that gave no cases when the sources were last read."""
        return [Excluded(**row) for row in read_rows(self._excluded)]


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects in a file of JSON lines, but for a last one that was not finished; none if it is missing.

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
