"""Reads a user-defined family from a file: `fim.json` beside a checkpoint, or one given as the family.

For example, with the slots `{left}`, `{right}`, `{files}` and `{here}` (see `families.py`):

    {"name": "Mine", "psm": ["<PRE>", "{left}", "<SUF>", "{right}", "<MID>"], "stops": ["<EOT>"]}

`spm` is the prompt with the suffix first, `files` how other files are written: `begin`, `file` with
`{path}` and `{text}`, `end`, and `here` with `{path}`. `{comment}` and `{end}` are what begins and ends a
remark in the language of the files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fimlsp.models.checkpoints.regular_files import read_bounded
from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.families import LEFT, RIGHT, SLOTS, Family, Project, Template

FILE_NAME = "fim.json"
BYTES_MAX = 64 << 10
_KEYS = ("name", "psm", "spm", "stops", "files")
_PARTS = ("begin", "file", "end", "here")


def family_beside(folder: Path) -> Family | None:
    """The family that a checkpoint's *folder* describes; None if it describes none.

    Raises:
        ModelError: its file is not as described above.
    """
    path = folder / FILE_NAME
    return read_family(path) if path.exists() else None


def chosen_family(family: str | None, folder: Path) -> str | Family | None:
    """What to take for *family*: the name of one, or what a file with that path or beside a model describes.

    Raises:
        ModelError: a file is not as described above.
    """
    if family is None:
        return family_beside(folder)
    return read_family(Path(family).expanduser()) if family.endswith(".json") else family


def read_family(path: Path) -> Family:
    """The family that the file *path* describes.

    Raises:
        ModelError: it cannot be read, or is not as described above.
    """
    try:
        found = json.loads(read_bounded(path, BYTES_MAX))
        return _family(found)
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(
            f"{path.name} does not describe a family ({error}); docs/models.md has an example."
        ) from error


def _family(found: object) -> Family:
    if not isinstance(found, Mapping):
        raise ValueError("it is no JSON object")
    unknown = [key for key in found if key not in _KEYS]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is none of {', '.join(_KEYS)}")
    psm, spm = _prompt(found, "psm"), _prompt(found, "spm")
    if psm is None and spm is None:
        raise ValueError("it has neither psm nor spm")
    stops = _texts(found, "stops")
    if not stops:
        raise ValueError("stops names no token")
    name = found.get("name", "own")
    if not isinstance(name, str) or not name:
        raise ValueError("name is no text")
    return Family(name, psm, spm, stops, _project(found.get("files", {})))


def _prompt(found: Mapping[str, Any], key: str) -> Template | None:
    if found.get(key) is None:
        return None
    prompt = _texts(found, key)
    for slot in (LEFT, RIGHT):
        if prompt.count(slot) != 1:
            raise ValueError(f"{key} needs {slot} once")
    if any(prompt.count(slot) > 1 for slot in SLOTS):
        raise ValueError(f"{key} has a slot twice")
    if len(prompt) == sum(part in SLOTS for part in prompt):
        raise ValueError(f"{key} has no marker")
    return prompt


def _project(found: object) -> Project:
    if not isinstance(found, Mapping):
        raise ValueError("files is no JSON object")
    unknown = [key for key in found if key not in _PARTS]
    if unknown:
        raise ValueError(f"files.{unknown[0]} is none of {', '.join(_PARTS)}")
    return Project(**{key: _texts(found, key) for key in found})


def _texts(found: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = found.get(key)
    if not isinstance(value, list) or not all(isinstance(part, str) and part for part in value):
        raise ValueError(f"{key} is no list of texts")
    return tuple(value)
