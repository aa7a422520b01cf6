"""`fimlsp train`: a small model from the Python source on this machine, with its progress on the terminal."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import click
from fimlsp.models.errors import ModelError
from fimlsp.models.training.loop import Progress as Steps
from fimlsp.models.training.run import Options, Reports, run
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


def default_roots() -> list[Path]:
    """The standard library and the installed packages of this interpreter."""
    return [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")]


def train_model(options: Options) -> None:
    """Train as *options* say and show how it goes.

    Raises:
        click.ClickException: There is too little to learn from.
    """
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True)) as bars:
        shown = Shown(bars)
        try:
            folder = run(options, Reports(shown.stage, shown.step))
        except ModelError as error:
            raise click.ClickException(str(error)) from error
    click.echo(f"The model is in {folder}; use it with --model {folder}.")


class Shown:
    """Stages as lines, the steps of the training as one bar."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._task: TaskID | None = None

    def stage(self, sentence: str) -> None:
        """A new stage begins."""
        self._bars.console.print(sentence, highlight=False)

    def step(self, steps: Steps) -> None:
        """One step of the training is done."""
        if self._task is None:
            self._task = self._bars.add_task("", total=1.0)
        description = f"{steps.tokens / 1e6:.1f} M tokens, loss {steps.loss:.3f}"
        self._bars.update(self._task, completed=steps.share, description=description)
