"""Which other files a completion learns from: those of the project, and edited documents as they are."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from fimlsp.languages.json import json
from fimlsp.languages.python import Python
from fimlsp.lsp_server.messages import Workspace
from fimlsp.lsp_server.worker.engine_documents import DocumentEntry
from fimlsp.lsp_server.worker.other_files import RECENT_WEIGHT, OtherFiles

from ..local_files import write

MIXED = SimpleNamespace(uses_buffer=True, fim=SimpleNamespace(reads_files=False))
READS = SimpleNamespace(uses_buffer=False, fim=SimpleNamespace(reads_files=True))
PYTHON = Python()


@pytest.fixture
def files(tmp_path):
    write(tmp_path, {"a.py": "alpha = saved_name\n", "here.py": ""})
    other_files = OtherFiles(Workspace(1, (str(tmp_path),), ()))
    yield other_files
    other_files.end()
    other_files._project.wait()


def entry(path, text="", edited_at=None, grammar=PYTHON):
    return DocumentEntry(path, False, 1, text.encode(), grammar, grammar.editor, edited_at=edited_at)


def suggested(files, here, opened, written="alpha = ", recent=()):
    files.context(MIXED, here, opened, 512)
    files._project.wait()
    found = files.context(MIXED, here, opened, 512, recent=recent).elsewhere.after(written.encode())
    return [match.text.decode() for match in found if match.agreement == len(written)]


def test_what_was_edited_counts_as_it_is(files, tmp_path):
    here, path = entry(tmp_path / "here.py"), tmp_path / "a.py"
    edited = entry(path, "alpha = new_name\n", 3)
    assert suggested(files, here, []) == ["saved_name\n"]
    assert suggested(files, here, [replace(edited, edited_at=None)]) == ["saved_name\n"]
    assert suggested(files, here, [edited]) == ["new_name\n"]
    assert suggested(files, here, [replace(edited, grammar=json, policy=json.editor)]) == ["saved_name\n"]


def test_the_last_changes_count_more(files, tmp_path):
    here, recent = entry(tmp_path / "here.py"), [b"alpha = newest\n"]
    assert suggested(files, here, [], recent=recent) == ["newest\n", "saved_name\n"]
    found = files.context(MIXED, here, [], 512, recent=recent).elsewhere.after(b"alpha = ")
    assert [match.weight for match in found][:2] == [RECENT_WEIGHT, 1.0]


def test_a_text_without_a_file_has_open_documents_only(files, tmp_path):
    edited = entry(tmp_path / "a.py", "alpha = new_name\n", 3)
    assert suggested(files, entry(None), [edited]) == ["new_name\n"]
    assert suggested(files, entry(None), []) == []


def test_only_around_the_last_edit_is_looked(files):
    text = "alpha = far_away\n" + "x = 1\n" * 20_000 + "alpha = near_by\n"
    assert suggested(files, entry(None), [entry(None, text, len(text) - 2)]) == ["near_by\n"]


def test_a_model_is_told_what_it_can_use(files, tmp_path):
    here = entry(tmp_path / "here.py", "from a import *\n")
    mixed, reading = (files.context(model, here, [], 512) for model in (MIXED, READS))
    assert (mixed.path, mixed.neighbours) == (None, [])
    assert (reading.path, [match.path for match in reading.neighbours]) == ("here.py", ["a.py"])
    assert reading.elsewhere is None
