"""`fimlsp replay humaneval`: programs with tests, written with and without the constraint.

Like `command.py`, it imports most modules when the command runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from fimlsp.datasets.command_line.options import CONTEXT_TOKENS
from fimlsp.extras import install_command, missing_modules

if TYPE_CHECKING:
    from rich.console import Console

    from fimlsp.datasets.programs.run import ProgramBench, ProgramsPlan, Task
    from fimlsp.datasets.programs.writing import Method
    from fimlsp.quotient.language.contract import Language

FORMS = ("left-to-right", "single-line", "multi-line", "random-span")
METHODS = ("unconstrained", "constrained", "masked", "schema")
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class WritingOptions:
    """The command's options that decide the answers; each is a field of `ProgramsPlan`."""

    forms: tuple[str, ...]
    samples: int
    temperature: float
    top_p: float
    tokens: int
    seed: int
    limit: int | None
    check: Literal["parse", "compile"]
    test_seconds: int
    methods: tuple[Method, ...]
    shots: int
    context_tokens: int | None


def names_among(known: Sequence[str]) -> Callable[[click.Context, click.Parameter, str], tuple[str, ...]]:
    """Reads names among the *known* ones, separated by commas, in the order of these."""

    def read(_: click.Context, __: click.Parameter, value: str) -> tuple[str, ...]:
        names = [name.strip() for name in value.split(",")]
        unknown = [name for name in names if name not in known]
        if unknown:
            raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(known)}.")
        return tuple(name for name in known if name in names)

    return read


@click.command()
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder.")
@click.option(
    "--problems",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="JSON lines of HumanEval, MBXP or HumanEval-X in Python or Go, or of JSON-Mode-Eval, instead of "
    "HumanEval's own.",
)
@click.option("--called", metavar="NAME", help="Name of these problems in reports.  [default: of the file]")
@click.option(
    "--forms",
    default=",".join(FORMS),
    metavar="NAME[,NAME]",
    callback=names_among(FORMS),
    help=f"Forms of tasks: {', '.join(FORMS)} (holes in the solutions).  [default: all]",
)
@click.option(
    "--methods",
    default=",".join(METHODS[:2]),
    show_default=True,
    metavar="NAME[,NAME]",
    callback=names_among(METHODS),
    help="Ways to write from left to right. `masked`: constrained, with the mask of all tokens at each step. "
    "`schema`: JSON under its schema.",
)
@click.option(
    "--shots",
    default=0,
    show_default=True,
    type=click.IntRange(0),
    help="Solved problems that the model reads before each prompt.",
)
@click.option(
    "--samples", default=10, show_default=True, type=click.IntRange(1), help="Answers from left to right."
)
@click.option(
    "--temperature", default=0.2, show_default=True, type=click.FloatRange(0), help="From left to right."
)
@click.option(
    "--top-p",
    default=0.95,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True),
    help="From left to right.",
)
@click.option("--tokens", default=300, show_default=True, type=click.IntRange(1), help="The most an answer.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of draws and spans.")
@click.option("--limit", type=click.IntRange(1), help="At most so many problems, and holes of each kind.")
@click.option(
    "--check",
    type=click.Choice(["parse", "compile"]),
    default="parse",
    show_default=True,
    help="The constraint for Python.",
)
@click.option(
    "--test-seconds", default=5, show_default=True, type=click.IntRange(1), help="The most for one test."
)
@CONTEXT_TOKENS
@click.option("--model", metavar="PATH_OR_NAME", help="A model's folder or hub name, not the bundled one.")
@click.option("--device", help="cpu, cuda or cuda:N.")
@click.option(
    "--uncontained",
    is_flag=True,
    help="Run programs even where the kernel cannot contain them in full, with the layers that it has.",
)
def humaneval(
    out: Path,
    problems: Path | None,
    called: str | None,
    forms: tuple[str, ...],
    methods: tuple[Method, ...],
    shots: int,
    samples: int,
    temperature: float,
    top_p: float,
    tokens: int,
    seed: int,
    limit: int | None,
    check: Literal["parse", "compile"],
    test_seconds: int,
    context_tokens: int | None,
    model: str | None,
    device: str | None,
    uncontained: bool,
) -> None:
    """Write programs with and without the constraint, run their tests, and report.

    The model writes from left to right, after the prompt of each problem, and into holes of its solution.
    Each answer is run in a process of its own that the kernel contains: without network, without your files,
    within limits. If a run was interrupted, the same command continues it.
    """
    if os.name != "posix":
        raise click.ClickException("Cannot contain programs on this system. Use Linux or WSL.")
    if problems is None and (missing := missing_modules("humaneval")):
        raise click.ClickException(f"{missing[0]} is not installed; run: {install_command('humaneval')}")
    from fimlsp.datasets.command_line.command import plain_errors

    options = WritingOptions(
        forms=forms,
        samples=samples,
        temperature=temperature,
        top_p=top_p,
        tokens=tokens,
        seed=seed,
        limit=limit,
        check=check,
        test_seconds=test_seconds,
        methods=methods,
        shots=shots,
        context_tokens=context_tokens,
    )
    refuse_without_containment(uncontained)
    with plain_errors():
        replay_problems(out, problems, called, options, model, device, uncontained)


@click.command()
@click.argument(
    "runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder.")
