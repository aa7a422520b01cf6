"""Reads the files of a source, which is a shard, a folder, a single file, or the running interpreter.

    stdlib, stdlib/json          the standard library of the running interpreter, or a part of it
    site-packages[/rich]         its installed packages, or one of them
    FOLDER                       the language's files and all shards below it, by name
    FILE.parquet                 a shard with a column `content`
    FILE.jsonl[.gz|.zst]         the same as JSON lines
    FILE                         one file of the language

Files are read one at a time. One that cannot be read is passed on with the reason, and reading continues.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.datasets.sources.shards import NoContentError, check_shard, is_shard, n_rows, read_shard
from fimlsp.datasets.sources.source_file import FoundFile
from fimlsp.errors import UserError

PACKAGE_FOLDERS = ("site-packages", "dist-packages")
SKIPPED_FOLDERS = frozenset(
    ["site-packages", "test", "tests", "idle_test", "__pycache__", "node_modules", ".git", ".venv", "venv"]
)


class SourceError(UserError):
    """A source does not exist; the message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Source:
    """The files in *language* of the source with this *name*, such as `stdlib/json`."""

    name: str
    language: ReplayLanguage

    def check(self) -> None:
        """Make sure that there is something to read.

        Raises:
            SourceError: the name stands for nothing, or for a shard without a column `content`.
        """
        shards = [root for root in self._roots() if root.is_file() and is_shard(root)]
        try:
            for shard in shards:
                check_shard(shard)
        except NoContentError as error:
            raise SourceError(f"{self.name} is no shard of source files: {error}.") from error

    def files(self) -> Iterator[FoundFile]:
        """The files in a fixed order.

        Raises:
            SourceError: the name stands for nothing.
        """
        for root in self._roots():
            base = self.name if _is_of_interpreter(self.name) else root.name
            if root.is_file():
                yield from _read(root, base)
                continue
            for file in self._files_below(root):
                yield from _read(file, f"{base}/{file.relative_to(root).as_posix()}")

    def n_files(self) -> int | None:
        """How many files there are, including those to be left out; None if only reading it all tells."""
        roots = self._roots()
        files = [file for root in roots for file in ([root] if root.is_file() else self._files_below(root))]
        counts = [n_rows(file) if is_shard(file) else 1 for file in files]
        return None if None in counts else sum(count or 0 for count in counts)

    def _roots(self) -> list[Path]:
        """The files and folders that the name stands for; packages may be installed in several folders."""
        start, _, part = self.name.partition("/")
        if start == "stdlib":
            paths = [Path(sysconfig.get_path("stdlib"), part)]
        elif start == "site-packages":
            paths = [Path(folder, part) for folder in sys.path if Path(folder).name in PACKAGE_FOLDERS]
        else:
            paths = [Path(self.name)]
        found = [path for path in paths if path.exists() and (path.is_dir() or self._takes(path))]
        if found:
            return found
        if any(path.is_file() for path in paths):
            patterns = " or ".join(self.language.patterns)
            raise SourceError(f"{self.name} is neither a file {patterns} nor a .parquet or .jsonl shard.")
        raise SourceError(f"There is no {self.name}; give a shard, a folder, stdlib or site-packages.")

    def _takes(self, path: Path) -> bool:
        return self.language.has_file(path.name) or is_shard(path)

    def _files_below(self, folder: Path) -> list[Path]:
        return sorted(
            path
            for path in folder.rglob("*")
            if self._takes(path)
            and SKIPPED_FOLDERS.isdisjoint(path.relative_to(folder).parts[:-1])
            and path.is_file()
        )


def _is_of_interpreter(name: str) -> bool:
    return name.partition("/")[0] in ("stdlib", "site-packages")


def _read(path: Path, name: str) -> Iterator[FoundFile]:
    if is_shard(path):
        yield from read_shard(path, name)
        return
    try:
        yield FoundFile(name, path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        yield FoundFile(name, None, "not UTF-8", str(error))
    except OSError as error:
        yield FoundFile(name, None, "file cannot be read", error.strerror or str(error))
