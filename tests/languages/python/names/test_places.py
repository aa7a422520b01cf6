"""Where a name stands, and how badly continuations suit the names that are known there.

`<|>` marks the cursor.
"""

from __future__ import annotations

import pytest

from fimlsp.languages.python.names.code_state import Place, state_behind
from fimlsp.languages.python.names.known_names import KnownNames, NameSet
from fimlsp.languages.python.names.preference import DOUBTFUL_NAME, UNKNOWN_NAME, NamePreference

PLACES = [
    ("", Place.START, ""),
    ("x = ", Place.USE, ""),
    ("x, ", Place.START, ""),
    ("x: ", Place.USE, ""),
    ("return ", Place.USE, ""),
    ("def ", Place.OPEN, ""),
    ("def f(", Place.OPEN, ""),
    ("def f(a, ", Place.OPEN, ""),
    ("def f(a: ", Place.USE, ""),
    ("def f(a=", Place.USE, ""),
    ("def f() -> ", Place.USE, ""),
    ("def f():\n    ", Place.START, ""),
    ("async def f(a, *, ", Place.OPEN, ""),
    ("class A(", Place.ARGUMENT, "A"),
    ("f(", Place.ARGUMENT, "f"),
    ("f(a, ", Place.ARGUMENT, "f"),
    ("f(a=", Place.USE, "f"),
    ("a.f(x, b=1, ", Place.ARGUMENT, "a.f"),
    ("g()(", Place.ARGUMENT, ""),
    ("x = [", Place.ELEMENT, ""),
    ("x = [a + ", Place.USE, ""),
    ("x = [a for ", Place.OPEN, ""),
    ("x = [a for a, ", Place.OPEN, ""),
    ("x = [a for a in ", Place.USE, ""),
    ("for ", Place.OPEN, ""),
    ("for a in ", Place.USE, ""),
    ("for a in b: ", Place.START, ""),
    ("lambda ", Place.OPEN, ""),
    ("lambda a, ", Place.OPEN, ""),
    ("lambda a: ", Place.USE, ""),
    ("f(lambda a: ", Place.USE, "f"),
    ("import ", Place.OPEN, ""),
    ("import a as ", Place.OPEN, ""),
    ("from ", Place.OPEN, ""),
    ("from . import ", Place.IMPORTED, "."),
    ("from ..a.b import (\n    c, ", Place.IMPORTED, "..a.b"),
    ("from a import c as ", Place.OPEN, ""),
    ("from a import c as d, ", Place.IMPORTED, "a"),
    ("with a as ", Place.OPEN, ""),
    ("except A as ", Place.OPEN, ""),
    ("except ", Place.USE, ""),
    ("global ", Place.OPEN, ""),
    ("raise A from ", Place.USE, ""),
    ("case ", Place.OPEN, ""),
    ("@", Place.USE, ""),
    ("a.", Place.ATTRIBUTE, "a"),
    ("x = a.b.", Place.ATTRIBUTE, "a.b"),
    ("a.b().", Place.OPEN, ""),
    ("a[0].", Place.OPEN, ""),
    ("a[0].b.", Place.ATTRIBUTE, ""),
    ("'a'.", Place.OPEN, ""),
    ("a() and ", Place.USE, ""),
    ("x = a[0] if ", Place.USE, ""),
    ("with a() as ", Place.OPEN, ""),
    ("[x() for ", Place.OPEN, ""),
    ("x = 'a' in ", Place.USE, ""),
    ("x = 1.", Place.OPEN, ""),
    ("x = 'a ", Place.OPEN, ""),
    ("x = 'a' + ", Place.USE, ""),
    ("x = f'a {", Place.OPEN, ""),
    ("# a ", Place.OPEN, ""),
    ("# it's\nx = ", Place.USE, ""),
    ('def f():\n    """A ', Place.OPEN, ""),
    ('def f():\n    """A"""\n    return ', Place.USE, ""),
    ("if a:\n    b\nelse:\n    c = ", Place.USE, ""),
    # strings of several lines that hold what looks like code, or are longer than what is read
    ('def f():\n    """\n    from x import y\n    """\n    return ', Place.USE, ""),
    ('def f():\n    """\n    from x import y\n    return ', Place.OPEN, ""),
    ("def f():\n    '''" + "it is \n" * 2_000 + "    '''\n    return ", Place.USE, ""),
    ("def f():\n    '''" + "it is \n" * 2_000, Place.OPEN, ""),
    ('f(\n    """' + "it is\n" * 2_000 + '""",\n    ', Place.ARGUMENT, "f"),
    ('f(\n    """\nselect a\nfrom b\n""",\n    ', Place.ARGUMENT, "f"),
    (
        'import a\nf(\n    """\nselect a\nfrom b\n""",\n    """\nselect a\nfrom b\n""",\n    ',
        Place.ARGUMENT,
        "f",
    ),
    ('a = """\nselect b\nfrom c\n"""\n' * 3_000 + "d = ", Place.USE, ""),
    ('# """\n' + "a = b\n" * 2_000 + "c = ", Place.USE, ""),
    ('a = \'"""\'\n' + "a = b\n" * 2_000 + "c = ", Place.USE, ""),
]


