"""The scripts of a game: checked in the order of their dependencies, and translated once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.interface import Interface, extended, read_interface
from fimlsp.languages.slua.runtime import Translation, translate

HERE = Path(__file__).parents[1]
KINDS = {"effects": "effect", "talents": "talent"}
"""The kind of the scripts in a folder, by its name. Effects come before the talents that may use them."""


@dataclass(frozen=True, slots=True)
class Script:
    """A valid script.

    Attributes:
        name: of its file, without the suffix.
        kind: `effect` or `talent`.
        text: its source.
        lua: its translation.
        is_generated: True if a model wrote it.
    """

    name: str
    kind: str
    text: str
    lua: Translation
    is_generated: bool = False


@dataclass(frozen=True)
class Library:
    """Scripts in the order in which they run, the interface that they extend, and the faults of others."""

    interface: Interface
    scripts: tuple[Script, ...] = ()
    faults: tuple[str, ...] = ()

    def with_scripts(self, paths: Iterable[Path]) -> Library:
        """With the scripts at *paths*, all of one kind. Scripts with faults are left out.

        A script may use an effect that comes later in the alphabet. So scripts with faults are checked
        again as long as others turned out valid.
        """
        library, waiting = self, sorted(paths)
        while waiting:
            refused: list[Path] = []
            faults: list[str] = []
            for path in waiting:
                found = library._with_script(path)
                if isinstance(found, Library):
                    library = found
                else:
                    refused.append(path)
                    faults += found
            if len(refused) == len(waiting):
                return Library(library.interface, library.scripts, (*library.faults, *faults))
            waiting = refused
        return library

    def _with_script(self, path: Path) -> Library | Sequence[str]:
        name, kind, text = path.stem, KINDS[path.parent.name], path.read_text("utf-8")
        if any(script.name == name and script.kind == kind for script in self.scripts):
            return [f"{path}: there is already a {kind} `{name}`"]
        checked = check_script(text, self.interface, kind)
        if checked.faults:
            return [f"{path}:{fault}" for fault in checked.faults]
        script = Script(name, kind, text, translate(checked), "generated" in path.parts)
        interface = extended(self.interface, self.interface.roots[kind], name, checked.interface)
        return Library(interface, (*self.scripts, script), self.faults)


def load_library(*, generated: bool = True, folder: Path = HERE) -> Library:
    """The scripts in the folders of *folder*; with *generated* also those that a model wrote."""
    library = Library(read_interface((HERE / "interface.txt").read_text("utf-8"), "interface.txt"))
    for part in (folder, folder / "generated") if generated else (folder,):
        for kind in KINDS:
            library = library.with_scripts((part / kind).glob("*.slua"))
    return library
