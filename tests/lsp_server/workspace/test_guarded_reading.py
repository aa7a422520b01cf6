"""Only regular files of a bounded size are read, and nothing is ever waited for."""

from __future__ import annotations

import os

import pytest

from fimlsp.lsp_server.options import running_version
from fimlsp.lsp_server.session.workspace_reads import version_of_workspace
from fimlsp.lsp_server.workspace_files import read_regular_file, workspace_files


def fifo(path):
    os.mkfifo(path)


def link_to(target):
    return lambda path: path.symlink_to(target)


HOSTILE = {
    "a pipe": fifo,
    "a device": link_to("/dev/zero"),
    "standard input": link_to("/dev/stdin"),
    "a descriptor": link_to("/proc/self/fd/0"),
    "a folder": os.mkdir,
    "too large": lambda path: path.write_bytes(b"3.12" + b" " * 1_000_000),
    "a circle": lambda path: path.symlink_to(path),
    "nothing": lambda _: None,
}


@pytest.fixture(autouse=True)
def open_input():
    """Standard input as in a server: a pipe without a writer."""
    reader, writer = os.pipe()
    before = os.dup(0)
    os.dup2(reader, 0)
    yield
    os.dup2(before, 0)
    for descriptor in (reader, writer, before):
        os.close(descriptor)


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("name", [".python-version", ".venv/pyvenv.cfg", "a.py"])
def test_hostile_files_tell_nothing_and_nobody_waits(tmp_path, name, make):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    make(path)
    assert version_of_workspace(tmp_path, {}) == running_version()
    assert workspace_files((str(tmp_path),), ()).read(path) is None
    try:
        assert read_regular_file(path, 1000) is None
    except OSError:
        assert make in (HOSTILE["a circle"], HOSTILE["nothing"])


def test_a_regular_file_and_a_link_to_it_are_read(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert read_regular_file(tmp_path / "b", 3) == b"abc"
    assert read_regular_file(tmp_path / "b", 2) is None


def test_of_many_large_files_only_a_few_are_kept(tmp_path):
    files = workspace_files((str(tmp_path),), ())
    for number in range(30):
        (tmp_path / f"m{number}.py").write_bytes(b"#" * 400_000)
        assert files.read(tmp_path / f"m{number}.py")
    assert sum(len(data) for _, data in files._known.values()) <= 10_000_000
