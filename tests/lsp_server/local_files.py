"""A folder of files for a test."""

from __future__ import annotations


def write(folder, files):
    """Make *files*, texts by path, in *folder*."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="latin-1")
