"""Documents: after any edits they answer like new ones; feeding bytes in pieces or at once gives the same."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.languages.python import python
from fimlsp.languages.typescript import typescript
from fimlsp.quotient.contexts.document import ContextTransitions
from fimlsp.quotient.engine import Document, Engine
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.testing.checking import VIABLE, fed, verdict

from ...sampling import sampled
from ..middle_support import cursor_in, engine
from ..states.test_files import PIECES, cuts, files, mutated

TYPESCRIPT = Engine(typescript)
PROBES = (
    b"",
    b"x",
    b"\n",
    b" = (",
    b")",
    b"]",
    b":",
    b"\n    x",
    b"'",
    b'"""',
    b"else:\n",
    b"# x\n",
    b"f'{",
    b"}'",
)
SAMPLE = b'''\
class Table:
    """Rows of values."""

    @property
    def rows(self):
        if self.empty:
            return []
        try:
            return [
                f"{row!r:>{width}}"  # padded
                for row in self.values
            ]
        except (KeyError, ValueError) as error:
            raise Problem(error) from None
        finally:
            self.done = {"a": 1, "b": (2, 3)}

    def total(self):
        while True: total = \\
            1 + 2
        else:
            match total:
                case [1, *_]: return """long
text""" + 'short'
        return total
'''

Answers = tuple[str, list[str]]


def answers(document: Document, start: int, end: int, *, relax: bool) -> Answers:
    """How the document is relaxed for a middle, and the verdicts on all probes."""
    constraint = document.middle_at_bytes(start, end, relax=relax)
    return constraint.relaxed, [verdict(fed(constraint.start, probe)) for probe in PROBES]


REFERENCE = Engine(python(), LanguageTables(python()))
"""An engine whose tables no edited document fills."""


def difference(document: Document, start: int, end: int, *, relax: bool) -> object:
    """The first answer of *document* that differs from that of a new document; None if all are equal."""
    fresh = REFERENCE.document(document.data)
    found = answers(document, start, end, relax=relax)
    expected = answers(fresh, start, end, relax=relax)
    return None if found == expected else (document.data, start, end, relax, found, expected)


def edits(data: bytes, rng: random.Random, count: int) -> Iterator[tuple[int, int, bytes]]:
    """Edits such as are made by hand: bytes typed, parts removed and restored, lines changed.

    Each edit fits the text that all edits before it made of *data*.
    """
    undo: list[tuple[int, int, bytes]] = []
    for _ in range(count):
        if undo and rng.random() < 0.4:
            edit = undo.pop()
        else:
            start, end = next(cuts(data, rng, 1))
            edit = start, end, rng.choice([b"", rng.choice(PIECES), mutated(data[start:end], rng)])
            undo = [*undo, (start, start + len(edit[2]), data[start:end])]
        start, end, text = edit
        if end > len(data):
            undo = []
            continue
        data = data[:start] + text + data[end:]
        yield edit


def check_edits(data: bytes, count: int, seed: int) -> None:
    rng = random.Random(seed)
    document = engine().document(data)
    for edit in edits(data, rng, count):
        document.edit(*edit)
        places = [(edit[0], edit[0] + len(edit[2])), *cuts(document.data, rng, 2)]
        if rng.random() < 0.3:
            document.prepare()
        for start, end in places:
            assert difference(document, start, end, relax=rng.random() < 0.5) is None


REACHING = {
    "a string is opened": (b'x = """\n  y\n"""\nz\n', 8, (12, 15, b"?")),
    "a string is closed": (b'x = """\n  y\n?\nz\n', 8, (12, 13, b'"""')),
    "a bracket is opened": (b"x = (\n  y\n)\nz\n", 6, (10, 11, b"?")),
    "a bracket is closed": (b"x = (\n  y\n?\nz\n", 6, (10, 11, b")")),
    "a backslash goes": (b"x = \\\n  y +\\\n 1\nz\n", 6, (11, 12, b"")),
}


