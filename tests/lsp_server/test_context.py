"""What a completion depends on beside the buffer: how far it may go, what follows, versions, files, cells."""

from __future__ import annotations

from pathlib import Path, PurePath

import pytest
from fimlsp.languages.python import python
from fimlsp.lsp_server.context.imports import Import, imports_of
from fimlsp.lsp_server.context.neighbourhood import OpenFile, neighbours_of
from fimlsp.lsp_server.context.outline import outline
from fimlsp.lsp_server.context.workspace_files import workspace_files
from fimlsp.lsp_server.protocol.uris import path_of
from fimlsp.lsp_server.session.documents import Replaced, difference
from fimlsp.lsp_server.session.exclusions import is_excluded
from fimlsp.lsp_server.session.ipython import read_cell
from fimlsp.lsp_server.session.python_version import version_of, version_of_workspace
from fimlsp.lsp_server.session.workspace_folders import WorkspaceFolders
from fimlsp.lsp_server.worker.repetition import without_repetition
from fimlsp.models.decoding.extent import is_one_line
from fimlsp.quotient.engine import Engine
from hypothesis import given
from hypothesis import strategies as st

ONE_LINE = [
    ("x = <|>\n", True),
    ("<|>x\n", True),
    ("f(<|>)", True),
    ("a\n    <|>\nb", True),
    ("a\n\n    <|>\nb", False),
    ("a:\n    <|>  \r\nb", True),
    ("if a:\n    <|>  \r\nb", False),
    ("if a:  # why\n    <|>", False),
    ("if a:<|>", False),
    ("x = {a:<|>", True),
    ("lambda x:<|>", True),
    ("    async def f(x) -> int:<|>\nb", False),
    ("    # sort them\n    <|>", False),
    ("    x = 1  # sort them\n    <|>", True),
    ("a\r\r<|>\rb", False),
    ("<|>", False),
    ("\n\n<|>", False),
]


@pytest.mark.parametrize(("marked", "one_line"), ONE_LINE)
def test_one_line_or_a_block(marked, one_line):
    left, right = marked.encode().split(b"<|>")
    assert is_one_line("auto", left, right) is one_line
    assert is_one_line("always", left, right) is True
    assert is_one_line("never", left, right) is False


# left<|suggestion|>right, what is left of the suggestion
REPEATED = [
    ("<|x = 1|>\nx = 1\n", ""),
    ("<|x = 1|>\n\n  \nx = 1\n", ""),
    ("<|x = 1|>\nx = 2\n", "x = 1"),
    ("<|x = 1\ny = 2|>\ny = 2\n", "x = 1"),
    ("<|a = 0\nx = 1\ny = 2|>\nx = 1\ny = 2\nz\n", "a = 0"),
    ("x = <|1|>\nx = 1\n", ""),
    ("x = <|1|>\n1\n", "1"),
    ("x = f(<|a|>)\na\n", "a"),
    ("f(\n    <|a,\n    b|>\n    b\n)\n", "a,"),
    ("f(<|\n    [\n    ]|>\n)\n", "\n    [\n    ]"),
    ("if a:\n    <|pass|>\n    pass\n", ""),
    ("if a:\n    <|b\nelse:\n    c|>\nelse:\n    c\n", "b"),
    ("<||>\nx = 1\n", ""),
]


@pytest.mark.parametrize(("marked", "kept"), REPEATED)
def test_what_follows_anyway_is_not_suggested(marked, kept):
    left, rest = marked.encode().split(b"<|")
    text, right = rest.split(b"|>")
    start = Engine(python()).document(left + right).middle(len(left), len(left)).start
    assert without_repetition(left, text, right, start).decode() == kept


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
]


@pytest.mark.parametrize(("glob", "path", "verdict"), EXCLUDED)
def test_globs(glob, path, verdict):
    assert is_excluded(PurePath(path), ("other", glob)) is verdict
    assert not is_excluded(PurePath(path), ())


VERSIONS = [
    ("3.12.1", (3, 12)),
    ("3.9", (3, 9)),
    ("2.7.18", (3, 8)),
    ("3.99", (3, 13)),
    ("cpython-3.10.2", (3, 10)),
    ("pypy3.9", None),
    ("", None),
    ("system", None),
]


@pytest.mark.parametrize(("text", "version"), VERSIONS)
def test_versions_in_words(text, version):
    assert version_of(text) == version


# files of the workspace, whether $VIRTUAL_ENV is set (to a 3.9), the version found
WORKSPACES = [
    ({}, False, (3, 11)),
    ({".venv/pyvenv.cfg": "home = /x\nversion = 3.12.3\n"}, True, (3, 12)),
    ({"venv/pyvenv.cfg": "version_info = 3.10.0.final.0\n"}, True, (3, 10)),
    ({".python-version": "3.8.10\n"}, False, (3, 8)),
    ({".python-version": "3.8.10\n"}, True, (3, 9)),
    ({".venv/pyvenv.cfg": "nothing"}, True, (3, 9)),
    ({".python-version": "\xff"}, False, (3, 11)),
]