def tables(runs: tuple[Path, ...], out: Path) -> None:
    """Write one report about several RUNS... of `humaneval`, a row for each.

    The runs may differ in problems, model, examples, limit of tokens, temperature and methods.
    """
    from fimlsp.datasets.command_line.command import plain_errors
    from fimlsp.datasets.programs.report import write_tables

    with plain_errors():
        write_tables(runs, out)
    click.echo(out / "report.md")


def refuse_without_containment(uncontained: bool) -> None:
    """Warn of missing layers of the containment if programs may run *uncontained*.

    Raises:
        click.ClickException: layers are missing, and programs may not.
    """
    from fimlsp.datasets.programs.sandbox import missing_layers

    missing = missing_layers()
    if not missing:
        return
    sentence = f"this system lacks {', '.join(missing)}."
    if not uncontained:
        raise click.ClickException(
            f"Cannot contain programs: {sentence} Use another Linux or other settings of its container, "
            "or give --uncontained to run them with the layers that it has."
        )
    click.echo(f"Programs are not contained in full: {sentence}", err=True)


def replay_problems(
    out: Path,
    file: Path | None,
    called: str | None,
    options: WritingOptions,
    model_name: str | None,
    device: str | None,
    uncontained: bool,
) -> None:
    """Write, test and report.

    Raises:
        click.ClickException: the problems or the model cannot be used.
        RunFolderError: *out* holds another run.
    """
    from rich.console import Console

    from fimlsp.datasets.plan import About
    from fimlsp.datasets.programs.problems import (
        ProblemsError,
        humaneval,
        read_problems_file,
        solved_examples,
    )
    from fimlsp.datasets.programs.report import write_report
    from fimlsp.datasets.programs.run import ProgramBench, tasks
    from fimlsp.datasets.programs.sandbox import Limits, Tester
    from fimlsp.datasets.programs.writing import Sampling, Writer
    from fimlsp.datasets.run_folder import RunFolder
    from fimlsp.models.checkpoints.hub import find_on_command_line
    from fimlsp.models.errors import ModelError
    from fimlsp.models.loading import load_model
    from fimlsp.quotient.engine import Engine

    console = Console(stderr=True)
    try:
        problems = humaneval() if file is None else read_problems_file(file)
        language = problems[0].language
        refuse_methods(language, options.methods)
        examples = solved_examples(problems, options.shots)
        chosen = model_name and find_on_command_line(model_name)
        RunFolder(out).claim(plan_of(file, called, language, options, chosen), About.this_process())
        dtype: Literal["float32"] | None = "float32" if chosen else None
        model = load_model(chosen, device=device, dtype=dtype, context=options.context_tokens)
    except (ProblemsError, ModelError) as error:
        raise click.ClickException(str(error)) from error
    sampling = Sampling(options.tokens, options.temperature, options.top_p, options.seed)
    tester = Tester(Limits(seconds=options.test_seconds), whole=not uncontained)
    writer = Writer(model, Engine(grammar_of(language, options.check)), sampling)
    bench = ProgramBench(writer, tester, options.methods, examples)
    listed = list(tasks(problems, options.forms, options.samples, options.seed, options.limit))
    _write_answers(bench, listed, out, console)
    write_report(out)
    console.print(f"wrote {out / 'report.md'} and {out / 'report.html'}")


def _write_answers(bench: ProgramBench, listed: Sequence[Task], out: Path, console: Console) -> None:
    """Write and test the *listed* answers into *out*, with their progress.

    Raises:
        click.ClickException: programs cannot be contained.
        SystemExit: the user interrupts.
    """
    from rich.progress import Progress

    from fimlsp.datasets.programs.run import run_all
    from fimlsp.datasets.programs.sandbox import NotContainedError

    try:
        with Progress(console=console) as bar:
            answers = bar.add_task("answers", total=len(listed))
            run_all(bench, listed, out, lambda _: bar.advance(answers))
    except NotContainedError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        console.print("interrupted; the same command continues.")
        raise SystemExit(INTERRUPTED) from None


def refuse_methods(language: str, methods: Sequence[str]) -> None:
    """Refuse the method `schema` for problems without schemas.

    Raises:
        click.ClickException: *methods* have it, and the *language* is not JSON.
    """
    if "schema" in methods and language != "json":
        raise click.ClickException("The method schema is for problems of JSON-Mode-Eval.")


def grammar_of(language: str, check: Literal["parse", "compile"]) -> Language:
    """The constraint of answers in *language*."""
    from fimlsp.languages import language_named
    from fimlsp.languages.python import python
    from fimlsp.languages.python.versions import known_version

    if language == "python":
        return python(known_version(sys.version_info[:2]), check)
    return language_named(language)


def plan_of(
    file: Path | None, called: str | None, language: str, options: WritingOptions, model: str | None
) -> ProgramsPlan:
    """The plan of a run over the problems in *file*, or over HumanEval."""
    from fimlsp import __version__
    from fimlsp.datasets.plan import code_digest, digest, model_digest
    from fimlsp.datasets.programs.run import ProgramsPlan

    return ProgramsPlan(
        problems="HumanEval" if file is None else digest([file.read_bytes().hex()]),
        collection=called or ("HumanEval" if file is None else file.stem),
        language=language,
        model=model or "bundled",
        model_files=model_digest(model),
        **asdict(options),
        fimlsp=__version__,
        code=code_digest(),
    )
