"""Arguments and statements that a file makes likely, with the text that would follow at the cursor."""

from __future__ import annotations

import pytest

from fimlsp.languages.python.missing_names.likely_texts import LikelyTexts
from fimlsp.languages.python.names.symbol_tables import MOST_BYTES

TWO = "def area(width, height, unit=None, *rest, scale): ...\n\n\n"
IN = TWO + "def draw(width, height):\n    return "
METHODS = """\
class A:
    def area(self, width): ...
    @staticmethod
    def of(width): ...
    def draw(self, width):
"""
CLASS = "class Box:\n    size: int\n    def __init__(self, width): ...\n\n\ndef draw(width):\n    "
INIT = 'class A(B):\n    def __init__(self, one: dict[str, int], two="a,b", *rest):\n        '
MAIN = "def main(argv=None): ...\n\n\n"

ELSEWHERE = {b"circle": [(b"radius",)], b".use": [(b"tool",)] * 2, b".both": [(b"one",), (b"two",)]}

# the code, and the text that is likely at its cursor
CASES = {
    "arguments": (IN + "area(<|>)", "width, height"),
    "begun ones": (IN + "area(wi<|>)", "dth, height"),
    "the second": (IN + "area(width,<|>)", " height"),
    "all are there": (IN + "area(width, height<|>)", None),
    "others": (IN + "area(1, <|>)", None),
    "in brackets": (IN + "sum([area(<|>)])", "width, height"),
    "of another function": (IN + "perimeter(<|>)", None),
    "of a module": (IN + "shapes.area(<|>)", None),
    "only the first is bound": (TWO + "def draw(width):\n    return area(<|>)", "width"),
    "the second alone is bound": (TWO + "def draw(height):\n    return area(<|>)", None),
    "bound by a loop": (TWO + "def f(x):\n    for width, height in x:\n        area(<|>)", "width, height"),
    "bound in another function": (TWO + "def a(width, height): ...\n\ndef b():\n    area(<|>)", None),
    "defined twice": (TWO + IN + "area(<|>)", None),
    "defined below": ("def draw(width):\n    return area(<|>)\n\n\ndef area(width): ...\n", "width"),
    "over several lines": ("def area(\n    width: int,\n): ...\n\ndef draw(width):\n    area(<|>)", "width"),
    "of a class": (CLASS + "Box(<|>)", "width"),
    "of a method": (METHODS + "        self.area(<|>)", "width"),
    "of a static method": (METHODS + "        self.of(<|>)", "width"),
    "a method as a function": (METHODS + "        area(<|>)", None),
    "of another object": (METHODS + "        other.area(<|>)", "width"),
    "imported": ("from shapes import (\n    circle,\n)\n\ndef f(radius):\n    circle(<|>)", "radius"),
    "not imported": ("def f(radius):\n    circle(<|>)", None),
    "of an unknown object": ("def f(tool):\n    x.use(<|>)", "tool"),
    "of its own object": ("class A(B):\n    def f(self, tool):\n        self.use(<|>)", "tool"),
    "defined in two ways elsewhere": ("def f(one):\n    x.both(<|>)", None),
    "in a string": (IN + "area('<|>')", None),
    "an attribute first": (INIT + "<|>", "self.one = one\n"),
    "after the base": (INIT + "super().__init__()\n        <|>", "self.one = one\n"),
    "the next attribute": (INIT + "self.one = one\n        <|>", "self.two = two\n"),
    "a private one": (INIT + "self._one: int = one\n        self.<|>", "_two = two\n"),
    "of the last parameter": (INIT + "self.one = one\n        self.two = two\n        <|>", None),
    "assigned below": (INIT + "<|>\n        self.one = one\n        self.two = two\n", None),
    "after something else": (INIT + "self.one = one\n        print()\n        <|>", None),
    "in another method": ("class A:\n    def set(self, one):\n        <|>", None),
    "a check of the name": (MAIN + "<|>", 'if __name__ == "__main__":\n'),
    "begun": (MAIN + "if __<|>", 'name__ == "__main__":\n'),
    "with the quotes of the file": ("a = 'b'\n" + MAIN + "<|>", "if __name__ == '__main__':\n"),
    "with code below": (MAIN + "<|>\nmain()\n", None),
    "of a function with arguments": ("def main(argv): ...\n\n\n<|>", None),
    "without a function": ("def run(): ...\n\n\n<|>", None),
    "the call": (MAIN + 'if __name__ == "__main__":\n    <|>', "main()"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_likely_texts(name):
    code, expected = CASES[name]
    left, right = (part.encode() for part in code.split("<|>"))
    found = LikelyTexts.at(left, right, lambda name: ELSEWHERE.get(name, ()))
    assert found is not None
    texts = found.after(b"")
    assert all(0 < share < 1 for share in texts.values())
    assert [text.decode() for text in texts] == ([] if expected is None else [expected])


def test_the_text_so_far_counts():
    left = (IN + "<|>").partition("<|>")[0].encode()
    found = LikelyTexts.at(left, b"")
    assert found is not None
    assert [*found.after(b"area(")] == [b"width, height"]
    assert [*found.after(b"area(width")] == [b", height"]
    assert found.after(b"area(width, height)") == {}


def test_large_files_are_left_alone():
    assert LikelyTexts.at(b"#" * MOST_BYTES, b"\n") is None
