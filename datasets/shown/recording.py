"""What a model writes at cursors whose truth is known, with every beginning of it that could be shown.

The model is asked in this process, with the settings that the server has by default, because only here it
can be seen how sure it was of each token.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Any

from fimlsp.datasets.runs.run_folder import RunFolderError, read_rows
from fimlsp.datasets.shown import measures
from fimlsp.datasets.shown.cursors import Cursor, EditedFile
from fimlsp.languages.python import Python
from fimlsp.languages.python.analysis.client import Analysis
from fimlsp.languages.python.analysis.questions import Cursor as Place
from fimlsp.languages.python.editor_policy import PYTHON_POLICY as POLICY
from fimlsp.languages.python.names.preference import NamePreference
from fimlsp.languages.python.wanted.import_table import ImportTable
from fimlsp.languages.python.wanted.wanted_here import wanted_here
from fimlsp.models.acceptance.beginnings import Beginning, beginnings
from fimlsp.models.acceptance.surroundings import Surroundings
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.middle import TokenTrace
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.decoding.stopping import is_one_line
from fimlsp.models.loading import FimModel
from fimlsp.models.networks.precedents import Precedents
from fimlsp.models.networks.text_index import TextIndex
from fimlsp.quotient.engine import Engine

NAMES_S = 15.0
"""How long the names at a cursor are waited for; as they come sooner, little depends on it."""

TOKENS = 64
"""The most that the server lets a model write by default."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A beginning that could be shown, and how it compares to the truth; see `measures`."""

    beginning: Beginning
    right: bool
    exact: bool
    begins: bool
    saved: int

    @classmethod
    def of(cls, beginning: Beginning, truth: str, is_within_line: bool) -> Candidate:
        """*beginning* held against *truth*."""
        text = beginning.text.decode()
        return cls(
            beginning,
            right=measures.is_wholly_right(text, truth),
            exact=measures.is_exact(beginning.inserted.decode(), truth, is_within_line),
            begins=measures.begins_right(text, truth),
            saved=measures.saved(text, truth),
        )

    def to_json(self) -> dict[str, Any]:
        """As an object for a line of JSON."""
        text, closing = self.beginning.text.decode(), self.beginning.closing.decode()
        return {**asdict(self), "beginning": {**asdict(self.beginning), "text": text, "closing": closing}}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Candidate:
        """What `to_json` made."""
        told = row["beginning"]
        beginning = Beginning(**{**told, "text": told["text"].encode(), "closing": told["closing"].encode()})
        return cls(**{**row, "beginning": beginning})


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the model wrote at one cursor.

    Attributes:
        case, kind: of the cursor.
        one_line: whether one line was wanted of it, as the server would.
        ended: why decoding stopped; None if no text connects there.
        steered: whether steering had a part in it.
        saved: characters that all of it, as the server gives it, would save.
        trace: the log-probability of each token, of stopping behind it, and how many were refused before it.
        candidates: the beginnings that connect and have no fault that the server sees, shortest first.
    """

    case: str
    kind: str
    one_line: bool
    ended: str | None
    steered: bool
    saved: int
    trace: Sequence[tuple[str, float, float | None, int]]
    candidates: Sequence[Candidate]

    def to_json(self) -> dict[str, Any]:
        """As an object for a line of JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "candidates"}
        return {**plain, "candidates": [each.to_json() for each in self.candidates]}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Recorded:
        """What `to_json` made."""
        return cls(**{**row, "candidates": [Candidate.from_json(each) for each in row["candidates"]]})


class Projects:
    """What stands in other files, as the server has it indexed: *files* by the folder they were found in.

    A folder is indexed when it is first asked about.
    """

    def __init__(self, files: Sequence[EditedFile]) -> None:
        self._files = defaultdict[str, dict[str, bytes]](dict)
        for each in files:
            self._files[_project_of(each)][each.file.name] = each.file.content.encode()
        self._indexes: dict[str, TextIndex] = {}
        self._imports: dict[str, ImportTable] = {}

    def elsewhere(self, file: EditedFile) -> Precedents:
        """What stands in the other files of the folder of *file*."""
        name = _project_of(file)
        if name not in self._indexes:
            self._indexes[name] = TextIndex(self._files[name])
        return self._indexes[name].without([file.file.name])

    def imports(self, file: EditedFile) -> Sequence[ImportTable]:
        """What the files of the folder of *file* import."""
        name = _project_of(file)
        if name not in self._imports:
            texts = {PurePath(path): text for path, text in self._files[name].items()}
            self._imports[name] = ImportTable.of(texts)
        return [self._imports[name]]


def _project_of(file: EditedFile) -> str:
    return PurePath(file.file.name).parts[0]


