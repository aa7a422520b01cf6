"""A hostile workspace and the analysis of names: it can only hide names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from fimlsp.languages.python.names.known_names import Question
from fimlsp.lsp_server.messages import DocumentId, Workspace
from fimlsp.lsp_server.worker.file_guard import FileGuard, trusted_folders
from fimlsp.lsp_server.worker.names import NameLookup
from fimlsp.lsp_server.workspace_files import path_of

from ..local_files import write
from ..waiting import block_until


def guard_of(folder, *excluded):
    guard = FileGuard(trusted_folders(), folder / "scratch")
    guard.follow(Question(None, (folder,), excluded, b"", b"", b"", ()))
    return guard


def test_only_what_the_workspace_allows_is_read(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    write(inside, {"a.py": "", "secret/b.py": "", "large.py": "x" * 500_001, "a.txt": ""})
    write(outside, {"c.py": ""})
    (inside / "link.py").symlink_to(outside / "c.py")
    os.mkfifo(inside / "pipe.py")
    guard = guard_of(inside, "**/secret/**")
    for allowed in (inside / "a.py", os.__file__, bytes(inside / "a.py"), 3):
        guard.check("open", (str(allowed) if isinstance(allowed, Path) else allowed, "rb", os.O_RDONLY))
    for name in ("secret/b.py", "large.py", "a.txt", "link.py", "pipe.py", "../outside/c.py", "none.py"):
        with pytest.raises(FileNotFoundError):
            guard.check("open", (str(inside / name), "rb", os.O_RDONLY))


def test_only_the_workspace_is_listed(tmp_path, monkeypatch):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    write(inside, {"package/a.py": ""})
    write(outside, {"c.py": ""})
    (inside / "link").symlink_to(outside)
    monkeypatch.chdir(outside)
    guard = guard_of(inside)
    library = Path(os.__file__).parent
    for folder in (inside, inside / "package", bytes(inside), library, library / "json"):
        guard.check("os.scandir", (folder if isinstance(folder, bytes) else str(folder),))
    for folder in (tmp_path, outside, inside / "link", inside / "..", "/", None):
        with pytest.raises(FileNotFoundError):
            guard.check("os.listdir", (str(folder) if isinstance(folder, Path) else folder,))


def test_nothing_is_written_run_or_connected_to(tmp_path):
    write(tmp_path, {"a.py": ""})
    guard = guard_of(tmp_path)
    code = compile("", str(tmp_path / "a.py"), "exec")
    for event in (
        ("open", (str(tmp_path / "a.py"), "wb", os.O_WRONLY | os.O_CREAT)),
        ("import", ("evil", str(tmp_path / "evil.so"), None, None, None)),
        ("exec", (code,)),
        ("subprocess.Popen", ("ls", [], None, None)),
        ("socket.connect", (None, ("127.0.0.1", 1))),
        ("os.remove", (str(tmp_path / "a.py"), -1)),
        ("os.chmod", (str(tmp_path / "a.py"), 0, -1)),
        ("os.utime", (str(tmp_path / "a.py"), None, None, -1)),
        ("os.setxattr", (str(tmp_path / "a.py"), "user.a", b"", 0)),
        ("os.kill", (1, 9)),
        ("socket.__new__", (None, 2, 2, 0)),
        ("socket.getaddrinfo", ("example.org", 80, 0, 0, 0)),
        ("os.mkdir", (str(tmp_path / "b"), 511, -1)),
        ("os.mkdir", (str(tmp_path / "scratch" / ".." / "b"), 511, -1)),
        ("open", (str(tmp_path / "scratch" / "a"), "wb", os.O_WRONLY | os.O_CREAT)),
    ):
        with pytest.raises(PermissionError):
            guard.check(*event)
    guard.check("exec", (compile("", os.__file__, "exec"),))
    guard.check("import", ("math", None, None, None, None))
    guard.check("os.mkdir", (str(tmp_path / "scratch" / "CPython"), 511, -1))


HOSTILE = {
    "shop/__init__.py": "open('MARK', 'w')\ndef sell(order, *, price=1): ...\n",
    "conftest.py": "open('MARK', 'w')\n",
    "sitecustomize.py": "open('MARK', 'w')\n",
    "json.py": "open('MARK', 'w')\nloot = 1\n",
    "evil.abi3.so": "no library",
    "bin/buildout": "open('MARK', 'w')\n",
    ".jedi/project.json": '[1, {"path": ".", "environment_path": "bin/python"}]',
    "hidden.py": "password = 1\n",
}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes to make")
def test_a_hostile_workspace_is_read_and_not_run(tmp_path):
    write(tmp_path, HOSTILE)
    os.mkfifo(tmp_path / "pipe.py")
    names, document = NameLookup(), DocumentId(1, (tmp_path / "main.py").as_uri())
    names.enter(Workspace(1, (str(tmp_path),), ("**/hidden.py",)))
    left = b"import shop, evil, pipe, hidden, conftest, json\n"
    owners = b"shop.a, evil.a, pipe.a, hidden.a, conftest.a\n"
    try:
        known = wait_for(names, document, left + owners, b"\n")
        assert b"sell" in known.attributes[b"shop"]
        found = {
            name for names in known.attributes.values() for name in (b"password", b"loot") if name in names
        }
        assert not found
        assert b"pipe" in known.visible
    finally:
        close(names)
    assert not [*tmp_path.rglob("MARK")]


@pytest.mark.parametrize("is_writable", [True, False])
def test_names_are_found_by_who_never_ran_jedi(tmp_path, monkeypatch, is_writable):
    home, workspace = tmp_path / "home", tmp_path / "workspace"
    write(tmp_path, {"home/empty": "", "workspace/shop.py": "def sell(order): ...\n"})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ("cache" if is_writable else "empty")))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    names, document = NameLookup(), DocumentId(1, (workspace / "main.py").as_uri())
    names.enter(Workspace(1, (str(workspace),), ()))
    try:
        known = wait_for(names, document, b"import shop\nshop.", b"\n")
        assert b"sell" in known.attributes[b"shop"]
    finally:
        close(names)
    assert not [path for path in home.rglob("*") if path.suffix == ".pkl"]


def close(names):
    names._analysis.close()


def wait_for(names, document, left, right):
    def line():
        names.at(document, path_of(document.uri), left, right)
        return names._analysis._files[document].line

    block_until(lambda: line().is_done, lambda: "the names do not come")
    return line().names


def test_names_of_files_outside_are_not_found(tmp_path):
    write(tmp_path, {"outside_of_it.py": ""})
    write(tmp_path / "work" / "package", {"__init__.py": "", "inside_of_it.py": ""})
    names, document = NameLookup(), DocumentId(1, (tmp_path / "work" / "package" / "main.py").as_uri())
    names.enter(Workspace(1, (str(tmp_path / "work"),), ()))
    try:
        inside = wait_for(names, document, b"from . import ", b"\n").imports[b"."]
        outside = wait_for(names, document, b"from ... import ", b"\n").imports.get(b"...", ())
    finally:
        close(names)
    assert b"inside_of_it" in inside
    assert b"outside_of_it" not in outside
