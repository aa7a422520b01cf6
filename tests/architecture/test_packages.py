"""What is installed is what is in the folders."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest brings it

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ROOMS = ("lexing", "quotient", "languages", "models", "lsp_server", "datasets")
PACKAGE = ROOT / "src" / "fimlsp"
OWN_FOLDERS = (PACKAGE / "backends", PACKAGE / "processes", PACKAGE / "testing")
FOLDERS = (*(ROOT / room for room in ROOMS), *OWN_FOLDERS)
NOT_SOURCE = (".*", "build", "node_modules", "tests", "results", "__pycache__", "*.egg-info")
INSTALLED = (".py", ".lark", ".lua", ".go", ".txt", ".json", ".safetensors")


def test_each_folder_of_code_is_linked_in_the_package():
    links = {path.name: path.readlink().as_posix() for path in PACKAGE.iterdir() if path.is_symlink()}
    assert links == {room: f"../../{room}" for room in ROOMS}


def test_every_module_is_in_a_package():
    loose = [
        path.relative_to(ROOT)
        for folder in FOLDERS
        for path in folder.rglob("*.py")
        if not (path.parent / "__init__.py").exists()
    ]
    assert not loose


def test_wheel_and_sdist_hold_every_module_and_data_file(tmp_path):
    clone = tmp_path / "clone"
    shutil.copytree(ROOT, clone, symlinks=True, ignore=shutil.ignore_patterns(*NOT_SOURCE))
    builder = "from setuptools import build_meta as b; b.build_sdist('..'); b.build_wheel('..')"
    done = subprocess.run(
        [sys.executable, "-c", builder], cwd=clone, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    sdist, wheel = sorted(tmp_path.glob("fimlsp-*"), key=lambda path: path.suffix == ".whl")
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/src/")[2] for name in archive.getnames()}
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    expected = {
        path.relative_to(ROOT).as_posix()
        for room in ROOMS
        for package in {init.parent for init in (ROOT / room).rglob("__init__.py")}
        for path in package.iterdir()
        if path.suffix in INSTALLED and path.parent != ROOT / "datasets"
    }
    expected |= {path.relative_to(PACKAGE).as_posix() for own in OWN_FOLDERS for path in own.glob("*.py")}
    assert len(expected) > 200
    assert {f"fimlsp/{name}" for name in expected} <= in_wheel
    assert {f"fimlsp/{name}" for name in expected} <= in_sdist


@pytest.mark.parametrize("name", ["huggingface_hub", "lark", "pygls", "torch", "transformers"])
def test_libraries_of_which_undocumented_parts_are_used_have_an_upper_bound(name):
    project = PYPROJECT["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["checkpoints"]]
    (found,) = (each for each in wanted if re.match(r"[\w-]+", each)[0] == name)
    assert "<" in found
