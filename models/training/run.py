"""Runs a whole training: corpus, tokenizer, network, measures, checkpoint folder and card."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import torch
from tokenizers import Tokenizer

from fimlsp.models.errors import ModelError
from fimlsp.models.loading import FimModel, load_model
from fimlsp.models.training.card import Making, Quality, card, loss_plot
from fimlsp.models.training.checkpoint import Sizes, new, save, trained_before, widened
from fimlsp.models.training.corpus import SourceFile, Split, read_corpus
from fimlsp.models.training.examples import Examples
from fimlsp.models.training.loop import Plan, Precision, Progress, Training
from fimlsp.models.training.measure import (
    RULES,
    TokenCounts,
    bits_per_byte,
    copy_nearest,
    exact_matches,
    line_cuts,
    predictor,
)
from fimlsp.models.training.network import Transformer

SAVE_EVERY_SECONDS = 300
COUNTED_FILES = 400
CUTS = 200
STATE = "training.state"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run; see `fimlsp train --help`.

    If *start* names a model trained before, *sizes* are ignored; with *widen* it is made twice as wide.
    """

    roots: Sequence[Path]
    output: Path
    minutes: float
    held_out: Sequence[str] = ()
    skipped: Sequence[str] = ()
    sizes: Sizes = field(default_factory=Sizes)
    start: str | None = None
    widen: bool = False
    threads: int = 1
    device: str | None = None
    precision: Precision = "bfloat16"
    compiled: bool = False
    resume: bool = False


@dataclass(frozen=True, slots=True)
class Reports:
    """Receives the progress of a run: *stage* gets a sentence, *step* the progress after every step."""

    stage: Callable[[str], None]
    step: Callable[[Progress], None]


def run(options: Options, reports: Reports) -> Path:
    """Train a model with *options*; the folder with checkpoint and card.

    Raises:
        ModelError: the roots contain too little Python source, there is no such device, or the run cannot be
            resumed. Also if it was interrupted; then its state is saved.
    """
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    reports.stage(f"reading Python files below {', '.join(map(str, options.roots))}")
    files = read_corpus(options.roots, options.held_out, options.skipped)
    learnt = _part(files, "train")
    if not learnt:
        raise ModelError("No usable Python files found in the given folders; give folders with source code.")
    reports.stage(f"{len(files):,} files, {sum(len(file.text) for file in files) / 1e6:.0f} MB")
    model, tokenizer = _initial(options, learnt)
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    _move(model, device)
    size = f"{_n_parameters(model) / 1e6:.1f} M parameters"
    reports.stage(f"training {size} for {options.minutes:g} minutes ({device})")
    progress = _train(model, learnt, tokenizer, options, reports)
    reports.stage("measuring")
    model.to("cpu")
    save(model, tokenizer, options.output)
    loaded = load_model(str(options.output.absolute()))
    quality = _quality(model, tokenizer, loaded, files, CUTS)
    making = _making(model, progress, options, device)
    (options.output / "README.md").write_text(card(making, files, quality))
    (options.output / "loss.svg").write_text(loss_plot(progress.history))
    (options.output / STATE).unlink(missing_ok=True)
    return options.output


def _n_parameters(model: torch.nn.Module) -> int:
    """The number of trained parameters of *model*."""
    return sum(parameter.numel() for parameter in model.parameters())


def _making(model: Transformer, progress: Progress, options: Options, device: str) -> Making:
    on_cpu = f"CPU, {options.threads} thread{'s' * (options.threads > 1)}"
    return Making(
        model.shape,
        _n_parameters(model),
        progress.tokens,
        progress.steps,
        progress.seconds / 60,
        on_cpu if device == "cpu" else "one GPU",
        _notes(options),
    )


def _quality(
    model: Transformer, tokenizer: Tokenizer, loaded: FimModel, files: Sequence[SourceFile], n_cuts: int
) -> dict[Split, Quality]:
    """Compare *model*, as trained and as *loaded* again, with the baselines on the held-out files."""
    learnt = _part(files, "train")
    counted = learnt[:: max(1, len(learnt) // COUNTED_FILES)]
    counts = TokenCounts(tokenizer, (file.text for file in counted))
    predictors = {
        "model": predictor(loaded),
        "network": predictor(replace(loaded, uses_buffer=False)),
        "copy": copy_nearest,
        "bigram": counts.complete_line,
    }
    quality = dict[Split, Quality]()
    for split in _held_out_splits(files):
        part = _part(files, split)
        exact = dict[str, dict[str, float]]()
        for name, rule in RULES.items():
            cuts = line_cuts(part, rule, n_cuts)
            exact[name] = {title: exact_matches(predict, cuts) for title, predict in predictors.items()}
        quality[split] = Quality(bits_per_byte(model, counts, part, 40, 512), exact, n_cuts)
    return quality


def _initial(options: Options, learnt: Sequence[SourceFile]) -> tuple[Transformer, Tokenizer]:
    if options.start is None:
        return new(options.sizes, learnt)
    model, tokenizer = trained_before(options.start)
    return widened(model) if options.widen else model, tokenizer


def _notes(options: Options) -> tuple[str, ...]:
    if options.start is None:
        return ()
    wider = ", made twice as wide" if options.widen else ""
    return (f"Training continued from the weights of {Path(options.start).name}{wider}.",)


def _plan(options: Options) -> Plan:
    plan = Plan(options.minutes, precision=options.precision, compiled=options.compiled)
    if options.start is None:
        return plan
    return plan.widened() if options.widen else plan.further()


def _move(model: Transformer, device: str) -> None:
    try:
        model.to(device)
    except (RuntimeError, AssertionError) as error:
        raise ModelError(f"There is no {device} to train on; use cpu, or cuda with a GPU.") from error


def _train(
    model: Transformer, files: Sequence[SourceFile], tokenizer: Tokenizer, options: Options, reports: Reports
) -> Progress:
    """Train until the time is up; save checkpoint and state every five minutes, and when interrupted."""
    training = Training(model, _plan(options))
    state = options.output / STATE
    if options.resume and state.exists():
        training.load(state)
        reports.stage(f"continuing after {training.progress.steps:,} steps")
    examples = Examples(files, tokenizer, Random(f"{options.start} {training.progress.steps}"))
    saved = time.monotonic()
    try:
        for progress in training.steps(examples):
            reports.step(progress)
            if time.monotonic() - saved > SAVE_EVERY_SECONDS:
                save(model, tokenizer, options.output)
                training.save(state)
                saved = time.monotonic()
    except KeyboardInterrupt:
        options.output.mkdir(parents=True, exist_ok=True)
        training.save(state)
        raise ModelError("Interrupted; the same command with --resume continues from here.") from None
    return training.progress


def _held_out_splits(files: Sequence[SourceFile]) -> list[Split]:
    splits: list[Split] = ["val", "ood"]
    return [split for split in splits if any(file.split == split for file in files)]


def _part(files: Sequence[SourceFile], split: Split) -> list[SourceFile]:
    return [file for file in files if file.split == split]
