"""Whoever loses interest is not kept waiting, and the server stops its work."""

import json
import time
from urllib.request import Request, urlopen

from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings, Unconstrained
from fimlsp.models.loading import load_model

from .conftest import KEY

LONG = b"import os\n" * 200


def is_busy(address):
    request = Request(f"{address}/slots", headers={"Authorization": f"Bearer {KEY}"})
    with urlopen(request, timeout=10) as answer:
        return any(slot["is_processing"] for slot in json.load(answer))


def test_to_cancel_ends_the_servers_work(served):
    address = served("bundled")
    model, asked = load_model(address), []

    def should_stop():
        asked.append(None)
        return len(asked) > 6

    (middle,) = complete_many(
        model, LONG, b"", Unconstrained(), DecodeSettings(tokens=400, lines=None), should_stop
    )
    assert middle.stop_reason == "cancelled"
    while is_busy(address):
        time.sleep(0.01)


def test_a_deadline_ends_a_wait(served):
    model = load_model(served("bundled"))
    (middle,) = complete_many(
        model, LONG, b"", Unconstrained(), DecodeSettings(tokens=400, seconds=0.0), lambda: False
    )
    assert middle.stop_reason == "deadline"
