import pytest
from fimlsp.datasets.reports.metrics import Distribution, edit_similarity, first_line, is_one_line, size_class


@pytest.mark.parametrize(
    ("text", "truth", "similarity"),
    [("cat", "cart", 0.75), ("", "", 1.0), ("a", "", 0.0), ("ab", "ba", 0.0), ("abc", "abd", 2 / 3)],
)
def test_edit_similarity(text, truth, similarity):
    assert edit_similarity(text, truth) == pytest.approx(similarity)
    assert edit_similarity(truth, text) == pytest.approx(similarity)


@pytest.mark.parametrize(("text", "line"), [("a", "a"), ("a\nb", "a"), ("\nb", ""), ("", "")])
def test_first_line(text, line):
    assert first_line(text) == line
    assert is_one_line(text) == (text == line)


@pytest.mark.parametrize(
    ("size", "limit"), [(0, 1024), (1023, 1024), (1024, 2048), (5000, 8192), (8192, 16384)]
)
def test_size_classes_are_powers_of_two(size, limit):
    assert size_class(size) == limit


def test_distributions():
    assert Distribution.of([]) is None
    assert Distribution.of([7]) == Distribution(n=1, median=7, p90=7, max=7, mean=7)
    assert Distribution.of([4, 1, 2, 3]) == Distribution(n=4, median=3, p90=4, max=4, mean=2.5)
    assert Distribution.of(range(1, 101)).p90 == 91
