"""Scopes in which long work may be given up."""

from __future__ import annotations

import pytest

from fimlsp.lexing.interruption import Interrupted, checkpoint, interruptible


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
