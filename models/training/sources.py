"""Packages to learn from: lists of pinned releases, their wheels, and the licences that they declare.

A list has one release a line, in pip's format, with the licence as a comment: `agate==1.14.2  # MIT`.
A package with several releases in the lists also gives *edits*: the lines that the newest adds to the earlier
ones.

Wheels come from the package index through pip, or from the folder of an earlier download. They are never
installed, and nothing in them is run: the Python files are read out of the archive.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile, ZipInfo

from fimlsp.models.errors import ModelError
from fimlsp.models.training.corpus import BYTES_MAX, SKIPPED_FOLDERS

TOGETHER = 8
"""Releases that one call of pip downloads; where it fails, they are downloaded one by one."""

PERMISSIVE = (
    *("mit", "bsd", "apache", "isc", "unlicense", "psf", "python", "zlib", "cc0", "expat", "0bsd", "boost"),
    *("hpnd", "public domain", "zpl", "bsl-1.0", "academic free", "w3c", "postgresql", "ncsa", "repoze"),
)
RECIPROCAL = (
    *("gpl", "mpl", "mozilla", "epl", "eclipse", "eupl", "cddl", "cecill", "osl", "gnu", "copyleft"),
    *("sspl", "busl", "business source", "elastic", "commercial", "proprietary", "non-commercial", "cc-by"),
)
METADATA_MAX = 4 << 20
PACKAGE_BYTES = 1_200_000
"""Source that is read of one package, as no pack has room for more of it."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release of a package, with the licence that its list notes."""

    name: str
    version: str
    licence: str = ""

    @property
    def pin(self) -> str:
        """The release in pip's format."""
        return f"{self.name}=={self.version}"

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """Name and version, equal for all ways to write them."""
        return _canonical(self.name), _version(self.version)

    @property
    def package(self) -> str:
        """The name, equal for all ways to write it."""
        return _canonical(self.name)


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel of *release*: its file, the SHA-256 of that, and the licence that counts."""

    release: Release
    path: Path
    digest: str
    licence: str

    @property
    def is_permissive(self) -> bool:
        """True if the licence lets a model of any licence learn from the source."""
        return is_permissive(self.licence)


def read_list(path: Path) -> list[Release]:
    """The releases of a list.

    Raises:
        ModelError: it cannot be read, or a line is not of the form `name==version`.
    """
    releases = list[Release]()
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"Cannot read {path}: {error}. Give a list of pinned releases.") from error
    for number, line in enumerate(lines, 1):
        pin, _, note = line.partition("#")
        if not pin.strip():
            continue
        name, separator, version = (part.strip() for part in pin.partition("=="))
        if not (separator and name and version) or re.search(r"[^\w.+!-]", name + version):
            raise ModelError(
                f"Cannot read line {number} of {path}: {line!r}. Write `name==version  # licence`."
            )
        releases.append(Release(name, version, note.strip()))
    return releases


def find_wheels(
    releases: Sequence[Release], folder: Path, report: Callable[[str], None]
) -> tuple[list[Wheel], list[Release]]:
    """The wheels of *releases* in *folder*, where pip downloads those that are missing; and those it has not.

    Only wheels count: the source archive of a package would have to run code of its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    present = _present(folder)
    missing = [release for release in releases if release.key not in present]
    for start in range(0, len(missing), TOGETHER):
        report(f"downloading {start + 1} to {min(start + TOGETHER, len(missing))} of {len(missing)} releases")
        group = missing[start : start + TOGETHER]
        if not _download(group, folder):
            for release in group:
                _download([release], folder)
    present = _present(folder)
    found = [_wheel(release, present[release.key]) for release in releases if release.key in present]
    return found, [release for release in releases if release.key not in present]


