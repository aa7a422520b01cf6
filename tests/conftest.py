"""The settings of all tests."""

import gc

import pytest
from hypothesis import settings

# No test depends on how fast the machine is.
settings.register_profile("fimlsp", deadline=None)
settings.load_profile("fimlsp")


@pytest.fixture(scope="module", autouse=True)
def _short_collections() -> None:
    """Later garbage collections skip the objects of earlier modules, such as the tables of languages.

    Without this, they took two fifths of the time of the engine's tests.
    """
    gc.freeze()
