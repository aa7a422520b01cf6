"""The role of a name at a cursor, and the misfit of continuations with the names known there.

`<|>` marks the cursor.
"""

from __future__ import annotations

import pytest

from fimlsp.languages.python.names.code_state import CodeState, NameRole, state_at_end
from fimlsp.languages.python.names.known_names import KnownNames, NameSet
from fimlsp.languages.python.names.preference import DOUBTFUL_NAME, UNKNOWN_NAME, NamePreference

ROLES = [
    ("", NameRole.START, ""),
    ("x = ", NameRole.USE, ""),
    ("x, ", NameRole.START, ""),
    ("x: ", NameRole.USE, ""),
    ("return ", NameRole.USE, ""),
    ("def ", NameRole.OPEN, ""),
    ("def f(", NameRole.OPEN, ""),
    ("def f(a, ", NameRole.OPEN, ""),
    ("def f(a: ", NameRole.USE, ""),
    ("def f(a=", NameRole.USE, ""),
    ("def f() -> ", NameRole.USE, ""),
    ("def f():\n    ", NameRole.START, ""),
    ("async def f(a, *, ", NameRole.OPEN, ""),
    ("class A(", NameRole.ARGUMENT, "A"),
    ("f(", NameRole.ARGUMENT, "f"),
    ("f(a, ", NameRole.ARGUMENT, "f"),
    ("f(a=", NameRole.USE, "f"),
    ("a.f(x, b=1, ", NameRole.ARGUMENT, "a.f"),
    ("g()(", NameRole.ARGUMENT, ""),
    ("x = [", NameRole.ELEMENT, ""),
    ("x = [a + ", NameRole.USE, ""),
    ("x = [a for ", NameRole.OPEN, ""),
    ("x = [a for a, ", NameRole.OPEN, ""),
    ("x = [a for a in ", NameRole.USE, ""),
    ("for ", NameRole.OPEN, ""),
    ("for a in ", NameRole.USE, ""),
    ("for a in b: ", NameRole.START, ""),
    ("lambda ", NameRole.OPEN, ""),
    ("lambda a, ", NameRole.OPEN, ""),
    ("lambda a: ", NameRole.USE, ""),
    ("f(lambda a: ", NameRole.USE, "f"),
    ("import ", NameRole.OPEN, ""),
    ("import a as ", NameRole.OPEN, ""),
    ("from ", NameRole.OPEN, ""),
    ("from . import ", NameRole.IMPORTED, "."),
    ("from ..a.b import (\n    c, ", NameRole.IMPORTED, "..a.b"),
    ("from a import c as ", NameRole.OPEN, ""),
    ("from a import c as d, ", NameRole.IMPORTED, "a"),
    ("with a as ", NameRole.OPEN, ""),
    ("except A as ", NameRole.OPEN, ""),
    ("except ", NameRole.USE, ""),
    ("global ", NameRole.OPEN, ""),
    ("raise A from ", NameRole.USE, ""),
    ("case ", NameRole.OPEN, ""),
    ("@", NameRole.USE, ""),
    ("a.", NameRole.ATTRIBUTE, "a"),
    ("x = a.b.", NameRole.ATTRIBUTE, "a.b"),
    ("a.b().", NameRole.OPEN, ""),
    ("a[0].", NameRole.OPEN, ""),
    ("a[0].b.", NameRole.ATTRIBUTE, ""),
    ("'a'.", NameRole.OPEN, ""),
    ("a() and ", NameRole.USE, ""),
    ("x = a[0] if ", NameRole.USE, ""),
    ("with a() as ", NameRole.OPEN, ""),
    ("[x() for ", NameRole.OPEN, ""),
    ("x = 'a' in ", NameRole.USE, ""),
    ("x = 1.", NameRole.OPEN, ""),
    ("x = 'a ", NameRole.OPEN, ""),
    ("x = 'a' + ", NameRole.USE, ""),
    ("x = f'a {", NameRole.OPEN, ""),
    ("# a ", NameRole.OPEN, ""),
    ("# it's\nx = ", NameRole.USE, ""),
    ('def f():\n    """A ', NameRole.OPEN, ""),
    ('def f():\n    """A"""\n    return ', NameRole.USE, ""),
    ("if a:\n    b\nelse:\n    c = ", NameRole.USE, ""),
    # strings of several lines with text like code, or longer than the text that is scanned
    ('def f():\n    """\n    from x import y\n    """\n    return ', NameRole.USE, ""),
    ('def f():\n    """\n    from x import y\n    return ', NameRole.OPEN, ""),
    ("def f():\n    '''" + "it is \n" * 2_000 + "    '''\n    return ", NameRole.USE, ""),
    ("def f():\n    '''" + "it is \n" * 2_000, NameRole.OPEN, ""),
    ('f(\n    """' + "it is\n" * 2_000 + '""",\n    ', NameRole.ARGUMENT, "f"),
    ('f(\n    """\nselect a\nfrom b\n""",\n    ', NameRole.ARGUMENT, "f"),
    (
        'import a\nf(\n    """\nselect a\nfrom b\n""",\n    """\nselect a\nfrom b\n""",\n    ',
        NameRole.ARGUMENT,
        "f",
    ),
    ('a = """\nselect b\nfrom c\n"""\n' * 3_000 + "d = ", NameRole.USE, ""),
    ('# """\n' + "a = b\n" * 2_000 + "c = ", NameRole.USE, ""),
    ('a = \'"""\'\n' + "a = b\n" * 2_000 + "c = ", NameRole.USE, ""),
]


