"""The files of an editor's URIs."""

from __future__ import annotations

from pathlib import Path, PureWindowsPath

import pytest

from fimlsp.lsp_server import workspace_files
from fimlsp.lsp_server.workspace_files import path_of


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c.py", "/a/b c.py"),
        ("vscode-notebook-cell:/a/n.ipynb#X1", "/a/n.ipynb"),
        ("untitled:Untitled-1", None),
        ("file:", None),
        ("git:/a/b.py?x", None),
        ("file://localhost/a/b.py", "/a/b.py"),
        ("file://other/share/b.py", None),
        ("vscode-notebook-cell://ssh-remote%2Bhost/a/n.ipynb#X1", "/a/n.ipynb"),
        ("http://[", None),
        ("", None),
    ],
)
def test_paths_of_uris(uri, path):
    assert path_of(uri) == (None if path is None else Path(path))


# URIs of VS Code and Neovim on Windows
ON_WINDOWS = [
    ("file:///c%3A/Users/a%20b/x.py", "c:\\Users\\a b\\x.py"),
    ("file:///C:/x.py", "C:\\x.py"),
    ("file://server/share/x.py", "\\\\server\\share\\x.py"),
    ("file://localhost/c:/x.py", "c:\\x.py"),
    ("vscode-notebook-cell:/c%3A/n.ipynb#X1", "c:\\n.ipynb"),
    ("file:///x.py", None),
    ("untitled:Untitled-1", None),
]


@pytest.mark.parametrize(("uri", "path"), ON_WINDOWS)
def test_paths_of_uris_on_windows(uri, path, monkeypatch):
    monkeypatch.setattr(workspace_files, "IS_WINDOWS", True)
    monkeypatch.setattr(workspace_files, "Path", PureWindowsPath)
    assert path_of(uri) == (None if path is None else PureWindowsPath(path))
    assert path is None or path_of(uri).is_relative_to(PureWindowsPath(path.swapcase()).parent)
