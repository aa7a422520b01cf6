"""The peak memory of a process that holds one prepared document.

`python -m measures.memory CORPUS SEED LENGTH`, in the folder `benchmarks`, is that process.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from random import Random

from corpora.by_language import CORPORA
from fimlsp.quotient.engine import Engine


def peak_memory(corpus: str, seed: int, length: int) -> tuple[float, float]:
    """Megabytes of a process of its own with the engine alone, and with a prepared text of *length* bytes."""
    command = [sys.executable, "-m", "measures.memory", corpus, str(seed), str(length)]
    folder = Path(__file__).parents[1]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    before, after = done.stdout.split()
    return float(before), float(after)


def _peak() -> float:
    """Of this program alone where the system tells it; `getrusage` may count its parent as well."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6


def _hold(title: str, seed: int, length: int) -> None:
    corpus = next(each for corpora in CORPORA.values() for each in corpora if each.title == title)
    engine = Engine(corpus.language)
    before = _peak()
    text = next(corpus.growing(Random(seed), [length]))
    document = engine.document(text.data)
    document.prepare()
    document.middle(len(text.data) // 2, len(text.data) // 2)
    sys.stdout.write(f"{before} {_peak()}\n")


if __name__ == "__main__":
    _hold(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
