"""How the context is shared between the two sides of the cursor."""

import pytest
from fimlsp.models.errors import ModelError
from fimlsp.models.fim_format import find_format
from fimlsp.models.prompt import build_prompt, share
from fimlsp.models.vocabulary import read_vocabulary
from hypothesis import given
from hypothesis import strategies as st

from .checkpoints import SANTACODER, byte_tokenizer

CASES = {
    (10, 3, 4): (3, 4),
    (10, 5, 5): (5, 5),
    (10, 30, 40): (5, 5),
    (11, 30, 40): (5, 5),
    (10, 2, 40): (2, 8),
    (10, 40, 2): (8, 2),
    (10, 0, 40): (0, 10),
    (10, 40, 5): (5, 5),
}


@pytest.mark.parametrize(("sizes", "expected"), CASES.items(), ids=str)
def test_shares(sizes, expected):
    assert share(*sizes) == expected


@given(st.integers(1, 500), st.integers(0, 600), st.integers(0, 600))
def test_shares_fit_and_waste_little(budget, before, after):
    kept_before, kept_after = share(budget, before, after)
    assert kept_before <= before
    assert kept_after <= after
    assert min(before + after, budget) - 1 <= kept_before + kept_after <= budget


def prompt(left, right, context=40, reserve=10):
    tokenizer = byte_tokenizer(SANTACODER)
    fim = find_format(tokenizer.get_vocab(), "test")
    vocabulary = read_vocabulary(tokenizer, fim.markers)
    built = build_prompt(vocabulary, fim, context, left, right, reserve)
    ids = list(built.tokens)
    first, _, second, _, third = fim.prompt
    after, middle = ids.index(second), ids.index(third)
    assert (ids[0], middle) == (first, len(ids) - 1)
    assert built.room == context - len(ids)
    return vocabulary.decode(ids[1:after]), vocabulary.decode(ids[after + 1 : middle]), built.room


def test_the_prompt_holds_both_sides_in_order():
    assert prompt(b"ab", b"cd") == (b"ab", b"cd", 33)


def test_the_prefix_loses_its_beginning_and_the_suffix_its_end():
    left, right, room = prompt(b"0123456789" * 3, b"abcdefghij" * 3)
    assert (left, right, room) == (b"7890123456789"[-13:], b"abcdefghijabc", 11)
    assert prompt(b"ab", b"x" * 1000)[:2] == (b"ab", b"x" * 25)


def test_a_long_file_is_cut_between_characters():
    left, right, _ = prompt("é".encode() * 5000 + b"a", b"b" + "€".encode() * 5000)
    assert "é".encode() * 6 + b"a" == left[-13:]
    assert (b"b" + "€".encode() * 5)[:13] == right
    assert b"\xef\xbf\xbd" not in left + right


def test_a_reserve_larger_than_the_context_is_an_error():
    with pytest.raises(ModelError, match="do not fit"):
        prompt(b"a", b"b", context=40, reserve=37)
