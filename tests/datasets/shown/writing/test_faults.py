"""Faults of texts at the cursor `|`: doubled, unreachable, brought back, wrong line ends."""

from contextlib import closing

import pytest

from fimlsp.datasets.shown.writing.faults import FAULTS, Faults, TypeVerdicts
from fimlsp.datasets.shown.writing.places import Place

# the document, the text, its fault, and what was really written or deleted
CASES = [
    # within a word
    ("return wid|th * height", "th, height", "doubled", {}),
    ("self.name = na|me", "me", "doubled", {}),
    ("for price in pri|ces:", "ces", "doubled", {}),
    ("for price in pr|ces:", "i", None, {"truth": "i"}),
    ("return wid|th", "e(", None, {}),
    ("x = builder|", "builder", "doubled", {}),
    ("x = builder|", "builder.name", "doubled", {}),
    ("x = builder |", "builder", None, {}),
    # before a bracket or a dot
    ("items.app|(1)", "end()", "doubled", {}),
    ("items.app|(1)", "end", None, {"truth": "end"}),
    ("items.app|(1)", "ly", None, {}),
    ("with ope|(path)", 'n(path, "rb")', "doubled", {}),
    ("ite|.append(1)", "ms = []", "doubled", {}),
    ("ite|.append(1)", "ms", None, {}),
    ("ite|[1]", "ms[2]", "doubled", {}),
    ("x = (|)", "f()", None, {}),
    # the rest of the line, and the line below
    ("f(|first, second)", "zero, first, second", "doubled", {}),
    ("f(|first, second)", "zero, ", None, {}),
    ("|\nreturn self.x", "return self.x", "doubled", {}),
    ("|\nself.x = 3", "return self", None, {}),
    ("f(|)", "x)", None, {}),
    # below a jump
    ("def f():\n    return 1\n    |\n", "x = 2", "unreachable", {}),
    ("def f():\n    return 1\n    |\n", "x = 2", None, {"truth": "y = 3"}),
    ("def f():\n    if x:\n        return 1\n    |\n", "x = 2", None, {}),
    ("while x:\n    continue\n    |\n", "if y:\n        pass", "unreachable", {}),
    ("import sys\nsys.exit(1)\n|\n", "x = 2", "unreachable", {}),
    ("def f():\n    |\n    x = 3\n", "return 1", None, {}),
    ("def f(:\n    return 1\n    |\n", "x = 2", None, {}),
    # deleted text
    ("x = |\n", "price", "brings_back", {"deleted": ("price",)}),
    ("x = |\n", "price * 2", "brings_back", {"deleted": ("price",)}),
    ("x = |\n", "cost", None, {"deleted": ("price",)}),
    ("x = |\n", "price", None, {"deleted": ("price",), "truth": "price + 1"}),
    ("x = |\n", "price", "brings_back", {"deleted": ("x = price",)}),
    ("x = |\n", "price2", None, {"deleted": ("x = price",)}),
    ("from|\n", " a import b", None, {"deleted": ("from a import b",), "truth": " a import b, c"}),
    ("from|\n", " a import b", "brings_back", {"deleted": ("from a import b",), "truth": " a import c"}),
    # line ends
    ("class E(A):|", "\n    pass", None, {}),
    ("class E(A):|", "\r\n    pass", "line_ends", {}),
    ("class E(A):|", "\n    pass", "line_ends", {"newline": "\r\n"}),
    ("class E(A):|", "\r    pass", "line_ends", {"newline": "\r\n"}),
    ("class E(A):|", "\r\n    pass", None, {"newline": "\r\n"}),
]


@pytest.mark.parametrize(("document", "text", "fault", "more"), CASES)
def test_a_text_has_this_fault_alone(document, text, fault, more):
    left, right = document.split("|")
    truth, deleted = more.get("truth", ""), more.get("deleted", ())
    place = Place("kind", "name", "0", 0, truth, len(truth), 0, deleted)
    faults = Faults.of(place, left, text, right, more.get("newline", "\n"))
    assert [name for name in FAULTS if getattr(faults, name)] == ([fault] if fault else [])


def test_faults_of_types_are_found_in_the_project(tmp_path):
    (tmp_path / "shop.py").write_text("class Order:\n    price = 1\n")
    path, left = tmp_path / "main.py", "import nowhere\r\nfrom shop import Order\r\nx = "
    with closing(TypeVerdicts(tmp_path)) as types:
        for text, has_fault in [("Order.prices", True), ("Order.price", False), ("nowhere.a", False)]:
            assert types.has_fault(path, left, text, "\r\n") is has_fault
            place = Place("kind", "name", "0", 0, "", 0, 0)
            assert Faults.of(place, left, text, "\r\n", "\r\n", has_fault).types is has_fault
