"""Libraries that models/ imports are declared with an upper bound: it uses undocumented parts of them."""

import ast
import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

tomllib = pytest.importorskip("tomllib")
ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
DECLARED = {
    normal.name.replace("-", "_"): normal for normal in map(Requirement, [*EXTRAS, *PROJECT["dependencies"]])
}
TESTED = dict(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE))


def imported():
    """The libraries that modules of this package import, at their top or inside functions."""
    for path in (ROOT / "models").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            yield from (name.partition(".")[0] for name in names)


LIBRARIES = sorted(set(imported()) - sys.stdlib_module_names - {"fimlsp"})


@pytest.mark.parametrize("library", [*LIBRARIES, "accelerate", "bitsandbytes", "protobuf", "sentencepiece"])
def test_a_library_is_declared_with_an_upper_bound_that_the_tested_version_keeps(library):
    bounds = DECLARED[library].specifier
    assert any(bound.operator == "<" for bound in bounds)
    assert bounds.contains(TESTED[library])
