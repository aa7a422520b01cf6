"""Which version of Python a workspace is for."""

from __future__ import annotations

import pytest

from fimlsp.lsp_server.options import running_version, version_of
from fimlsp.lsp_server.session.workspace_reads import oldest_supported, version_of_workspace

from ..local_files import write

RUNNING = running_version()

VERSIONS = [
    ("3.12.1", (3, 12)),
    ("3.9", (3, 9)),
    ("2.7.18", (3, 8)),
    ("3.99", (3, 15)),
    ("cpython-3.10.2", (3, 10)),
    ("pypy3.9", None),
    ("", None),
    ("system", None),
]


@pytest.mark.parametrize(("text", "version"), VERSIONS)
def test_versions_in_words(text, version):
    assert version_of(text) == version


# files of the workspace, true if $VIRTUAL_ENV is set (to a 3.9), the detected version
WORKSPACES = [
    ({}, False, RUNNING),
    ({".venv/pyvenv.cfg": "home = /x\nversion = 3.12.3\n"}, True, (3, 12)),
    ({"venv/pyvenv.cfg": "version_info = 3.10.0.final.0\n"}, True, (3, 10)),
    ({".python-version": "3.8.10\n"}, False, (3, 8)),
    ({".python-version": "3.8.10\n"}, True, (3, 9)),
    ({".venv/pyvenv.cfg": "nothing"}, True, (3, 9)),
    ({".python-version": "\xff"}, False, RUNNING),
    (
        {"pyproject.toml": '[project]\nrequires-python = ">=3.9,<4"\n', ".python-version": "3.12"},
        False,
        (3, 9),
    ),
    ({"pyproject.toml": "project.requires-python = '>=3.9,<4'", ".python-version": "3.12"}, False, (3, 9)),
    ({"pyproject.toml": "project.name = 'a'", ".python-version": "3.12"}, False, (3, 12)),
]

# the file pyproject.toml, and the oldest version that it states
PROJECTS = [
    ('[project]\nrequires-python = ">=3.9.2"', "3.9"),
    ('[project]\nrequires-python = "~=3.10"', "3.10"),
    ('[project]\nrequires-python = "==3.11.*"', "3.11"),
    ('[project]\nrequires-python = ">=3.8, !=3.9.0, >= 3.10"', "3.10"),
    ('[project]\nrequires-python = "<4"', ""),
    ("[project]\nrequires-python = 3", ""),
    ('[project]\nrequires-python = "', ""),
    ('project = "a"', ""),
    ('[tool.poetry.dependencies]\npython = "^3.12"', "3.12"),
    ('[tool.poetry.dependencies]\npython = {version = "^3.12"}', ""),
    ("", ""),
]


@pytest.mark.parametrize(("files", "active", "version"), WORKSPACES)
def test_the_python_of_a_workspace(tmp_path, files, active, version):
    write(tmp_path / "project", files)
    write(tmp_path / "active", {"pyvenv.cfg": "version = 3.9.1"})
    environment = {"VIRTUAL_ENV": str(tmp_path / "active")} if active else {}
    assert version_of_workspace(tmp_path / "project", environment) == version


@pytest.mark.parametrize(("text", "version"), PROJECTS)
def test_the_oldest_version_that_a_project_supports(text, version):
    assert oldest_supported(text) == version
