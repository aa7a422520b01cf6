"""Fits the estimates of models that have none of their own: `general.json` and `general-texts.json`.

    python -m benchmarks.models.general_estimates --edits OLD NEW... --typing FOLDER... --out FOLDER

The bundled network writes without the mixing that makes it special, at places of writing as of
`fimlsp calibrate`. Their code must be outside its training data. `--out` gets both files, and the recording,
which is continued if it exists. For each estimate the command prints the results at projects that had no part
in the fit.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Container, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from fimlsp.datasets.command_line.shown_commands import RECORDING, new_code, record_places
from fimlsp.datasets.shown import calibration
from fimlsp.datasets.shown.recording import OPTIONS, Candidate, Recorded
from fimlsp.models.confidence import GENERAL, WITHOUT_PROBABILITIES, ConfidenceEstimate
from fimlsp.models.loading import BUNDLED

CONFIDENCES = (0.3, 0.5, 0.7)

PROBABILITIES = frozenset({"total", "probability", "mean"})
GENERAL_FEATURES = PROBABILITIES | {
    *("length", "prose", "several_lines", "beyond_fault", "follows", "occurrences", "new_name"),
}
"""The features of an estimate for any model: the others say more about one model than about its text."""


@click.command()
@click.option("--edits", nargs=2, multiple=True, type=click.Path(exists=True, path_type=Path))
@click.option("--typing", multiple=True, type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path))
@click.option("--cursors", default=300)
def main(edits: Sequence[tuple[Path, Path]], typing: Sequence[Path], out: Path, cursors: int) -> None:
    """Record, fit and print."""
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        folder, *roots = [Path(stack.enter_context(TemporaryDirectory())) for _ in (None, *typing)]
        projects = new_code(edits, typing, roots, cursors, seed=0)
        options = {**OPTIONS, "model": str(without_mixing(folder))}
        recorded = record_places(projects, out / RECORDING, options)
    features = GENERAL_FEATURES
    for name, kept in ((GENERAL, features), (WITHOUT_PROBABILITIES, features - PROBABILITIES)):
        estimate = fit_general(recorded, kept)
        estimate.save(out, name)
        cursors_left_out = calibration.held_out(with_features(recorded, kept))
        print_results(name, cursors_left_out, estimate)


def without_mixing(folder: Path) -> Path:
    """A copy of the bundled model in *folder* whose predictions are those of the network alone."""
    copy = folder / "bundled"
    shutil.copytree(BUNDLED, copy)
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    (copy / "config.json").write_text(json.dumps({**config, "fimlsp_buffer_cache": False}), encoding="utf-8")
    return copy


def fit_general(recorded: Sequence[Recorded], features: Container[str]) -> ConfidenceEstimate:
    """The estimate that fits *recorded* by these *features* alone, for models of which nothing is known.

    Its levels stop no decoding early, as models differ in the probabilities of the same text.

    Raises:
        ValueError: there are too few cursors to fit anything.
    """
    estimate = calibration.fit(with_features(recorded, features))
    levels = tuple(replace(level, least_total=-math.inf) for level in estimate.levels)
    return replace(estimate, levels=levels)


def with_features(recorded: Sequence[Recorded], names: Container[str]) -> list[Recorded]:
    """*recorded* with the features *names* alone."""

    def kept(features: Mapping[str, float]) -> dict[str, float]:
        return {name: value for name, value in features.items() if name in names}

    def limited(candidate: Candidate) -> Candidate:
        beginning = candidate.beginning
        opening = None if beginning.opening is None else kept(beginning.opening)
        return replace(
            candidate, beginning=replace(beginning, features=kept(beginning.features), opening=opening)
        )

    return [replace(cursor, candidates=[*map(limited, cursor.candidates)]) for cursor in recorded]


def print_results(
    name: str, cursors: Sequence[calibration.EstimatedCursor], estimate: ConfidenceEstimate
) -> None:
    """A line for each of `CONFIDENCES`, with the cost that *estimate* has for it."""
    for confidence in CONFIDENCES:
        cost = estimate.cost(confidence)
        result = calibration.outcome(cursors, cost)
        print(
            f"{name:22} confidence {confidence}, cost {cost:5}: shown {result.shown:6.1%}, "
            f"right {result.right or 0:6.1%}, begins {result.begins or 0:6.1%}, saved {result.saved:.2f}"
        )


if __name__ == "__main__":
    main()
