"""Replaces `Bench` in worker processes: the name of a file makes a case fail, die or hang."""

import os
from pathlib import Path
from threading import Event

from fimlsp.datasets.case_result import METHODS, Attempt, Result
from fimlsp.models.errors import ModelError

HANGS = "SCRIPTED_BENCH_HANGS"
"""The environment variable with the path of a file that exists while a case hangs."""


class ScriptedBench:
    def __init__(self):
        if HANGS in os.environ:
            Path(os.environ[HANGS]).unlink(missing_ok=True)

    def run(self, file, record):
        name = file.name.rpartition("/")[2]
        if record.index == 1 and name == "dies.py":
            os._exit(7)
        if record.index == 1 and name == "hangs.py":
            Path(os.environ[HANGS]).touch()
            Event().wait()
        attempts = {method: Attempt(ok=True, text="a", tokens=1) for method in METHODS}
        return Result(record.to_json(), size=len(file.text), attempts=attempts)


def no_model():
    raise ModelError("There is no model.")


def dies_at_once():
    os._exit(9)
