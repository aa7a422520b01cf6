"""The buffer votes for the text that followed before, and the mixture stays a distribution."""

import pytest

from fimlsp.models.networks.copy_cache import CopyCache
from fimlsp.models.networks.matches import CombinedSources, ScannedTexts, TextIndex

from .unsure import UNSURE, VOCABULARY, Unsure


def suggestion(left, right, n_tokens, elsewhere=None):
    cache = CopyCache(Unsure(), VOCABULARY, left, right, elsewhere)
    written = b""
    candidates = cache.begin([1])
    for _ in range(n_tokens):
        written += VOCABULARY.token_bytes[candidates.tokens[0]] or b""
        candidates = cache.advance(candidates.tokens[0])
    return written


CASES = {
    "after the same text": (b"self.width = 1\nself.wi", b"", b"dth"),
    "also right of the cursor": (b"def area(re", b"): return rectangle.area(rectangle)", b"ctangle"),
    "the longest agreement wins": (b"a.b = c\nx.b = d\nx.b =", b"\na.b = c\na.b = c\n", b" d"),
    "a name cut anywhere": (b"some_long_name\nso", b"", b"me_long_name"),
    "whole tokens": (b"if x:\n    return 1\nif y:\n    ", b"", b"return"),
    "letters beyond ASCII": ("größe = 1\ngrö".encode(), b"", "ße".encode()),
}


@pytest.mark.parametrize("case", CASES)
def test_suggestions(case):
    left, right, expected = CASES[case]
    assert suggestion(left, right, len(expected)).startswith(expected)


def test_the_text_right_of_the_cursor_is_no_suggestion_for_the_cursor_itself():
    assert CopyCache(Unsure(), VOCABULARY, b"abc", b"xyz").begin([1]) is UNSURE


FILES = [b"x.width = 1\n", b"height = some_long_name\n"]


ELSEWHERE = {"scanned": ScannedTexts(FILES), "indexed": TextIndex(dict(zip("ab", FILES, strict=True)))}


@pytest.mark.parametrize("elsewhere", ELSEWHERE)
def test_other_files_suggest_what_the_buffer_lacks(elsewhere):
    assert suggestion(b"y = some_lo", b"", 8, ELSEWHERE[elsewhere]).startswith(b"ng_name")
    assert not suggestion(b"y = some_lo", b"", 8).startswith(b"ng_name")


@pytest.mark.parametrize("elsewhere", ELSEWHERE)
def test_the_buffer_overrules_other_files(elsewhere):
    written = suggestion(b"y = some_loud_name\ny = some_lo", b"", 7, ELSEWHERE[elsewhere])
    assert written.startswith(b"ud_name")


def test_a_text_with_more_weight_overrules_others():
    old, new = ScannedTexts([b"x = some_loud_name\n"] * 3), [b"x = some_long_name\n"]
    for weight, expected in ((1.0, b"ud"), (4.0, b"ng")):
        both = CombinedSources([old, ScannedTexts(new, weight)])
        assert suggestion(b"y = some_lo", b"", 2, both).startswith(expected)


def test_what_was_written_before_a_branch_counts():
    cache = CopyCache(Unsure(), VOCABULARY, b"some_name\nsom", b"")
    tokens = VOCABULARY.encode("e_na")
    assert VOCABULARY.token_bytes[cache.begin([1], tokens).tokens[0]] == b"m"
    assert VOCABULARY.token_bytes[cache.begin([1]).tokens[0]] == b"e"


@pytest.mark.parametrize(
    ("left", "right"), [(b"", b""), (b"", b"abc"), (b"aaaa", b""), (b"\xc3", b"\xa9\xc3\xa9")]
)
def test_small_buffers(left, right):
    assert set(suggestion(left, right, 3)) <= set(left + right), "only bytes of the buffer are suggested"