@pytest.mark.parametrize(("files", "active", "version"), WORKSPACES)
def test_the_python_of_a_workspace(tmp_path, files, active, version):
    write(tmp_path / "project", files)
    write(tmp_path / "active", {"pyvenv.cfg": "version = 3.9.1"})
    environment = {"VIRTUAL_ENV": str(tmp_path / "active")} if active else {}
    assert version_of_workspace(tmp_path / "project", environment) == version


def test_the_innermost_folder_counts(tmp_path, monkeypatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    write(tmp_path, {".python-version": "3.9", "inner/.python-version": "3.12"})
    folders = WorkspaceFolders()
    folders.add([tmp_path.as_uri(), (tmp_path / "inner").as_uri(), "vscode-vfs://github/x"])
    assert folders.python_of((tmp_path / "a.py").as_uri()) == (3, 9)
    assert folders.python_of((tmp_path / "inner" / "deep" / "a.py").as_uri()) == (3, 12)
    assert folders.python_of("file:///elsewhere/a.py") == (3, 11)
    assert folders.python_of("untitled:Untitled-1") == (3, 11)
    folders.remove([tmp_path.as_uri()])
    assert folders.python_of("untitled:Untitled-1") == (3, 12)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c.py", "/a/b c.py"),
        ("vscode-notebook-cell:/a/n.ipynb#X1", "/a/n.ipynb"),
        ("untitled:Untitled-1", None),
        ("file:", None),
        ("git:/a/b.py?x", None),
        ("http://[", None),
        ("", None),
    ],
)
def test_paths_of_uris(uri, path):
    assert path_of(uri) == (None if path is None else Path(path))


# a cell, and the Python that is read
CELLS = [
    ("%matplotlib inline\nx = 1", "0#atplotlib inline\nx = 1"),
    ("%%time\nx = 1", "0#time\nx = 1"),
    ("x = !ls\nif a:\n    !\n", "x = 0#s\nif a:\n    0\n"),
    ("x = (a\n % b)\n", "x = (a\n % b)\n"),
    ("'''\n%x\n'''\n%y", "'''\n%x\n'''\n0#"),
    ("a \\\n%b\n", "a \\\n%b\n"),
    ("np.sum?\nfoo??\n?foo\n", "np.sum#\nfoo##\n0#oo\n"),
    ("x %= 3\ny != z\n'%'\n# %x", "x %= 3\ny != z\n'%'\n# %x"),
    ("!echo 'it''s'\nx = '''a", "0#cho 'it''s'\nx = '''a"),
    ("x = ']' # (\n%y\r\nz", "x = ']' # (\n0#\r\nz"),
    ("", ""),
]


@pytest.mark.parametrize(("cell", "python"), CELLS)
def test_commands_of_ipython_become_expressions_of_the_same_length(cell, python):
    assert read_cell(cell.encode()).data.decode() == python


def test_cells_in_other_languages():
    assert read_cell(b"\n%%bash -e\nls").language == "%%bash -e"
    assert read_cell(b"x\n%%bash").language is None


@given(st.binary(max_size=30).map(lambda data: bytes(b"%!?x= ('\"\n\\"[byte % 11] for byte in data)))
def test_a_cell_keeps_its_length_and_its_lines(data):
    cell = read_cell(data)
    assert (len(cell.data), cell.data.count(b"\n")) == (len(data), data.count(b"\n"))
    assert all(0 <= start < end <= len(data) for start, end in cell.commands)


@given(st.binary(max_size=6), st.binary(max_size=6), st.binary(max_size=6), st.binary(max_size=6))
def test_the_difference_of_two_texts(before, old, new, behind):
    one, other = before + old + behind, before + new + behind
    edit = difference(one, other)
    assert one[: edit.start] + edit.replacement + one[edit.end :] == other
    assert len(edit.replacement) <= len(new)
    assert difference(one, one) == Replaced(len(one), len(one), b"")


IMPORTS = [
    ("import a.b as c, d", [Import("d"), Import("a.b")]),
    ("from .x import (y as z,  # why\n    w)\n", [Import(".x", ("y", "w"))]),
    ("if t:\n    from .. import q; x = 1", [Import("..", ("q",))]),
    ("from a import *", [Import("a", ("*",))]),
    ("from a import (b,", [Import("a", ())]),
    ("x = 'import y'\n# import z\nimportant = 1\n", []),
]


@pytest.mark.parametrize(("source", "found"), IMPORTS)
def test_imports(source, found):
    assert list(imports_of(source.encode())) == found


