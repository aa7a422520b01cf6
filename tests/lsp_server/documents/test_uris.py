"""The files of an editor's URIs."""

from __future__ import annotations

from pathlib import Path

import pytest

from fimlsp.lsp_server.workspace_files import path_of


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c.py", "/a/b c.py"),
        ("vscode-notebook-cell:/a/n.ipynb#X1", "/a/n.ipynb"),
        ("untitled:Untitled-1", None),
        ("file:", None),
        ("git:/a/b.py?x", None),
        ("http://[", None),
        ("", None),
    ],
)
def test_paths_of_uris(uri, path):
    assert path_of(uri) == (None if path is None else Path(path))
