"""Reads the files of a source, which is a shard, a folder, a single file, or the running interpreter.

    stdlib, stdlib/json          the standard library of the running interpreter, or a part of it
    site-packages[/rich]         its installed packages, or one of them
    FOLDER                       the language's files and all shards below it, by name
    FILE.parquet                 a shard: a file in the column `content` of each row
    FILE.jsonl[.gz|.zst]         the same as JSON lines
    FILE                         one file of the language

Files are read one at a time. One that cannot be read is passed on with the reason, and reading continues.
Files are cut if they are valid, written in one language and of limited size. Every other file gets a reason.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from fimlsp.datasets.languages.python import PYTHON
from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.errors import UserError

OTHER_LANGUAGE = "another language"


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A file of a source, with its content or the reason why it cannot be read.

    Attributes:
        name: its path within the source; never an absolute path.
        content: its text; None if it cannot be read.
        problem: the reason, in a few words that are the same for all such files.
        detail: the part of the reason that differs between files.
        language: the language that the source states; None if it states none.
    """

    name: str
    content: str | None
    problem: str | None = None
    detail: str = ""
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Excluded:
    """A file, or a part of a source, that gives no cases. Reports count equal reasons together."""

    name: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file in which holes are cut.

    Attributes:
        name: its path within the source, for readers.
        text: its content with line feeds as line ends and one more line feed, as in the protocol.
        hash: the SHA-256 of the content, in hexadecimal digits.
        number: its number among the files of the run's sources, from 0.
    """

    name: str
    text: str
    hash: str
    number: int = 0

    @classmethod
    def of(cls, name: str, content: str) -> SourceFile:
        """The file with this *content*, which must be encodable as UTF-8."""
        content = content.replace("\r\n", "\n")
        return cls(name, content + "\n", hashlib.sha256(content.encode()).hexdigest())

    @property
    def content(self) -> str:
        """The text without the added line feed."""
        return self.text[:-1]


@dataclass(frozen=True, slots=True)
class Filters:
    """The conditions for a file to be cut: written in *language*, and at most *bytes_max* bytes as UTF-8."""

    language: ReplayLanguage = PYTHON
    bytes_max: int = 1_000_000

    def identify(self, entry: SourceEntry) -> SourceFile | Excluded:
        """The file of *entry*, unless it is unreadable, too large or in another language."""
        if entry.content is None:
            return Excluded(entry.name, entry.problem or "no content", entry.detail)
        if entry.language is not None and entry.language.lower() != self.language.name:
            return Excluded(entry.name, OTHER_LANGUAGE, entry.language)
        try:
            size = len(entry.content.encode())
        except UnicodeEncodeError as error:
            return Excluded(entry.name, "not UTF-8", str(error))
        if size > self.bytes_max:
            return Excluded(entry.name, f"larger than {self.bytes_max:,} bytes", f"{size:,} bytes")
        return SourceFile.of(entry.name, entry.content)

    def check_valid(self, file: SourceFile) -> SourceFile | Excluded:
        """The *file*, unless the language's reference parser refuses it."""
        error = self.language.syntax_error(file.text)
        return file if error is None else Excluded(file.name, "does not parse", error)


PACKAGE_FOLDERS = ("site-packages", "dist-packages")
SKIPPED_FOLDERS = frozenset(
    ["site-packages", "test", "tests", "idle_test", "__pycache__", "node_modules", ".git", ".venv", "venv"]
)
COLUMN = "content"
LANGUAGE_COLUMNS = ("lang", "language")
PATH_COLUMNS = ("max_stars_repo_path", "path")
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
LINE_MAX = 4_000_000
ROWS_AT_ONCE = 64


class SourceError(UserError):
    """A source does not exist; the message is one sentence for the user."""


class NoContentError(Exception):
    """A shard has no column `content`; the message names its columns."""


