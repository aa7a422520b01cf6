"""Builds a pack of bounded size from lists of releases, for `fimlsp train pack`.

The packages of the held-out list are read as well, so that copies of them are recognised by content. Those
with a permissive licence go into the pack, to measure on. Packages under other licences serve the comparison
alone. If the tokens need more room than there is, large packages are cut down to one common size.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fimlsp.models.errors import ModelError
from fimlsp.models.training.corpus import Corpus, SourceFile, read_corpus, usable_text
from fimlsp.models.training.examples import make_tokenizer
from fimlsp.models.training.pack import Pack, make_pack, write_pack
from fimlsp.models.training.sources import (
    PACKAGE_BYTES,
    Release,
    Wheel,
    find_wheels,
    newest_first,
    read_list,
    unpack,
)

BYTES_OF_TEXT_PER_BYTE = 6.6
"""Text that one byte of a pack holds at most; the first attempt at a size."""

MARGIN = 0.95
HELD_OUT_MODULES = ("json",)
"""Held-out packages of the standard library."""

HELD_OUT_BYTES = 250_000
"""Text of each held-out package in the pack."""

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Order:
    """The order of a pack.

    Attributes:
        lists: lists of releases to learn from.
        held_out: the list of the packages never to learn from.
        folders: folders of packages to learn from, such as the standard library.
        downloads: the folder of the wheels.
        vocabulary: number of tokens of the tokenizer.
        bytes_max: size of all files of the pack.
        skipped: packages in *folders* to leave out.
    """

    lists: Sequence[Path]
    held_out: Path
    folders: Sequence[Path]
    downloads: Path
    vocabulary: int
    bytes_max: int
    skipped: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Sources:
    """Unpacked releases: the newest of each package, and the folders of earlier ones."""

    wheels: Sequence[Wheel]
    earlier_wheels: Sequence[Wheel]
    newest: Sequence[Path]
    earlier: Sequence[Path]
    refused: Sequence[Wheel]
    missing: Sequence[Release]


def build(order: Order, target: Path, report: Report) -> Pack:
    """Make the pack of *order* and write it into the folder *target*.

    Raises:
        ModelError: a list cannot be read, or nothing to learn from is found.
    """
    held_out_pins = read_list(order.held_out)
    names = {release.package for release in held_out_pins}
    pins = [release for path in order.lists for release in read_list(path)]
    with TemporaryDirectory() as scratch:
        held_out = _unpacked(held_out_pins, order.downloads, Path(scratch) / "held-out", report, learns=False)
        learnt = _unpacked(
            [release for release in pins if release.package not in names],
            order.downloads,
            Path(scratch) / "learnt",
            report,
        )
        report("reading the Python files")
        roots = [*learnt.newest, *order.folders]
        corpus = read_corpus(roots, HELD_OUT_MODULES, order.skipped, held_out.newest)
        closed = {
            package.name.removesuffix(".py")
            for wheel, root in zip(held_out.wheels, held_out.newest, strict=True)
            if not wheel.is_permissive
            for package in root.iterdir()
        }
        files = [file for file in corpus.files if file.package not in closed or file.split != "ood"]
        earlier = dict(_earlier_texts(files, [*learnt.earlier, *held_out.earlier]))
    if not any(file.split == "train" for file in files):
        raise ModelError("Cannot make a pack: no usable Python files. Give other lists or folders.")
    manifest = _manifest(order, learnt, held_out, corpus)
    return _within_bounds(order, files, earlier, manifest, target, report)


def _unpacked(
    releases: Sequence[Release], downloads: Path, folder: Path, report: Report, *, learns: bool = True
) -> _Sources:
    """The wheels of *releases*, unpacked; with *learns* only of a permissive licence, and not all files."""
    wheels, missing = find_wheels(releases, downloads, report)
    refused = [wheel for wheel in wheels if learns and not wheel.is_permissive]
    by_package: dict[str, list[Wheel]] = {}
    for wheel in wheels:
        if wheel not in refused:
            by_package.setdefault(wheel.release.package, []).append(wheel)
    newest, earlier, kept, former = list[Path](), list[Path](), list[Wheel](), list[Wheel]()
    for group in by_package.values():
        by_release = {wheel.release: wheel for wheel in group}
        first, *others = newest_first(by_release)
        kept.append(by_release[first])
        newest.append(unpack(by_release[first], folder, is_whole=not learns))
        earlier += [
            unpack(by_release[release], folder, is_whole=False, same_as=newest[-1]) for release in others
        ]
        former += [by_release[release] for release in others]
    return _Sources(kept, former, newest, earlier, refused, missing)


def _earlier_texts(files: Sequence[SourceFile], folders: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """The names of *files* whose text an earlier release has in another form, with that."""
    texts = {file.name: file.text for file in files}
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(folder).as_posix()
            if name in texts and (text := usable_text(path)) is not None and text != texts[name]:
                yield name, text


def _within_bounds(
    order: Order,
    files: Sequence[SourceFile],
    earlier: Mapping[str, str],
    manifest: Mapping[str, Any],
    target: Path,
    report: Report,
) -> Pack:
    """Write a pack with as much of *files* as fits. They are encoded once, and compressed until they fit."""
    learnt = [file for file in files if file.split == "train"]
    held_out = cut_packages([file for file in files if file.split != "train"], HELD_OUT_BYTES, earlier)
    package_max = package_max_of(learnt, order.bytes_max * BYTES_OF_TEXT_PER_BYTE)
    chosen = [*held_out, *cut_packages(learnt, package_max, earlier)]
    report(f"encoding {len(chosen):,} files, {sum(len(file.text) for file in chosen) / 1e6:.0f} MB")
    tokenizer = make_tokenizer([file for file in chosen if file.split == "train"], order.vocabulary)
    whole = make_pack(tokenizer, chosen, earlier, {})
    while True:
        names = {file.name for file in chosen}
        parts = {
            split: {
                "files": sum(file.split == split for file in chosen),
                "bytes": sum(len(file.text.encode()) for file in chosen if file.split == split),
            }
            for split in ("train", "val", "ood")
        }
        limits = {
            "bytes_read_of_a_package": PACKAGE_BYTES,
            "characters_of_a_package": round(package_max),
            "files_usable": len(files),
        }
        pack = whole.of_paths(names, {**manifest, "parts": parts, "limits": limits})
        report(f"compressing {len(pack.tokens) / 1e6:.1f} M tokens")
        size = write_pack(pack, target)
        if size <= order.bytes_max:
            return pack
        report(f"{size / 2**20:.1f} MiB are too many")
        used = sum(len(file.text) for file in chosen if file.split == "train")
        package_max = package_max_of(learnt, used * order.bytes_max / size * MARGIN)
        chosen = [*held_out, *cut_packages(learnt, package_max, earlier)]


def package_max_of(files: Sequence[SourceFile], budget: float) -> float:
    """The size of a package above which it is cut, so that all packages have *budget* characters together."""
    sizes = Counter[str]()
    for file in files:
        sizes[file.package] += len(file.text)
    ordered = sorted(sizes.values())
    room = budget
    for number, size in enumerate(ordered):
        share = room / (len(ordered) - number)
        if size > share:
            return share
        room -= size
    return float(ordered[-1]) if ordered else 0.0


def cut_packages(
    files: Sequence[SourceFile], package_max: float, earlier: Mapping[str, str]
) -> list[SourceFile]:
    """Of each package as many *files* as have *package_max* characters: first those that changed."""
    used, chosen = Counter[str](), set[str]()
    for file in sorted(files, key=lambda file: (file.name not in earlier, _hash(file.name))):
        if used[file.package] + len(file.text) <= package_max:
            used[file.package] += len(file.text)
            chosen.add(file.name)
    return [file for file in files if file.name in chosen]


def _hash(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


def _manifest(order: Order, learnt: _Sources, held_out: _Sources, corpus: Corpus) -> Mapping[str, Any]:
    def described(wheel: Wheel) -> Mapping[str, str]:
        release = wheel.release
        return {
            "name": release.name,
            "version": release.version,
            "licence": wheel.licence,
            "sha256": wheel.digest,
        }

    return {
        "sources": [described(wheel) for wheel in learnt.wheels],
        "earlier": [described(wheel) for wheel in learnt.earlier_wheels],
        "folders": [path.name for path in order.folders],
        "held_out": [described(wheel) for wheel in held_out.wheels],
        "left_out": {
            "licence not known to be permissive": [wheel.release.pin for wheel in learnt.refused],
            "not on the index as a wheel": [release.pin for release in [*learnt.missing, *held_out.missing]],
            "bytes of files": dict(corpus.left_out),
        },
    }
