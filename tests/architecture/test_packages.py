"""What is installed is what is in the folders."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest brings it

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETTINGS = PYPROJECT["tool"]["setuptools"]
ROOMS = SETTINGS["package-dir"]


def packages_of(folder):
    """The names of the packages in the *folder* of a room."""
    inits = (ROOT / folder).rglob("__init__.py")
    return {tuple(init.parent.relative_to(ROOT / folder).parts) for init in inits}


def test_every_folder_of_code_is_a_package_that_is_installed():
    found = {".".join([room, *parts]) for room, folder in ROOMS.items() for parts in packages_of(folder)}
    assert sorted(SETTINGS["packages"]) == sorted(found)


def test_no_package_is_named_twice():
    assert len(set(SETTINGS["packages"])) == len(SETTINGS["packages"])


def test_every_module_is_in_a_package():
    loose = [
        path.relative_to(ROOT)
        for folder in ROOMS.values()
        for path in (ROOT / folder).rglob("*.py")
        if not (path.parent / "__init__.py").exists()
    ]
    assert not loose


def test_the_files_that_languages_read_are_installed():
    files = [path for path in (ROOT / "languages").rglob("*") if path.suffix in (".lark", ".txt")]
    missing = [path for path in files if not is_installed(path)]
    assert files
    assert not missing


def is_installed(path):
    package = ".".join(["fimlsp", *path.parent.relative_to(ROOT).parts])
    return any(path.match(pattern) for pattern in SETTINGS["package-data"].get(package, []))


@pytest.mark.parametrize("name", ["huggingface_hub", "lark", "pygls", "torch", "transformers"])
def test_libraries_of_which_undocumented_parts_are_used_have_an_upper_bound(name):
    project = PYPROJECT["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["checkpoints"]]
    (found,) = (each for each in wanted if re.match(r"[\w-]+", each)[0] == name)
    assert "<" in found
