"""From limits to settings of the decoding, and by the speed of a model elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fimlsp.languages.python.editor_policy import PYTHON_POLICY
from fimlsp.lsp_server.messages import Complete, DocumentId, Limits
from fimlsp.lsp_server.worker.pace import CHOSEN_AMONG, UNHURRIED_S, Pace, decode_settings, seconds_left
from fimlsp.models.decoding.settings import DecodeSettings

DOCUMENT = DocumentId(1, "a")


def test_limits_become_settings_of_the_decoding():
    limits = Limits(max_tokens=7, deadline_ms=1500, one_line="auto", candidates=2, steering=False)
    one_line = DecodeSettings(tokens=7, lines=1, seconds=1.5, candidates=2, steer=False)
    assert decode_settings(limits, b"x = ", b"", 1.5, PYTHON_POLICY) == one_line
    assert decode_settings(limits, b"", b"", 1.5, PYTHON_POLICY) == replace(one_line, lines=None)


@pytest.mark.parametrize(("waited", "seconds"), [(0.0, 2.0), (0.5, 1.5), (1.9, 0.5), (60.0, 0.5)])
def test_the_deadline_counts_from_the_request(waited, seconds, monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 100.0 + waited)
    limits = Limits(deadline_ms=2000)
    assert seconds_left(limits, Complete(1, DOCUMENT, 1, 0, limits, 100.0)) == pytest.approx(seconds)


def test_a_request_for_which_nobody_waits_has_its_own_time():
    limits = Limits(deadline_ms=2000)
    assert seconds_left(limits, Complete(1, DOCUMENT, 1, 0, limits, 0.0, is_unhurried=True)) == UNHURRIED_S


SPEEDS = {  # tokens a second, own machine?, seconds; tokens of at most 64, and texts to choose from
    "unknown": (None, True, 2.0, 64, 1),
    "slow": (3.0, True, 2.0, 16, 1),
    "a laptop": (20.0, True, 2.0, 40, 1),
    "quick enough for two": (40.0, True, 2.0, 64, 2),
    "quick": (200.0, True, 2.0, 64, 3),
    "little time": (40.0, True, 0.5, 20, 1),
    "paid by the token, or a team's": (200.0, False, 2.0, 64, 1),
}


@pytest.mark.parametrize("case", SPEEDS)
def test_a_model_elsewhere_writes_as_much_as_its_speed_allows(case):
    per_second, is_own, seconds, tokens, choices = SPEEDS[case]
    pace = Pace(per_second, is_own)
    limits = Limits(max_tokens=64, candidates=5)
    settings = decode_settings(limits, b"x = ", b"", seconds, PYTHON_POLICY, pace, chooses=True)
    assert (settings.tokens, settings.candidates) == (tokens, choices)
    asked = decode_settings(limits, b"x = ", b"", seconds, PYTHON_POLICY, pace)
    assert (asked.tokens, asked.candidates) == (tokens, 5), "the user wants these"


def test_a_model_in_the_process_writes_its_texts_side_by_side():
    settings = decode_settings(Limits(), b"x = ", b"", 2.0, PYTHON_POLICY, chooses=True)
    assert (settings.tokens, settings.candidates) == (Limits().max_tokens, CHOSEN_AMONG)
