"""A run: the cases that are still owed go to the workers, results and exclusions to the folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fimlsp.datasets.cuts.selection import Selection, Task, limited
from fimlsp.datasets.runs.attempt import Result
from fimlsp.datasets.runs.local_pool import MakeRunner, run_locally
from fimlsp.datasets.runs.ray_pool import run_on_ray
from fimlsp.datasets.runs.run_folder import RunFolder
from fimlsp.datasets.sources.source_file import Excluded

SECONDS_MAX = 600.0


@dataclass(frozen=True, slots=True)
class Crew:
    """Who does the work: so many *workers*, of this machine or of the Ray cluster at *ray*."""

    workers: int = 1
    ray: str | None = None
    seconds_max: float = SECONDS_MAX

    def run(self, tasks: Iterator[Task], make: MakeRunner) -> Iterator[Result]:
        """The results of *tasks*, as they come, from runners that *make* makes.

        Raises:
            PoolError: it cannot begin, or not go on.
        """
        if self.ray is None:
            return run_locally(tasks, make, self.workers, self.seconds_max)
        return run_on_ray(tasks, make, self.workers, self.seconds_max, self.ray)


def run(
    selection: Selection,
    make: MakeRunner,
    crew: Crew,
    folder: RunFolder,
    limit: int | None,
    report: Callable[[Result], None],
) -> None:
    """Run what *selection* has, up to *limit* cases, and *folder* lacks; tell *report* each result.

    Raises:
        PoolError: the crew cannot work.
        SourceError: a source does not exist.
    """
    done = folder.done()
    with folder:
        for result in crew.run(_owed(limited(iter(selection), limit), done, folder), make):
            folder.add(result)
            report(result)


def _owed(selected: Iterator[Task | Excluded], done: set[str], folder: RunFolder) -> Iterator[Task]:
    for each in selected:
        if isinstance(each, Excluded):
            folder.exclude(each)
            continue
        records = tuple(record for record in each.records if record.case not in done)
        if records:
            yield Task(each.file, records)
