"""Folders of a client, and the Python of each."""

from __future__ import annotations

from fimlsp.lsp_server.session.workspace_folders import WorkspaceFolders

from ..local_files import write


def test_the_innermost_folder_counts(tmp_path, monkeypatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    write(tmp_path, {".python-version": "3.9", "inner/.python-version": "3.12"})
    folders = WorkspaceFolders()
    folders.add([tmp_path.as_uri(), (tmp_path / "inner").as_uri(), "vscode-vfs://github/x"])
    assert folders.python_of((tmp_path / "a.py").as_uri()) == (3, 9)
    assert folders.python_of((tmp_path / "inner" / "deep" / "a.py").as_uri()) == (3, 12)
    assert folders.python_of("file:///elsewhere/a.py") == (3, 11)
    assert folders.python_of("untitled:Untitled-1") == (3, 11)
    folders.remove([tmp_path.as_uri()])
    assert folders.python_of("untitled:Untitled-1") == (3, 12)
