"""Indexed files of a project, and files that are left out."""

from __future__ import annotations

import os
import threading

import pytest

from fimlsp.languages.python.missing_names.import_table import Origin, origins
from fimlsp.lsp_server.worker import project_texts
from fimlsp.lsp_server.worker.project_texts import ProjectTexts
from fimlsp.lsp_server.workspace_files import workspace_files
from fimlsp.models.networks.matches import CombinedSources
from fimlsp.processes.bounded import BoundedProcess, BoundExceededError, Bounds

from ..local_files import write

PROJECT = {
    "pkg/a.py": "alpha = one_long_name\n",
    "pkg/sub/b.py": "beta = two_long_name\n",
    "pkg/here.py": "here = own_name\n",
    "other/c.py": "gamma = three_long_name\n",
    "secret/key.py": "key = 's3cret'\n",
    "notes.txt": "alpha = not_code\n",
    ".hidden/d.py": "delta = hidden\n",
    "env/pyvenv.cfg": "",
    "env/lib/e.py": "epsilon = installed\n",
    "node_modules/f.py": "zeta = foreign\n",
    "__pycache__/g.py": "eta = cached\n",
    "empty.py": "",
}


@pytest.fixture
def project(tmp_path):
    write(tmp_path, PROJECT)
    texts = ProjectTexts(workspace_files((str(tmp_path),), ("**/secret/**",)))
    yield texts
    texts.end()
    texts.wait()


def followed(project, path, written, opened=()):
    """The texts after *written* in the project of the file at *path*, once all of it is indexed."""
    project.elsewhere(path, opened)
    project.wait()
    found = CombinedSources(project.elsewhere(path, opened)).after(written.encode())
    project.wait()  # without a rest between two readings, the question has begun another
    return [match.text.decode() for match in found if match.agreement == len(written)]


# a text in pkg/here.py, and the texts that follow it in other files of the project
FOLLOWED = [
    ("alpha = ", ["one_long_name\n"]),
    ("beta = ", ["two_long_name\n"]),
    ("gamma = ", ["three_long_name\n"]),
    ("here = ", []),
    ("key = ", []),
    ("delta = ", []),
    ("epsilon = ", []),
    ("zeta = ", []),
    ("eta = ", []),
]


@pytest.mark.parametrize(("written", "expected"), FOLLOWED)
def test_what_stands_in_other_files(project, tmp_path, written, expected):
    if written == "eta = ":
        written = "\n" + written  # beta ends with it too
    assert followed(project, tmp_path / "pkg" / "here.py", written) == expected


def test_what_other_files_import_and_define(project, tmp_path):
    here = tmp_path / "pkg" / "here.py"
    project.imports(here)
    project.wait()
    found = [
        origins(project.imports(here), name, here, is_relative=False) for name in (b"beta", b"own", b"key")
    ]
    project.wait()
    assert [list(match) for match in found] == [[Origin(b"b", b"beta")], [], []]


def test_of_folders_within_each_other_the_inner_one_counts(tmp_path):
    write(tmp_path, PROJECT)
    texts = ProjectTexts(workspace_files((str(tmp_path), str(tmp_path / "pkg")), ()))
    assert followed(texts, tmp_path / "pkg" / "here.py", "alpha = ") == ["one_long_name\n"]
    assert followed(texts, tmp_path / "pkg" / "here.py", "gamma = ") == []
    texts.end()


def test_what_is_open_is_left_out(project, tmp_path):
    here, opened = tmp_path / "pkg" / "here.py", tmp_path / "pkg" / "a.py"
    assert followed(project, here, "alpha = ", [opened]) == []
    assert followed(project, here, "beta = ", [opened]) == ["two_long_name\n"]


def test_the_file_itself_may_be_named_by_a_link(project, tmp_path):
    link = tmp_path / "link.py"
    link.symlink_to(tmp_path / "pkg" / "here.py")
    assert followed(project, link, "here = ") == []


def test_a_file_outside_has_no_project(project, tmp_path):
    assert project.elsewhere(tmp_path.parent / "x.py", ()) == []


def test_what_has_changed_is_read_again_in_time(project, tmp_path, monkeypatch):
    here = tmp_path / "pkg" / "here.py"
    assert followed(project, here, "alpha = ") == ["one_long_name\n"]
    write(tmp_path, {"pkg/a.py": "alpha = a_new_name\n", "new.py": "theta = later\n"})
    assert followed(project, here, "alpha = ") == ["one_long_name\n"], "not before a minute has passed"
    monkeypatch.setattr(project_texts, "REFRESH_S", 0)
    assert followed(project, here, "alpha = ") == ["a_new_name\n"]
    assert followed(project, here, "theta = ") == ["later\n"]


