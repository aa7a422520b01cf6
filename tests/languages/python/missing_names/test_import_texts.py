"""Modules and their names in an import that is being written, by the other files of a project."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from fimlsp.languages.python.missing_names.import_table import ImportTable
from fimlsp.languages.python.missing_names.likely_texts import ImportTexts

FILES = {
    "repo/shop/__init__.py": "VERSION = 1\n",
    "repo/shop/orders.py": "import json\n\n_LIMIT = 1\n\n\nclass Order:\n    pass\n\n\ndef total(): ...\n",
    "repo/shop/prices.py": "from shop.orders import Order\n\nLIMIT = 1\n",
    "repo/shop/web/__init__.py": "ROOT = 1\n",
    "repo/shop/web/views.py": "from ..orders import Order, total\n\n\ndef view(): ...\n",
    "repo/shop/web/forms.py": "from .. import VERSION\nfrom .views import view\n\n\nclass Form: ...\n",
    "repo/tests/test_orders.py": "from shop.orders import Order\n\n\ndef test_order(): ...\n",
}
TABLES = [
    ImportTable.of({PurePath(path): text.encode() for path, text in part})
    for part in (list(FILES.items())[:3], list(FILES.items())[3:])
]

# the file, its code, and the likely texts at its cursor, the likeliest first
CASES = {
    "modules": ("shop/new.py", "from shop.<|>", "orders|prices|web.forms|web.views|web", " import "),
    "a begun one": ("shop/new.py", "from shop.o<|>", "rders", " import "),
    "from outside of the package": ("new.py", "from shop.web.<|>", "views|forms", " import "),
    "relative ones": ("shop/new.py", "from .<|>", "orders|prices|web.forms|web.views|web", " import "),
    "of the package around": (
        "shop/web/new.py",
        "from ..<|>",
        "orders|prices|web.forms|web.views|web",
        " import ",
    ),
    "not those that are imported": (
        "new.py",
        "from shop.web.views import a\nfrom shop.web.<|>",
        "forms",
        " import ",
    ),
    "by import": ("new.py", "import shop.web.<|>", "views|forms", "\n"),
    "indented": ("new.py", "def f():\n    import shop.web.v<|>", "iews", "\n"),
    "names": ("new.py", "from shop.orders import <|>", "Order|total", ""),
    "before a space": ("new.py", "from shop.orders import<|>", " Order| total", ""),
    "a begun name": ("new.py", "from shop.orders import O<|>", "rder", ""),
    "another name": ("new.py", "from shop.orders import Order, <|>", "total", ""),
    "after a comma": ("new.py", "from shop.orders import (Order,<|>)", " total", ""),
    "all names are there": ("new.py", "from shop.orders import Order, total, <|>", "", ""),
    "imported above": ("new.py", "from shop.orders import Order\nfrom shop.orders import <|>", "total", ""),
    "names of a package": ("new.py", "from shop import <|>", "VERSION|orders|prices|web", ""),
    "of the own package": ("shop/web/new.py", "from . import <|>", "ROOT|forms|views", ""),
    "of another project": ("new.py", "from os import <|>", "", ""),
    "modules of another project": ("new.py", "from os.<|>", "", ""),
    "no import": ("new.py", "shop.<|>", "", ""),
    "in a comment": ("new.py", "# from shop.<|>", "", ""),
}


@pytest.mark.parametrize(("path", "code", "names", "ending"), CASES.values(), ids=CASES)
def test_an_import_gets_what_the_project_has(path, code, names, ending):
    left = code.partition("<|>")[0].encode()
    texts = ImportTexts.at(left, PurePath("repo", path), lambda: TABLES)
    shares = {} if texts is None else texts.after(b"")
    by_share = sorted(shares, key=lambda text: (-round(shares[text], 6), text))
    expected = sorted(names.split("|")) if names else []
    assert sorted(by_share) == sorted((name + ending).encode() for name in expected)
    assert not names or by_share[0] == (names.split("|")[0] + ending).encode()
    assert 0 <= sum(shares.values()) < 1


def test_the_name_follows_the_module():
    texts = ImportTexts.at(b"from shop.", PurePath("repo/new.py"), lambda: TABLES)
    names = texts.after(b"orders import ")
    assert max(names, key=names.get) == b"Order"
    assert names == {text.removeprefix(b" "): share for text, share in texts.after(b"orders import").items()}


def test_a_buffer_without_a_file_has_no_project():
    assert ImportTexts.at(b"from shop.", None, lambda: TABLES) is None