class Recorder:
    """Asks *model* for what it writes at cursors, preferring the names that *analysis* finds there.

    *folders* are those of the workspace, where imports are looked for.
    """

    def __init__(self, model: FimModel, analysis: Analysis, folders: Sequence[Path]) -> None:
        self._model = model
        self._analysis = analysis
        self._folders = tuple(folders)
        self._engine = Engine(Python())

    def prepare(self, file: EditedFile, cursor: Cursor) -> None:
        """Begin to look up the names at *cursor* in *file*."""
        self._analysis.look(cursor.case, self._place(file, cursor))

    def record(
        self,
        file: EditedFile,
        cursor: Cursor,
        elsewhere: Precedents,
        imports: Callable[[], Sequence[ImportTable]],
        following: tuple[EditedFile, Cursor] | None,
    ) -> Recorded:
        """What the model writes at *cursor* in *file*, which is prepared; prepares *following* meanwhile.

        *elsewhere* has what stands in other files, *imports* what they import.
        """
        self._analysis.wait(cursor.case, NAMES_S)
        place = self._place(file, cursor)
        names = self._analysis.known(cursor.case, place)
        self._analysis.forget(lambda case: case == cursor.case)
        if following is not None:
            self.prepare(*following)
        text = file.file.content
        left, right = text[: cursor.start].encode(), text[cursor.end :].encode()
        truth, within = text[cursor.start : cursor.end], cursor.is_within_line
        one_line = is_one_line("auto", left, right, POLICY)
        start = self._engine.document(left + right).middle(len(left), len(left), may_escape=False).start
        if start is None:
            return Recorded(cursor.case, cursor.kind, one_line, None, False, 0, (), ())
        preference = NamePreference(left, right, place.state, lambda: names)
        path = PurePath(file.file.name)
        settings = DecodeSettings(tokens=TOKENS, lines=1 if one_line else None, preference=preference)
        (middle,) = complete_many(
            self._model,
            left,
            right,
            start,
            settings,
            lambda: False,
            elsewhere=elsewhere,
            wanted=wanted_here(left, right, start, path, imports) if self._model.uses_buffer else None,
        )
        surroundings = Surroundings(left, right, POLICY, elsewhere if self._model.uses_buffer else None)
        found = [
            each
            for each in beginnings(middle, start, surroundings, preference)
            if POLICY.first_fault(left, each.inserted, right) is None
            and POLICY.first_unknown_name(left, each.inserted, right) is None
        ]
        written = middle.text.decode(errors="replace") if middle.complete else ""
        return Recorded(
            cursor.case,
            cursor.kind,
            one_line,
            middle.stop_reason,
            middle.steered,
            measures.saved(written, truth),
            [_told(token) for token in middle.trace],
            [Candidate.of(each, truth, within) for each in found],
        )

    def _place(self, file: EditedFile, cursor: Cursor) -> Place:
        text = file.file.content
        return Place(file.path, self._folders, text[: cursor.start].encode(), text[cursor.end :].encode())


def _told(token: TokenTrace) -> tuple[str, float, float | None, int]:
    text = token.text.decode(errors="backslashreplace")
    return text, token.log_probability, token.stop, token.rejected


def record_all(
    recorder: Recorder,
    projects: Projects,
    cursors: Sequence[tuple[EditedFile, Cursor]],
    path: Path,
    report: Callable[[], None],
) -> list[Recorded]:
    """What the model writes at each of *cursors*, in files of *projects*.

    All of it is in the file at *path* as well; what that file has already is not asked again. *report* is
    called for each cursor that is done.

    Raises:
        RunFolderError: the file is damaged.
    """
    done = {each.case: each for each in read_recording(path)}
    with path.open("a", encoding="utf-8") as file:
        new = [each for each in cursors if each[1].case not in done]
        if new:
            recorder.prepare(*new[0])
        for (edited, cursor), following in zip(new, [*new[1:], None], strict=False):
            done[cursor.case] = recorder.record(
                edited, cursor, projects.elsewhere(edited), partial(projects.imports, edited), following
            )
            file.write(json.dumps(done[cursor.case].to_json()) + "\n")
            file.flush()
            report()
    return [done[cursor.case] for _, cursor in cursors]


def read_recording(path: Path) -> Iterator[Recorded]:
    """What the file at *path* has; nothing if there is none.

    Raises:
        RunFolderError: it is damaged or of another version.
    """
    try:
        yield from map(Recorded.from_json, read_rows(path))
    except (KeyError, TypeError, AttributeError) as error:
        raise RunFolderError(f"{path} is of another version of fimlsp ({error}); delete it.") from error
