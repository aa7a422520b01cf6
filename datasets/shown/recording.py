"""The texts that a model writes at cursors with a known truth, with every beginning that could be shown.

The model runs in this process, with the server's default settings. Only here is the probability of each token
available.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Any

from fimlsp.datasets.runs.plan import Plan
from fimlsp.datasets.runs.run_folder import RunFolderError, read_rows
from fimlsp.datasets.shown import measures
from fimlsp.datasets.shown.cursors import DrawnCursor, EditedFile
from fimlsp.languages.python import Python
from fimlsp.languages.python.analysis.client import Analysis
from fimlsp.languages.python.analysis.questions import NamesCursor as AnalysisCursor
from fimlsp.languages.python.editor_policy import PYTHON_POLICY as POLICY
from fimlsp.languages.python.missing_names.at_cursor import missing_at_cursor
from fimlsp.languages.python.missing_names.import_table import ImportTable
from fimlsp.languages.python.missing_names.likely_texts import LikelyTexts
from fimlsp.languages.python.names.known_names import KnownNames
from fimlsp.languages.python.names.preference import NamePreference
from fimlsp.models.beginnings import Beginning, Surroundings, beginnings
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.middle import TokenTrace
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.decoding.stopping import is_one_line
from fimlsp.models.loading import FimModel
from fimlsp.models.networks.matches import MatchSource, TextIndex
from fimlsp.quotient.engine import Engine

NAMES_S = 15.0
"""The longest wait for the names at a cursor, in seconds; they usually come sooner."""

TOKENS = 64
"""The server's default limit of tokens."""


