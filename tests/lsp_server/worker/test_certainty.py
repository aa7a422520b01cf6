"""Automatic completions: the confident part of a middle, without visible faults."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest

from fimlsp.languages.lua import lua
from fimlsp.languages.python import python
from fimlsp.languages.python.editor_policy import PYTHON_POLICY
from fimlsp.languages.python.names.code_state import state_at_end
from fimlsp.languages.python.names.known_names import KnownNames, NameSet
from fimlsp.languages.python.names.preference import NamePreference
from fimlsp.lsp_server.messages import Limits
from fimlsp.lsp_server.worker.answers import confident_part, within_limits
from fimlsp.models.confidence import ConfidenceEstimate, Level, Regression, Weight
from fimlsp.models.decoding.middle import Middle, TokenTrace
from fimlsp.quotient.engine import Engine

SURE = Regression(4.0, {"total": Weight(0.0, 1.0, 1.0)})
NEVER = Regression(-500.0, {})
ESTIMATE = ConfidenceEstimate(SURE, NEVER, 1, 1, levels=(Level(8.0, 0.5, 0.5, -9.0),))
"""A text of total log-probability t is right with the log-odds 4 + t; a wrong one costs 8 characters."""

SURER = Limits(confidence=0.9)
ENGINE = Engine(python())


def middle(*tokens, steered=(), stop="end", complete=True):
    trace = tuple(TokenTrace(text.encode(), sure, (), n in steered) for n, (text, sure) in enumerate(tokens))
    text = b"".join(token.text for token in trace)
    return Middle(text, complete, len(trace), 0, bool(steered), stop, -1.0, 0.0, 0.0, trace=trace)


def split(marked):
    left, right = marked.encode().split(b"<|>")
    return (
        left,
        right,
        ENGINE.document(left + right).middle(len(left), len(left), may_escape=False, relax=True).start,
    )


TOTAL = [("total", -0.1), (" +", -0.2), (" price", -0.3)]

SURE = [
    ("price = total = 1\nx = <|>\n", middle(*TOTAL), "total + price"),
    ("price = total = 1\nx = <|>\n", middle(*TOTAL[:2], (" price", -9.0)), "total"),
    ("price = total = 1\nx = <|>\n", middle(("total", -9.0), *TOTAL[1:]), None),
    ("price = total = 1\nx = <|>\n", middle(*TOTAL, steered=[2]), "total"),
    ("price = total = 1\nx = <|>\n", middle(*TOTAL, steered=[0]), None),
    (
        "price = total = 1\nx = <|>\n",
        middle(*TOTAL, (" (", 0.0), complete=False, stop="budget"),
        "total + price",
    ),
    ("total = 1\nx = <|>\n", middle(*TOTAL), "total"),
    ("from shop import *\nx = <|>\ntotal\n", middle(*TOTAL), "total"),
    ("def f(total):\n    pass\nx = <|>\n", middle(*TOTAL), None),
    ("total = 1\n<|>\n", middle(("total = 1", -0.1)), None),
    ("total = 1\n<|>\n", middle(("total = 2", -0.1), ("\ntotal = 1", -0.1)), "total = 2"),
    ("def f(self):\n    <|>\n", middle(("self", -0.1), (".save()", -9.0)), None),
    ("def f(self):\n    <|>\n", middle(("self.save", -0.1), (" = 1", -9.0)), None),
    ("def f():\n    <|>\n", middle(("return 1", -0.1), ("\ndef g(): pass", -0.1)), "return 1"),
    ("total = 1\nx = to<|>tal\n", middle(("tal", -0.1), (" - to", -0.1)), None),
    ("total = 1\nx = to<|>l\n", middle(("ta", -0.1)), "ta"),
    ("total = 1\nx = to<|>.real\n", middle(("tal", -0.1), (" = total", -0.1)), "tal"),
    ("total = 1\nx = pri<|>(1)\n", middle(("nt", -0.1), ("(total)", -0.1)), "nt"),
    ("total = 1\nx = t<|>l\n", middle(("otal", -0.1), ("()", -0.1)), "ota"),
]


@pytest.mark.parametrize(("marked", "written", "shown"), SURE)
def test_what_is_sure_is_shown(marked, written, shown):
    left, right, start = split(marked)
    sure = confident_part([written], left, right, start, ESTIMATE, Limits(confidence=0.5), PYTHON_POLICY).part
    assert (sure and sure.inserted.decode()) == shown


LOOKED_UP = [
    (KnownNames(), None),
    (KnownNames(NameSet([b"order"])), None),
    (KnownNames(NameSet([b"total"])), "total"),
    (KnownNames(NameSet([b"total", b"price"])), "total + price"),
    (KnownNames(NameSet([b"total", b"price"]), is_older=True), None),
]


@pytest.mark.parametrize(("known", "shown"), LOOKED_UP)
@pytest.mark.parametrize(
    "marked", ["from shop import *\nx = <|>\n", "x = <|>\ny = ((\n", "x = <|>\n" + "#\n" * 100_000]
)
def test_names_that_occur_nowhere_are_shown_once_they_are_looked_up(marked, known, shown):
    left, right, start = split(marked)
    preference = NamePreference(left, right, state_at_end(left), lambda: known)
    limits = Limits(confidence=0.5)
    sure = confident_part(
        [middle(*TOTAL)], left, right, start, ESTIMATE, limits, PYTHON_POLICY, preference=preference
    ).part
    assert (sure and sure.inserted.decode()) == shown


OPEN = [
    ("total = 1\nx = <|>\n", middle(("total(", -0.1), ("1)", -9.0)), ("total(", ")")),
    ("total = 1\nx = <|>\n", middle(("total[", -0.1), ("1]", -9.0)), None),
    ("total = 1\nx = <|>\n", middle(("round(total(", -0.1), ("1))", -9.0)), ("round(total(", "))")),
    ("total = 1\nprint(<|>)\n", middle(("total(", -0.1), ("1)", -9.0)), ("total(", ")")),
    ("total = 1\nx = <|>\n", middle(("total(", -0.1), ("1)", -0.1)), ("total(1)", "")),
    ("total = 1\nx = <|>\n", middle(("total()", -0.1)), ("total()", "")),
    ("total = 1\n<|>\n", middle(("del (", -0.1), ("total)", -9.0)), None),
    ("total = 1\n<|>\n", middle(("# total(", -0.1), ("1)", -9.0)), None),
    ("total = 1\nx = <|>\n", middle(("'total(", -0.1), ("1)'", -9.0)), None),
    ("total = 1\nif total:<|>\n", middle(("\n    total(", -0.1), ("1)", -9.0)), None),
    ("total = 1\nx = <|>\n", middle(("round(total", -0.1), (", 1)", -9.0)), ("round(total", ")")),
    ("total = 1\nx = <|>\n", middle(("round(total", -0.1), ("[1])", -9.0)), ("round(total", ")")),
    ("total = 1\nx = <|>\n", middle(("total[total", -0.1), (".a]", -9.0)), ("total[total", "]")),
    ("total = 1\nx = <|>\n", middle(("{round(total", -0.1), (".a)}", -9.0)), ("{round(total", ")}")),
    ("total = 1\nx = <|>\n", middle(("round(total", -0.1), (", -", -9.0)), ("round(total", ")")),
    ("total = 1\nx = <|>\n", middle(("total(key=", -0.1), ("1)", -9.0)), ("total(", ")")),
    ("total = 1\nx = <|>\n", middle(("total(((total", -0.1), (" - 1)))", -9.0)), ("total(((total", ")))")),
    ("total = 1\nx = <|>\n", middle(("total((((total", -0.1), (" - 1))))", -9.0)), ("total(", ")")),
    ("total = 1\nif <|>\n    pass\n", middle(("total", -0.1), (" > 1:", -9.0)), ("total", ":")),
    ("total = 1\nif <|>\n    pass\n", middle(("total(", -0.1), ("1):", -9.0)), ("total(", "):")),
    ("total = 1\nif <|>:\n    pass\n", middle(("total(", -0.1), ("1)", -9.0)), ("total(", ")")),
    ("total = 1\n<|>\n", middle(("if total", -0.1), (":\n    pass", -9.0)), None),
    ("total = 1\n<|>'%s' % total\n", middle(("total", -0.1), (" += ", -9.0)), None),
    ("def f(<|>\n    pass\n", middle(("total", -0.1), (", x):", -9.0)), ("total", "):")),
]


@pytest.mark.parametrize(("marked", "written", "shown"), OPEN)
def test_what_is_not_sure_is_left_open(marked, written, shown):
    left, right, start = split(marked)
    limits = Limits(confidence=0.5, cursor_inside=True)
    sure = confident_part([written], left, right, start, ESTIMATE, limits, PYTHON_POLICY).part
    assert (sure and (sure.text.decode(), sure.closing.decode())) == shown
    assert sure is None or ast.parse(left + sure.inserted + right)


@pytest.mark.parametrize(("marked", "written", "shown"), OPEN)
def test_nothing_is_left_open_where_the_editor_cannot_put_the_cursor_there(marked, written, shown):
    left, right, start = split(marked)
    sure = confident_part([written], left, right, start, ESTIMATE, Limits(confidence=0.5), PYTHON_POLICY).part
    assert (sure and sure.text.decode()) == (shown[0] if shown and not shown[1] else None)


BODY = ("\n        return total", -9.0)
HEADER = [
    ("class A:\n    x = 1\n\n    <|>\n", middle(("def f(total):", -0.1), BODY), "def f(total):"),
    ("class A:\n    x = 1\n\n    def f<|>\n", middle(("(total):", -0.1), BODY), "(total):"),
    ("def f(total<|>\n", middle((") -> int:", -0.1), ("\n    return total", -9.0)), ") -> int:"),
    ("total = 1\n<|>\n", middle(("x = 1", -0.1), ("\nif total:", -0.1), BODY), "x = 1\nif total:"),
    ("total = 1\n<|>\n", middle(("if total:", -0.1), ("\n    del", -9.0), stop="unsure"), "if total:"),
    ("total = 1\nif total:\n    x = 1\n<|>\n", middle(("else:", -0.1), ("\n    x = 2", -9.0)), "else:"),
    ("class A:<|>\n", middle(("\n    def f(total):", -0.1), BODY), "\n    def f(total):"),
    ("def f(a):\n    <|>\n    except OSError:\n        a()\n", middle(("try:", -0.1), BODY), "try:"),
    ("total = 1\n<|>  # total\n", middle(("if total:", -0.1), ("\n    del total", -9.0)), "if total:"),
    ("a = b = 1\nif (a<|>\n", middle((" and", -9.0), ("\n        b):", -0.1), BODY), None),
    ("a = b = 1\nif (a and\n        <|>\n", middle(("b):", -0.1), ("\n    del a", -9.0)), "b):"),
    # its body is as sure, or stands below, or in its own line
    ("total = 1\n<|>\n", middle(("if total:", -0.1), ("\n    del total", -0.1)), "if total:\n    del total"),
    ("total = 1\n<|>\n    print(total)\n", middle(("if total:", -0.1), BODY), "if total:"),
    ("total = 1\n<|>\n", middle(("if total:", -0.1), (" del total", -9.0)), None),
    # not sure, no header, not at the end of a line, without handlers, with a name that nothing binds
    ("total = 1\n<|>\n", middle(("if total:", -9.0), ("\n    del total", -0.1)), None),
    ("total = 1\nx = <|>\n", middle(("lambda:", -0.1), (" total", -9.0)), None),
    ("total = 1\n<|>\n", middle(("total:", -0.1), (" int", -9.0)), None),
    ("total = 1\nx = {total<|>\n}\n", middle((":", -0.1), ("\n  1", -9.0)), None),
    ("x = y = 1\n<|> and y\n", middle(("if x:", -0.1), ("\n    del x", -9.0)), None),
    ("total = 1\nx = f(\n    total<|>\n", middle((")[0]:", -0.1), ("\n    1", -9.0)), ")[0]"),
    ("total = 1\n<|>\n", middle(("try:", -0.1), ("\n    del total", -9.0)), None),
    ("x = 1\n<|>\n", middle(("if total:", -0.1), ("\n    del x", -9.0)), None),
    # with a fault of its own
    ("def f(total): ...\n<|>\n", middle(("def f(total):", -0.1), ("\n    return 1", -9.0)), None),
    ("total = 1\n<|>\n", middle(("if total == total:", -0.1), ("\n    x = 1", -9.0)), None),
]


@pytest.mark.parametrize(("marked", "written", "shown"), HEADER)
def test_a_header_is_shown_alone_where_only_its_body_is_not_sure(marked, written, shown):
    left, right, start = split(marked)
    sure = confident_part([written], left, right, start, ESTIMATE, Limits(confidence=0.5), PYTHON_POLICY).part
    assert (sure and sure.inserted.decode()) == shown
    assert sure is None or ast.parse(left + sure.connecting + right)


def test_a_header_that_a_user_began_to_delete_does_not_come_back():
    left, right, start = split("total = 1\n<|>\n")
    written, deleted = middle(("if total:", -0.1), ("\n    del total", -9.0)), [b"if total:\n    del total"]
    sure = confident_part(
        [written], left, right, start, ESTIMATE, Limits(confidence=0.5), PYTHON_POLICY, deleted=deleted
    ).part
    assert sure is None


FAULTS = [
    ("total(1)\n<|>\n", middle(("total(1)", -0.1)), ("total(", ")")),
    ("total[1]\n<|>\n", middle(("total[1]", -0.1)), None),
    ("total(1)\n<|>\n", middle(("total(", -0.1), ("1)", -0.1)), ("total(", ")")),
    ("total(1)\n<|>\n", middle(("total(2)", -0.1), ("\ntotal(", -0.1), ("1)", -0.1)), ("total(2)", "")),
    ("total()\n<|>\n", middle(("total(", -0.1), ("1)", -9.0)), None),
    ("total.a\n<|>\n", middle(("total.a", -0.1), (" + 1", -9.0)), None),
    ("total.a\n<|>\n", middle(("total.a", -0.1), (" + 1", -0.1)), ("total.a + 1", "")),
    ("total.a(1)\n<|>\n", middle(("total.a(", -0.1), ("1)", -0.1), ("\ntotal.b()", -0.1)), ("total.a(", ")")),
]


@pytest.mark.parametrize(("marked", "written", "shown"), FAULTS)
def test_what_is_shown_is_asked_for_its_own_faults(marked, written, shown):
    left, right, start = split(f"from shop import total\n{marked}")
    limits = Limits(confidence=0.5, cursor_inside=True)
    sure = confident_part([written], left, right, start, ESTIMATE, limits, PYTHON_POLICY).part
    assert (sure and (sure.text.decode(), sure.closing.decode())) == shown


def test_nothing_is_sure_enough_for_a_confidence_that_nothing_reached():
    left, right, start = split("price = total = 1\nx = <|>\n")
    assert (
        confident_part(
            [middle(*TOTAL)], left, right, start, ESTIMATE, Limits(confidence=0.9), PYTHON_POLICY
        ).part
        is None
    )


LIMITED = [
    ("<|>\n", "x = 1\ny = 2", {"one_line": "always"}, "x = 1", True),
    ("<|>\n", "if x:\n    y = 2", {"one_line": "always"}, "if x:", False),
    ("if x:<|>\n", "\n    y = 2\n    z = 3", {"one_line": "always"}, "\n    y = 2", True),
    ("<|>\n", "x = 1\ny = 2", {"one_line": "auto"}, "x = 1\ny = 2", True),
    ("def f(<|>)", "order):\n    g(", {}, None, None),
    ("def f(<|>)", "order):\n    g(", {"context_escape": True}, "order):\n    g(", True),
    ("def f(<|>):\n    pass\n", "order", {}, "order", True),
    ("f(<|>)", "')(', # )\n(", {}, "')(', # )\n(", True),
]


@pytest.mark.parametrize(("marked", "text", "limits", "kept", "complete"), LIMITED)
def test_one_line_is_one_line_and_a_bracket_is_not_left(marked, text, limits, kept, complete):
    *_, start = split(marked)
    found = within_limits([middle((text, -1.0))], Limits(**limits), start, PYTHON_POLICY)
    assert [beginning.text.decode() for beginning in found] == ([] if kept is None else [kept])
    assert all(beginning.complete is complete for beginning in found)


@pytest.mark.parametrize(
    ("sound", "shown"), [(13, "total + price"), (12, "total"), (7, "total"), (5, "total"), (4, None)]
)
def test_a_text_with_a_fault_of_types_is_cut(sound, shown):
    left, right, start = split("price = total = 1\nx = <|>\n")
    texts = []

    def last_sound(text):
        texts.append(text)
        return sound if len(text) > sound else None

    limits, types = Limits(confidence=0.5), SimpleNamespace(last_sound=last_sound)
    whole = middle(*TOTAL)
    sure = confident_part([whole], left, right, start, ESTIMATE, limits, PYTHON_POLICY, types=types).part
    assert (sure and sure.inserted.decode()) == shown
    assert len(texts) == len(set(texts))


AMONG = [
    ([middle(*TOTAL), middle(("price", -2.0))], (), "total + price"),
    ([middle(("total", -9.0)), middle(("price", -0.5))], (), "price"),
    ([middle(*TOTAL), middle(("price", -2.0))], (b"total",), "price"),
    ([middle(*TOTAL), middle(("price", -9.0))], (b"total + ",), "total"),
    ([middle(*TOTAL), middle(("total", -0.1), (" - price", -0.2))], (b"total + ",), "total - price"),
]


@pytest.mark.parametrize(("written", "faulty", "shown"), AMONG)
def test_the_best_of_several_texts_is_shown(written, faulty, shown):
    """A text with a *faulty* beginning is wrong there."""
    left, right, start = split("price = total = 1\nx = <|>\n")

    def last_sound(text):
        return next((len(part) - 1 for part in faulty if text.startswith(part)), None)

    limits, types = Limits(confidence=0.5), SimpleNamespace(last_sound=last_sound)
    sure = confident_part(written, left, right, start, ESTIMATE, limits, PYTHON_POLICY, types=types).part
    assert sure is not None
    assert sure.inserted.decode() == shown


def test_all_texts_are_listed_where_they_are_wanted():
    left, right, start = split("price = total = 1\nx = <|>\n")
    types = SimpleNamespace(last_sound=lambda text: 8 if len(text) > 8 else None, fault_ends=list)
    for explain, texts in [(False, []), (True, [("total", False), ("total + price", True)])]:
        limits = Limits(confidence=0.5, explain=explain)
        choices = confident_part(
            [middle(*TOTAL)], left, right, start, ESTIMATE, limits, PYTHON_POLICY, types=types
        ).choices
        assert [(choice.text, choice.is_held) for choice in choices] == texts
        assert all(choice.features["total"] < 0 for choice in choices)


def test_the_likeliest_text_is_named_where_none_is_sure_enough():
    left, right, start = split("def f(total):\n    return <|>\n")
    unsure = confident_part([middle(*TOTAL)], left, right, start, ESTIMATE, SURER, PYTHON_POLICY)
    assert unsure.part is None
    assert unsure.guess == "“total”, 98 %"
    nothing = confident_part([middle()], left, right, start, ESTIMATE, SURER, PYTHON_POLICY)
    assert nothing.guess == ""


def test_a_text_that_is_too_short_is_not_preferred_to_a_longer_one():
    left, right, start = split("price = total = 1\nx = <|>\n")
    written = middle(("total", -0.1), (" + price + price", -4.2), stop="budget")
    for least, shown in [(0, b"total"), (6, b"total + price + price"), (30, None)]:
        sure = confident_part(
            [written], left, right, start, ESTIMATE, Limits(confidence=0.5, min_length=least), PYTHON_POLICY
        ).part
        assert (sure and sure.text) == shown


def test_what_is_known_of_python_says_nothing_of_other_languages():
    left, right, start = split("total = 1\nx = <|>\n")
    sure = confident_part(
        [middle(*TOTAL)], left, right, start, ESTIMATE, Limits(confidence=0.5), lua.editor
    ).part
    assert sure is not None
    assert sure.text == b"total + price"
