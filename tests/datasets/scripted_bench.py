"""Stands in for `Bench` in worker processes: fails, dies and hangs where the name of a file says so."""

import os
import time

from fimlsp.datasets.cases.result import METHODS, Attempt, Result
from fimlsp.models.errors import ModelError


class ScriptedBench:
    def run(self, file, record):
        name = file.name.rpartition("/")[2]
        if record.index == 1 and name == "dies.py":
            os._exit(7)
        if record.index == 1 and name == "hangs.py":
            time.sleep(600)
        attempts = {method: Attempt(ok=True, text="a", tokens=1) for method in METHODS}
        return Result(record.to_json(), size=len(file.text), attempts=attempts)


def no_model():
    raise ModelError("There is no model.")


def dies_at_once():
    os._exit(9)