def _download(releases: Sequence[Release], folder: Path) -> bool:
    """Let pip download *releases*; False if it failed, for instance as two of them are of one package."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--ignore-requires-python", "--disable-pip-version-check", "--dest", str(folder)]
    command += [release.pin for release in releases]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _present(folder: Path) -> Mapping[tuple[str, tuple[str, ...]], Path]:
    wheels = sorted(folder.glob("*.whl"))
    parts = [(path, path.name.split("-")) for path in wheels]
    return {Release(part[0], part[1]).key: path for path, part in parts if len(part) >= 5}


def _canonical(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def _version(version: str) -> tuple[str, ...]:
    """The parts of a version, where `25.01` is `25.1`."""
    return tuple(part.lstrip("0") or "0" for part in version.lower().split("."))


def newest_first(releases: Iterable[Release]) -> list[Release]:
    """*releases* of one package, the newest first."""

    def order(release: Release) -> list[tuple[int, str]]:
        return [(int(part), "") if part.isdigit() else (-1, part) for part in _version(release.version)]

    return sorted(releases, key=order, reverse=True)


def _wheel(release: Release, path: Path) -> Wheel:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    declared = _declared_licence(path)
    return Wheel(
        release, path, digest, declared if is_permissive(declared) or not release.licence else release.licence
    )


def _declared_licence(path: Path) -> str:
    """The licence in the metadata of a wheel, in one line; `unknown` if there is none."""
    try:
        with ZipFile(path) as archive:
            entry = next(
                info
                for info in archive.infolist()
                if info.filename.endswith(".dist-info/METADATA") and info.file_size <= METADATA_MAX
            )
            headers = HeaderParser().parsestr(archive.read(entry).decode(errors="replace"))
    except (OSError, BadZipFile, StopIteration):
        return "unknown"
    classifiers = [
        value.rpartition("::")[2].strip()
        for value in headers.get_all("Classifier", [])
        if value.startswith("License ::") and not value.endswith("OSI Approved")
    ]
    first = (headers.get("License-Expression") or headers.get("License") or "").strip().splitlines()[:1]
    declared = next(iter(first), "").strip()
    if len(declared) > 60 or not declared or not is_permissive(declared):
        declared = " AND ".join(classifiers) or declared
    return declared[:200] or "unknown"


def is_permissive(licence: str) -> bool:
    """True if *licence*, a name or an expression, is permissive in all its parts, or in one of a choice."""
    return any(
        any(word in choice for word in PERMISSIVE) and not any(word in choice for word in RECIPROCAL)
        for choice in licence.lower().split(" or ")
    )


def unpack(wheel: Wheel, folder: Path, *, is_whole: bool, same_as: Path | None = None) -> Path:
    """Write Python files of *wheel* below *folder*; returns the folder of its packages.

    Unless *is_whole*, some are chosen of a large package, about `PACKAGE_BYTES`. Of an earlier release those
    are chosen that a newer one in *same_as* has.

    Raises:
        ModelError: the wheel is damaged.
    """
    target = folder / f"{wheel.release.package}-{wheel.release.version}"
    target.mkdir(parents=True, exist_ok=True)
    room = sys.maxsize if is_whole else PACKAGE_BYTES
    try:
        with ZipFile(wheel.path) as archive:
            for info in sorted(filter(_is_source, archive.infolist()), key=_drawn):
                is_chosen = room > 0 if same_as is None else (same_as / info.filename).exists()
                if is_chosen:
                    room -= info.file_size
                    path = target / info.filename
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(archive.read(info))
    except (OSError, BadZipFile) as error:
        raise ModelError(
            f"Cannot read {wheel.path}: {error}. Delete it, so that it is downloaded again."
        ) from error
    return target


def _drawn(info: ZipInfo) -> bytes:
    """A random place in the order of files, the same in all releases."""
    return hashlib.sha256(info.filename.encode()).digest()


def _is_source(info: ZipInfo) -> bool:
    path = PurePosixPath(info.filename)
    return (
        path.suffix == ".py"
        and info.file_size <= BYTES_MAX
        and not path.is_absolute()
        and ".." not in path.parts
        and SKIPPED_FOLDERS.isdisjoint(path.parts[:-1])
    )
