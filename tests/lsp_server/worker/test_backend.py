"""From limits to decoding, from a middle to an answer, and which documents the engine holds."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from fimlsp.languages.custom import LarkLanguage
from fimlsp.languages.custom.grammar_files import GrammarFiles
from fimlsp.languages.python import Python
from fimlsp.languages.python.editor_policy import PYTHON_POLICY
from fimlsp.lexing.interruption import checkpoint, interruptible
from fimlsp.lsp_server.messages import Complete, DocumentId, Limits, Load
from fimlsp.lsp_server.worker import engine_documents
from fimlsp.lsp_server.worker.answers import describe_faults, to_completion
from fimlsp.lsp_server.worker.backend import (
    CONTEXT_TOO_SLOW,
    SELECTION_TOO_SLOW,
    SLOW_IN_A_ROW,
    STILL_READING,
    TOO_SLOW,
    Backend,
    open_model,
)
from fimlsp.lsp_server.worker.engine_documents import EngineDocuments
from fimlsp.lsp_server.worker.reading_ahead import ReadingAhead
from fimlsp.models import loading
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.networks.torch.threads import default_threads
from fimlsp.models.remote.errors import ServerError
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.language.contract import Fault

ARGUMENTS = [
    (Load(), {"threads": default_threads()}),
    (Load(threads=3), {"threads": 3}),
    (Load("m", "cpu", "v1"), {"device": "cpu", "revision": "v1", "threads": default_threads()}),
    (Load("m", precision="int8", threads=1), {"bits": 8, "threads": 1}),
    (Load("m", precision="float16", threads=1), {"dtype": "float16", "threads": 1}),
    (
        Load("m", family="StarCoder", order="psm", threads=1),
        {"family": "StarCoder", "order": "psm", "threads": 1},
    ),
]


@pytest.mark.parametrize(("load", "expected"), ARGUMENTS)
def test_how_a_model_is_loaded(load, expected, monkeypatch):
    asked = []
    monkeypatch.setattr(loading, "load_model", lambda name, **arguments: asked.append((name, arguments)))
    open_model(load, lambda _: None)
    ((name, arguments),) = asked
    del arguments["on_progress"]
    assert (name, {key: value for key, value in arguments.items() if value is not None}) == (
        load.model,
        expected,
    )


ANSWERS = [
    (b"x", True, "end", "x", None),
    ("é".encode(), True, "deadline", "é", None),
    (b"", True, "end", "", "the model adds nothing here"),
    (b"x(", False, "dead_end", "", "no connecting text was found (dead_end)"),
    (b"x", True, "cancelled", "", "no connecting text was found (cancelled)"),
    (b"\xc3", False, "cancelled", "", "no connecting text was found (cancelled)"),
]


class Anything:
    """A constraint that all texts fulfil."""

    complete = True

    def feed(self, _):
        return self


def middle(text, complete=True, stop="end"):
    return Middle(text, complete, 3, 2, False, stop, -1.0, 0.0, 0.0)


@pytest.mark.parametrize(("text", "complete", "stop", "shown", "reason"), ANSWERS)
def test_only_what_connects_is_shown(text, complete, stop, shown, reason):
    completion = to_completion(
        [middle(text, complete, stop)], ("line 1",), b"", b"", Anything(), PYTHON_POLICY
    )
    assert (completion.text, completion.reason) == (shown, reason)
    assert (completion.relaxed, completion.tokens, completion.rejected) == (("line 1",), 3, 2)
    assert completion.final is (stop not in ("deadline", "cancelled"))


def test_faults_that_do_not_count_are_told_with_their_lines():
    faults = [Fault("duplicate argument 'a'", ((13, 14), (16, 17)))]
    told = "line 2: as if there were no “duplicate argument 'a'”"
    assert describe_faults(b"x = 1\ndef f(a, a): pass\n", faults) == (told,)


def test_candidates_are_different_and_useful():
    written = [middle(text) for text in (b"a", b"", b"b", b"a", b"next()")] + [middle(b"c", complete=False)]
    completion = to_completion(written, (), b"", b"\nnext()\n", Anything(), PYTHON_POLICY)
    assert (completion.texts, completion.tokens) == (("a", "b"), 18)


def test_what_repeats_itself_comes_last():
    left, right = b"try:\n    x()\nexcept KeyError, ", b"\n    pass\n"
    written = [middle(b"KeyError, KeyError:"), middle(b"ValueError:")]
    completion = to_completion(written, (), left, right, Anything(), PYTHON_POLICY)
    assert completion.texts == ("ValueError:", "KeyError, KeyError:")


ODD = [
    (b"def f():\n    return ", [b"unbound", b"1"], b"\n", "1"),
    (b"f(", [b"  # type: ignore\n", b"1"], b")\n", "1"),
    (b"from ", [b"a import b\nfrom c", b"c"], b" import d\n", "c"),
    (b"", [b"# one", b"x = 1"], b"\n", "# one"),
    (b"x = ", [b"1\nx = 2", b"1"], b"\n", "1\nx = 2"),
]


@pytest.mark.parametrize(("left", "texts", "right", "first"), ODD)
def test_texts_that_connect_in_an_odd_way_come_last(left, texts, right, first):
    written = [middle(text) for text in texts]
    completion = to_completion(written, (), left, right, Anything(), PYTHON_POLICY)
    assert completion.texts[0] == first


class ScriptedDocument:
    def __init__(self, data):
        self.data = data
        self.read_to_the_end = self.read_back = self.prepared = self.knows_language = False

    def prepare_language(self):
        self.knows_language = True

    def left_at(self, position):
        self.read_to_the_end |= position == len(self.data)
        return position, None

    def right_at(self, position):
        assert 0 <= position <= len(self.data)
        self.read_back = self.knows_language and self.read_to_the_end and position == 0

    def prepare_check(self):
        self.prepared = self.read_back

    def edit(self, start, end, replacement):
        if replacement == b"!":
            raise AssertionError("the script says so")
        self.data = self.data[:start] + replacement + self.data[end:]


class ScriptedEngine:
    """Counts the documents made."""

    def __init__(self):
        self.made = []

    def document(self, data):
        self.made.append(data)
        return ScriptedDocument(data)


@pytest.fixture
def documents(monkeypatch):
    monkeypatch.setattr(engine_documents, "MOST_BYTES", 10)
    return EngineDocuments(lambda _: ScriptedEngine())


PYTHON = Python()


def named(uri):
    return DocumentId(1, uri)


def test_a_document_is_made_once_and_edited_in_place(documents):
    documents.open(named("a"), 1, b"x = 1", PYTHON)
    first = documents.document(named("a"))
    documents.edit(named("a"), 2, Replacement(4, 5, b"22"))
    assert documents.document(named("a")) is first
    assert (first.data, documents.find(named("a")).version) == (b"x = 22", 2)
    documents.open(named("a"), 3, b"new", PYTHON)
    assert documents.document(named("a")).data == b"new"
    assert documents.find(named("b")) is None


OTHER_CELLS = {  # the cell of four in the order 1 2 3 4, and the cells above and below it
    "1": (b"", b"b\nc\nd\n"),
    "2": (b"a\n", b"c\nd\n"),
    "4": (b"a\nb\nc\n", b""),
    "closed": (b"a\nb\nc\n", b"d\n"),
    "file": (b"", b""),
}


@pytest.mark.parametrize("name", OTHER_CELLS)
def test_the_other_cells_of_a_notebook(documents, name):
    for uri, text in {
        "4": b"d",
        "2": b"b",
        "1": b"a",
        "3": b"c",
        "file": b"f",
        "other": b"o",
        "bash": b"",
    }.items():
        documents.open(named(uri), 1, text, PYTHON)
    documents.arrange(1, "n", ["1", "2", "3", "closed", "bash", "4"])
    documents.arrange(1, "m", ["other"])
    documents.arrange(2, "n", ["2", "1"])
    if name == "closed":
        documents.open(named(name), 1, b"x", PYTHON)
    above, below = OTHER_CELLS[name]
    assert documents.other_cells(named(name)) == (above, below)
    assert documents.around(named(name), 1) == (below + above + documents.find(named(name)).data, b"")
    others = [entry.data for entry in documents.others(named(name))]
    assert (b"o" in others, b"b" in others) == (True, name == "file")


def test_the_nearest_cells_of_a_long_notebook(documents, monkeypatch):
    monkeypatch.setattr(engine_documents, "MOST_OF_CELLS", 8)
    cells = [str(number) for number in range(9)]
    for number in cells:
        documents.open(named(number), 1, number.encode(), PYTHON)
    documents.arrange(1, "n", cells)
    nearest = [documents.other_cells(named(number)) for number in ("0", "2", "8")]
    assert nearest == [(b"", b"1\n2\n3\n4\n"), (b"0\n1\n", b"3\n4\n"), (b"4\n5\n6\n7\n", b"")]
    documents.leave(1)
    documents.open(named("1"), 1, b"x", PYTHON)
    assert documents.other_cells(named("1")) == (b"", b"")


def test_idle_time_prepares_the_document_touched_last(documents):
    assert not documents.prepare_newest()
    documents.open(named("a"), 1, b"a", PYTHON)
    documents.open(named("b"), 1, b"b", PYTHON)
    documents.edit(named("a"), 2, Replacement(0, 1, b"aa"))
    while documents.prepare_newest():
        pass
    assert documents.document(named("a")).prepared
    documents.close(named("a"))
    while documents.prepare_newest():
        pass
    assert documents.document(named("b")).prepared


def test_a_large_document_is_prepared_in_steps_while_it_is_edited(documents, monkeypatch):
    monkeypatch.setattr(engine_documents, "STEP", 10)
    documents.open(named("a"), 1, b"x" * 100, PYTHON)
    steps = 0
    while documents.prepare_newest():
        steps += 1
        if steps % 3 == 0:
            documents.edit(named("a"), steps, Replacement(0, 7, b""))
    assert steps > 10
    assert documents.document(named("a")).prepared


def test_the_least_recently_used_are_given_up(documents):
    for name in "abc":
        documents.open(named(name), 1, name.encode() * 4, PYTHON)
    made = {name: documents.document(named(name)) for name in "abc"}
    assert documents.document(named("c")) is made["c"]
    assert documents.document(named("b")) is made["b"]
    assert documents.document(named("a")) is not made["a"]


def test_a_document_larger_than_the_budget_is_kept_alone(documents):
    documents.open(named("large"), 1, b"x" * 50, PYTHON)
    assert documents.document(named("large")) is documents.document(named("large"))


def test_an_edit_that_fails_makes_the_document_anew(documents):
    documents.open(named("a"), 1, b"x", PYTHON)
    documents.document(named("a"))
    with pytest.raises(AssertionError):
        documents.edit(named("a"), 2, Replacement(1, 1, b"!"))
    assert (documents.document(named("a")).data, documents.find(named("a")).version) == (b"x!", 2)


LONG = b"".join(b"x%d = f(%d, y)\n" % (number, number) for number in range(20_000))


def asked_in(data, seconds_ms, should_stop=lambda: False, language=PYTHON):
    """The completion of a backend with a model for the new document *data*; and the backend."""
    backend = Backend()
    backend._model = object()
    backend.open(named("a"), 1, data, language)
    limits = Limits(deadline_ms=seconds_ms)
    return backend.complete(Complete(1, named("a"), 1, 4, limits, time.monotonic()), should_stop), backend


def test_a_text_that_cannot_be_read_in_time_is_told_and_read_on():
    said, backend = asked_in(LONG, 50)
    assert (said.texts, said.reason, said.final, said.later) == ((), CONTEXT_TOO_SLOW, False, True)
    with interruptible(lambda: True):
        assert backend.prepare()
    while backend.prepare():
        pass
    with interruptible(lambda: True):
        assert not backend.prepare()
        assert not backend.documents.document(named("a")).right_at(0).broken


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_a_selection_that_takes_too_long_is_not_tried_again(monkeypatch, is_cancelled):
    monkeypatch.setattr("fimlsp.lsp_server.worker.backend.SELECTION_S", (0.0, 0.0))
    backend = Backend()
    backend.load(Load(), lambda *_: None)
    data = b"def area(width, height):\n    return wid\n"
    backend.open(named("a"), 1, data, PYTHON)
    selections = []

    def select(*_):
        selections.append(1)
        checkpoint()

    monkeypatch.setattr(backend, "_select", select)
    request = Complete(1, named("a"), 1, len(data) - 1, Limits(deadline_ms=600_000), time.monotonic())
    said = backend.complete(request, lambda: is_cancelled and bool(selections))
    expected = "cancelled" if is_cancelled else SELECTION_TOO_SLOW
    assert (said.texts, said.reason, said.later) == ((), expected, False)


def test_the_engine_stops_for_a_request_that_is_cancelled():
    asks = iter([False] * 5)
    said, _ = asked_in(LONG, 600_000, lambda: next(asks, True))
    assert said.reason == "cancelled"


def test_a_grammar_that_cannot_be_used_is_the_reason():
    language = LarkLanguage(GrammarFiles((("own.lark", "start: other\n"),)))
    said, backend = asked_in(b"abcdef", 600_000, language=language)
    assert said.reason.startswith("The rule start (own.lark, line 1) uses other, which is not defined")
    assert not backend.prepare()


PAIRS = 'start: (KEY "=" NAME ";")*\nKEY: /[a-z]+/\nNAME: /[A-Z]+/i\n%ignore /[ \\n]+/\n'
REFUSED_TEXTS = [
    # a text with the cursor after four bytes, and the reason for no suggestion
    (b"a=b= ;", "own.lark reads the file no further than line 1, column 4: refused at '='; expected ';'."),
    (b"\na = 1;", "own.lark refuses line 2 with the text after it"),
    (b"a = b;\nb = 1;", "own.lark refuses line 2 with the text after it"),
    (b"a = b;\nb = ;\na = a;\n", "own.lark refuses line 2 with the text after it"),
    (b"a = 1;\nb = c;\n", "own.lark refuses line 1 with the text after it"),
]


@pytest.mark.parametrize(("data", "reason"), REFUSED_TEXTS)
def test_the_place_that_a_grammar_refuses_is_the_reason(data, reason):
    language = LarkLanguage(GrammarFiles((("own.lark", PAIRS),)), lexer="contextual")
    said, _ = asked_in(data, 600_000, language=language)
    assert said.reason == reason


def served(*, keeps_read_part, is_alive):
    """The reading ahead of a network elsewhere."""
    return ReadingAhead(
        SimpleNamespace(keeps_read_part=keeps_read_part, meter=SimpleNamespace(is_alive=is_alive))
    )


ADDRESS = "http://127.0.0.1:8012"
GIVEN_UP = [TOO_SLOW.format(2000)] * (SLOW_IN_A_ROW - 1), True
SLOW = {  # the model, its reading ahead; the reasons of requests in a row, and at last an error or none
    "a file": (
        "/models/large.gguf",
        served(keeps_read_part=True, is_alive=False),
        ([STILL_READING] * 5, False),
    ),
    "a checkpoint": ("owner/checkpoint", None, ([STILL_READING] * 5, False)),
    "a server that reads": (
        ADDRESS,
        served(keeps_read_part=True, is_alive=True),
        ([STILL_READING] * 5, False),
    ),
    "a silent server": (ADDRESS, served(keeps_read_part=True, is_alive=False), GIVEN_UP),
    "a server that forgets": (ADDRESS, served(keeps_read_part=False, is_alive=True), GIVEN_UP),
}


@pytest.mark.parametrize("case", SLOW)
def test_only_a_server_that_does_not_read_is_given_up_for_slowness(case):
    name, ahead, (expected, fails) = SLOW[case]
    backend = Backend()
    backend._loaded, backend._ahead = Load(name), ahead
    model = SimpleNamespace(name=name)
    answers = [backend._too_slow(model, Limits()) for _ in expected]
    assert [answer.reason for answer in answers] == expected
    assert [answer.later for answer in answers] == [reason == STILL_READING for reason in expected]
    if fails:
        with pytest.raises(ServerError, match="too slow 3 times in a row"):
            backend._too_slow(model, Limits())
