"""The settings of all tests."""

import gc
import os
import sys

import pytest
from hypothesis import settings

# The processes that tests start read compiled modules: without them each worker compiles 0.35 s longer.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The objects of the engine form no cycles, so that rare collections keep as little memory as frequent ones.
gc.set_threshold(50_000, 20, 100)

# No test depends on how fast the machine is.
settings.register_profile("fimlsp", deadline=None)
settings.load_profile("fimlsp")


@pytest.fixture(scope="module", autouse=True)
def _short_collections() -> None:
    """Later garbage collections skip the objects of earlier modules, such as the tables of languages.

    Without this, they took two fifths of the time of the engine's tests.
    """
    gc.collect()
    gc.freeze()