@dataclass(frozen=True, slots=True)
class CalibrationPlan(Plan):
    """The plan of `fimlsp calibrate`: the names of the folders, the seed of the cursors, and the model."""

    folders: tuple[str, ...]
    check: tuple[str, ...]
    seed: int
    model: str
    fimlsp: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A beginning that could be shown, compared with the truth; see `measures`."""

    beginning: Beginning
    right: bool
    exact: bool
    begins: bool
    saved: int

    @classmethod
    def of(cls, beginning: Beginning, truth: str, is_within_line: bool) -> Candidate:
        """*beginning* compared with *truth*."""
        text = beginning.text.decode()
        return cls(
            beginning,
            right=measures.is_wholly_right(text, truth),
            exact=measures.is_exact(beginning.inserted.decode(), truth, is_within_line),
            begins=measures.begins_right(text, truth),
            saved=measures.saved(text, truth),
        )

    def to_json(self) -> dict[str, Any]:
        """The candidate as an object for a line of JSON."""
        text, closing = self.beginning.text.decode(), self.beginning.closing.decode()
        return {**asdict(self), "beginning": {**asdict(self.beginning), "text": text, "closing": closing}}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Candidate:
        """The candidate that `to_json` wrote."""
        fields = row["beginning"]
        texts = {"text": fields["text"].encode(), "closing": fields["closing"].encode()}
        return cls(**{**row, "beginning": Beginning(**{**fields, **texts})})


@dataclass(frozen=True, slots=True)
class Recorded:
    """The model's text at one cursor.

    Attributes:
        case, kind: the name and kind of the cursor.
        one_line: True if the text was limited to one line, as by the server.
        ended: the reason for the end of decoding; None if no text connects there.
        steered: True if steering refused a candidate or wrote an ending.
        saved: the number of characters that the whole text, as shown by the server, would save.
        trace: for each token its text, its log-probability, that of stopping after it, and the number of
            candidates refused before it.
        candidates: the beginnings that connect and pass the server's checks, shortest first.
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
        """The text as an object for a line of JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "candidates"}
        return {**plain, "candidates": [candidate.to_json() for candidate in self.candidates]}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Recorded:
        """The text that `to_json` wrote."""
        return cls(**{**row, "candidates": list(map(Candidate.from_json, row["candidates"]))})


class Projects:
    """The index of other files, as in the server: *files* by the folder in which they were found.

    A folder is indexed at its first use.
    """

    def __init__(self, files: Sequence[EditedFile]) -> None:
        self._files = defaultdict[str, dict[str, bytes]](dict)
        for edited in files:
            self._files[_project_of(edited)][edited.file.name] = edited.file.content.encode()
        self._indexes: dict[str, TextIndex] = {}
        self._imports: dict[str, ImportTable] = {}

    def elsewhere(self, file: EditedFile) -> MatchSource:
        """The texts of the other files in the folder of *file*."""
        name = _project_of(file)
        if name not in self._indexes:
            self._indexes[name] = TextIndex(self._files[name])
        return self._indexes[name].without([file.file.name])

    def imports(self, file: EditedFile) -> Sequence[ImportTable]:
        """The imports of the files in the folder of *file*."""
        name = _project_of(file)
        if name not in self._imports:
            texts = {PurePath(path): text for path, text in self._files[name].items()}
            self._imports[name] = ImportTable.of(texts)
        return [self._imports[name]]


def _project_of(file: EditedFile) -> str:
    return PurePath(file.file.name).parts[0]


class Recorder:
    """Lets *model* write at cursors, with a preference for the names that *analysis* finds there.

    *folders* are those of the workspace, in which imports are resolved.
    """

    def __init__(self, model: FimModel, analysis: Analysis, folders: Sequence[Path]) -> None:
        self._model = model
        self._analysis = analysis
        self._folders = tuple(folders)
        self._engine = Engine(Python())

    def prepare(self, file: EditedFile, cursor: DrawnCursor) -> None:
        """Start the look-up of the names at *cursor* in *file*."""
        self._analysis.look(cursor.case, self._analysis_cursor(file, cursor))

    def record(
        self,
        file: EditedFile,
        cursor: DrawnCursor,
        elsewhere: MatchSource,
        imports: Callable[[], Sequence[ImportTable]],
        following: tuple[EditedFile, DrawnCursor] | None,
    ) -> Recorded:
        """The model's text at *cursor* in *file*, which is prepared; prepares *following* meanwhile.

        *elsewhere* has the texts of other files, *imports* their imports.
        """
        analysis_cursor = self._analysis_cursor(file, cursor)
        names = self._take_names(cursor, analysis_cursor)
        if following is not None:
            self.prepare(*following)
        text = file.file.content
        left, right = text[: cursor.start].encode(), text[cursor.end :].encode()
        one_line = is_one_line("auto", left, right, POLICY)
        start = self._engine.document(left + right).middle(len(left), len(left), may_escape=False).start
        if start is None:
            return Recorded(cursor.case, cursor.kind, one_line, None, False, 0, (), ())
        preference = NamePreference(left, right, analysis_cursor.state, lambda: names)
        path, uses_buffer = PurePath(file.file.name), self._model.uses_buffer
        missing = missing_at_cursor(left, right, start, path, imports) if uses_buffer else None
        likely = LikelyTexts.at(left, right) if uses_buffer else None
        (middle,) = complete_many(
            self._model,
            left,
            right,
            start,
            DecodeSettings(tokens=TOKENS, lines=1 if one_line else None, preference=preference),
            lambda: False,
            elsewhere=elsewhere,
            expected=[texts for texts in (missing, likely) if texts is not None],
        )
        surroundings = Surroundings(left, right, POLICY, elsewhere if uses_buffer else None)
        showable = [
            beginning
            for beginning in beginnings(middle, start, surroundings, preference)
            if POLICY.first_issue(left, beginning.inserted, right) is None
            and POLICY.first_unknown_name(left, beginning.inserted, right) is None
        ]
        truth = text[cursor.start : cursor.end]
        written = middle.text.decode(errors="replace") if middle.complete else ""
        return Recorded(
            case=cursor.case,
            kind=cursor.kind,
            one_line=one_line,
            ended=middle.stop_reason,
            steered=middle.steered,
            saved=measures.saved(written, truth),
            trace=list(map(_trace_entry, middle.trace)),
            candidates=[Candidate.of(beginning, truth, cursor.is_within_line) for beginning in showable],
        )

    def _take_names(self, cursor: DrawnCursor, analysis_cursor: AnalysisCursor) -> KnownNames:
        """The names at *cursor*, which the analysis then forgets."""
        self._analysis.wait(cursor.case, NAMES_S)
        names = self._analysis.known(cursor.case, analysis_cursor)
        self._analysis.forget(lambda case: case == cursor.case)
        return names

    def _analysis_cursor(self, file: EditedFile, cursor: DrawnCursor) -> AnalysisCursor:
        text = file.file.content
        left, right = text[: cursor.start].encode(), text[cursor.end :].encode()
        return AnalysisCursor(file.path, self._folders, left, right)


def _trace_entry(token: TokenTrace) -> tuple[str, float, float | None, int]:
    text = token.text.decode(errors="backslashreplace")
    return text, token.log_probability, token.stop, token.rejected


def record_all(
    recorder: Recorder,
    projects: Projects,
    cursors: Sequence[tuple[EditedFile, DrawnCursor]],
    path: Path,
    report: Callable[[], None],
) -> list[Recorded]:
    """The model's text at each of *cursors*, in files of *projects*.

    All texts are saved in the file at *path*; texts that it has already are not written again. *report* is
    called after each new text.

    Raises:
        RunFolderError: the file is damaged.
    """
    done = {recorded.case: recorded for recorded in read_recording(path)}
    with path.open("a", encoding="utf-8") as file:
        new = [(edited, cursor) for edited, cursor in cursors if cursor.case not in done]
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
    """The texts in the file at *path*; none if it does not exist.

    Raises:
        RunFolderError: it is damaged or of another version.
    """
    try:
        yield from map(Recorded.from_json, read_rows(path))
    except (KeyError, TypeError, AttributeError) as error:
        raise RunFolderError(f"{path} is of another version of fimlsp ({error}); delete it.") from error
