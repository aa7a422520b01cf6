"""Every file of the standard library and of site-packages: true middles of each kind of cut."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fimlsp.quotient.middle_state import MiddleState

from .bench import Worker
from .cuts import KINDS, cut
from .interpreters import Interpreter
from .judge import VALID
from .laws import Case, completion_fails, fed, guarded, prefix_dies
from .tally import Tally

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
        """What is wrong with them; files that CPython does not read are left out."""
        tally = Tally()
        for path in self.paths:
            data = Path(path).read_bytes()
            rng = random.Random(f"{self.seed} {path}")
            judged = worker.judged
            if is_usable(data) and worker.judge(data).kind == VALID:
                tally.cases["files"] += 1
                self._cut(worker, path, data, rng, tally)
            tally.judged += worker.judged - judged
        return tally

    def _cut(self, worker: Worker, path: str, data: bytes, rng: random.Random, tally: Tally) -> None:
        document = worker.engine.document(data)

        def start(case: Case) -> MiddleState | None:
            return document.middle(len(case.left), len(data) - len(case.right), relax=False).start

        for number, kind in enumerate(kind for kind in KINDS for _ in range(CUTS // len(KINDS))):
            case = cut(kind, data, rng)
            tally.judged += 1
            found = guarded("prefixes", case, lambda case=case: prefix_dies(case, start(case)))
            worker.count(tally, [kind], found and found.found_in(kind, self.seed, path))
            if number % CUTS in _COMPLETED:
                part = Case(case.left, case.middle[: rng.randrange(len(case.middle) + 1)], case.right)
                found = guarded(
                    "completion",
                    part,
                    lambda part=part: completion_fails(worker, part, fed(start(part), part.middle)),
                )
                worker.count(tally, ["completed prefix"], found and found.found_in(kind, self.seed, path))


def is_usable(data: bytes) -> bool:
    """Whether a file is not empty, UTF-8, and of a size to be read many times."""
    if not 0 < len(data) <= LARGEST or b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def files(python: Interpreter) -> list[str]:
    """The Python files that an interpreter can import, with those beside them."""
    folders = json.loads(python.output("-I", "-c", "import json, sys; print(json.dumps(sys.path))"))
    found = (path for folder in folders if Path(folder).is_dir() for path in Path(folder).rglob("*.py"))
    return sorted({str(path.resolve()) for path in found if path.is_file()})


def tasks(paths: list[str], seed: int) -> Iterator[Completeness]:
    """*paths* in a random order."""
    shuffled = random.Random(seed).sample(paths, len(paths))
    for index in range(0, len(shuffled), _FILES_IN_A_TASK):
        yield Completeness(str(seed), tuple(shuffled[index : index + _FILES_IN_A_TASK]))


def number_of_tasks(paths: list[str]) -> int:
    """How many `tasks` there are."""
    return -(-len(paths) // _FILES_IN_A_TASK)
