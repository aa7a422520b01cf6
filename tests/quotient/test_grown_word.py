"""A word that grows at the cursor: the readings kept from the key before are those of a new document."""

import pytest

from fimlsp.quotient.grown_word import GrownWord

from ..sampling import sampled
from .middle_support import engine
from .recovery.test_situations import ENGINES, SITUATIONS

WORDS = ("value", "matching", "lambda_x", "iffy", "f_self", "rb_to", "Ünit", "v1x")
PROBES = (b"a", b")", b"]", b":", b",", b'"', b"(", b".x", b" = 1", b"\nx", b"\n        y()", b" in b", b'")')


def facts(constraint):
    """Everything of a constraint that a client sees, as far as some middles show it."""
    start = constraint.start
    fed = [start and start.feed(text) for text in (b"", *PROBES)]
    return [state and (state.complete, state.shortest_completion) for state in fed], constraint.relaxed


def middle(document, cursor):
    return document.middle(cursor, cursor, may_escape=False, relax=True)


CASES = [
    (name, text, WORDS[number % len(WORDS)])
    for number, ((name, _), (text, *_)) in enumerate(SITUATIONS.items())
]


@pytest.mark.parametrize(("name", "text", "word"), sampled(CASES, 8))
def test_each_key_gives_the_middles_of_a_new_document(name, text, word):
    left, right = text.encode().split(b"<|>")
    language = ENGINES[name]
    document, cursor = language.document(left + right), len(left)
    middle(document, cursor)
    for letter in word:
        document.edit(cursor, cursor, letter.encode())
        cursor += len(letter.encode())
        assert facts(middle(document, cursor)) == facts(middle(language.document(document.data), cursor))


BROKEN = b"def f(p:\n    return p\n\n\ndef g(a):\n    value = na\n    return f(a]\n"
CURSOR = BROKEN.index(b"na\n") + 2


@pytest.fixture
def reused(monkeypatch):
    """For each middle since, True if its readings were kept from the key before."""
    found, readings = [], GrownWord.readings

    def recorded(*arguments):
        known = readings(*arguments)
        found.append(known is not None)
        return known

    monkeypatch.setattr(GrownWord, "readings", recorded)
    return found


def test_letters_of_a_word_reuse_the_readings_and_move_the_repairs(reused):
    document = engine().document(BROKEN)
    before = middle(document, CURSOR)
    for number, letter in enumerate(b"mes", 1):
        document.edit(CURSOR + number - 1, CURSOR + number - 1, bytes((letter,)))
        after = middle(document, CURSOR + number)
    assert reused == [False, True, True, True]
    places = [
        (repair.start, after.start) for repair, after in zip(before.relaxed, after.relaxed, strict=True)
    ]
    assert any(first > CURSOR for first, _ in places)
    assert all(later == first + 3 * (first >= CURSOR) for first, later in places)


@pytest.mark.parametrize(
    ("start", "end", "typed"),
    [
        (CURSOR, CURSOR, b"."),
        (CURSOR, CURSOR, b" "),
        (CURSOR, CURSOR, b"1"),
        (CURSOR - 1, CURSOR, b"m"),
        (CURSOR - 1, CURSOR, b""),
        (0, 0, b"x"),
        (len(BROKEN), len(BROKEN), b"x"),
    ],
)
def test_other_edits_do_not(reused, start, end, typed):
    document = engine().document(BROKEN)
    middle(document, CURSOR)
    document.edit(start, end, typed)
    cursor = CURSOR + len(typed) - (end - start) if start <= CURSOR else CURSOR
    assert facts(middle(document, cursor)) == facts(middle(engine().document(document.data), cursor))
    assert not any(reused)


def test_another_question_at_the_same_cursor_does_not(reused):
    document = engine().document(BROKEN)
    middle(document, CURSOR)
    document.edit(CURSOR, CURSOR, b"m")
    document.middle(CURSOR + 1, CURSOR + 1, relax=False)
    document.middle(CURSOR, CURSOR + 1, relax=True)
    assert not any(reused)