@dataclass(frozen=True, slots=True)
class Source:
    """The files in *language* of the source with this *name*, such as `stdlib/json`."""

    name: str
    language: ReplayLanguage

    def check(self) -> None:
        """Make sure that the source can be read.

        Raises:
            SourceError: the source does not exist, or is a shard without a column `content`.
        """
        shards = [root for root in self._roots() if root.is_file() and is_shard(root)]
        try:
            for shard in shards:
                check_shard(shard)
        except NoContentError as error:
            raise SourceError(f"Cannot read files from {self.name}: {error}.") from error

    def files(self) -> Iterator[SourceEntry]:
        """The files in a fixed order.

        Raises:
            SourceError: the source does not exist.
        """
        for root in self._roots():
            base = self.name if _is_of_interpreter(self.name) else root.name
            if root.is_file():
                yield from _read(root, base)
                continue
            for file in self._files_below(root):
                yield from _read(file, f"{base}/{file.relative_to(root).as_posix()}")

    def n_files(self) -> int | None:
        """The number of files, including those to be left out; None if all of them had to be read for it."""
        roots = self._roots()
        files = [file for root in roots for file in ([root] if root.is_file() else self._files_below(root))]
        counts = [n_rows(file) if is_shard(file) else 1 for file in files]
        return None if None in counts else sum(count or 0 for count in counts)

    def _roots(self) -> list[Path]:
        """The files and folders of the source; packages may be installed in several folders."""
        start, _, part = self.name.partition("/")
        if start == "stdlib":
            paths = [Path(sysconfig.get_path("stdlib"), part)]
        elif start == "site-packages":
            paths = [Path(folder, part) for folder in sys.path if Path(folder).name in PACKAGE_FOLDERS]
        else:
            paths = [Path(self.name)]
        roots = [path for path in paths if path.exists() and (path.is_dir() or self._has(path))]
        if roots:
            return roots
        if any(path.is_file() for path in paths):
            patterns = " or ".join(self.language.patterns)
            raise SourceError(f"{self.name} is neither a file {patterns} nor a .parquet or .jsonl shard.")
        raise SourceError(f"Cannot find {self.name}. Give a shard, a folder, stdlib or site-packages.")

    def _has(self, path: Path) -> bool:
        return self.language.has_file(path.name) or is_shard(path)

    def _files_below(self, folder: Path) -> list[Path]:
        return sorted(
            path
            for path in folder.rglob("*")
            if self._has(path)
            and SKIPPED_FOLDERS.isdisjoint(path.relative_to(folder).parts[:-1])
            and path.is_file()
        )


def _is_of_interpreter(name: str) -> bool:
    return name.partition("/")[0] in ("stdlib", "site-packages")


