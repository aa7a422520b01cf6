r"""The source of a field with `=`: in 3.12 and 3.13 it is decoded like the text of its f-string.

What CPython 3.12 to 3.14 say of each case was asked there.
"""

import pytest

from fimlsp.languages.python import python
from fimlsp.quotient.engine import Engine

from ....quotient.middle_support import cursor_in

REFUSED = [
    r"""f"{Path(r'C:\Users')=}" """,
    r"""f"{r'\x'=}" """,
    r"""f"{b'\N{x}'=}" """,
    r"""f"{r'\N'=}" """,
    r"""f"{b'\u12'=}" """,
    r"""f"{b'\U00110000'=}" """,
    r"""f"{rb'\x4g'=}" """,
    r"""f"{r'\x'=!r}" """,
    r"""f"{r'\x'=:>5}" """,
    r"""f"{r'\x'= }" """,
    r"""f"{x[r'\x']=}" """,
    r"""f"{(lambda: r'\x')=}" """,
    r"""f"{'a' r'\x'=}" """,
    r"""f"{fr'\x'=}" """,
    r"""f"{fr'\N{x}'=}" """,
    r"""f"{fr'\u{x}'=}" """,
    r"""f"{f'{r"\x"=}'=}" """,
    r"""fr"{f'{r"\x"=}'=}" """,
    r"""f"{fr'{r"\x"=}'=}" """,
    r"""f"{x}\N{EN DASH}{r'\x'=}" """,
]
FINE = [
    r"""f"{r'\d'=}" """,
    r"""f"{r'\N{EN DASH}'=}" """,
    r"""f"{br'\N{EN DASH}'=}" """,
    r"""f"{r'\\x'=}" """,
    r"""f"{r'\u1234'=}" """,
    r"""f"{r'\U0010ffff'=}" """,
    r"""f"{r'\400'=}" """,
    r"""f"{'\x41'=}" """,
    r"""f"{r'\u12'}" """,
    r"""f"{x:{r'\x'}}" """,
    r"""f"{x:{r'\x'=}}" """,
    r"""f"{x:a{fr'\x'=}}" """,
    r"""f"{x=:{r'\x'}}" """,
    r"""fr"{r'\x'=}" """,
    r"""fr"{fr'{r"\x"=}'=}" """,
    r"""f"{fr'{r"\x"=}'}" """,
    r"""f"{rf'\{x}'=}" """,
    r"""f"{rf'{x:\d}'=}" """,
    r"""f"{r'\x'==x}" """,
    r"""f"{(x:=r'\x')}" """,
    "f'''{x # \\x\n=}'''",
    "f'''{\n# \\x\nx=}'''",
]


@pytest.mark.parametrize("version", [(3, 12), (3, 13), (3, 14)])
@pytest.mark.parametrize(("source", "is_fine"), [*((s, False) for s in REFUSED), *((s, True) for s in FINE)])
def test_debug_text(source, is_fine, version):
    """Wherever the cursor is, whatever of the source is on its left, in the middle and on its right."""
    data = source.strip().encode() + b"\n"
    engine = Engine(python(version))
    for cut in range(len(data)):
        for start, end in ((0, cut), (cut, len(data) - 1)):
            state = cursor_in(engine.document(data[:start] + data[end:]), start)
            state = state and state.feed(data[start:end])
            is_complete = state is not None and state.complete
            assert is_complete is (is_fine or version == (3, 14)), (data[:start], data[start:end], data[end:])


def test_a_field_that_cannot_be_told_is_completed_without_its_source():
    state = cursor_in(Engine(python((3, 12))).document(b"f\"{r'\\x'"), 8)
    assert state.feed(b"=}") is None
    assert state.feed(b"== x}").shortest_completion == b'"'
    assert state.shortest_completion == b'}"'
