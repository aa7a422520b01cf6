"""The sentences of the status about several suggestions."""

from __future__ import annotations

import pytest

from fimlsp.lsp_server.session.status import same_start

STARTS = [
    ((), None),
    (("name",), None),
    (("name)", "name, other)"), "all suggestions here start with “name”"),
    (("name", "names"), None),
    (("\n    return a", "\n    return b", "return"), "all suggestions here start with “return”"),
    (("(a)", "(b)"), "all suggestions here start with “(”"),
]


@pytest.mark.parametrize(("texts", "sentence"), STARTS)
def test_the_status_says_that_all_suggestions_start_alike(texts, sentence):
    assert same_start(texts) == sentence
