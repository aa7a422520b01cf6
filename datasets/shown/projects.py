"""What stands in the other files of a package, as the server has it indexed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePath

from fimlsp.datasets.shown.cursors import EditedFile
from fimlsp.models.networks.precedents import Precedents
from fimlsp.models.networks.text_index import TextIndex


class Projects:
    """*files* by the folder that they were found in; each folder is indexed when it is first asked about."""

    def __init__(self, files: Sequence[EditedFile]) -> None:
        self._files = defaultdict[str, dict[str, bytes]](dict)
        for each in files:
            self._files[_project_of(each)][each.file.name] = each.file.content.encode()
        self._indexes: dict[str, TextIndex] = {}

    def elsewhere(self, file: EditedFile) -> Precedents:
        """What stands in the other files of the folder of *file*."""
        name = _project_of(file)
        if name not in self._indexes:
            self._indexes[name] = TextIndex(self._files[name])
        return self._indexes[name].without([file.file.name])


def _project_of(file: EditedFile) -> str:
    return PurePath(file.file.name).parts[0]
