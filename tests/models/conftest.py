"""Fixtures of all tests of models."""

import pytest
import torch


@pytest.fixture(autouse=True, scope="package")
def one_thread():
    """Several wait for each other at every product, and the networks here are tiny."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