def test_an_index_of_unchanged_files_is_kept(project, tmp_path, monkeypatch):
    monkeypatch.setattr(project_texts, "INDEX_BYTES", 25)
    monkeypatch.setattr(project_texts, "REFRESH_S", 0)
    here = tmp_path / "pkg" / "here.py"
    followed(project, here, "")
    (folder,) = project._folders.values()
    before = dict(folder.indexes)
    write(tmp_path, {"other/c.py": "gamma = changed_now_to\n"})
    followed(project, here, "")
    assert len(before) == len(folder.indexes) == 4
    kept = [group for group, index in folder.indexes.items() if before.get(group) is index]
    assert [[file.path.name for file in group] for group in kept] == [["a.py"], ["here.py"], ["b.py"]]


def test_of_a_large_project_what_is_near_is_read(project, tmp_path, monkeypatch):
    monkeypatch.setattr(project_texts, "MOST_BYTES", 45)
    here = tmp_path / "pkg" / "here.py"
    assert followed(project, here, "alpha = ") == ["one_long_name\n"]
    assert followed(project, here, "gamma = ") == []


def test_a_folder_of_too_many_files_is_not_walked_to_its_end(project, tmp_path, monkeypatch):
    monkeypatch.setattr(project_texts, "MOST_ENTRIES", 3)
    assert followed(project, tmp_path / "pkg" / "here.py", "alpha = ") == []


def test_deep_folders_are_left_out(project, tmp_path, monkeypatch):
    monkeypatch.setattr(project_texts, "MOST_LEVELS", 1)
    assert followed(project, tmp_path / "pkg" / "here.py", "alpha = ") == ["one_long_name\n"]
    assert followed(project, tmp_path / "pkg" / "here.py", "beta = ") == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_pipes_and_links_to_elsewhere_are_not_read(project, tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    write(tmp_path.parent, {"outside.py": "omega = outside\n"})
    (tmp_path / "out.py").symlink_to(tmp_path.parent / "outside.py")
    here = tmp_path / "pkg" / "here.py"
    assert followed(project, here, "omega = ") == []
    assert followed(project, here, "alpha = ") == ["one_long_name\n"]


def test_nothing_is_read_after_the_end(project, tmp_path):
    project.end()
    assert followed(project, tmp_path / "pkg" / "here.py", "alpha = ") == []


def test_a_question_does_not_wait_for_the_reading(project, tmp_path, monkeypatch):
    may_read = threading.Event()
    ask = BoundedProcess.ask

    def slowly(*arguments):
        may_read.wait()
        return ask(*arguments)

    monkeypatch.setattr(BoundedProcess, "ask", slowly)
    here = tmp_path / "pkg" / "here.py"
    assert project.elsewhere(here, ()) == []
    assert project.elsewhere(here, ()) == []
    may_read.set()
    assert followed(project, here, "alpha = ") == ["one_long_name\n"]


class OneFaultyFile(BoundedProcess):
    """Exceeds a bound with any file whose name starts with `faulty`."""

    asked = 0

    def ask(self, group):
        self.asked += 1
        if any(file.path.name.startswith("faulty") for file in group):
            raise BoundExceededError("takes more than 1 s of processor time")
        return super().ask(group)


@pytest.fixture
def faulty(project):
    project._process = OneFaultyFile(project_texts.index_files, Bounds(60))
    yield project
    project._process.close()


def test_a_file_beyond_the_bounds_is_left_out_alone(faulty, tmp_path, monkeypatch):
    monkeypatch.setattr(project_texts, "REFRESH_S", 0)
    here, bad = tmp_path / "pkg" / "here.py", tmp_path / "pkg" / "faulty.py"
    write(tmp_path, {"pkg/faulty.py": "omega = four_long_name\n"})
    assert faulty.left_out is None
    assert followed(faulty, here, "alpha = ") == ["one_long_name\n"]
    assert followed(faulty, here, "omega = ") == []
    sentence = f"{bad} is left out of the context: it takes more than 1 s of processor time."
    assert faulty.left_out == sentence
    followed(faulty, here, "")
    before = faulty._process.asked
    followed(faulty, here, "")
    assert faulty._process.asked == before, "neither is read again"
    bad.unlink()
    followed(faulty, here, "")
    assert faulty.left_out is None


def test_a_folder_of_faulty_files_is_given_up(faulty, tmp_path, monkeypatch):
    monkeypatch.setattr(project_texts, "REFRESH_S", 0)
    write(tmp_path, {f"faulty{n}.py": f"{n}" * (n + 1) for n in range(9)})
    for _ in range(3):
        followed(faulty, tmp_path / "pkg" / "here.py", "")
    assert faulty.left_out.endswith(f" {project_texts.MOST_LEFT_OUT - 1} more files are left out.")
    assert faulty._process.asked < 9


def test_the_bounds_are_those_of_a_real_process(tmp_path, monkeypatch):
    monkeypatch.setattr(project_texts, "BOUNDS", Bounds(0.001))
    write(tmp_path, {"a.py": "alpha = one\n"})
    texts = ProjectTexts(workspace_files((str(tmp_path),), ()))
    texts.elsewhere(tmp_path / "here.py", ())
    texts.wait()
    assert texts.left_out == (
        f"{tmp_path / 'a.py'} is left out of the context: it takes more than 0.001 s of processor time."
    )
