"""Which files the globs of the option `exclude` mean."""

from __future__ import annotations

from pathlib import PurePath

import pytest
from fimlsp.lsp_server.workspace.exclusions import is_excluded

EXCLUDED = [
    ("*_pb2.py", "/a/b/x_pb2.py", True),
    ("*_pb2.py", "/a/b_pb2.py/x.py", False),
    ("**/migrations/**", "/a/migrations/x.py", True),
    ("**/migrations/**", "/a/my_migrations/x.py", False),
    ("src/*.py", "/a/src/x.py", True),
    ("src/*.py", "/a/src/b/x.py", False),
    ("src/**/x.py", "/a/src/x.py", True),
    ("/a/**", "/a/b/c.py", True),
    ("/a/*", "/a/b/c.py", False),
    ("*.{py,pyi}", "/a/x.pyi", True),
    ("x[0-9].py", "/q/x5.py", True),
    ("x[!0-9].py", "/q/x5.py", False),
    ("x?.py", "/q/x5.py", True),
    ("x?.py", "/q/x.py", False),
    ("[", "/a/[", True),
    ("a{b", "/q/a{b", True),
    ("[z-a]", "/q/b", False),
    ("", "/q/b", False),
]


@pytest.mark.parametrize(("glob", "path", "verdict"), EXCLUDED)
def test_globs(glob, path, verdict):
    assert is_excluded(PurePath(path), ("other", glob)) is verdict
    assert not is_excluded(PurePath(path), ())
