"""The worker names the text that it estimates, and corrects the estimate by counts."""

from __future__ import annotations

import time

import pytest

from fimlsp.languages.python import Python
from fimlsp.lsp_server.messages import Complete, DocumentId, Limits, Load
from fimlsp.lsp_server.worker.backend import Backend
from fimlsp.models.learnt import Correction, Line

A = DocumentId(0, "a.py")
LEFT = b"def area(width, height):\n    return width * height\n\n\n"
LEFT += b"def volume(width, height, depth):\n    return width * "
LIMITS = Limits(deadline_ms=20_000, confidence=0.5, min_length=1)
LESS, MORE = Line(bias=-20.0), Line(bias=20.0)


@pytest.fixture(scope="module")
def backend():
    backend = Backend()
    backend.load(Load(), lambda *_: None)
    backend.open(A, 0, LEFT + b"\n", Python())
    return backend


def ask(backend, correction=None, limits=LIMITS):
    request = Complete(0, A, 0, len(LEFT), limits, time.monotonic(), correction=correction)
    return backend.complete(request, lambda: False)


def test_the_likeliest_text_is_named_whether_it_is_shown_or_not(backend):
    shown, held = ask(backend), ask(backend, limits=Limits(deadline_ms=20_000, confidence=1.0))
    assert shown.estimated.text.decode() == shown.text
    assert shown.estimated.key == backend.model.estimate_key
    assert not held.texts
    assert held.estimated.key == shown.estimated.key
    assert ask(backend, limits=Limits(deadline_ms=20_000)).estimated is None


CORRECTED = [(LESS, LESS, False), (MORE, MORE, True), (Line(), Line(), True), (LESS, MORE, True)]


@pytest.mark.parametrize(("whole", "opening", "is_shown"), CORRECTED)
def test_a_correction_decides_on_showing_but_not_on_learning(backend, whole, opening, is_shown):
    answer = ask(backend, Correction(backend.model.estimate_key, whole, opening))
    assert bool(answer.texts) is is_shown
    plain = backend.model.acceptance
    assert answer.estimated.log_odds < 20
    assert plain == backend.model.acceptance


def test_a_correction_of_another_estimate_is_left_out(backend):
    assert ask(backend, Correction("another", LESS, LESS)).texts == ask(backend).texts
