"""The number of CPU threads that a model uses."""

import os
import subprocess
import sys

import pytest
import torch

from fimlsp.models.errors import ModelError
from fimlsp.models.loading import load_model
from fimlsp.models.networks.torch import threads

from .. import tiny_checkpoints as c


@pytest.fixture
def before():
    n = torch.get_num_threads()
    yield n
    torch.set_num_threads(n)


@pytest.mark.parametrize(("processors", "expected"), [(1, 1), (2, 1), (3, 1), (4, 2), (8, 4), (64, 4)])
def test_half_of_the_processors_are_left_to_others(processors, expected, monkeypatch):
    monkeypatch.setattr(threads, "usable_processors", lambda: processors)
    assert threads.default_threads() == expected


def test_only_processors_that_this_process_may_use_count():
    assert 1 <= threads.usable_processors() <= os.cpu_count()


def test_torch_keeps_to_the_limit(before, tmp_path):
    folder = str(c.make(tmp_path, c.santacoder, c.SANTACODER))
    load_model(folder)
    assert torch.get_num_threads() == before, "nobody asked"
    load_model(folder, threads=3)
    assert torch.get_num_threads() == 3
    with pytest.raises(ModelError, match="cannot run on 0 threads; use 1 or more"):
        load_model(folder, threads=0)


SCRIPT = """
import os, sys
from fimlsp.models.loading import load_model
load_model(threads=5)
assert "torch" not in sys.modules
print(os.environ["OPENBLAS_NUM_THREADS"], os.environ["OMP_WAIT_POLICY"])
load_model(sys.argv[1], device="cpu", bits=8, threads=2)
import torch
print(torch.get_num_threads(), torch.get_num_interop_threads())
"""


@pytest.mark.slow
def test_in_a_process_of_its_own(tmp_path):
    folder = c.make(tmp_path, c.santacoder, c.SANTACODER)
    command = [sys.executable, "-c", SCRIPT, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["1", "passive", "2", "1"], done.stderr