@pytest.mark.parametrize(("left", "place", "of"), PLACES)
def test_the_place_of_a_name(left, place, of):
    state = state_behind(left.encode())
    names = {Place.ATTRIBUTE: state.owner, Place.IMPORTED: state.module, Place.ARGUMENT: state.callee}
    assert state.place is place
    assert names.get(place, state.callee) == of.encode()


def test_the_state_is_the_same_however_the_code_is_split():
    code = b"def f(a, b=1):\n    '''x\n''' # y\n    return g(a.b, c=[x for x in b.c.d()], e=1.5)[0].k"
    for at in range(len(code) + 1):
        if code[at - 1 : at] != b"'" or code[at : at + 1] != b"'":  # quotes that are split are two strings
            assert state_behind(code[:at]).feed(code[at:]) == state_behind(code), code[:at]


def test_only_what_is_near_is_read():
    assert state_behind(b"x = '\n" + b"y = 1\n" * 10_000 + b"z = ").place is Place.USE


KNOWN = KnownNames(
    visible=NameSet([b"order", b"orders", b"load", b"Path"]),
    attributes={b"order": NameSet([b"items", b"total"])},
    keywords={b"load": NameSet([b"path", b"strict"])},
    imports={b"shop": NameSet([b"Shop"])},
    functions={b"order": frozenset([b"items"]), b"": frozenset([b"load"])},
)

MISFITS = [
    ("x = <|>", "ord", 0),
    ("x = <|>", "order", 0),
    ("x = <|>", "order.", 0),
    ("x = <|>", "price", UNKNOWN_NAME),
    ("x = <|>", "orde)", UNKNOWN_NAME),
    ("x = or<|>", "ders", 0),
    ("x = or<|>", "acle", UNKNOWN_NAME),
    ("x = <|>", " price", UNKNOWN_NAME),
    ("x = <|>", "not", 0),
    ("x = <|>", "isinstance(", 0),
    ("x = <|>", "12", 0),
    ("x = <|>", "'price", 0),
    ("x = <|>", "f'{price", 0),
    ("x = order + y<|>", "", 0),
    ("price = <|>", "price\n", 0),
    ("<|>", "price", 0),
    ("<|>", "price = 1", 0),
    ("<|>", "price, order = 1", 0),
    ("<|>", "price(", UNKNOWN_NAME),
    ("<|>", "price.", UNKNOWN_NAME),
    ("<|>", "order(", 0),
    ("order.<|>", "tot", 0),
    ("order.<|>", "totals", DOUBTFUL_NAME),
    ("x = order.<|>", "totals", UNKNOWN_NAME),
    ("x = order.tot<|>", "\n", UNKNOWN_NAME),
    ("x = order.tot<|>", "al\n", 0),
    ("order.price = 1\nx = order.<|>", "price", 0),
    ("x = orders.<|>", "whatever", 0),
    ("x = order.items.<|>", "whatever", 0),
    ("x = load(<|>", "path", 0),
    ("x = load(<|>", "order", 0),
    ("x = load(<|>", "strict=", 0),
    ("x = load(<|>", "price", UNKNOWN_NAME),
    ("x = load(<|>", "mode=", UNKNOWN_NAME),
    ("x = order(<|>", "mode", DOUBTFUL_NAME),
    ("x = order(<|>", "mode=", 0),
    ("run(mode=1)\nx = order(<|>", "mode", 0),
    ("x = [<|>", "item", DOUBTFUL_NAME),
    ("x = [<|>", "item for item in", 0),
    ("x = [<|>", "item]", DOUBTFUL_NAME),
    ("x = [item for item in <|>", "orders", 0),
    ("from shop import <|>", "Sh", 0),
    ("from shop import <|>", "Stop", UNKNOWN_NAME),
    ("from shops import <|>", "Stop", 0),
    ("for a in order.items<|>", ":", UNKNOWN_NAME),
    ("for a in order.items<|>", "():", 0),
    ("for a in order.items<|>", ".here:", 0),
    ("for a in order.total<|>", ":", 0),
    ("for a in orders.items<|>", ":", 0),
    ("for a in order.items<|>:", "\n", UNKNOWN_NAME),
    ("for a in order.items<|>():", "\n", 0),
    ("for a in x().load<|>", ":", 0),
    ("[a for a in order.items<|>", "]", UNKNOWN_NAME),
    ("with load<|>", " as a:", UNKNOWN_NAME),
    ("if order.items<|>", ":", UNKNOWN_NAME),
    ("if order.items<|>", " is None:", 0),
    ("if order.items<|>", " and ", UNKNOWN_NAME),
    ("x = 1 + order.items<|>", "\n", UNKNOWN_NAME),
    ("x = order.items<|>", "[0]", UNKNOWN_NAME),
    ("x = order.items<|>", "\n", DOUBTFUL_NAME),
    ("return order.items<|>", "\n", DOUBTFUL_NAME),
    ("run(order.items<|>", ")", 0),
    ("order.items<|>", "\n", UNKNOWN_NAME),
    ("order.items<|>", " = ", 0),
    ("@load<|>", "\n", 0),
    ("def load<|>", ":", 0),
    ("import load<|>", "\n", 0),
    ("def f(<|>", "price", 0),
    ("'a <|>", "price", 0),
    ("# a <|>", "price", 0),
]


