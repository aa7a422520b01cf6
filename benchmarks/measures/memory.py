"""The peak memory of a process that holds one prepared document.

`python -m measures.memory LANGUAGE CORPUS SEED LENGTH`, in the folder `benchmarks`, is that process. It
imports the engine and that language alone.
"""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
from pathlib import Path
from random import Random

from corpora.by_language import corpora

from fimlsp.quotient.engine import Engine


def bytes_a_line(language: str, corpus: str, seed: int, lengths: tuple[int, int]) -> float:
    """What each further line of a prepared text takes, its own bytes included, between two *lengths*."""
    (_, _, small, few), (_, _, large, many) = (_held(language, corpus, seed, length) for length in lengths)
    return (large - small) * 1e6 / max(1, many - few)


def peak_memory(language: str, corpus: str, seed: int, length: int) -> tuple[float, float]:
    """Megabytes of a process of its own with the engine alone, and with a prepared text of *length* bytes."""
    before, after, _, _ = _held(language, corpus, seed, length)
    return before, after


def _held(language: str, corpus: str, seed: int, length: int) -> tuple[float, float, float, int]:
    """As `peak_memory`, with what is resident at last, and the number of lines."""
    command = [sys.executable, "-m", "measures.memory", language, corpus, str(seed), str(length)]
    folder = Path(__file__).parents[1]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    before, after, resident, lines = done.stdout.split()
    return float(before), float(after), float(resident), int(lines)


def _peak() -> float:
    """Of this program alone where the system tells it; `getrusage` may count its parent as well."""
    told = _told("VmHWM:")
    if told is not None:
        return told
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6


def _resident() -> float:
    """What is in memory now; the peak where the system does not tell."""
    gc.collect()
    told = _told("VmRSS:")
    return _peak() if told is None else told


def _told(name: str) -> float | None:
    """Megabytes as Linux tells them of this process."""
    status = Path("/proc/self/status")
    return int(status.read_text().partition(name)[2].split()[0]) * 1024 / 1e6 if status.exists() else None


def _hold(language: str, title: str, seed: int, length: int) -> None:
    corpus = next(each for each in corpora(language) if each.title == title)
    engine = Engine(corpus.language)
    before = _peak()
    text = [*corpus.growing(Random(seed), [corpus.lengths[0], length])][-1]
    document = engine.document(text.data)
    document.prepare()
    document.middle(len(text.data) // 2, len(text.data) // 2)
    lines = text.data.count(b"\n")
    sys.stdout.write(f"{before} {_peak()} {_resident()} {lines}\n")


if __name__ == "__main__":
    _hold(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
