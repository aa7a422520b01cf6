"""Reads shards of data sets: one file in the column `content` of each row of a parquet or JSON lines file."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from fimlsp.datasets.sources.source_file import FoundFile

COLUMN = "content"
LANGUAGE_COLUMNS = ("lang", "language")
PATH_COLUMNS = ("max_stars_repo_path", "path")
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
LINE_MAX = 4_000_000
ROWS_AT_ONCE = 64


class NoContentError(Exception):
    """A shard has no column `content`; the message says which it has."""


def check_shard(path: Path) -> None:
    """Make sure that a shard has what it takes, as far as its schema or its first row tells.

    Raises:
        NoContentError: it has no column `content`.
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


def is_shard(path: Path) -> bool:
    """Whether *path* has the name of a shard."""
    return path.suffix == ".parquet" or _is_json_lines(path)


def n_rows(path: Path) -> int | None:
    """The number of rows; None if only reading the shard tells, 1 if it cannot be opened."""
    if _is_json_lines(path):
        return None
    import pyarrow
    import pyarrow.parquet

    try:
        return int(pyarrow.parquet.read_metadata(path).num_rows)
    except (OSError, pyarrow.ArrowException):
        return 1


def read_shard(path: Path, name: str) -> Iterator[FoundFile]:
    """The rows of a shard, named `name#0`, `name#1` and so on; the last one is a problem if reading fails.

    If a row tells where its file came from, the name ends with that path.
    """
    rows = _json_lines(path, name) if _is_json_lines(path) else _parquet_rows(path, name)
    while True:
        try:
            found = next(rows)
        except StopIteration:
            return
        except Exception as error:  # a damaged shard can fail in any decoder
            yield FoundFile(name, None, "shard cannot be read", str(error).partition("\n")[0])
            return
        yield found


def _is_json_lines(path: Path) -> bool:
    inner = path.with_suffix("") if path.suffix in COMPRESSIONS else path
    return inner.suffix in (".jsonl", ".ndjson")


def _parquet_rows(path: Path, name: str) -> Iterator[FoundFile]:
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as shard:
        columns = shard.schema_arrow.names
        if COLUMN not in columns:
            yield FoundFile(name, None, f"no column `{COLUMN}`", f"it has {', '.join(columns)}")
            return
        wanted = [column for column in (COLUMN, *LANGUAGE_COLUMNS, *PATH_COLUMNS) if column in columns]
        number = 0
        for batch in shard.iter_batches(batch_size=ROWS_AT_ONCE, columns=wanted):
            for row in range(batch.num_rows):
                yield _parquet_row(batch, row, f"{name}#{number}")
                number += 1


def _parquet_row(batch: Any, row: int, name: str) -> FoundFile:  # noqa: ANN401 - pyarrow has no types
    try:
        values = {column: batch.column(column)[row].as_py() for column in batch.schema.names}
    except UnicodeDecodeError as error:
        return FoundFile(name, None, "not UTF-8", str(error))
    return _of_row(values, name)


def _json_lines(path: Path, name: str) -> Iterator[FoundFile]:
    with _open(path) as stream:
        for number, line in enumerate(_lines(stream)):
            row = f"{name}#{number}"
            if line is None:
                yield FoundFile(row, None, "line too long", f"more than {LINE_MAX:,} bytes")
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


def _of_line(line: bytes, name: str) -> FoundFile:
    try:
        row = json.loads(line)
    except UnicodeDecodeError as error:
        return FoundFile(name, None, "not UTF-8", str(error))
    except (ValueError, RecursionError) as error:
        return FoundFile(name, None, "line is not JSON", str(error))
    return _of_row(row, name)


def _of_row(row: object, name: str) -> FoundFile:
    if not isinstance(row, Mapping) or not isinstance(row.get(COLUMN), str):
        return FoundFile(name, None, f"no text in `{COLUMN}`", "")
    language = next((str(row[column]) for column in LANGUAGE_COLUMNS if row.get(column)), None)
    path = next((str(row[column]) for column in PATH_COLUMNS if row.get(column)), None)
    return FoundFile(name if path is None else f"{name} {path}", row[COLUMN], language=language)
