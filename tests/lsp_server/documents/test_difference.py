"""The smallest edit between two texts."""

from __future__ import annotations

from fimlsp.lsp_server.documents.open_documents import Replaced, difference
from hypothesis import given
from hypothesis import strategies as st


@given(st.binary(max_size=6), st.binary(max_size=6), st.binary(max_size=6), st.binary(max_size=6))
def test_the_difference_of_two_texts(before, old, new, behind):
    one, other = before + old + behind, before + new + behind
    edit = difference(one, other)
    assert one[: edit.start] + edit.replacement + one[edit.end :] == other
    assert len(edit.replacement) <= len(new)
    assert difference(one, one) == Replaced(len(one), len(one), b"")
