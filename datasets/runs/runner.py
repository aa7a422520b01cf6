"""A run: the cases without a result go to the workers, and the results to the folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fimlsp.datasets.cases.result import Result
from fimlsp.datasets.cuts.selection import Selection, Task, limited
from fimlsp.datasets.runs.local_pool import MakeRunner, run_locally
from fimlsp.datasets.runs.ray_pool import run_on_ray
from fimlsp.datasets.runs.run_folder import RunFolder
from fimlsp.datasets.sources.source_file import Excluded

SECONDS_MAX = 600.0


@dataclass(frozen=True, slots=True)
class Workers:
    """How many processes run the cases, on this machine or on the Ray cluster with the address *ray*.

    A case that takes longer than *seconds_max* counts as crashed.
    """

    count: int = 1
    ray: str | None = None
    seconds_max: float = SECONDS_MAX

    def run(self, tasks: Iterator[Task], make: MakeRunner) -> Iterator[Result]:
        """The results of *tasks*, as they come; *make* makes the runner of each worker.

        Raises:
            PoolError: the workers cannot be started, or cannot go on.
        """
        if self.ray is None:
            return run_locally(tasks, make, self.count, self.seconds_max)
        return run_on_ray(tasks, make, self.count, self.seconds_max, self.ray)


def run(
    selection: Selection,
    make: MakeRunner,
    workers: Workers,
    folder: RunFolder,
    limit: int | None,
    report: Callable[[Result], None],
    pass_over: Callable[[int], None] = lambda _: None,
) -> None:
    """Run those of the first *limit* cases of *selection* that *folder* lacks; pass each result to *report*.

    *pass_over* is told of numbers of cases that have a result already.

    Raises:
        PoolError: the workers cannot be started, or cannot go on.
        SourceError: a source does not exist.
    """
    done = folder.done()
    with folder:
        for result in workers.run(_pending(limited(iter(selection), limit), done, folder, pass_over), make):
            folder.add(result)
            report(result)


def _pending(
    selected: Iterator[Task | Excluded],
    done: set[str],
    folder: RunFolder,
    pass_over: Callable[[int], None],
) -> Iterator[Task]:
    for each in selected:
        if isinstance(each, Excluded):
            folder.exclude(each)
            continue
        records = tuple(record for record in each.records if record.case not in done)
        pass_over(len(each.records) - len(records))
        if records:
            yield Task(each.file, records)
