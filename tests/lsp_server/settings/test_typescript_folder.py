"""The option `typescript`: the program of a folder, or one sentence with the remedy."""

from __future__ import annotations

import os
import re

import pytest

from fimlsp.lsp_server.session.workspace_reads import compiler_of

from ...languages.typescript.checker.test_compiler import installed


def test_a_folder_by_its_path_and_in_the_opened_folder(tmp_path, monkeypatch):
    program = installed(tmp_path / "own", "node_modules/@typescript")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for name, folders in [
        (str(tmp_path / "own"), ()),
        ("~/own", ()),
        (".", (str(tmp_path / "own"),)),
        ("own", (str(tmp_path), "/elsewhere")),
    ]:
        assert compiler_of(name, folders) == program.resolve()


@pytest.mark.parametrize("name", ["nowhere", "a\0b", "~nobody-of-this-name/a", "x" * 5_000, "loop/a"])
@pytest.mark.parametrize("is_opened", [True, False])
def test_a_bad_folder_is_one_sentence_with_the_remedy(tmp_path, name, is_opened):
    if os.name == "posix":
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
    told = compiler_of(name, (str(tmp_path),) if is_opened else ())
    assert isinstance(told, str)
    assert re.fullmatch(r"Cannot check types: .+\. Do .+\(option typescript\)\.?", told), told
    assert "\0" not in told
