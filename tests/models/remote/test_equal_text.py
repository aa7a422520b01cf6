"""The law of runs: they write the same text as single tokens over all candidates."""

from copy import copy
from dataclasses import replace

import pytest

from fimlsp import python
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import load_model
from fimlsp.models.remote.look_ahead import LookAhead
from fimlsp.quotient.engine import Engine

from ...sampling import sampled
from .one_by_one import OneByOne
from .random_models import MODELS

LARGE = "StarCoder2"
ENGINE = Engine(python())
CURSORS = [
    "def read(path):\n    with open(<|>\n        return file.read()\n",
    "import os\n\n\ndef area(width, height):\n    return <|>\n",
    "items = [<|>]\nprint(items[0])\n",
    "for number in range(10):\n    print(num<|>)\n",
    "text = 'über <|>'\n",
    "class A:\n    def __init__(self, x):\n        self.<|>\n\n    def get(self):\n        return self.x\n",
]
FEW_CURSORS = [CURSORS[0], *(pytest.param(cursor, marks=pytest.mark.slow) for cursor in CURSORS[1:])]
AMPLE = 600.0
"""Seconds; under a time limit, as in editors, the model has no masks, which the reference has not either."""

SETTINGS = [
    DecodeSettings(tokens=16, seconds=AMPLE),
    DecodeSettings(tokens=16, seconds=AMPLE, temperature=0.8, seed=4),
    DecodeSettings(tokens=8, seconds=AMPLE, candidates=2, lines=None),
]


def check(model, reference, cursor, settings):
    """Once more if they differ: a request that just ended may share a batch, which changes last digits."""
    both = written(model, reference, cursor, settings)
    if both[0] != both[1]:
        both = written(model, reference, cursor, settings)
    assert both[0] == both[1]


def written(model, reference, cursor, settings):
    """The middles that two models write."""
    left, right = map(str.encode, cursor.split("<|>"))
    start = ENGINE.document(left + right).middle(len(left), len(left)).start
    return [
        [middle.text for middle in complete_many(writer, left, right, start, settings, lambda: False)]
        for writer in (model, reference)
    ]


def listing(model, candidates):
    """A copy of the server of *model* that lists that many candidates at each position."""
    server = copy(model.network.server)
    server.candidates = candidates
    return server


@pytest.fixture(scope="module", params=["bundled", *sorted(MODELS.keys() - {LARGE})])
def pair(request, served):
    """A model on a server, and the same one read token by token."""
    address = served(request.param)
    model = load_model(address, uses_buffer=False)
    return model, replace(model, network=OneByOne(address, model.network))


@pytest.mark.parametrize("settings", sampled(SETTINGS, 3))
@pytest.mark.parametrize("cursor", FEW_CURSORS)
def test_runs_write_what_token_by_token_writes(pair, cursor, settings):
    check(*pair, cursor, settings)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [SETTINGS[0], pytest.param(SETTINGS[1], marks=pytest.mark.slow)])
def test_they_do_with_49_152_tokens(served, settings):
    address = served(LARGE)
    model = load_model(address, uses_buffer=False)
    reference = replace(model, network=OneByOne(address, model.network))
    check(model, reference, CURSORS[2], replace(settings, tokens=6))


@pytest.mark.slow
@pytest.mark.parametrize("candidates", [1, 3, 10])
@pytest.mark.parametrize("cursor", FEW_CURSORS)
def test_where_no_listed_candidate_connects_all_are_asked_for(pair, cursor, candidates):
    model, reference = pair
    few = listing(model, candidates)
    check(replace(model, network=LookAhead(few)), reference, cursor, SETTINGS[0])


def test_all_candidates_are_only_asked_for_where_they_are_needed(pair):
    model, _ = pair
    server = listing(model, 3)
    asked = []
    server.more_after = lambda text, _most: asked.append(text)
    left, right = map(str.encode, CURSORS[1].split("<|>"))
    start = ENGINE.document(left + right).middle(len(left), len(left)).start
    few = replace(model, network=LookAhead(server), heals=False)
    (middle,) = complete_many(few, left, right, start, SETTINGS[0], lambda: False)
    dead_ends = [step for step in middle.trace if step.rejected >= 3]
    assert middle.complete
    assert len(asked) == len(dead_ends) + (middle.stop_reason == "dead_end")
