"""The beginnings of a middle that can be shown, and their features."""

import math

import pytest

from fimlsp.languages.python.editor_policy import PYTHON_POLICY as POLICY
from fimlsp.models.beginnings import Surroundings, beginnings
from fimlsp.models.decoding.middle import Middle, TokenTrace
from fimlsp.models.networks.matches import TextIndex

LEFT, RIGHT = b"size = 1\nprint(", b")\nsize = 2\n"


class Allowed:
    """A constraint that allows the beginnings of *text*, and of these the *complete* ones as a whole."""

    def __init__(self, text, complete, written=b""):
        self.text, self.wholes, self.written = text, complete, written

    def feed(self, data):
        written = self.written + data
        return Allowed(self.text, self.wholes, written) if self.text.startswith(written) else None

    @property
    def complete(self):
        return self.wholes is None or self.written in self.wholes

    @property
    def shortest_completion(self):
        raise AssertionError("nobody asks")


def middle(tokens, text=None, steered=(), stop_reason="lines"):
    trace = tuple(TokenTrace(token, -0.1 * (n + 1), (), n in steered) for n, token in enumerate(tokens))
    text = b"".join(tokens) if text is None else text
    return Middle(text, True, len(tokens), 0, bool(steered), stop_reason, 0.0, 0.0, 0.0, trace=trace)


def beginnings_of(written, complete=None):
    start = Allowed(b"".join(token.text for token in written.trace), complete)
    return list(beginnings(written, start, Surroundings(LEFT, RIGHT, POLICY)))


@pytest.mark.parametrize(
    ("tokens", "changes", "complete", "texts"),
    [
        ([b"size", b" +", b" 1"], {}, None, [b"size", b"size +", b"size + 1"]),
        ([b"size", b" +", b" 1"], {}, [b"size", b"size + 1"], [b"size", b"size + 1"]),
        ([b"si", b"ze", b"-x"], {}, None, [b"size", b"size-x"]),
        # an object without its attribute is another value
        ([b"si", b"ze", b".x"], {}, None, [b"size.x"]),
        ([b"size", b" ", b"x"], {}, None, [b"size", b"size x"]),
        ([b"\xc3", b"\xa9", b"+"], {}, None, [b"\xc3\xa9", b"\xc3\xa9+"]),
        ([b"a", b"+b", b"+c"], {"steered": [1]}, None, [b"a"]),
        ([b"a", b"+b", b"+c"], {"steered": [0]}, None, []),
        ([b"a", b"+b", b"+c"], {"text": b"a+b"}, None, [b"a", b"a+b"]),
        ([b"a", b"+b(", b"c"], {"text": b"a+b(c)"}, [b"a", b"a+b(c)"], [b"a"]),
        ([b"f", b"(a", b"),", b" b"], {}, None, [b"f(a", b"f(a)", b"f(a), b"]),
        ([b"f", b"('a', b"], {"text": b"f('a', b"}, None, [b"f('", b"f('a'", b"f('a', b"]),
        ([b'""" a', b' """'], {}, None, [b'"""', b'""" a', b'""" a """']),
        ([b"a\n", b"b"], {"text": b"a"}, None, [b"a"]),
        ([b"a\n    b", b"\n\n"], {}, None, [b"a", b"a\n    b"]),
        ([b" ", b"\n"], {}, None, []),
        # no beginning ends before the value that it returns, not even if decoding went back to there
        ([b"return", b" {", b"1"], {"text": b"return"}, None, []),
        ([b"return", b" x", b"\n"], {"text": b"return", "stop_reason": "follows"}, None, [b"return"]),
        ([b"size", b" +", b" sizeOf"], {"stop_reason": "unsure"}, None, [b"size", b"size +"]),
        ([b"size", b" +", b" size"], {"stop_reason": "unsure"}, None, [b"size", b"size +", b"size + size"]),
        ([b"size", b" +", b" len"], {"stop_reason": "unsure"}, None, [b"size", b"size +", b"size + len"]),
        ([b"size", b" +", b" size", b"Of"], {"stop_reason": "deadline"}, None, [b"size", b"size +"]),
        ([b"size", b" +", b" sizeOf"], {"stop_reason": "end"}, None, [b"size", b"size +", b"size + sizeOf"]),
        ([b"f", b"(1", b")"], {"stop_reason": "unsure"}, None, [b"f(1", b"f(1)"]),
        ([], {}, None, []),
    ],
)
def test_a_middle_is_cut_where_it_connects_between_words(tokens, changes, complete, texts):
    assert [beginning.text for beginning in beginnings_of(middle(tokens, **changes), complete)] == texts


@pytest.mark.parametrize(
    ("tokens", "changes", "ends"),
    [
        ([b"a", b"+b"], {}, [False, True]),
        ([b"a", b"+b"], {"stop_reason": "end"}, [False, True]),
        ([b"a", b"+size"], {"stop_reason": "budget"}, [False, False]),
        ([b"a", b"+b", b"\n", b"c"], {"stop_reason": "repetition"}, [False, True, False]),
    ],
)
def test_a_line_ends_where_the_model_ends_it(tokens, changes, ends):
    assert [beginning.ends_line for beginning in beginnings_of(middle(tokens, **changes))] == ends


def test_how_likely_the_model_finds_it_is_told():
    features = beginnings_of(middle([b"size", b" +", b" 1"]))[-1].features
    assert features["total"] == pytest.approx(-0.6)
    assert features["probability"] == pytest.approx(math.exp(-0.6))
    assert features["mean"] == pytest.approx(-0.2)
    assert features["length"] == pytest.approx(math.log(8))