def _read(path: Path, name: str) -> Iterator[SourceEntry]:
    if is_shard(path):
        yield from read_shard(path, name)
        return
    try:
        yield SourceEntry(name, path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        yield SourceEntry(name, None, "not UTF-8", str(error))
    except OSError as error:
        yield SourceEntry(name, None, "file cannot be read", error.strerror or str(error))


def is_shard(path: Path) -> bool:
    """True if *path* has the name of a shard."""
    return path.suffix == ".parquet" or _is_json_lines(path)


def _is_json_lines(path: Path) -> bool:
    inner = path.with_suffix("") if path.suffix in COMPRESSIONS else path
    return inner.suffix in (".jsonl", ".ndjson")


def check_shard(path: Path) -> None:
    """Make sure that a shard has the column `content`, as far as its schema or its first row shows.

    Raises:
        NoContentError: it does not.
    """
    columns = _columns(path)
    if columns is not None and COLUMN not in columns:
        raise NoContentError(f"no column `{COLUMN}`; it has {', '.join(columns) or 'none'}")


def _columns(path: Path) -> list[str] | None:
    """The names of the columns; None if they cannot be read, which reading the rows then reports."""
    if _is_json_lines(path):
        try:
            with _open(path) as stream:
                row = json.loads(next((line for line in _lines(stream) if line and line.strip()), b"{}"))
        except Exception:  # a damaged shard can fail in any decoder
            return None
        return list(row) if isinstance(row, dict) and row else None
    import pyarrow
    import pyarrow.parquet

    try:
        return list(pyarrow.parquet.read_schema(path).names)
    except (OSError, pyarrow.ArrowException):
        return None


def n_rows(path: Path) -> int | None:
    """The number of rows; None if all of them had to be read for it, 1 if the shard cannot be opened."""
    if _is_json_lines(path):
        return None
    import pyarrow
    import pyarrow.parquet

    try:
        return int(pyarrow.parquet.read_metadata(path).num_rows)
    except (OSError, pyarrow.ArrowException):
        return 1


def read_shard(path: Path, name: str) -> Iterator[SourceEntry]:
    """The rows of a shard, named `name#0`, `name#1` and so on; the last one is a problem if reading fails.

    If a row has the path of its file, the name ends with that path.
    """
    rows = _json_lines(path, name) if _is_json_lines(path) else _parquet_rows(path, name)
    while True:
        try:
            entry = next(rows)
        except StopIteration:
            return
        except Exception as error:  # a damaged shard can fail in any decoder
            yield SourceEntry(name, None, "shard cannot be read", str(error).partition("\n")[0])
            return
        yield entry


def _parquet_rows(path: Path, name: str) -> Iterator[SourceEntry]:
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as shard:
        columns = shard.schema_arrow.names
        if COLUMN not in columns:
            yield SourceEntry(name, None, f"no column `{COLUMN}`", f"it has {', '.join(columns)}")
            return
        read = [column for column in (COLUMN, *LANGUAGE_COLUMNS, *PATH_COLUMNS) if column in columns]
        number = 0
        for batch in shard.iter_batches(batch_size=ROWS_AT_ONCE, columns=read):
            for row in range(batch.num_rows):
                yield _parquet_row(batch, row, f"{name}#{number}")
                number += 1


def _parquet_row(batch: Any, row: int, name: str) -> SourceEntry:  # noqa: ANN401 - pyarrow has no types
    try:
        values = {column: batch.column(column)[row].as_py() for column in batch.schema.names}
    except UnicodeDecodeError as error:
        return SourceEntry(name, None, "not UTF-8", str(error))
    return _of_row(values, name)


def _json_lines(path: Path, name: str) -> Iterator[SourceEntry]:
    with _open(path) as stream:
        for number, line in enumerate(_lines(stream)):
            row = f"{name}#{number}"
            if line is None:
                yield SourceEntry(row, None, "line too long", f"more than {LINE_MAX:,} bytes")
            elif line.strip():
                yield _of_line(line, row)


def _open(path: Path) -> BinaryIO:
    if path.suffix not in COMPRESSIONS:
        return path.open("rb")
    import pyarrow

    raw = pyarrow.input_stream(str(path), compression=COMPRESSIONS[path.suffix])
    return cast("BinaryIO", io.BufferedReader(raw, 1 << 16))


def _lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """The lines; None for a line longer than `LINE_MAX` bytes, more than any file worth cutting has."""
    while line := stream.readline(LINE_MAX):
        if len(line) < LINE_MAX or line.endswith(b"\n"):
            yield line
            continue
        while len(line) == LINE_MAX and not line.endswith(b"\n"):
            line = stream.readline(LINE_MAX)
        yield None


def _of_line(line: bytes, name: str) -> SourceEntry:
    try:
        row = json.loads(line)
    except UnicodeDecodeError as error:
        return SourceEntry(name, None, "not UTF-8", str(error))
    except (ValueError, RecursionError) as error:
        return SourceEntry(name, None, "line is not JSON", str(error))
    return _of_row(row, name)


def _of_row(row: object, name: str) -> SourceEntry:
    if not isinstance(row, Mapping) or not isinstance(row.get(COLUMN), str):
        return SourceEntry(name, None, f"no text in `{COLUMN}`", "")
    language = next((str(row[column]) for column in LANGUAGE_COLUMNS if row.get(column)), None)
    path = next((str(row[column]) for column in PATH_COLUMNS if row.get(column)), None)
    return SourceEntry(name if path is None else f"{name} {path}", row[COLUMN], language=language)
