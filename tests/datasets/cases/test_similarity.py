import pytest

from fimlsp.datasets.cases.similarity import edit_similarity, first_line, is_one_line


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
