"""Runs a whole training: corpus or pack, network, measures, checkpoint folder and card.

A run with a pack trains and nothing else, as its minutes may be dear: `fimlsp train card` measures the result
elsewhere. Every minute it writes its weights, from which it can be continued.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from tokenizers import Tokenizer

from fimlsp.models.errors import ModelError
from fimlsp.models.loading import FimModel, load_model
from fimlsp.models.training.card import Making, Quality, card, loss_plot
from fimlsp.models.training.checkpoint import (
    Sizes,
    interrupted,
    new,
    read_progress,
    save,
    trained_before,
    widened,
)
from fimlsp.models.training.corpus import SourceFile, Split, read_corpus
from fimlsp.models.training.examples import Markers, make_tokenizer
from fimlsp.models.training.loop import Batches, Plan, Progress, Training
from fimlsp.models.training.measure import (
    RULES,
    HeldOut,
    TokenCounts,
    bits_per_byte,
    copy_nearest,
    exact_matches,
    line_cuts,
    predictor,
)
from fimlsp.models.training.network import Transformer
from fimlsp.models.training.pack import Pack, make_pack, read_pack

SAVE_EVERY_SECONDS = 60
SAVING_SECONDS = 12
"""Time before the end of a run's minutes at which training stops, to measure and write."""