@pytest.mark.parametrize(("marked", "continuation", "misfit"), MISFITS)
def test_how_badly_a_continuation_suits(marked, continuation, misfit):
    left, right = marked.encode().split(b"<|>")
    preference = NamePreference(left, right, state_behind(left), lambda: KNOWN)
    assert preference.misfit(b"", continuation.encode()) == misfit


@pytest.mark.parametrize(("marked", "continuation", "misfit"), MISFITS)
def test_it_does_not_matter_how_much_is_written_already(marked, continuation, misfit):
    left, right = marked.encode().split(b"<|>")
    preference = NamePreference(left[:-1], right, state_behind(left[:-1]), lambda: KNOWN)
    if left and not left[-1:].isalnum():
        assert preference.misfit(left[-1:], continuation.encode()) == misfit


@pytest.mark.parametrize(("marked", "continuation"), [case[:2] for case in MISFITS])
def test_where_nothing_is_known_everything_suits(marked, continuation):
    left, right = marked.encode().split(b"<|>")
    preference = NamePreference(left, right, state_behind(left), KnownNames)
    worst = preference.misfit(b"", continuation.encode())
    assert worst <= (DOUBTFUL_NAME if "(" in marked else 0)


def test_what_was_missed_is_told():
    left = b"x = shop."
    preference = NamePreference(left, b"", state_behind(left), lambda: KNOWN)
    preference.misfit(b"", b"carts")
    assert list(preference.missed) == [("attributes", b"shop")]


def test_a_name_that_is_not_known_ends_a_text_unless_the_model_is_sure():
    left = b"x = "
    preference = NamePreference(left, b"", state_behind(left), lambda: KNOWN)
    for sure, offset in ((-1.0, 8), (-0.01, None)):
        assert preference.first_misfit([(b"order + ", -2.0), (b"quan", sure), (b"tity", sure)]) == offset


@pytest.mark.parametrize(
    ("text", "right", "is_left_uncalled"),
    [
        ("a in order.items", ":", True),
        ("a in order.items", "():", False),
        ("a in order.items()", ":", False),
        ("a in order.total", ":", False),
        ("a in 'order.items", "':", False),
    ],
)
def test_a_function_at_the_end_of_a_text_has_to_be_called(text, right, is_left_uncalled):
    left = b"for "
    preference = NamePreference(left, right.encode(), state_behind(left), lambda: KNOWN)
    assert preference.is_left_uncalled(text.encode()) == is_left_uncalled
