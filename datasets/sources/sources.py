"""Sources of files: shards of The Stack, folders, single files, and what every interpreter has.

    stdlib, stdlib/json          the standard library of the running interpreter, or a part of it
    site-packages[/rich]         its installed packages, or one of them
    FOLDER                       all Python files and shards below it, by name
    FILE.parquet                 a shard with a column `content`
    FILE.jsonl[.gz|.zst]         the same as JSON lines
    FILE.py                      one file

Everything is read as a stream; what cannot be read is told in passing and the rest goes on.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from fimlsp.datasets.sources.shards import is_shard, n_rows, read_shard
from fimlsp.datasets.sources.source_file import Found

from fimlsp.errors import UserError

PACKAGE_FOLDERS = ("site-packages", "dist-packages")
SKIPPED_FOLDERS = frozenset(
    ["site-packages", "test", "tests", "idle_test", "__pycache__", "node_modules", ".git", ".venv", "venv"]
)


class SourceError(UserError):
    """A source that does not exist; the message is one sentence for the user."""


def check_source(source: str) -> None:
    """Raise SourceError if *source* names nothing."""
    _roots(source)


def read_source(source: str) -> Iterator[Found]:
    """The files of *source*, in a fixed order.

    Raises:
        SourceError: it does not exist.
    """
    for root in _roots(source):
        base = source if _is_of_interpreter(source) else root.name
        if root.is_file():
            yield from _read(root, base)
            continue
        for file in _files(root):
            yield from _read(file, f"{base}/{file.relative_to(root).as_posix()}")


def n_files(source: str) -> int | None:
    """How many files *source* has, those to be left out included; None if only reading it all tells."""
    files = [file for root in _roots(source) for file in ([root] if root.is_file() else _files(root))]
    counts = [n_rows(file) if is_shard(file) else 1 for file in files]
    return None if None in counts else sum(count or 0 for count in counts)


def _is_of_interpreter(source: str) -> bool:
    return source.partition("/")[0] in ("stdlib", "site-packages")


def _roots(source: str) -> list[Path]:
    """Where *source* is; packages may be installed in several folders."""
    place, _, rest = source.partition("/")
    if place == "stdlib":
        paths = [Path(sysconfig.get_path("stdlib"), rest)]
    elif place == "site-packages":
        paths = [Path(folder, rest) for folder in sys.path if Path(folder).name in PACKAGE_FOLDERS]
    else:
        paths = [Path(source)]
    found = [path for path in paths if path.is_dir() or path.suffix == ".py" or is_shard(path)]
    found = [path for path in found if path.exists()]
    if found:
        return found
    if any(path.is_file() for path in paths):
        raise SourceError(f"{source} is neither a .py file nor a .parquet or .jsonl shard.")
    raise SourceError(f"There is no {source}; give a shard, a folder, stdlib or site-packages.")


def _files(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if (path.suffix == ".py" or is_shard(path))
        and SKIPPED_FOLDERS.isdisjoint(path.relative_to(folder).parts[:-1])
        and path.is_file()
    )


def _read(path: Path, name: str) -> Iterator[Found]:
    if is_shard(path):
        yield from read_shard(path, name)
        return
    try:
        yield Found(name, path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        yield Found(name, None, "not UTF-8", str(error))
    except OSError as error:
        yield Found(name, None, "file cannot be read", error.strerror or str(error))