@pytest.mark.parametrize(
    ("tokens", "openings"),
    [
        ([b"size", b" +", b" 1"], [(4, -0.1)] * 3),
        ([b"si", b"ze", b" + 1"], [(4, -0.3), (4, -0.3)]),
        ([b"a", b" + 1"], [None, (5, -0.3)]),
        ([b"a", b" +", b" b"], [None, None, (5, -0.6)]),
        ([b"a"], [None]),
        ([b"a", b"\n\n    b"], [None, (8, -0.3)]),
    ],
)
def test_an_opening_has_the_words_of_the_first_four_characters(tokens, openings):
    expected = [opening and (math.log(opening[0]), opening[1]) for opening in openings]
    listed = [beginning.opening for beginning in beginnings_of(middle(tokens))]
    values = [opening and (opening["length"], opening["total"]) for opening in listed]
    assert [opening and pytest.approx(opening) for opening in expected] == values


@pytest.mark.parametrize(
    ("left", "text", "right", "expected"),
    [
        (b"a = 1\n", b"a", b"\na", {"occurrences": math.log(3), "new_name": 0.0}),
        (b"a = 1\n", b"b", b"\n", {"occurrences": 0.0, "new_name": 1.0}),
        (b"size = 1\nsi", b"ze", b"\n", {"new_name": 0.0}),
        (b"size = 1\nsi", b"", b"\n", {"new_name": 0.0}),
        (b"x\nsi", b"gn", b"\n", {"new_name": 1.0}),
        (b"resize = 1\n", b"size", b"\n", {"new_name": 1.0}),
        (b"sizes, size\n", b"size", b"\n", {"new_name": 0.0}),
        (b"", b"size", b"sizes\nsize", {"new_name": 0.0}),
        (b"", b"print(1)", b"\n", {"new_name": 0.0}),
        (b"", b"1.5e3", b"\n", {"new_name": 0.0}),
        (b"", b"# so", b"\n", {"prose": 1.0}),
        (b"", b'x = """so', b"\n", {"prose": 1.0}),
        (b"", b"x  # so", b"\n", {"prose": 0.0}),
        (b"", b"x\ny", b"\n", {"several_lines": 1.0}),
        (b"", b"x\n", b"\n", {"several_lines": 0.0}),
        (b"def f():\n    ", b"x", b"\n", {"line_begins": 1.0, "word_goes_on": 0.0}),
        (b"def f():\n    y = ", b"x", b"\n", {"line_begins": 0.0, "word_goes_on": 0.0}),
        (b"def f():\n    na", b"me", b"\n", {"line_begins": 0.0, "word_goes_on": 1.0}),
        (b"self.a = a\n\n    self.", b"a", b"\n", {"like_above": 1.0}),
        (b"self.a = a\nsel", b"f", b"\n", {"like_above": 1.0}),
        (b"self.a = a\nse", b"lf", b"\n", {"like_above": 0.0}),
        (b"    self.a = a\n    other.", b"a", b"\n", {"like_above": 0.0}),
        (b"b.a = self.a\nself.", b"a", b"\n", {"like_above": 0.0}),
        (b"x = self.a\n    ", b"self", b"\n", {"like_above": 0.0}),
        (b"self.a\n" + b"b\n" * 7 + b"self.", b"a", b"\n", {"like_above": 1.0}),
        (b"self.a = b\nself.", b"a = c", b"\n", {"as_above": 0.9}),
        (b"x\nself.a = b\nx\nself.", b"a\nb", b"\n", {"as_above": 1.0}),
        (b"    ", b"x", b"\n", {"as_above": 0.0}),
        (b"x\n", b"", b"\n", {"as_above": 0.0}),
        (b"self.a\n" + b"b\n" * 8 + b"self.", b"a", b"\n", {"like_above": 0.0}),
    ],
)
def test_what_stands_around_is_told(left, text, right, expected):
    features = Surroundings(left, right, POLICY).features(text, [-1.0])
    assert {name: features[name] for name in expected} == pytest.approx(expected)


ABOVE = b"    self.first_of_all_names = all_names\n"


@pytest.mark.parametrize(
    ("left", "text", "right", "other", "expected"),
    [
        (ABOVE, b"self.a = a", b"\n", b"", 0.2),
        (ABOVE + b"self.a = a\n" + ABOVE, b"self.a", b"\n", b"", 1.2 / 2),
        (ABOVE, b"self.b", b"\n" + ABOVE + b"self.a = a\n", b"", 0.2 / 2),
        (ABOVE, b"self.a", b"\n", ABOVE + b"self.a = a\n" + ABOVE + b"return\n", 1.2 / 3),
        (ABOVE, b"self.a", b"\n" + ABOVE + b"self.a", ABOVE + b"self.a = a\n", 2.2 / 3),
        (ABOVE, b"self.a = " + b"a" * 40, b"\n", ABOVE + b"self.a = " + b"a" * 50, 1.2 / 2),
        (ABOVE, b"self.a", b"\n", ABOVE[-20:] + b"self.a = a\n", 0.2),
    ],
)
def test_how_often_it_follows_the_same_line_is_told(left, text, right, other, expected):
    surroundings = Surroundings(left, right, POLICY, TextIndex({"other.py": other}))
    assert surroundings.features(text, [-1.0])["follows"] == pytest.approx(expected)