@pytest.mark.parametrize(("left", "role", "of"), ROLES)
def test_the_role_of_a_name(left, role, of):
    state = state_at_end(left.encode())
    names = {
        NameRole.ATTRIBUTE: state.owner,
        NameRole.IMPORTED: state.module,
        NameRole.ARGUMENT: state.callee,
    }
    assert state.role is role
    assert names.get(role, state.callee) == of.encode()


def test_the_state_is_the_same_however_the_code_is_split():
    code = b"def f(a, b=1):\n    '''x\n''' # y\n    return g(a.b, c=[x for x in b.c.d()], e=1.5)[0].k"
    for at in range(len(code) + 1):
        if code[at - 1 : at] != b"'" or code[at : at + 1] != b"'":  # quotes that are split are two strings
            assert state_at_end(code[:at]).feed(code[at:]) == state_at_end(code), code[:at]


def test_reading_starts_at_a_statement_and_changes_nothing():
    code = b"""a = 'x;(' ; b = (1,\n 2) # ;(\nf(']', \'\'\'\n;(\'\'\', [\n{'k': ')'}\n], 1)\n"""
    code += b'x = \\\n y; z)\nwith a as b: c = "]\nd = g(h[1:2], lambda i: (i\n'
    for at in range(len(code) + 1):
        assert state_at_end(code[:at]) == CodeState().feed(code[:at]), code[:at]


def test_only_what_is_near_is_read():
    assert state_at_end(b"x = '\n" + b"y = 1\n" * 10_000 + b"z = ").role is NameRole.USE


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
    preference = NamePreference(left, right, state_at_end(left), lambda: KNOWN)
    assert preference.misfit(b"", continuation.encode()) == misfit


@pytest.mark.parametrize(("marked", "continuation", "misfit"), MISFITS)
def test_it_does_not_matter_how_much_is_written_already(marked, continuation, misfit):
    left, right = marked.encode().split(b"<|>")
    preference = NamePreference(left[:-1], right, state_at_end(left[:-1]), lambda: KNOWN)
    if left and not left[-1:].isalnum():
        assert preference.misfit(left[-1:], continuation.encode()) == misfit


@pytest.mark.parametrize(("marked", "continuation"), [case[:2] for case in MISFITS])
def test_where_nothing_is_known_everything_suits(marked, continuation):
    left, right = marked.encode().split(b"<|>")
    preference = NamePreference(left, right, state_at_end(left), KnownNames)
    worst = preference.misfit(b"", continuation.encode())
    assert worst <= (DOUBTFUL_NAME if "(" in marked else 0)


def test_what_was_missed_is_told():
    left = b"x = shop."
    preference = NamePreference(left, b"", state_at_end(left), lambda: KNOWN)
    preference.misfit(b"", b"carts")
    assert list(preference.missed) == [("attributes", b"shop")]


def test_a_name_that_is_not_known_ends_a_text_unless_the_model_is_sure():
    left = b"x = "
    preference = NamePreference(left, b"", state_at_end(left), lambda: KNOWN)
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
    preference = NamePreference(left, right.encode(), state_at_end(left), lambda: KNOWN)
    assert preference.is_left_uncalled(text.encode()) == is_left_uncalled
