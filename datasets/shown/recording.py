"""The texts from which the server chooses at places of writing, compared with the text that was written.

The server writes them into its log at the level `debug`. So an estimate is fitted to all that it knows there:
the last edits, the names in scope and the faults of types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fimlsp.datasets.plan import Plan
from fimlsp.datasets.run_folder import RunFolderError, read_rows
from fimlsp.datasets.shown.editor import Editor, EditorError, Reply
from fimlsp.datasets.shown.writing.answers import verdict_on
from fimlsp.datasets.shown.writing.places import Place, Project, Step, Writing
from fimlsp.datasets.shown.writing.run import write_project
from fimlsp.languages.python.editor_policy import PYTHON_POLICY
from fimlsp.models.beginnings import Beginning

OPTIONS: Mapping[str, object] = {"logLevel": "debug", "deadlineMs": 10_000, "cacheSize": 0}
"""Options of the server with which all texts are recorded."""


@dataclass(frozen=True, slots=True)
class CalibrationPlan(Plan):
    """The plan of `fimlsp calibrate`: the names of releases and folders, the seed, and the model."""

    edits: tuple[str, ...]
    typing: tuple[str, ...]
    seed: int
    places: int
    model: str
    fimlsp: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that could be shown, compared with the text that was written; see `measures`."""

    beginning: Beginning
    right: bool
    exact: bool
    begins: bool
    saved: int

    @classmethod
    def of(cls, choice: Mapping[str, Any], place: Place, step: Step) -> Candidate:
        """The text *choice* of the server's log at *place* in the document of *step*."""
        text, closing = choice["text"], choice["closing"]
        verdict = verdict_on(place, step, text + closing, closing, is_header=choice["is_header"])
        beginning = Beginning(
            text.encode(),
            choice["features"],
            choice["ends_line"],
            closing.encode(),
            choice["opening"],
            PYTHON_POLICY.shortest_body if choice["is_header"] else b"",
        )
        begins = verdict.begins and verdict.agreed > 0
        return cls(beginning, verdict.right, verdict.exact, begins, verdict.saved)

    def to_json(self) -> dict[str, Any]:
        """The candidate as an object for a line of JSON."""
        beginning = self.beginning
        texts = {name: getattr(beginning, name).decode() for name in ("text", "closing", "body")}
        return {**asdict(self), "beginning": {**asdict(beginning), **texts}}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Candidate:
        """The candidate that `to_json` wrote."""
        fields = row["beginning"]
        texts = {name: fields.get(name, "").encode() for name in ("text", "closing", "body")}
        return cls(**{**row, "beginning": Beginning(**{**fields, **texts})})


@dataclass(frozen=True, slots=True)
class Recorded:
    """The texts at one place.

    Attributes:
        case, kind, project: the name, kind and project of the place.
        candidates: the texts without a fault, shortest first.
    """

    case: str
    kind: str
    project: str
    candidates: Sequence[Candidate]

    def to_json(self) -> dict[str, Any]:
        """The place as an object for a line of JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "candidates"}
        return {**plain, "candidates": [candidate.to_json() for candidate in self.candidates]}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Recorded:
        """The place that `to_json` wrote."""
        return cls(**{**row, "candidates": list(map(Candidate.from_json, row["candidates"]))})


def record_project(editor: Editor, project: Project, path: Path, report: Callable[[], None]) -> None:
    """Write the files of *project* with the server of *editor*, which has the `OPTIONS`.

    The texts at each place are saved in the file at *path*. Places that it has already are left out. *report*
    is called after each new place.

    Raises:
        EditorError: the server has ended, or has another model than its options name. The places so far are
            saved.
        RunFolderError: the file is damaged.
    """
    if editor.problem is not None:
        raise EditorError(f"Cannot calibrate: {editor.problem}")
    model, done = editor.model, {recorded.case for recorded in read_recording(path)}
    with path.open("a", encoding="utf-8") as file:

        def save(_: Writing, step: Step, place: Place, reply: Reply) -> None:
            if editor.model != model:
                raise EditorError(f"Cannot go on: the server has {editor.model} instead of {model}.")
            sound = [choice for choice in reply.choices if not choice["is_held"]]
            candidates = [Candidate.of(choice, place, step) for choice in sound]
            recorded = Recorded(place.case, place.kind, project.folder.name, candidates)
            file.write(json.dumps(recorded.to_json()) + "\n")
            file.flush()
            report()

        write_project(editor, project, done, save)


def read_recording(path: Path) -> Iterator[Recorded]:
    """The places in the file at *path*; none if it does not exist.

    Raises:
        RunFolderError: it is damaged or of another version.
    """
    try:
        yield from map(Recorded.from_json, read_rows(path))
    except (KeyError, TypeError, AttributeError) as error:
        raise RunFolderError(f"{path} is of another version of fimlsp ({error}); delete it.") from error