HELD_OUT_EXAMPLES, HELD_OUT_AT_END = 16, 128
COUNTED_FILES = 400
CUTS = 200


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run; see `fimlsp train run --help`.

    Either *pack* or *roots* has the source. If *start* names a model trained before, *sizes* are ignored;
    with *widen* it is made twice as wide.
    """

    output: Path
    plan: Plan
    roots: Sequence[Path] = ()
    pack: Path | None = None
    held_out: Sequence[str] = ()
    skipped: Sequence[str] = ()
    sizes: Sizes = field(default_factory=Sizes)
    start: str | None = None
    widen: bool = False
    threads: int = 1
    workers: int = 0
    device: str | None = None
    bits: int = 16
    resume: bool = False


@dataclass(frozen=True, slots=True)
class Reports:
    """Receives the progress of a run: *stage* gets a sentence, *step* the progress after every few steps."""

    stage: Callable[[str], None]
    step: Callable[[Progress], None]


def run(options: Options, reports: Reports) -> Path:
    """Train a model with *options*; the folder with the checkpoint, and without a pack its card.

    The minutes of the plan count from here.

    Raises:
        ModelError: the roots contain too little Python source, there is no such device, or the run cannot be
            resumed. Also if it was interrupted; then its weights are saved.
    """
    begun = time.monotonic()
    torch.set_num_threads(options.threads)
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(0)
    model, tokenizer, progress = _known(options)
    pack = _pack(options, tokenizer, reports)
    if model is None:
        model = new(options.sizes, pack.tokenizer)
    elif tokenizer is not None and tokenizer.get_vocab() != pack.tokenizer.get_vocab():
        raise ModelError(
            f"Cannot train {options.start or options.output} on this pack: its tokenizer is another."
        )
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    _move(model, device)
    size = f"{_n_parameters(model) / 1e6:.1f} M parameters"
    reports.stage(
        f"{time.monotonic() - begun:.0f} s: training {size} for {options.plan.minutes:g} minutes ({device})"
    )
    deadline = begun + 60 * options.plan.minutes - (SAVING_SECONDS if device != "cpu" else 0)
    progress = _train(model, pack, progress, deadline, options, reports)
    if options.pack is None:
        reports.stage("measuring")
        model.to("cpu")
        write_card(options.output, pack, _hardware(options, device), reports.stage, _notes(options))
    return options.output


def write_card(
    folder: Path, pack: Pack, hardware: str, report: Callable[[str], None], notes: Sequence[str] = ()
) -> None:
    """Measure the model in *folder* on the files that *pack* holds out, and write its card and loss curve.

    Raises:
        ModelError: `fimlsp train` did not make the model.
    """
    model, tokenizer = trained_before(str(folder))
    loaded = load_model(str(folder.absolute()))
    progress = read_progress(folder)
    report("measuring bits a byte and exact lines")
    files = [file for split in ("train", "val", "ood") for file in pack.files(split)]
    quality = _quality(model, tokenizer, loaded, files, CUTS)
    making = Making(
        model.shape,
        _n_parameters(model),
        progress.tokens,
        progress.steps,
        progress.seconds / 60,
        hardware,
        tuple(notes),
        progress.held_out[-1][1] if progress.held_out else {},
    )
    (folder / "README.md").write_text(card(making, files, quality))
    (folder / "loss.svg").write_text(loss_plot(progress.history))


def _n_parameters(model: torch.nn.Module) -> int:
    """The number of trained parameters of *model*."""
    return sum(parameter.numel() for parameter in model.parameters())


def _hardware(options: Options, device: str) -> str:
    on_cpu = f"CPU, {options.threads} thread{'s' * (options.threads > 1)}"
    return on_cpu if device == "cpu" else "one GPU"


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


def _known(options: Options) -> tuple[Transformer | None, Tokenizer | None, Progress | None]:
    """The network, tokenizer and progress with which the run starts, as far as they are known before."""
    if options.resume:
        return interrupted(options.output)
    if options.start is None:
        return None, None, None
    model, tokenizer = trained_before(options.start)
    return (widened(model) if options.widen else model), tokenizer, None


def _pack(options: Options, tokenizer: Tokenizer | None, reports: Reports) -> Pack:
    """The pack of the run: from its files, or made of the source below its roots."""
    if options.pack is not None:
        reports.stage(f"reading the pack {options.pack}")
        return read_pack(options.pack)
    reports.stage(f"reading Python files below {', '.join(map(str, options.roots))}")
    files = read_corpus(options.roots, options.held_out, options.skipped).files
    learnt = _part(files, "train")
    if not learnt:
        raise ModelError("No usable Python files found in the given folders; give folders with source code.")
    reports.stage(f"{len(files):,} files, {sum(len(file.text) for file in files) / 1e6:.0f} MB")
    return make_pack(tokenizer or make_tokenizer(learnt, options.sizes.vocabulary), files, {}, {})


def _notes(options: Options) -> tuple[str, ...]:
    if options.start is None:
        return ()
    wider = ", made twice as wide" if options.widen else ""
    return (f"Training continued from the weights of {Path(options.start).name}{wider}.",)


def _move(model: Transformer, device: str) -> None:
    try:
        model.to(device)
    except (RuntimeError, AssertionError) as error:
        raise ModelError(f"There is no {device} to train on; use cpu, or cuda with a GPU.") from error


def _train(
    model: Transformer,
    pack: Pack,
    before: Progress | None,
    deadline: float,
    options: Options,
    reports: Reports,
) -> Progress:
    """Train until *deadline*; save every minute, at the end, and when interrupted."""
    training = Training(model, options.plan, before)
    if before is not None:
        reports.stage(f"continuing after {before.steps:,} steps")
    held_out = HeldOut(pack, options.plan.context, HELD_OUT_EXAMPLES)
    batches = Batches(pack, options.plan, f"{options.start} {training.progress.steps}")
    loaded = batches.loaded(options.workers, model.model.embed_tokens.weight.device)
    pad = Markers.of(pack.tokenizer).pad
    saved = time.monotonic()
    try:
        for progress in training.steps(loaded, pad, deadline):
            reports.step(progress)
            if time.monotonic() - saved > SAVE_EVERY_SECONDS and progress.share < 1:
                _measure(model, held_out, progress, reports)
                save(model, pack.tokenizer, options.output, progress, options.bits)
                saved = time.monotonic()
    except KeyboardInterrupt:
        save(model, pack.tokenizer, options.output, training.progress, options.bits)
        raise ModelError("Interrupted; the same command with --resume continues from here.") from None
    _measure(model, HeldOut(pack, options.plan.context, HELD_OUT_AT_END), training.progress, reports)
    save(model, pack.tokenizer, options.output, training.progress, options.bits)
    return training.progress


def _measure(model: Transformer, held_out: HeldOut, progress: Progress, reports: Reports) -> None:
    measures = held_out.measure(model)
    if measures:
        progress.held_out.append((progress.tokens, measures))
        reports.stage(
            f"{progress.seconds:.0f} s, {progress.tokens / 1e6:.1f} M tokens: {described(measures)}"
        )


def described(measures: Mapping[str, float]) -> str:
    """The measures of `HeldOut` in words."""
    parts = [f"{kind} {value:.3f}" for kind, value in measures.items() if kind != "suffix"]
    suffix = [f"the suffix saves {measures['suffix']:.3f} nats a token"] if "suffix" in measures else []
    return "; ".join([f"bits a byte held out: {', '.join(parts)}", *suffix])


def _held_out_splits(files: Sequence[SourceFile]) -> list[Split]:
    splits: list[Split] = ["val", "ood"]
    return [split for split in splits if any(file.split == split for file in files)]


def _part(files: Sequence[SourceFile], split: Split) -> list[SourceFile]:
    return [file for file in files if file.split == split]
