"""Scopes in which long work may be given up."""

from __future__ import annotations

import time

import pytest

from fimlsp.lexing.interruption import Interrupted, checkpoint, interruptible, work_limit


def test_without_a_scope_nothing_is_interrupted():
    checkpoint()


def test_a_scope_is_asked_until_it_is_left():
    answers = [False, False, True]
    with interruptible(lambda: answers.pop(0)):
        checkpoint()
        checkpoint()
        with pytest.raises(Interrupted):
            checkpoint()
    checkpoint()


@pytest.mark.parametrize(("outer", "inner"), [(True, False), (False, True), (True, True), (False, False)])
def test_a_scope_holds_within_another(outer, inner):
    raised = []
    with interruptible(lambda: outer):
        try:
            with interruptible(lambda: inner):
                checkpoint()
        except Interrupted:
            raised.append("inner")
        try:
            checkpoint()
        except Interrupted:
            raised.append("outer")
    assert raised == ["inner"] * (inner or outer) + ["outer"] * outer


def test_a_thread_that_waits_is_not_at_the_limit_of_its_work():
    is_over = work_limit(0.02, 600)
    time.sleep(0.1)
    assert not is_over()
    started = time.thread_time()
    while time.thread_time() < started + 0.02:
        pass
    assert is_over()


def test_work_has_a_limit_on_the_clock_as_well():
    is_over = work_limit(60, 0.02)
    assert not is_over()
    time.sleep(0.05)
    assert is_over()
