"""The smallest edit between two texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fimlsp.lsp_server.documents import difference
from fimlsp.quotient.contexts.replacement import Replacement


@given(st.binary(max_size=6), st.binary(max_size=6), st.binary(max_size=6), st.binary(max_size=6))
def test_the_difference_of_two_texts(before, old, new, behind):
    one, other = before + old + behind, before + new + behind
    edit = difference(one, other)
    assert one[: edit.start] + edit.text + one[edit.end :] == other
    assert len(edit.text) <= len(new)
    assert difference(one, one) == Replacement(len(one), len(one), b"")
