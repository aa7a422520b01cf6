"""Folders that have a `fimlsp` of their own, or modules of the same names as those that fimlsp imports."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("lexing", "quotient", "languages", "models", "lsp_server", "datasets")
DEPENDENCIES = Path(click.__file__).parents[1]
CODE = shutil.ignore_patterns("__pycache__", "*.safetensors", "results")


@pytest.fixture
def clone(tmp_path):
    """A clone: the folder of the package holds links to the folders of code at the root."""
    for folder in ("src", *ROOMS):
        shutil.copytree(ROOT / folder, tmp_path / "clone" / folder, symlinks=True, ignore=CODE)
    return tmp_path / "clone"


@pytest.fixture
def installed(tmp_path):
    """An installation that is not editable, of another version: no links."""
    shutil.copytree(ROOT / "src" / "fimlsp", tmp_path / "site" / "fimlsp", ignore=CODE)
    init = tmp_path / "site" / "fimlsp" / "__init__.py"
    init.write_text(init.read_text().replace('__version__ = "', '__version__ = "9.'))
    return tmp_path / "site"


def python(folder, *arguments, path=()):
    """Run Python in *folder*; it finds what is on *path* and the dependencies, and nothing installed here."""
    search_path = os.pathsep.join(map(str, (*path, DEPENDENCIES)))
    return subprocess.run(
        [sys.executable, "-S", *arguments],
        cwd=folder,
        env={"PYTHONPATH": search_path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def check_version(done, version):
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"fimlsp, version {version}")


def test_in_a_clone_the_installed_package_runs(clone, installed):
    check_version(python(clone, "-m", "fimlsp", "--version", path=[installed]), "9.")


def test_a_clone_imports_its_own_folders(clone, installed):
    code = "from fimlsp import Engine, datasets, quotient; print(quotient.__file__, datasets.__file__)"
    done = python(clone, "-c", code, path=[clone / "src", installed])
    imported = [Path(name).resolve() for name in done.stdout.split()]
    assert imported == [clone / room / "__init__.py" for room in ("quotient", "datasets")]


def test_beside_a_clone_of_the_same_name_the_package_is_found(clone):
    clone = clone.rename(clone.with_name("fimlsp"))
    check_version(python(clone.parent, "-m", "fimlsp", "--version", path=[clone / "src"]), "")


def test_a_clone_without_links_names_the_remedy(clone):
    for room in ROOMS:
        (clone / "src" / "fimlsp" / room).unlink()
        (clone / "src" / "fimlsp" / room).write_text(f"../../{room}")
    done = python(clone, "-c", "import fimlsp", path=[clone / "src"])
    assert "ImportError: Cannot import fimlsp: the symbolic links" in done.stderr
    assert "git config core.symlinks true" in done.stderr


def test_a_workspace_with_folders_of_the_same_names_is_not_looked_into(installed, tmp_path):
    workspace = tmp_path / "workspace"
    for room in ROOMS:
        (workspace / room).mkdir(parents=True)
        (workspace / room / "__init__.py").write_text("raise SystemExit('taken from the workspace')")
    check_version(python(workspace, "-m", "fimlsp", "--version", path=[installed]), "9.")
    code = "import fimlsp, fimlsp.quotient; print(fimlsp.__path__)"
    assert python(workspace, "-c", code, path=[installed]).stdout == f"['{installed / 'fimlsp'}']\n"


def test_these_are_all_folders_of_code():
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == set(ROOMS)


HOSTILE = {"warnings.py": "print('hostile')\n", "fimlsp.py": "print('hostile')\n"}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no -P")
@pytest.mark.parametrize("name", HOSTILE)
def test_the_safe_way_runs_nothing_of_a_hostile_folder(installed, tmp_path, name):
    """And `python -m fimlsp` does, as the README says: Python itself runs it before fimlsp is asked."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / name).write_text(HOSTILE[name])
    check_version(python(workspace, "-P", "-m", "fimlsp", "--version", path=[installed]), "9.")
    assert "hostile" in python(workspace, "-m", "fimlsp", "--version", path=[installed]).stdout