@pytest.mark.parametrize("name", REACHING)
def test_a_line_may_reach_beyond_what_an_edit_leaves_as_it_is(name):
    data, inside, edit = REACHING[name]
    document = engine().document(data)
    for place in (inside, 0):
        document.right_at(place)
    document.edit(*edit)
    document.right_at(inside)
    context, fresh = document.right_at(0), engine().document(document.data).right_at(0)
    assert (context.broken, context.parses) == (fresh.broken, fresh.parses)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_cuts_of_one_document(seed):
    rng = random.Random(seed)
    data = SAMPLE + b"if x:\n    y(a)(\n        b)\nelif z: x = [\n  1, 2,\n]\nelse: pass\n" + SAMPLE[:-10]
    document = engine().document(data)
    for place in rng.sample(range(len(data)), 50):
        assert (
            difference(document, place, min(len(data), place + rng.choice((0, 9, 99))), relax=False) is None
        )


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_edits(seed):
    check_edits(SAMPLE, count=15, seed=seed)


@pytest.mark.slow
def test_edits_of_files():
    for seed, data in zip(range(2), files(seed=5, longest=6000), strict=False):
        check_edits(data, count=10, seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 130))
def test_many_edits(seed):
    check_edits(SAMPLE, count=300, seed=seed)
    for data, _ in zip(files(seed, longest=20_000), range(10), strict=False):
        check_edits(data, count=30, seed=seed)


MARK = b"\xef\xbb\xbf"
EDITS = {
    "a byte order mark comes": (b"x\n", (0, 0, MARK)),
    "a byte order mark goes": (MARK + b"x\n", (0, 3, b"")),
    "half of one goes": (MARK + b"x\n", (0, 1, b"")),
    "a string is opened": (b"x\ny = '''a'''\nz\n", (0, 0, b"'''")),
    "a string is closed": (b"'''x\ny = '''a'''\nz\n", (0, 3, b"")),
    "a bracket is opened": (b"x\n(y)\nz\n", (0, 0, b"(")),
    "a bracket is closed": (b"x = (\ny\n)\nz\n", (5, 6, b")\n")),
    "a string that was broken is mended": (b'"""\n"""\'\nx\n', (7, 8, b"")),
    "a string is broken": (b'"""\n"""\nx\n', (7, 7, b"'")),
    "a line is joined": (b"x\ny\nz\n", (1, 1, b"\\")),
    "a line end is completed": (b"x\ry\n", (2, 2, b"\n")),
    "a line end is halved": (b"x\r\ny\n", (1, 2, b"")),
    "the last line end goes": (b"x\ny\n", (3, 4, b"")),
    "a line above one that cannot be read": (
        b')\ndef a():\n  while b:0t \\\n   @c: "")"',
        (6, 7, b"x"),
    ),
    "all goes": (b"if x:\n  y\n", (0, 10, b"")),
    "all comes": (b"", (0, 0, b"if x:\n  y\n")),
    "a block is moved": (b"if x:\n  y\n  z\nw\n", (10, 12, b"")),
    "a header goes": (b"if x:\n  y\nelse:\n  z\n", (0, 6, b"")),
}


def edited(data: bytes, edit: tuple[int, int, bytes]) -> Document:
    """A document of which all was known before the *edit*."""
    document = engine().document(data)
    answers(document, len(data), len(data), relax=True)
    document.prepare()
    document.edit(*edit)
    return document


