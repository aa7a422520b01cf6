"""The peak memory of a process that holds one prepared document: `python memory.py SEED LENGTH`."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from random import Random

from corpus import shuffled_files, text_of_length
from fimlsp.languages.python import python
from fimlsp.quotient.engine import Engine


def peak_memory(seed: int, length: int) -> tuple[float, float]:
    """Megabytes of a process of its own with the engine alone, and with a prepared text of *length* bytes."""
    command = [sys.executable, str(Path(__file__).resolve()), str(seed), str(length)]
    before, after = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(before), float(after)


def _peak() -> float:
    """Of this program alone where the system tells it; `getrusage` may count its parent as well."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6


def _hold(seed: int, length: int) -> None:
    engine = Engine(python())
    before = _peak()
    data = text_of_length(shuffled_files(Random(seed)), length)
    document = engine.document(data)
    document.prepare()
    document.middle(len(data) // 2, len(data) // 2)
    sys.stdout.write(f"{before} {_peak()}\n")


if __name__ == "__main__":
    _hold(int(sys.argv[1]), int(sys.argv[2]))
