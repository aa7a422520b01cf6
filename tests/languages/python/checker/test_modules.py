"""Which modules a checker gets: those that the text can import, as far as they may be read."""

from __future__ import annotations

import pytest

from fimlsp.languages.python.checker import modules
from fimlsp.languages.python.checker.modules import ANY_MEMBER, ModuleCopies, imported_modules

PROJECT = {
    "shop/__init__.py": "from .orders import load\n",
    "shop/orders.py": "import shop.prices\nfrom . import stock\n",
    "shop/prices.py": "",
    "shop/stock.pyi": "",
    "shop/stock.py": "secret\n",
    "shop/unused.py": "",
    "tools/names.py": "",
    "fast.cpython-311-x86_64-linux-gnu.so": "",
    "hidden.py": "",
    "circle.py": "import circle, main\n",
    "main.py": "",
    "notes.txt": "",
}
"""The files of a project; `hidden.py` may not be read."""

COPIED = [
    ("import shop", "shop/__init__.py shop/orders.py shop/prices.py shop/stock.pyi"),
    ("from shop import prices", "shop/__init__.py shop/orders.py shop/prices.py shop/stock.pyi"),
    ("import tools.names as n", "tools/names.py"),
    ("from tools import names", "tools/names.py"),
    ("from tools import nothing", ""),
    ("import os, sys", ""),
    ("from .prices import a", "shop/__init__.py shop/orders.py shop/prices.py shop/stock.pyi"),
    ("from ...a import b", ""),
    ("import fast", "fast.pyi*"),
    ("import hidden", "hidden.pyi*"),
    ("def f():\n    import circle", "circle.py main.py"),
    ("from notes import txt", ""),
    ("import shop..prices", "shop/__init__.py shop/orders.py shop/prices.py shop/stock.pyi"),
    ("import " + "a." * 3_000 + "b", ""),
]
"""A text of the module `shop.order`, and its copies; a star marks those with any member."""

ALWAYS = "shop/__init__.py shop/orders.py shop/prices.py shop/stock.pyi"
"""The package around the module, and all that it imports."""


@pytest.fixture
def project(tmp_path):
    for name, text in PROJECT.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "project"


@pytest.fixture
def copies(project, tmp_path):
    def read(path):
        return None if path.name == "hidden.py" else path.read_bytes()

    (tmp_path / "copies").mkdir()
    return ModuleCopies(tmp_path / "copies", (project,), read)


def update(copies, text, document=("shop", "order")):
    return copies.update(document, tuple(imported_modules(text.encode(), document[:-1])))


def copied(copies):
    files = (path for path in copies.folder.rglob("*") if path.is_file())
    return {
        path.relative_to(copies.folder).as_posix() + "*" * (path.read_bytes() == ANY_MEMBER) for path in files
    }


@pytest.mark.parametrize(("text", "expected"), COPIED)
def test_what_is_copied(copies, text, expected):
    update(copies, text)
    assert copied(copies) == {*expected.split(), *ALWAYS.split()}


def test_changes_are_reported(project, copies):
    made = update(copies, "import circle")
    assert {(change.path.name, change.kind) for change in made} >= {("shop", "made"), ("circle.py", "made")}
    assert update(copies, "import circle") == []
    (project / "circle.py").write_text("import tools.names\n")
    changes = {change.path.name: change.kind for change in update(copies, "import circle")}
    assert changes == {"circle.py": "changed", "tools": "made", "names.py": "made"}
    (project / "circle.py").unlink()
    assert [change.kind for change in update(copies, "import circle")] == ["removed"]
    (project / "circle").mkdir()
    (project / "circle" / "__init__.py").write_text("")
    assert "circle/__init__.py" in copied(copies) or update(copies, "import circle")
    assert "circle/__init__.py" in copied(copies)


def test_the_document_has_a_file_but_no_copy(copies):
    path, changes = copies.place(("shop", "order"), ".py")
    assert path.read_bytes() == b""
    assert [change.path.name for change in changes] == ["shop", "order.py"]
    assert copies.place(("shop", "order"), ".py") == (path, [])


@pytest.mark.parametrize(("limit", "value"), [("MOST_MODULES", 2), ("MOST_BYTES", 20)])
def test_modules_beyond_a_limit_have_any_member(copies, monkeypatch, limit, value):
    monkeypatch.setattr(modules, limit, value)
    update(copies, "import circle")
    assert copied(copies) == {"circle.py", "shop/__init__.py", "main.pyi*", "shop/orders.pyi*"}


def test_a_full_folder_is_emptied(copies, monkeypatch):
    update(copies, "import circle, tools.names")
    monkeypatch.setattr(modules, "MOST_COPIES", 4)
    changes = update(copies, "")
    assert {change.kind for change in changes} >= {"removed", "made"}
    assert "circle.py" not in copied(copies)
