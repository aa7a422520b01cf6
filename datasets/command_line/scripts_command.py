"""`fimlsp replay scripts`: sLua scripts written to instructions, with and without the constraint."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fimlsp.datasets.command_line import options

if TYPE_CHECKING:
    from fimlsp.datasets.scripts import ScriptsPlan

INTERRUPTED = 130
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True)
class ScriptOptions:
    """The command's options that decide the scripts; each is a field of `ScriptsPlan`."""

    reflections: int
    samples: int
    shots: int
    tokens: int
    temperature: float
    seed: int
    as_text: bool
    context_tokens: int | None


@click.command()
@click.argument("given", nargs=-1, type=FILE)
@options.OUT
@click.option("--interface", required=True, type=FILE, help="The interface that scripts are given.")
@click.option(
    "--tasks", required=True, type=FILE, help="JSON lines with `task`, `kind` and `instructions` of a script."
)
@click.option(
    "--reflections",
    default=2,
    show_default=True,
    type=click.IntRange(0),
    help="How often the model reads the faults of its script and writes it again.",
)
@click.option("--samples", default=1, show_default=True, type=click.IntRange(1), help="Scripts for a task.")
@click.option(
    "--shots",
    default=2,
    show_default=True,
    type=click.IntRange(0),
    help="Given scripts of the same kind that the model reads first.",
)
@click.option(
    "--tokens", default=1500, show_default=True, type=click.IntRange(1), help="The most for a script."
)
@click.option("--temperature", default=0.0, show_default=True, type=click.FloatRange(0), help="0: greedy.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of the draws.")
@click.option(
    "--as-text",
    is_flag=True,
    help="Let a model with a chat template continue a text as well, of which it reads the end that fits.",
)
@options.CONTEXT_TOKENS
@click.option(
    "--model", metavar="PATH_OR_NAME", help="A folder, hub name or .gguf file, not the bundled model."
)
@click.option("--device", help="cpu, cuda or cuda:N.")
def scripts(
    given: tuple[Path, ...],
    out: Path,
    interface: Path,
    tasks: Path,
    reflections: int,
    samples: int,
    shots: int,
    tokens: int,
    temperature: float,
    seed: int,
    as_text: bool,
    context_tokens: int | None,
    model: str | None,
    device: str | None,
) -> None:
    """Write scripts to instructions, check them, and report their faults by kind.

    GIVEN scripts are there already: new ones may use the names that these bring. Without the constraint the
    model may write again after it has read the faults. If a run was interrupted, the same command continues
    it.
    """
    from fimlsp.datasets.command_line.command import plain_errors

    settings = ScriptOptions(reflections, samples, shots, tokens, temperature, seed, as_text, context_tokens)
    with plain_errors():
        write_scripts(out, interface, given, tasks, settings, model, device)


def write_scripts(
    out: Path,
    interface: Path,
    given: tuple[Path, ...],
    file: Path,
    settings: ScriptOptions,
    model_name: str | None,
    device: str | None,
) -> None:
    """Write, check and report.

    Raises:
        TasksError: a file cannot be used.
        ModelError: the model cannot be used.
        RunFolderError: *out* holds another run.
    """
    from rich.console import Console
    from rich.progress import Progress

    from fimlsp.datasets.plan import About
    from fimlsp.datasets.run_folder import RunFolder
    from fimlsp.datasets.scripts import ScriptWriter, read_given, read_tasks, run_all, write_report
    from fimlsp.models.checkpoints.hub import find_on_command_line
    from fimlsp.models.loading import load_model

    console, known = Console(stderr=True), read_given(interface, given)
    tasks = read_tasks(file, known.interface)
    chosen = model_name and find_on_command_line(model_name)
    plan = plan_of((interface, *given, file), tuple(task.name for task in tasks), settings, chosen)
    RunFolder(out).claim(plan, About.this_process())
    writer = ScriptWriter(load_model(chosen, device=device, context=settings.context_tokens), known, plan)
    try:
        with Progress(console=console) as bar:
            written = bar.add_task("scripts", total=len(tasks) * settings.samples)
            run_all(writer, tasks, settings.samples, out, lambda: bar.advance(written))
    except KeyboardInterrupt:
        console.print("interrupted; the same command continues.")
        raise SystemExit(INTERRUPTED) from None
    write_report(out)
    console.print(f"wrote {out / 'report.md'} and {out / 'report.html'}")


def plan_of(
    files: tuple[Path, ...], tasks: tuple[str, ...], settings: ScriptOptions, model: str | None
) -> ScriptsPlan:
    """The plan of a run over *tasks*, given the content of *files*."""
    from fimlsp import __version__
    from fimlsp.datasets.plan import code_digest, digest, model_digest
    from fimlsp.datasets.scripts import ScriptsPlan

    return ScriptsPlan(
        given=digest([path.read_bytes().hex() for path in files]),
        tasks=tasks,
        model=model or "bundled",
        model_files=model_digest(model),
        **asdict(settings),
        fimlsp=__version__,
        code=code_digest(),
    )
