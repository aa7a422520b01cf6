"""The texts that were estimated count as right or wrong after the user has gone on."""

from __future__ import annotations

import pytest

from fimlsp.lsp_server.messages import Estimated
from fimlsp.lsp_server.session.learning import EDITS_ELSEWHERE, MOST_LINES, Outcomes
from fimlsp.quotient.contexts.replacement import Replacement

ABOVE, BELOW = "# one\nx = 1\n", "\ny = 2\n# end\n"
URI = "file:///a.py"


class Writing:
    """A document with the cursor at `<|>`, and the places in it."""

    def __init__(self, marked):
        left, _, right = (ABOVE + marked + BELOW).encode().partition(b"<|>")
        self.data, self.cursor = left + right, len(left)
        self.outcomes, self.settled = Outcomes(), []

    def estimated(self, text, at=0):
        place = self.cursor + at
        self.outcomes.watch(URI, self.data, place, Estimated("key", text.encode(), 0.5, 1.0))

    def edit(self, start, end, text):
        edit = Replacement(start, end, text.encode())
        self.outcomes.edited(URI, len(self.data), edit)
        self.data = edit.applied_to(self.data)
        self.settled += self.outcomes.settled(URI, self.data)

    def type(self, text):
        for key in text:
            if key == "\b":
                self.cursor -= 1
                self.edit(self.cursor, self.cursor + 1, "")
            else:
                self.edit(self.cursor, self.cursor, key)
                self.cursor += len(key.encode())

    def write_below(self):
        end = len(self.data) - 1
        for each in range(EDITS_ELSEWHERE):
            self.edit(end + each, end + each, "z")

    @property
    def verdict(self):
        assert len(self.settled) <= 1
        return [(one.is_right, one.opens) for one in self.settled[0]] if self.settled else None


RIGHT, OPENS, WRONG, UNKNOWN = [(True, True)], [(False, True)], [(False, False)], None

# the line with the cursor, the estimated text, the keys (\b: backspace), and the verdict after that
TYPED = [
    ("total = <|>", "sum(sizes)", "sum(sizes)", RIGHT),
    ("total = <|>", "sum(sizes)", "sum(sizes) + 1", RIGHT),
    ("total = <|>", "sum(size", "sum(sizes)", OPENS),
    ("total = <|>", "sum(sizes)", "sum(values)", OPENS),
    ("total = <|>", "sum(sizes)", "max(sizes)", WRONG),
    ("total = <|>", "sum(sizes)", "smu\b\bum(sizes)", RIGHT),
    ("total = <|>", "sum(sizes)", "sum(sizes)\b\b\b\b\b\b\b\b\b\b", UNKNOWN),
    ("total = <|>", "sum(sizes)", "", UNKNOWN),
    ("total = <|>", "sum(sizes)", " ", UNKNOWN),
    ("total = <|>", "sum(sizes)", "sum(siz", UNKNOWN),
    ("total = <|>", "sum(sizes).real", "sum(sizes)", OPENS),
    ("total = <|>", "sum", "sums", WRONG),
    ("f(<|>)", "größe, 1", "größe, 1", RIGHT),
    ("if x:<|>", "\n    return x", "\n    return x", RIGHT),
    ("if x:<|>", "\n    return x", "\n    return y", OPENS),
]


@pytest.mark.parametrize(("marked", "text", "keys", "verdict"), TYPED)
@pytest.mark.parametrize("end", ["\n", None, "close"])
def test_a_place_is_judged_when_the_user_has_gone_on(marked, text, keys, verdict, end):
    writing = Writing(marked)
    writing.estimated(text)
    writing.type(keys)
    assert not writing.settled
    if end == "\n":
        writing.type("\n")
        verdict = OPENS if keys == "sum(siz" else verdict
    elif end is None:
        writing.write_below()
    else:
        writing.settled += writing.outcomes.close(URI, writing.data)
    assert writing.verdict == verdict
    assert not [*writing.outcomes.close(URI, writing.data)]


