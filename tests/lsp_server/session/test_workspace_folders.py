"""Folders of a client, and the Python of each."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from threading import Event, current_thread

import pytest

from fimlsp.lsp_server.options import running_version
from fimlsp.lsp_server.session import workspace_reads
from fimlsp.lsp_server.session.workspace_reads import MOST_READS, BackgroundRead, WorkspaceFolders

from ..local_editor import LocalEditor, LocalPool
from ..local_files import write
from ..waiting import HANG_GUARD_S, finished


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)


async def test_the_innermost_folder_counts(tmp_path):
    write(tmp_path, {".python-version": "3.9", "inner/.python-version": "3.12"})
    changed = asyncio.Event()
    folders = WorkspaceFolders(changed.set)
    folders.add([tmp_path.as_uri(), (tmp_path / "inner").as_uri(), "vscode-vfs://github/x"])
    folders.read()
    assert folders.python_of((tmp_path / "a.py").as_uri()) == running_version(), "not known yet"
    await finished(changed.wait())
    assert folders.python_of((tmp_path / "a.py").as_uri()) == (3, 9)
    assert folders.python_of((tmp_path / "inner" / "deep" / "a.py").as_uri()) == (3, 12)
    assert folders.python_of("file:///elsewhere/a.py") == running_version()
    assert folders.python_of("untitled:Untitled-1") == running_version()
    folders.remove([tmp_path.as_uri()])
    assert folders.python_of("untitled:Untitled-1") == (3, 12)


async def test_an_older_look_does_not_count_any_more(monkeypatch):
    asked, first, readers = Event(), Event(), []

    def older_look():
        readers.append(current_thread())
        asked.set()
        return first.wait(HANG_GUARD_S) and (3, 8)

    seen = iter([older_look, lambda: (3, 12)])
    monkeypatch.setattr(workspace_reads, "version_of_workspace", lambda _: next(seen)())
    changed = asyncio.Event()
    folders = WorkspaceFolders(changed.set)
    folders.read()
    assert await asyncio.to_thread(asked.wait, HANG_GUARD_S)
    folders.read()
    await finished(changed.wait())
    first.set()
    await asyncio.to_thread(readers[0].join)
    await asyncio.sleep(0)  # its result, if any, is taken before this returns
    assert folders.python_of("untitled:x") == (3, 12)


async def test_files_that_never_come_do_not_keep_a_client_waiting(tmp_path, monkeypatch):
    """Neither a pipe without a writer nor a file system that hangs."""
    os.mkfifo(tmp_path / ".python-version")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "pyvenv.cfg").symlink_to("/dev/stdin")
    hangs = Event()
    found = workspace_reads.version_of_workspace
    monkeypatch.setattr(
        workspace_reads, "version_of_workspace", lambda folder: hangs.wait() and found(folder)
    )
    editor = LocalEditor(LocalPool(), {"minLength": 0})
    await editor.start()
    editor.session.change_folders([tmp_path.as_uri()])
    uri = (tmp_path / "a.py").as_uri()
    editor.open("x<|>", uri=uri)
    assert await editor.suggestion(uri=uri) == "scripted v1 'x' ''"
    hangs.set()
    await editor.session.close()


async def test_many_reads_take_few_threads_and_the_newest_counts():
    may_read, done, read, threads = Event(), asyncio.Event(), [], set()

    def wait_and_read(number):
        threads.add(current_thread())
        may_read.wait(HANG_GUARD_S)
        read.append(number)
        return number

    async def all_have_read():
        while len(read) <= MOST_READS:
            await asyncio.sleep(0.01)

    results = []
    reads = BackgroundRead(lambda number: (results.append(number), done.set()))
    for number in range(500):
        reads.start(partial(wait_and_read, number))
    may_read.set()
    await finished(done.wait())
    await finished(all_have_read())
    assert results == [499]
    assert len(threads) == len(read) == MOST_READS + 1
