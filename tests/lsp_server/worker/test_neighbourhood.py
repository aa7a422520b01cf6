"""The text of other files that the model reads."""

from __future__ import annotations

import pytest

from fimlsp.lsp_server.worker.neighbour_texts import OpenFile, neighbours_of
from fimlsp.lsp_server.workspace_files import workspace_files

from ..local_files import write

PROJECT = {
    "pkg/__init__.py": "from .core import Engine\n",
    "pkg/core.py": "class Engine:\n    def run(self): pass\n\ndef other(): pass\n",
    "pkg/sub/deep.py": "def dig(): pass\n",
    "src/lib.py": "VALUE = 1\n",
    "secret/key.py": "KEY = 'secret'\n",
    "pkg/main.py": "",
}


# the text of pkg/main.py, and the files that it brings along, with a word of each
BROUGHT = [
    ("from .core import Engine", [("pkg/core.py", "class Engine")]),
    ("from pkg import Engine", [("pkg/core.py", "class Engine")]),
    ("from pkg.core import other", [("pkg/core.py", "def other")]),
    ("from .sub import deep", [("pkg/sub/deep.py", "def dig")]),
    ("from . import core", [("pkg/core.py", "class Engine")]),
    ("import lib\nimport pkg.sub.deep", [("pkg/sub/deep.py", "def dig"), ("src/lib.py", "VALUE")]),
    ("from secret.key import KEY", []),
    ("from outside import x", []),
    ("import os, sys\nfrom ...... import y\nfrom .nothing import z", []),
    ("from link import x", []),
]


@pytest.mark.parametrize(("source", "brought"), BROUGHT)
def test_definitions_of_what_is_imported_come_along(tmp_path, source, brought):
    root = tmp_path / "root"
    write(root, PROJECT)
    write(tmp_path, {"outside.py": "x = 1\n"})
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    files = workspace_files((str(root),), ("**/secret/**",))
    found = neighbours_of(root / "pkg" / "main.py", source.encode(), [], files, 100)
    assert [(neighbour.path, word) for neighbour, (_, word) in zip(found, brought, strict=True)] == brought
    assert all(word.encode() in neighbour.text for neighbour, (_, word) in zip(found, brought, strict=True))


def test_open_documents_count_as_they_are_and_recent_edits_come_along(tmp_path):
    write(tmp_path, {"a.py": "OLD = 1\n", "b.py": ""})
    others = [
        OpenFile(tmp_path / "a.py", b"NEW = 2\n", None),
        OpenFile(None, b"scratch = 3\n" * 1000, 6000),
        OpenFile(tmp_path / "c.py", b"", None),
    ]
    files = workspace_files((str(tmp_path),), ())
    found = neighbours_of(tmp_path / "b.py", b"from a import *", others, files, 1000)
    assert [neighbour.path for neighbour in found] == ["a.py", "untitled.py", "a.py"]
    assert found[0].text == b"NEW = 2\n"
    assert 0 < len(found[1].text) <= 1600
    assert found[1].text.startswith(b"scratch = 3\n")
    assert sum(len(neighbour.text) for neighbour in found) <= 4000
    assert neighbours_of(tmp_path / "b.py", b"from a import *", others, files, 0) == []
