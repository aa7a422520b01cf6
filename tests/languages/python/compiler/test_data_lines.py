"""Long lines of data: recognised only where the compiler refuses nothing, with their ends."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.languages.python.compiler.expression_parser import tokens_of_line
from fimlsp.languages.python.compiler.file_check import FileCheck, end_of_data

FILLING = "    (1, -2.5e3, 'it is for you', {None: [True]}),  # for a while\n" * 20

DATA = {
    # the line, with `...` for a thousand bytes of rows, and True if it is one of data
    "x = [\n...]\n": True,
    "x.y = {\n'a': (\n...),\n}\n": True,
    "    x = (\n...) + [b'', rb'\\\\']  # all\n": True,
    'x = [\n...\'\\\'\', """two\nlines for""", *y]\r\n': True,
    "x = f(\n...)\n": True,
    "x = f.g('a', [\n...], *y, **z)\n": True,
    "x = f(\n...a=1)\n": False,
    "x = yield(\n...)\n": False,
    "x = await(\n...)\n": False,
    "x = f(\n...y for y in z)\n": False,
    "return(\n...)\n": False,
    "x = [1]\n": False,
    "x = [\n...a for a in b]\n": False,
    "x = [\n...[a\nfor a in b]]\n": False,
    "x = [\n...1for a in b]\n": False,
    "x = [\n...lambda: 0]\n": False,
    "x = [\n...(a := 1)]\n": False,
    "x = [\n...f(a=1, a=2)]\n": False,
    "x = [\n...f'{a}']\n": False,
    "x = [\n...Rt'{a}']\n": False,
    'x = [\n...f"""{a}"""]\n': False,
    "x = [\n...]; y = 1\n": False,
    "x = [\n...] \\\n + y\n": False,
    "x = [\n...__debug__]\n": False,
    "__debug__.x = [\n...]\n": False,
    "x: y = [\n...]\n": False,
    "x, y = [\n...]\n": False,
    "x = y = [\n...]\n": False,
    "x += [\n...]\n": False,
    "x = [\n...é]\n": False,
    "x = [\n...'é']\n": True,
}


@pytest.mark.parametrize("text", DATA)
def test_lines_of_data(text: str) -> None:
    before, after = b"import a\n", b"y = 1\n"
    line = text.replace("...", FILLING).encode()
    data = before + line + after
    expected = len(before) + len(line) if DATA[text] else None
    assert end_of_data(data, len(before)) == expected
    if expected is not None:
        assert tokens_of_line(data, len(before))[1] == expected
        assert FileCheck((3, 11)).faults(data) == []


def test_what_is_declared_counts_in_them_too() -> None:
    line = f"    x = [\n{FILLING}y]\n"
    used = FileCheck((3, 11)).faults(f"def f():\n{line}    global y\n".encode())
    assert [fault.message for fault in used] == ["name 'y' is used prior to global declaration"]
    assert FileCheck((3, 11)).faults(f"def f():\n    global y\n{line}".encode()) == []


ELEMENTS = (
    *(
        "a",
        "-1",
        "not a",
        "a if b else c",
        "*a",
        "a.b[c:d]",
        "f(a, *b)",
        "{1: {**a}}",
        "(*a, [])",
        "...",
        "0x1f",
    ),
    *(
        "'c'",
        "'#('",
        '"]"',
        "'\\''",
        "'''d\n'e'''",
        "''",
        "b'' rb'\\\\'",
        "#b)\na",
        "(\n)",
        "\\\n a",
        "'for' 'lambda'",
    ),
    *(
        "f(a=1)",
        "f(a=1, a=2)",
        "lambda a, a: 0",
        "(a := 1)",
        "[a := 1 for a in b]",
        "[a for a in b]",
        "(yield)",
    ),
    *(
        "f'{a}'",
        "f'{(yield)}'",
        "Rf'''{lambda: 0}'''",
        "f(__debug__=1)",
        "[await a]",
        "1for a in b",
        "a == b",
    ),
)


@given(st.sampled_from(("[{}]", "f({})", "f.g([{}])")), st.lists(st.sampled_from(ELEMENTS), max_size=6))
def test_the_compiler_refuses_nothing_in_them(value: str, elements: list[str]) -> None:
    line = f"x = {value.format(FILLING + ', '.join(elements))}\n"
    end = end_of_data(line.encode(), 0)
    if end is not None and parses(line):
        assert end == tokens_of_line(line.encode())[1]
        compile(line.encode()[:end], "line", "exec")


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True
