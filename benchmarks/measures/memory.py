"""The peak memory of a process with one prepared document.

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
    """The bytes of each further line of a prepared text, including its own, between two *lengths*."""
    (_, _, small, few), (_, _, large, many) = (_held(language, corpus, seed, length) for length in lengths)
    return (large - small) * 1e6 / max(1, many - few)


def peak_memory(language: str, corpus: str, seed: int, length: int) -> tuple[float, float]:
    """Megabytes of a process of its own with the engine alone, and with a prepared text of *length* bytes."""
    before, after, _, _ = _held(language, corpus, seed, length)
    return before, after


def _held(language: str, corpus: str, seed: int, length: int) -> tuple[float, float, float, int]:
    """As `peak_memory`, with the resident memory at the end and the number of lines."""
    command = [sys.executable, "-m", "measures.memory", language, corpus, str(seed), str(length)]
    folder = Path(__file__).parents[1]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    before, after, resident, lines = done.stdout.split()
    return float(before), float(after), float(resident), int(lines)


def _peak() -> float:
    """The peak of this program alone if the system reports it; `getrusage` may include its parent."""
    reported = _reported("VmHWM:")
    if reported is not None:
        return reported
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6


def _resident() -> float:
    """The memory in use; the peak if the system does not report it."""
    gc.collect()
    reported = _reported("VmRSS:")
    return _peak() if reported is None else reported


def _reported(name: str) -> float | None:
    """Megabytes of this process as reported by Linux."""
    status = Path("/proc/self/status")
    return int(status.read_text().partition(name)[2].split()[0]) * 1024 / 1e6 if status.exists() else None


def _hold(language: str, title: str, seed: int, length: int) -> None:
    corpus = next(corpus for corpus in corpora(language) if corpus.title == title)
    engine = Engine(corpus.language)
    before = _peak()
    text = [*corpus.growing(Random(seed), [corpus.lengths[0], length])][-1]
    document = engine.document(text.data)
    document.prepare()
    document.middle(len(text.data) // 2, len(text.data) // 2, relax=True)
    lines = text.data.count(b"\n")
    sys.stdout.write(f"{before} {_peak()} {_resident()} {lines}\n")


if __name__ == "__main__":
    _hold(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
