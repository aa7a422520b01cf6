"""Which files the globs of the option `exclude` mean."""

from __future__ import annotations

from pathlib import PurePath, PureWindowsPath

import pytest

from fimlsp.lsp_server import workspace_files
from fimlsp.lsp_server.workspace_files import LONGEST_GLOB, exclusions

EXCLUDED = [
    ("*_pb2.py", "/a/b/x_pb2.py", True),
    ("*_pb2.py", "/a/b_pb2.py/x.py", False),
    ("**/migrations/**", "/a/migrations/x.py", True),
    ("**/migrations/**", "/a/my_migrations/x.py", False),
    ("src/*.py", "/a/src/x.py", True),
    ("src/*.py", "/a/src/b/x.py", False),
    ("src/**/x.py", "/a/src/x.py", True),
    ("/a/**", "/a/b/c.py", True),
    ("/a/*", "/a/b/c.py", False),
    ("*.{py,pyi}", "/a/x.pyi", True),
    ("x[0-9].py", "/q/x5.py", True),
    ("x[!0-9].py", "/q/x5.py", False),
    ("x?.py", "/q/x5.py", True),
    ("x?.py", "/q/x.py", False),
    ("[", "/a/[", True),
    ("a{b", "/q/a{b", True),
    ("[z-a]", "/q/b", False),
    ("", "/q/b", False),
    ("/a/**/b/**/c.py", "/a/x/b/b/y/c.py", True),
    ("/a/**/b/**/c.py", "/a/x/y/c.py", False),
    ("**/b", "/b", True),
    ("secret/**", "/a/secret", False),
    ("secret/**", "/a/secret/b/c", True),
    ("{a,b}/{c,d}.py", "/q/b/c.py", True),
    ("{src,tests/{unit,e2e}}/**", "/q/tests/e2e/x.py", True),
    ("*a*b*", "/q/xxaxxbxx", True),
    ("*", "/q/a\nb", True),
]


@pytest.mark.parametrize(("glob", "path", "verdict"), EXCLUDED)
def test_globs(glob, path, verdict):
    assert exclusions(("other", glob)).has(PurePath(path)) is verdict
    assert not exclusions(()).has(PurePath(path))


LONG = "/" + "/".join(["a" * 255] * 15)
HOSTILE = [
    ("*" * 40 + "b",),
    ("*a" * 18 + "b",),
    ("*a" * 127 + "b",),
    ("**/a*/" * 42 + "b",),
    ("**/" * 80 + "b",),
    ("{" * 1500,),
    ("{" * 120 + "a,b" + "}" * 120,),
    ("{a,b}" * 40,),
    ("{1..1000000000}",),
    ("[" * 200,),
    ("*a" * 50 + "b",) * 100_000,
    tuple(f"{{*a{number},*b*c*d*}}" for number in range(100_000)),
]


@pytest.mark.parametrize("globs", HOSTILE, ids=lambda globs: f"{globs[0][:12]} {len(globs)}")
def test_hostile_globs_do_not_keep_anybody(globs):
    """With a matcher that backtracks, or one that makes all that braces stand for, most would never end."""
    found = exclusions(globs)
    assert not any(found.has(PurePath(path)) for path in (LONG, "/q/" + "a/" * 100, "/q/x.py"))


@pytest.mark.parametrize(
    ("globs", "told"),
    [
        (("a",), None),
        (("x" * (LONGEST_GLOB + 1), "a"), "longer than 256 characters"),
        (("{a,b}" * 10, "a"), "expands to more than 100 globs"),
        (("a", *(f"{number:0100}" for number in range(101))), "too many globs"),
    ],
    ids=["nothing", "too long", "too wide", "too many"],
)
def test_what_is_ignored_is_told_and_the_rest_holds(globs, told):
    found = exclusions(globs)
    assert [told in problem for problem in found.problems] == [True] * (told is not None)
    assert found.has(PurePath("/q/a"))


# on Windows and macOS `Secret` and `secret` are the same file
IGNORING_CASE = [
    ("**/Secret/**", "c:/work/secret/x.py", True),
    ("C:/Work/**", "c:/work/x.py", True),
    ("*_PB2.py", "/a/x_pb2.py", True),
    ("*_pb3.py", "/a/x_pb2.py", False),
]


@pytest.mark.parametrize(("glob", "path", "is_excluded"), IGNORING_CASE)
def test_globs_where_names_ignore_case(glob, path, is_excluded, monkeypatch):
    monkeypatch.setattr(workspace_files, "NAMES_IGNORE_CASE", True)
    exclusions.cache_clear()
    assert exclusions((glob,)).has(PureWindowsPath(path)) is is_excluded
    exclusions.cache_clear()