@pytest.mark.parametrize("name", sampled(EDITS, 3))
def test_edits_that_change_what_follows(name):
    """Each cursor is used first, and after all others before it."""
    document = edited(*EDITS[name])
    for place in range(0, len(document.data) + 1, 1 + len(document.data) // 16):
        assert difference(document, place, place, relax=False) is None
        assert difference(edited(*EDITS[name]), place, place, relax=True) is None


def contexts_at(document: Document, position: int) -> object:
    """The comparable parts of the contexts at the start of the line with *position*."""
    start, left = document.left_at(position)
    right = document.right_at(start)
    return start, left.indents, left.modes, left.broken, right.column, right.unmatched, right.broken


def test_contexts_after_edits():
    document = engine().document(SAMPLE)
    document.prepare()
    for edit in edits(SAMPLE, random.Random(7), 30):
        document.edit(*edit)
        fresh = engine().document(document.data)
        for position in (0, edit[0], len(document.data)):
            assert contexts_at(document, position) == contexts_at(fresh, position)


@pytest.mark.slow
@pytest.mark.parametrize("data", [SAMPLE, b'"""\n\xc3 ', b'x = """a\nb c\n)\n', b"x = (\n1 2\n)\ny\n"])
def test_preparing_changes_no_answer(data):
    prepared = engine().document(data)
    prepared.prepare()
    places = range(0, len(data) + 1, 1 + len(data) // 30)
    assert [found for place in places if (found := difference(prepared, place, place, relax=True))] == []


def pieces_of(data: bytes, rng: random.Random) -> Iterator[bytes]:
    """*data* cut into pieces of random lengths."""
    while data:
        size = rng.choice((1, 1, 2, 3, 7))
        yield data[:size]
        data = data[size:]


def fed_in_pieces(start: GrammarState | None, data: bytes, rng: random.Random) -> GrammarState | None:
    state = start
    for piece in pieces_of(data, rng):
        state = fed(state, piece)
    return state


@pytest.mark.parametrize(("step", "order"), [("after", -1), ("before", 1)])
def test_edits_in_many_places_set_aside_what_they_do_not_change(step, order, monkeypatch):
    """Edits of a rename: from the last to the first or the other way, without a call in between."""
    functions = [b"def f%d(a):\n    return a + %d\n\n" % (100 + i, i) for i in range(600)]
    document = engine().document(b"".join(functions))
    document.prepare()
    for number in range(50, 600, 50)[::order]:
        at = sum(map(len, functions[:number])) + len(b"def ")
        document.edit(at, at + 1, b"g")
    made = []
    monkeypatch.setattr(ContextTransitions, step, counted(getattr(ContextTransitions, step), made))
    document.prepare()
    assert len(made) < 15 * 11  # a few lines around each edit, of 1,800


def counted(original, calls):
    """*original*, with a word in *calls* each time."""
    return lambda *arguments: calls.append(1) or original(*arguments)


@pytest.mark.parametrize("numbers", [(50, 500), (500, 50), (300, 500, 50, 400, 100, 200)])
def test_writing_elsewhere_reads_the_lines_around_the_places(numbers, monkeypatch):
    """No call comes between the last edit at one place and the first at the next."""
    functions = [b"def f%d(a):\n    return a + %d\n\n" % (100 + i, i) for i in range(600)]
    document = engine().document(b"".join(functions))
    document.prepare()
    made = []
    for step in ("after", "before"):
        monkeypatch.setattr(ContextTransitions, step, counted(getattr(ContextTransitions, step), made))
    for number in numbers:
        at = sum(map(len, functions[:number])) + len(b"def f100(")
        document.edit(at, at + 1, b"")
        document.middle(at, at, relax=True)
        document.edit(at, at, b"a")
        document.middle(at + 1, at + 1, relax=True)
    assert len(made) < 30 * len(numbers)  # of 1,800 lines


def test_nothing_above_a_broken_line_is_read_for_the_verdict(monkeypatch):
    functions = [b"function f%d(a) {\n  return [a, %d]\n}\n\n" % (i, i) for i in range(600)]
    document = TYPESCRIPT.document(b"".join(functions))
    document.prepare()
    at = document.data.index(b"]", sum(map(len, functions[:550])))
    document.edit(at, at + 1, b"")
    made = []
    monkeypatch.setattr(ContextTransitions, "before", counted(ContextTransitions.before, made))
    assert document.goes_on_at(0) is None
    assert document.goes_on_at(sum(map(len, functions[:551])) - 1) is not None
    assert len(made) < 50  # of 2,200 lines above
    document.edit(at, at, b"]")
    assert document.goes_on_at(0) is not None


@given(st.integers(min_value=0), st.binary(max_size=3))
def test_pieces_and_the_whole(seed, noise):
    rng = random.Random(seed)
    start, end = next(cuts(SAMPLE, rng, 1))
    middle = rng.choice([SAMPLE[start:end] + noise, mutated(SAMPLE[start:end], rng)])
    state = cursor_in(engine().document(SAMPLE), start, end)
    assert verdict(fed_in_pieces(state, middle, rng)) == verdict(fed(state, middle))


def test_feeding_leaves_the_state_as_it_was():
    state = cursor_in(engine().document(b"x = \n"), 4)
    assert state is not None
    before = verdict(state), state.shortest_completion
    for probe in PROBES:
        state.feed(probe)
    assert (verdict(state), state.shortest_completion) == before
    assert before[0] == VIABLE
