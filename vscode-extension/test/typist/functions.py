"""Print, as JSON, the bodies of functions in a folder's Python files that somebody could write in one go.

Each is {file, first, last}: lines counted from 1. A docstring stays, so that the body is what follows it.
"""

import ast
import json
import pathlib
import sys
from collections.abc import Iterator

MOST_LINES = 20


def bodies(path: pathlib.Path) -> Iterator[dict[str, str | int]]:
    """The bodies in the file at *path* that begin on a line of their own."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.body[0].lineno > node.lineno:
            has_docstring = ast.get_docstring(node) is not None
            first = end_of(node.body[0]) + 1 if has_docstring else node.body[0].lineno
            if 0 <= end_of(node) - first < MOST_LINES:
                yield {"file": path.name, "first": first, "last": end_of(node)}


def end_of(node: ast.stmt) -> int:
    """The last line of *node*."""
    assert node.end_lineno is not None
    return node.end_lineno


folder = pathlib.Path(sys.argv[1])
print(json.dumps([body for path in sorted(folder.glob("*.py")) for body in bodies(path)]))
