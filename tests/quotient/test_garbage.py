"""Unreferenced objects are freed: a document at once, as it makes no cycles; tables with all their caches."""

import gc
import random
import weakref

import numpy as np
import pytest

from fimlsp.languages.json import json
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.vocabulary import Vocabulary

from .contexts.test_document import PROBES, SAMPLE, edits
from .middle_support import engine


def walk(seed: int) -> None:
    """Edit a document, and after each edit feed and complete a middle in it."""
    rng = random.Random(seed)
    document = engine().document(SAMPLE)
    for edit in edits(SAMPLE, rng, 20):
        document.edit(*edit)
        place = rng.randrange(len(document.data) + 1)
        start = document.middle_at_bytes(place, place, may_escape=rng.random() < 0.5).start
        reached = [start] if start is None else [start, *(start.feed(probe) for probe in PROBES)]
        for state in reached:
            assert state is None or state.complete == (not state.shortest_completion)


@pytest.mark.parametrize("seed", range(4))
def test_no_cycles(seed):
    walk(seed + 100)  # makes the engine
    gc.disable()
    try:
        gc.collect()
        walk(seed)
        assert gc.collect() == 0
    finally:
        gc.enable()


def learn(tables: LanguageTables) -> None:
    """Ask all that an engine keeps answers to: of lines, repairs, completions and masks."""
    document = Engine(json, tables).document(b'{"a": [1,, 2], "b": {}')
    document.prepare()
    start = document.middle(15, 15, relax=True).start
    assert start.feed(start.shortest_completion).complete
    words = Vocabulary([b'"a"', b",", b"1", b"}", b"]"], stops=[])
    assert np.count_nonzero(start.allowed_texts(words)) > 0


def test_tables_are_freed_with_all_that_was_learnt():
    tables = LanguageTables(json)
    learn(tables)
    held = weakref.ref(tables)
    del tables
    gc.collect()
    assert held() is None
