"""The required parameters of definitions, from their text alone."""

from __future__ import annotations

import pytest

from fimlsp.languages.python.missing_names.import_table import required_parameters, signatures_in

CODE = b"""\
@decorated(1)
async def f(one: dict[str, int], two="a, b)", /, *, three): ...

def g(
    one,  # first, of all
    two: tuple[int, ...],
    three=(1, 2),
    *rest,
): ...

class A(
    B
):
    pass

class C:
    size: int = 0

    def __init__(self, one): ...

    @staticmethod
    def of(one): ...

    def twice(self, one): ...

class D:
    def twice(self): ...
    def __init__(self, other: "D", **rest): ...

def h(): ...
"""

REQUIRED = {
    b"f": (b"one",),
    b"g": (b"one", b"two"),
    b"h": (),
    b"C": (b"one",),
    b"D": (b"other",),
    b".of": (b"one",),
}


@pytest.mark.parametrize("name", REQUIRED)
def test_one_definition(name):
    assert required_parameters(CODE, name) == REQUIRED[name]
    assert signatures_in(CODE)[name] == [REQUIRED[name]]


@pytest.mark.parametrize(
    ("name", "found"), [(b".twice", ()), (b"of", ()), (b".f", ()), (b"x", None), (b"A", None)]
)
def test_no_definition_or_several(name, found):
    assert required_parameters(CODE, name) == found


def test_several_definitions():
    assert signatures_in(CODE)[b".twice"] == [(b"one",), ()]


@pytest.mark.parametrize(
    "code", [b"", b"def", b"def f", b"def f(", b"def f(a", b"class A:\n    def __init__(", b"def f(*)"]
)
def test_unfinished_code(code):
    assert all(len(found) == 1 for found in signatures_in(code).values())
