"""Files written from empty: the order of the keys, and the brackets that the editor closes."""

from itertools import pairwise

import pytest

from fimlsp.datasets.shown.writing.from_empty import KINDS, Order, draw_typing

SOURCE = '''\
import os


class Box:
    size = 3

    def area(self, factor=(1, 2)):
        """Of *factor*."""
        return [
            self.size * part
            for part in factor
        ]


def names(path): return os.listdir(path)


def main():
    print(names("."))
'''

# the finished text up to the cursor, and the texts left and right of it after that key
KEYS = [
    ("import os\n\n\nclass Box:\n", None, ""),
    ("    def area(", None, ")"),
    ("factor=(", None, "))"),
    ("factor=(1, 2", None, "))"),
    ("factor=(1, 2)", None, ")"),
    ("def names(path)", "area(self, factor=(1, 2)):\n        pass\n\n\ndef names(path)", ""),
    ('"""Of', None, '"""\n\n\ndef names(path): return os.listdir(path)\n\n\ndef main():\n    pass\n'),
    ("return [", None, "]\n\n\ndef names(path): return os.listdir(path)\n\n\ndef main():\n    pass\n"),
    ("return [\n            self", None, "\n        ]\n\n\ndef names(path): return os.listdir(path)"),
    ("in factor\n        ", None, "]\n\n\ndef names(path): return os.listdir(path)"),
    ('print(names(".', None, '"))\n'),
    ('print(names("."', None, "))\n"),
]


@pytest.mark.parametrize(("typed", "left", "right"), KEYS)
def test_bodies_come_last_and_brackets_are_closed(typed, left, right):
    order = Order.of(SOURCE)
    end = SOURCE.index(typed) + len(typed.rstrip("\n"))
    found = [(before, after) for offset, before, after in order.presses() if offset == end]
    assert len(found) == 1
    assert found[0][0].endswith(left or typed.rstrip("\n"))
    assert found[0][1].startswith(right)
    assert bool(right) == bool(found[0][1])


# texts whose functions are written at once, or as bodies
BODIES = [
    ("def f(): return 1\n", []),
    ("def f():\n    return 1\n", ["return 1"]),
    (
        "def f():\n    def g():\n        return 1\n    return g\n",
        ["def g():\n        return 1\n    return g"],
    ),
    ("class A:\n    x = 1\n\n    async def f(self):\n        pass\n", ["pass"]),
    ("if x:\n    def f():\n        @g\n        def h(): pass\n", ["@g\n        def h(): pass"]),
    ("def f():\n    'é'; x = 'é'\n", ["'é'; x = 'é'"]),
    ("def f():  # why\n    return 1\n", []),
]


@pytest.mark.parametrize(("text", "bodies"), BODIES)
def test_each_body_replaces_pass(text, bodies):
    order = Order.of(text)
    assert [text[slice(*body)] for body in order.bodies] == bodies


@pytest.mark.parametrize(
    "text", [SOURCE, "", "x = 1", *(text for text, _ in BODIES), "x = f'{a}' + rb'''\n'''\n"]
)
def test_all_of_the_text_is_written_by_small_steps(text):
    documents = [left + right for _, left, right in Order.of(text).presses()]
    assert documents[0] == ""
    assert documents[-1] == text
    for before, after in pairwise(documents):
        assert abs(len(after) - len(before)) <= max(len(line) for line in [*text.split("\n"), "  pass"]) + 8


@pytest.mark.parametrize(
    ("left", "truth"),
    [
        ("import os", "\n\n\nclass Box:"),
        ("    def area(self, factor=(1, 2)):", "\n        pass"),
        ('print(names("."', ""),
        ("return [\n            self.size * part", "\n            for part in factor"),
        ("for part in factor\n        ]", ""),
    ],
)
def test_above_the_bodies_the_placeholder_is_written(left, truth):
    order = Order.of(SOURCE)
    offset = SOURCE.index(left) + len(left)
    assert order.truth(offset)[: order.stop(offset)] == truth


def test_pauses_are_drawn_at_ends_of_words_and_lines(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "box.py").write_text(SOURCE)
    project = draw_typing(tmp_path / "src", tmp_path / "written", 40, 0)
    assert project.keeps_open
    (writing,) = project.writings
    assert writing.path == tmp_path / "written" / "box.py"
    asked = [step for step in writing.steps() if step.place]
    assert {step.place.case for step in asked} == {place.case for place in writing.places}
    assert {place.kind for place in writing.places} == set(KINDS)
    for step in asked:
        place = step.place
        assert step.left + place.truth[: place.stop] in {left for _, left, _ in Order.of(SOURCE).presses()}
        assert step.left.rpartition("\n")[2] == SOURCE[: place.at].rpartition("\n")[2]
        assert "\n" not in place.truth[: place.stop].strip()
    inner = next(step for step in asked if step.left.endswith("factor=("))
    assert inner.place.truth[: inner.place.stop] == "1, 2"
