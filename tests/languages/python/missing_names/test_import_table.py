"""The imports of a name in a file, by the imports and definitions of the other files of a project."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from fimlsp.languages.python.missing_names.import_table import (
    ImportTable,
    imports_in,
    origins,
    statements,
    uses_relative_names,
)

FILES = {
    "repo/shop/__init__.py": "from shop.orders import Order\nVERSION = 1\n",
    "repo/shop/orders.py": "import json\nfrom types import TracebackType\n\n\nclass Order:\n    pass\n",
    "repo/shop/web/views.py": (
        "from ..orders import Order as Ordered\nfrom . import forms\nimport numpy as np\n"
    ),
    "repo/shop/web/forms.py": "async def submit():\n    from types import TracebackType, ModuleType\n",
    "repo/tool.py": "import os.path\n\nLIMIT: int = 3\nlogger = 1\n",
    "repo/tools.py": "logger = 1\n",
}
TABLES = [
    ImportTable.of({PurePath(path): text.encode() for path, text in part})
    for part in (list(FILES.items())[:2], list(FILES.items())[2:])
]


def likeliest(names, path, text):
    found = {
        name.encode(): origins(
            TABLES,
            name.encode(),
            None if path is None else PurePath(path),
            is_relative=uses_relative_names(text.encode()),
        )
        for name in names.split()
    }
    texts = statements({name: counts for name, counts in found.items() if counts})
    return max(texts, key=lambda each: each[1])[0].decode() if texts else None


# names, the file that lacks them, its text, and the likeliest import
CASES = [
    ("TracebackType", "repo/new.py", "", "from types import TracebackType"),
    ("json", "repo/new.py", "", "import json"),
    ("np", "repo/new.py", "", "import numpy as np"),
    ("os", "repo/new.py", "", "import os.path"),
    ("Ordered", "repo/shop/web/new.py", "", "from ..orders import Order as Ordered"),
    ("Ordered", "repo/shop/new.py", "", "from .orders import Order as Ordered"),
    ("forms", "repo/shop/web/new.py", "", "from . import forms"),
    ("TracebackType ModuleType", "repo/new.py", "", "from types import ModuleType, TracebackType"),
    # where no file imports it, it is imported from the file that defines it
    ("submit", "repo/shop/web/views.py", "from . import x\n", "from .forms import submit"),
    ("submit", "repo/shop/web/views.py", "import x\n", "from shop.web.forms import submit"),
    ("VERSION", "repo/tool.py", "", "from shop import VERSION"),
    ("LIMIT", "repo/other.py", "", "from tool import LIMIT"),
    ("LIMIT", "repo/tool.py", "", None),
    ("nobody", "repo/tool.py", "", None),
    ("logger", "repo/other.py", "", None),
    # a buffer without a file
    ("TracebackType", None, "", "from types import TracebackType"),
    ("Ordered", None, "", None),
    ("LIMIT", None, "", None),
]


@pytest.mark.parametrize(("names", "path", "text", "expected"), CASES)
def test_the_likeliest_import(names, path, text, expected):
    assert likeliest(names, path, text) == expected


IMPORTS = [
    ("import a, b.c as d", "a:a: d:b.c as d:"),
    ("from .m import (  # why\n    x,\n    y as z,  # because\n)", "x:.m:x z:.m:y as z"),
    ("from m import x as x", "x:m:x"),
    ("from m import *", ""),
    ("    from m import x", "x:m:x"),
    ("# import a\nimporter = 1", ""),
]


@pytest.mark.parametrize(("text", "expected"), IMPORTS)
def test_imports_of_a_text(text, expected):
    found = (b":".join((name, *origin)).decode() for name, origin in imports_in(text.encode()))
    assert " ".join(found) == expected


def test_shares_are_of_one():
    found = {
        name: origins(TABLES, name, PurePath("repo/new.py"), is_relative=False)
        for name in (b"Order", b"json")
    }
    assert sum(share for _, share in statements(found)) == pytest.approx(1)
