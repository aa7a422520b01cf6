"""Folders of a client, and the Python of each."""

from __future__ import annotations

import asyncio
import os
from threading import Event

import pytest

from fimlsp.lsp_server.python.environments import running_version
from fimlsp.lsp_server.session import workspace_folders
from fimlsp.lsp_server.session.workspace_folders import WorkspaceFolders

from ..local_editor import LocalEditor, LocalPool
from ..local_files import write


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)


async def test_the_innermost_folder_counts(tmp_path):
    write(tmp_path, {".python-version": "3.9", "inner/.python-version": "3.12"})
    changed = asyncio.Event()
    folders = WorkspaceFolders(changed.set)
    folders.add([tmp_path.as_uri(), (tmp_path / "inner").as_uri(), "vscode-vfs://github/x"])
    folders.look()
    assert folders.python_of((tmp_path / "a.py").as_uri()) == running_version(), "not known yet"
    await asyncio.wait_for(changed.wait(), 60)
    assert folders.python_of((tmp_path / "a.py").as_uri()) == (3, 9)
    assert folders.python_of((tmp_path / "inner" / "deep" / "a.py").as_uri()) == (3, 12)
    assert folders.python_of("file:///elsewhere/a.py") == running_version()
    assert folders.python_of("untitled:Untitled-1") == running_version()
    folders.remove([tmp_path.as_uri()])
    assert folders.python_of("untitled:Untitled-1") == (3, 12)


async def test_an_older_look_does_not_count_any_more(monkeypatch):
    asked, first = Event(), Event()

    def older_look():
        asked.set()
        return first.wait(10) and (3, 8)

    seen = iter([older_look, lambda: (3, 12)])
    monkeypatch.setattr(workspace_folders, "version_of_workspace", lambda _: next(seen)())
    changed = asyncio.Event()
    folders = WorkspaceFolders(changed.set)
    folders.look()
    assert await asyncio.to_thread(asked.wait, 10)
    folders.look()
    await asyncio.wait_for(changed.wait(), 60)
    first.set()
    await asyncio.sleep(0.05)
    assert folders.python_of("untitled:x") == (3, 12)


async def test_files_that_never_come_do_not_keep_a_client_waiting(tmp_path, monkeypatch):
    """Neither a pipe that nobody writes to nor a file system that hangs."""
    os.mkfifo(tmp_path / ".python-version")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "pyvenv.cfg").symlink_to("/dev/stdin")
    hangs = Event()
    found = workspace_folders.version_of_workspace
    monkeypatch.setattr(
        workspace_folders, "version_of_workspace", lambda folder: hangs.wait() and found(folder)
    )
    editor = LocalEditor(LocalPool(), {"minLength": 0})
    await editor.start()
    editor.session.change_folders([tmp_path.as_uri()])
    uri = (tmp_path / "a.py").as_uri()
    editor.open("x<|>", uri=uri)
    assert await editor.suggestion(uri=uri) == "scripted v1 'x' ''"
    hangs.set()
    await editor.session.close()
