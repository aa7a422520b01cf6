"""`import fimlsp`: the names that are promised, and that nothing is imported before it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fimlsp

ROOT = Path(__file__).parents[2]
SOURCE = ast.parse((ROOT / "src" / "fimlsp" / "__init__.py").read_text(encoding="utf-8"))


def in_a_new_process(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def names_for_type_checkers():
    """The names that are imported under `if TYPE_CHECKING`."""
    imports = [node for node in ast.walk(SOURCE) if isinstance(node, ast.ImportFrom)]
    return [alias.asname for node in imports for alias in node.names if alias.asname]


def test_the_names_are_sorted_and_type_checkers_see_the_same():
    assert fimlsp.__all__ == sorted(set(fimlsp.__all__)) == sorted(names_for_type_checkers())
    assert set(fimlsp.__all__) <= set(dir(fimlsp))


@pytest.mark.parametrize("name", fimlsp.__all__)
def test_a_name_is_what_type_checkers_take_it_for(name):
    (node,) = (
        node
        for node in ast.walk(SOURCE)
        if isinstance(node, ast.ImportFrom) and name in [alias.asname for alias in node.names]
    )
    scope: dict[str, object] = {}
    exec(ast.unparse(node), scope)
    assert getattr(fimlsp, name) is scope[name]
    assert name in vars(fimlsp), "found only once"


def test_all_names_can_be_imported_at_once():
    scope: dict[str, object] = {}
    exec("from fimlsp import *", scope)
    assert set(fimlsp.__all__) <= set(scope)


def test_another_name_is_no_attribute():
    with pytest.raises(AttributeError, match="module 'fimlsp' has no attribute 'nothing'"):
        _ = fimlsp.nothing
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec("from fimlsp import nothing")


def test_importing_it_imports_nothing_else():
    loaded = "sorted(name for name in sys.modules if name not in before)"
    printed = in_a_new_process(f"import sys; before = set(sys.modules); import fimlsp; print(*{loaded})")
    assert set(printed.split()) <= {"__future__", "fimlsp"}


def test_the_engine_needs_neither_a_model_nor_an_editor():
    heavy = {
        "torch",
        "transformers",
        "numpy",
        "pygls",
        "fimlsp.models",
        "fimlsp.lsp_server",
        "fimlsp.datasets",
    }
    code = f"import sys; from fimlsp import Engine; print(*({heavy!r} & sys.modules.keys()))"
    assert in_a_new_process(code).split() == []
