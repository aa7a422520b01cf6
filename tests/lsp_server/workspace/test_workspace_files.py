"""Files of a workspace, read for context."""

from __future__ import annotations

from fimlsp.lsp_server.workspace_files import workspace_files

from ..local_files import write


def test_a_file_is_read_again_when_it_changed(tmp_path):
    write(tmp_path, {"a.py": "one = 1\n", "large.py": "x" * 500_001, "a.txt": ""})
    files = workspace_files((str(tmp_path),), ())
    assert files.read(tmp_path / "a.py") == b"one = 1\n"
    write(tmp_path, {"a.py": "three = 3\n"})
    assert files.read(tmp_path / "a.py") == b"three = 3\n"
    for name in ("large.py", "a.txt", "none.py", "../a.py"):
        assert files.read(tmp_path / name) is None
