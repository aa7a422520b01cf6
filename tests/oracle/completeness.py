"""Every file of the standard library and of site-packages: true middles of each kind of cut."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from .bench import Tally, Worker
from .cpython import VALID
from .cuts import KINDS, cut
from .interpreters import Interpreter
from .laws import Case, Disagreement, completion_fails, fed, guarded, prefix_dies

LARGEST = 400_000
CUTS = 10
_COMPLETED = (0, 3)  # of these cuts a prefix is completed
_FILES_IN_A_TASK = 2


@dataclass(frozen=True, slots=True)
class Completeness:
    """Some files to be cut."""

    seed: str
    paths: tuple[str, ...]

    def run(self, worker: Worker) -> Tally:
        """The disagreements about them; files that CPython refuses are left out."""
        tally = Tally()
        for path in self.paths:
            data = Path(path).read_bytes()
            rng = random.Random(f"{self.seed} {path}")
            judged = worker.judged
            if is_usable(data) and worker.judge(data).kind == VALID:
                tally.cases["files"] += 1
                _File(worker, path, data, self.seed, tally).cut(rng)
            tally.judged += worker.judged - judged
        return tally


class _File:
    """A valid file with the disagreements about its cuts."""

    def __init__(self, worker: Worker, path: str, data: bytes, seed: str, tally: Tally) -> None:
        self.worker = worker
        self.path = path
        self.data = data
        self.seed = seed
        self.tally = tally
        self.document = worker.engine.document(data)

    def cut(self, rng: random.Random) -> None:
        """Check a few cuts of each kind."""
        for number, kind in enumerate(kind for kind in KINDS for _ in range(CUTS // len(KINDS))):
            case = cut(kind, self.data, rng)
            forbid_escape = replace(case, forbid_escape=True)
            self.tally.judged += 1
            self._check("prefixes", kind, case)
            self._check("prefixes", "staying", forbid_escape)
            if number % CUTS in _COMPLETED:
                part = case.middle[: rng.randrange(len(case.middle) + 1)]
                self._check("completion", "completed prefix", replace(case, middle=part))
                self._check("completion", "completed prefix", replace(forbid_escape, middle=part))

    def _check(self, law: str, kind: str, case: Case) -> None:
        disagreement = guarded(law, case, lambda: self._broken(law, case))
        self.worker.count(
            self.tally, [kind], disagreement and disagreement.found_in(kind, self.seed, self.path)
        )

    def _broken(self, law: str, case: Case) -> Disagreement | None:
        end = len(self.data) - len(case.right)
        start = self.document.middle_at_bytes(
            len(case.left), end, relax=False, may_escape=not case.forbid_escape
        ).start
        if law == "prefixes":
            return prefix_dies(case, start)
        return completion_fails(self.worker, case, fed(start, case.middle))


def is_usable(data: bytes) -> bool:
    """True if a file is not empty, UTF-8, and small enough to be read many times."""
    if not 0 < len(data) <= LARGEST or b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def files(python: Interpreter) -> list[str]:
    """The Python files that an interpreter can import, with those beside them."""
    code = "import json, sys; print(json.dumps([folder for folder in sys.path if folder]))"
    folders = json.loads(python.sources.evaluated(code))
    paths = (path for folder in folders if Path(folder).is_dir() for path in Path(folder).rglob("*.py"))
    return sorted({str(path.resolve()) for path in paths if path.is_file()})


def tasks(paths: list[str], seed: int) -> Iterator[Completeness]:
    """*paths* in a random order."""
    shuffled = random.Random(seed).sample(paths, len(paths))
    for index in range(0, len(shuffled), _FILES_IN_A_TASK):
        yield Completeness(str(seed), tuple(shuffled[index : index + _FILES_IN_A_TASK]))


def number_of_tasks(paths: list[str]) -> int:
    """How many `tasks` there are."""
    return -(-len(paths) // _FILES_IN_A_TASK)
