"""Reads a user-defined family from a file: `fim.json` beside a checkpoint, or the file given as the family.

For example, with the placeholders `{left}`, `{right}`, `{files}` and `{here}` (see `families.py`):

    {"name": "Mine", "psm": ["<PRE>", "{left}", "<SUF>", "{right}", "<MID>"], "stops": ["<EOT>"]}

`spm` is the prompt with the suffix first. `files` is the format of other files: `begin`, `file` with `{path}`
and `{text}`, `end`, and `here` with `{path}`. `{comment}` and `{end}` start and end a comment in the language
of the files.
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
    """The family that a checkpoint's *folder* describes; None if it has no description.

    Raises:
        ModelError: the description is invalid.
    """
    path = folder / FILE_NAME
    return read_family(path) if path.exists() else None


def chosen_family(family: str | None, folder: Path) -> str | Family | None:
    """The family to use: that of the file *family*, the name *family*, or the one that *folder* describes.

    Raises:
        ModelError: a description is invalid.
    """
    if family is None:
        return family_beside(folder)
    return read_family(Path(family).expanduser()) if family.endswith(".json") else family


def read_family(path: Path) -> Family:
    """The family that the file *path* describes.

    Raises:
        ModelError: the file is unreadable, or the description is invalid.
    """
    try:
        return _family(json.loads(read_bounded(path, BYTES_MAX)))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(
            f"Cannot read a family from {path.name}: {error}. See the example in docs/models.md."
        ) from error


def _family(description: object) -> Family:
    if not isinstance(description, Mapping):
        raise ValueError("not a JSON object")
    unknown = [key for key in description if key not in _KEYS]
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}; the keys are {', '.join(_KEYS)}")
    psm, spm = _prompt(description, "psm"), _prompt(description, "spm")
    if psm is None and spm is None:
        raise ValueError("both psm and spm are missing")
    stops = _texts(description, "stops")
    if not stops:
        raise ValueError("stops is empty")
    name = description.get("name", "own")
    if not isinstance(name, str) or not name:
        raise ValueError("name is not a text")
    return Family(name, psm, spm, stops, _project(description.get("files", {})))


def _prompt(description: Mapping[str, Any], key: str) -> Template | None:
    if description.get(key) is None:
        return None
    prompt = _texts(description, key)
    for slot in (LEFT, RIGHT):
        if prompt.count(slot) != 1:
            raise ValueError(f"{key} needs {slot} once")
    if any(prompt.count(slot) > 1 for slot in SLOTS):
        raise ValueError(f"duplicate placeholder in {key}")
    if len(prompt) == sum(part in SLOTS for part in prompt):
        raise ValueError(f"{key} has no marker")
    return prompt


def _project(description: object) -> Project:
    if not isinstance(description, Mapping):
        raise ValueError("files is not a JSON object")
    unknown = [key for key in description if key not in _PARTS]
    if unknown:
        raise ValueError(f"unknown key files.{unknown[0]}; the keys are {', '.join(_PARTS)}")
    return Project(**{key: _texts(description, key) for key in description})


def _texts(description: Mapping[str, Any], key: str) -> tuple[str, ...]:
    texts = description.get(key)
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise ValueError(f"{key} is not a list of texts")
    return tuple(texts)
