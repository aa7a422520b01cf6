"""Turns an editor's name for a document into the path of its file."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

CELL_SCHEME = "vscode-notebook-cell"


def path_of(uri: str) -> Path | None:
    """The absolute path of the file (for a cell, of its notebook); None for buffers without one."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = Path(url2pathname(parts.path)) if parts.scheme in ("file", CELL_SCHEME) else None
    return path if path is not None and path.is_absolute() else None


def is_cell(uri: str) -> bool:
    """Whether *uri* says by itself that it names a cell of a notebook."""
    return uri.startswith(CELL_SCHEME + ":")
