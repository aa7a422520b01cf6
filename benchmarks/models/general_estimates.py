"""Fits the estimates of models that have none of their own: `general.json` and `general-texts.json`.

    python -m benchmarks.models.general_estimates FOLDER... --recording FILE --out FOLDER [--cursors N]

The bundled network writes without the mixing that makes it special. FOLDERS are packages outside its training
data. The recording is continued if it exists, and `--out` gets both files. For each estimate the command
prints the results at cursors that had no part in the fit, beside those of the bundled model's own estimate.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from fimlsp.datasets.shown import calibration
from fimlsp.datasets.shown.cursors import draw_cursors, read_files, workspace_of
from fimlsp.datasets.shown.recording import Candidate, Projects, Recorded, Recorder, record_all
from fimlsp.languages.python.analysis.client import Analysis
from fimlsp.models.confidence import GENERAL, WITHOUT_PROBABILITIES, ConfidenceEstimate
from fimlsp.models.loading import load_model

CONFIDENCES = (0.3, 0.5, 0.7)

PROBABILITIES = frozenset({"total", "probability", "mean"})
GENERAL_FEATURES = PROBABILITIES | {
    *("length", "prose", "several_lines", "beyond_fault", "follows", "occurrences", "new_name"),
}
"""The features of an estimate for any model: the others say more about one model than about its text."""


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--recording", required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path))
@click.option("--cursors", default=400)
def main(folders: Sequence[Path], recording: Path, out: Path, cursors: int) -> None:
    """Record, fit and print."""
    recorded = record(folders, recording, cursors)
    own = load_model().acceptance
    print_results("the bundled model's", calibration.estimated(recorded, own), own)
    features = GENERAL_FEATURES
    for name, kept in ((GENERAL, features), (WITHOUT_PROBABILITIES, features - PROBABILITIES)):
        estimate = fit_general(recorded, kept)
        estimate.save(out, name)
        cursors_left_out = calibration.held_out(with_features(recorded, kept))
        print_results(name, cursors_left_out, estimate)


def record(folders: Sequence[Path], path: Path, n: int) -> list[Recorded]:
    """The texts of the network without mixing at *n* cursors of *folders*."""
    analysis, files = Analysis(), read_files(folders)
    try:
        recorder = Recorder(load_model(uses_buffer=False), analysis, workspace_of(folders))
        drawn = list(draw_cursors(files, n, 0))
        return record_all(recorder, Projects(files), drawn, path, lambda: None)
    finally:
        analysis.close()


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