SOURCE = '''\
"""Stock."""
import os

LIMIT: int = 3
_hidden = 4

@dataclass
class Item(Base):
    """One thing.

    More.
    """
    name: str

    def price(self, *, tax: dict[str, int] = {"a": 1}) -> (
        int
    ):
        """In cents."""
        def inner(): pass
        return 1

async def load(path):
    return path

def broken(
'''

OUTLINES = [
    (
        None,
        [
            "LIMIT: int = 3",
            "class Item(Base):",
            '    """One thing."""',
            "def price",
            "async def load(path): ...",
        ],
    ),
    (frozenset({"load"}), ["async def load(path): ..."]),
    (frozenset({"_hidden"}), ["_hidden = 4"]),
    (frozenset({"nothing"}), []),
]


@pytest.mark.parametrize(("names", "lines"), OUTLINES)
def test_outlines(names, lines):
    told = outline(SOURCE.encode(), names).decode()
    assert all(line in told for line in lines)
    assert not any(word in told for word in ("return", "More.", "inner", "import os"))
    assert bool(told) is bool(lines)


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="latin-1")


PROJECT = {
    "pkg/__init__.py": "from .core import Engine\n",
    "pkg/core.py": "class Engine:\n    def run(self): pass\n\ndef other(): pass\n",
    "pkg/sub/deep.py": "def dig(): pass\n",
    "src/lib.py": "VALUE = 1\n",
    "secret/key.py": "KEY = 'secret'\n",
    "pkg/main.py": "",
}

# what pkg/main.py says, and the files (with a word of each) that it brings along
BROUGHT = [
    ("from .core import Engine", [("pkg/core.py", "class Engine")]),
    ("from pkg import Engine", [("pkg/core.py", "class Engine")]),
    ("from pkg.core import other", [("pkg/core.py", "def other")]),
    ("from .sub import deep", [("pkg/sub/deep.py", "def dig")]),
    ("from . import core", [("pkg/core.py", "class Engine")]),
    ("import lib\nimport pkg.sub.deep", [("pkg/sub/deep.py", "def dig"), ("src/lib.py", "VALUE")]),
    ("from secret.key import KEY", []),
    ("from outside import x", []),
    ("import os, sys\nfrom ...... import y\nfrom .nothing import z", []),
    ("from link import x", []),
]


@pytest.mark.parametrize(("source", "brought"), BROUGHT)
def test_definitions_of_what_is_imported_come_along(tmp_path, source, brought):
    root = tmp_path / "root"
    write(root, PROJECT)
    write(tmp_path, {"outside.py": "x = 1\n"})
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    files = workspace_files((str(root),), ("**/secret/**",))
    found = neighbours_of(root / "pkg" / "main.py", source.encode(), [], files, 100)
    assert [(each.path, word) for each, (_, word) in zip(found, brought, strict=True)] == brought
    assert all(word.encode() in each.text for each, (_, word) in zip(found, brought, strict=True))


def test_open_documents_count_as_they_are_and_recent_edits_come_along(tmp_path):
    write(tmp_path, {"a.py": "OLD = 1\n", "b.py": ""})
    others = [
        OpenFile(tmp_path / "a.py", b"NEW = 2\n", None),
        OpenFile(None, b"scratch = 3\n" * 1000, 6000),
        OpenFile(tmp_path / "c.py", b"", None),
    ]
    files = workspace_files((str(tmp_path),), ())
    found = neighbours_of(tmp_path / "b.py", b"from a import *", others, files, 1000)
    assert [each.path for each in found] == ["a.py", "untitled.py", "a.py"]
    assert found[0].text == b"NEW = 2\n"
    assert 0 < len(found[1].text) <= 1600
    assert found[1].text.startswith(b"scratch = 3\n")
    assert sum(len(each.text) for each in found) <= 4000
    assert neighbours_of(tmp_path / "b.py", b"from a import *", others, files, 0) == []


def test_other_cells_of_a_notebook_come_first(tmp_path):
    notebook = tmp_path / "n.ipynb"
    others = [OpenFile(tmp_path / "a.py", b"x = 1\n", 3), OpenFile(notebook, b"y = 2\n", None)]
    found = neighbours_of(notebook, b"z", others, workspace_files((str(tmp_path),), ()), 100)
    assert [each.path for each in found] == ["n.ipynb", "a.py"]


def test_a_file_is_read_again_when_it_changed(tmp_path):
    write(tmp_path, {"a.py": "one = 1\n", "large.py": "x" * 500_001, "a.txt": ""})
    files = workspace_files((str(tmp_path),), ())
    assert files.read(tmp_path / "a.py") == b"one = 1\n"
    write(tmp_path, {"a.py": "three = 3\n"})
    assert files.read(tmp_path / "a.py") == b"three = 3\n"
    for name in ("large.py", "a.txt", "none.py", "../a.py"):
        assert files.read(tmp_path / name) is None