def accepted(writing, text):
    writing.edit(writing.cursor, writing.cursor, text)
    writing.cursor += len(text.encode())


def test_an_accepted_text_is_right_once_the_user_has_gone_on():
    writing = Writing("x = <|>")
    writing.estimated("first, second")
    accepted(writing, "first, second")
    assert not writing.settled
    writing.type("\n")
    assert writing.verdict == RIGHT


def test_an_accepted_text_that_is_changed_is_not():
    writing = Writing("x = <|>")
    writing.estimated("first, second")
    accepted(writing, "first, second")
    writing.type("\b\b\b\b\b\bthird\n")
    assert writing.verdict == OPENS


def test_brackets_that_the_editor_closes_belong_to_the_text():
    writing = Writing("x = <|>")
    writing.estimated("f(a)")
    writing.type("f")
    writing.edit(writing.cursor, writing.cursor, "()")
    writing.cursor += 1
    writing.type("a")
    writing.write_below()
    assert writing.verdict == RIGHT


def test_line_ends_may_differ():
    writing = Writing("if x:<|>")
    writing.estimated("\n    y()\n    z()")
    accepted(writing, "\r\n    y()\r\n    z()")
    writing.write_below()
    assert writing.verdict == RIGHT


def test_an_import_that_the_editor_adds_judges_nothing_yet():
    writing = Writing("x = <|>")
    writing.estimated("Path(name)")
    writing.type("Path")
    writing.edit(0, 0, "import pathlib\n")
    writing.cursor += len("import pathlib\n")
    assert not writing.settled
    writing.type("(name)\n")
    assert writing.verdict == RIGHT


# edits from the start of the cursor's line, of "x = <|>1" after "f(" was typed: (start, end, text)
EDITED_AWAY = [(-3, 9, ""), (2, 6, "y"), (5, 8, ""), (-12, 9, "new")]


@pytest.mark.parametrize("edit", EDITED_AWAY)
def test_a_place_whose_surroundings_are_edited_away_is_forgotten(edit):
    writing = Writing("x = <|>1")
    writing.estimated("f(a, ")
    writing.type("f(")
    line = writing.cursor - len("x = f(")
    writing.edit(line + edit[0], line + edit[1], edit[2])
    writing.write_below()
    assert writing.verdict is UNKNOWN


def test_all_keys_of_a_line_count_as_one():
    writing = Writing("x = <|>")
    writing.estimated("sum(a)")
    writing.type("s")
    writing.estimated("elf.a")
    writing.type("u")
    writing.estimated("m(a)")
    writing.estimated("m(a)")
    writing.type("m(a)\n")
    [line] = writing.settled
    assert [outcome.is_right for outcome in line] == [True, False, True]
    assert [outcome.weight for outcome in line] == [pytest.approx(1 / 3)] * 3
    assert {(outcome.log_odds, outcome.opening_log_odds) for outcome in line} == {(0.5, 1.0)}


def test_each_line_is_judged_by_itself_and_the_oldest_is_dropped():
    writing = Writing("<|>" + "\n" * (MOST_LINES + 2))
    for number in range(MOST_LINES + 2):
        writing.estimated(f"line{number}" if number % 2 else "other")
        accepted(writing, f"line{number}")
        writing.cursor += 1
    lines = [*writing.outcomes.close(URI, writing.data)]
    assert [[outcome.is_right for outcome in line] for line in lines] == [[False], [True]] * 2


def test_documents_are_told_apart():
    writing = Writing("x = <|>")
    writing.estimated("sum(a)")
    writing.outcomes.edited("file:///b.py", 3, Replacement(0, 3, b""))
    assert not [*writing.outcomes.settled("file:///b.py", b"")]
    writing.type("sum(a)\n")
    assert writing.verdict == RIGHT
