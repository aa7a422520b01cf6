"""The rules of the paper's evaluation, each written in plain steps and compared with a replay.

    python tests/datasets/paper_rules.py stdlib --cases 1000 [--released CLONE]

Melcer et al. 2024 (arXiv 2402.17988) state their protocol in section VII. Open points are decided by their
released code (github.com/amazon-science/incremental-parsing), named here as *code*. With `--released` and a
clone of it, cuts are compared with the cuts of that code; its module is then executed.

| rule | source | here |
|---|---|---|
| seeds of the cuts | code: `stack_completion_right_context.py` | `seed_of` |
| STACK-RANDSPAN | section VII; code: `text_cuts.py` | `random_span` |
| STACK-BOUNDARY | section VII; code: `text_cuts.py` | `boundary` |
| the prompt's budget | code: `create_balanced_context` in `utils.py` | `prompt` |
| stops at every character, and their scores | section III-A; code: `get_stopping_points` | `stops` |
| checked unconstrained | section VII; code: `try_incremental_unconstrained` | `longest_that_parses` |
"""

from __future__ import annotations

import ast
import importlib.util
import io
import random
import tokenize
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from fimlsp.datasets.cuts import CutRecord, FileCases, Selection, limited
from fimlsp.datasets.languages.python import PYTHON
from fimlsp.datasets.methods import Case, checked_stops, complete_stops, stops_of, whole_text
from fimlsp.models.decoding.middle import Middle, TokenTrace
from fimlsp.models.loading import FimModel, load_model
from fimlsp.models.prompts.prompt import build_prompt
from fimlsp.quotient.engine import Engine

Texts = tuple[str, str, str]
MIDDLE_TOKENS, MARKERS = 500, 3
PIECES = [b" ", b"a", b" = 1", b"\n", b"(", b")", b"x, y", b"):", b"\n    ", b"'", b"if b:", b" + ", b"# c"]
PIECES_MAX, SOURCE_MAX = 7, 12_000


def seed_of(file_number: int, cut_number: int) -> int:
    """The seed before each cut; both numbers start at 0."""
    return hash((file_number, cut_number)) % 2**32


def random_span(content: str) -> Texts:
    """A fifth of the file, at most 100 characters, from a place in its first nine tenths."""
    start = int((0 + (0.9 - 0) * random.random()) * len(content))
    end = start + int(min(0.2 * len(content), 100))
    return content[:start], content[start:end], content[end:] + "\n"


def boundary(text: str) -> Texts:
    """From within one token to within another of the same suite."""
    runs_of_suites = suites(text)
    weights = [sum(len(run) for run in runs) for runs in runs_of_suites]
    (runs,) = random.choices(runs_of_suites, weights, k=1)
    two = random.choices(runs, [len(run) for run in runs], k=2)
    first, second = sorted(run[random.randint(0, len(run) - 1)] for run in two)
    left, right = random.randint(*first), random.randint(*second)
    return text[:left], text[left:right], text[right:]


def suites(text: str) -> list[list[list[tuple[int, int]]]]:
    """For each suite, in the order in which they end, its runs of tokens between nested suites."""
    begins = [0]
    for line in text.split("\n"):
        begins.append(begins[-1] + len(line) + 1)
    finished, outer, runs, run = [], list[Any](), list[list[tuple[int, int]]](), list[tuple[int, int]]()
    for token in tokenize.generate_tokens(io.StringIO(text, newline="\n").readline):
        if token.type in (tokenize.INDENT, tokenize.DEDENT):
            runs = [*runs, run] if run else runs
            run = []
            if token.type == tokenize.INDENT:
                outer.append(runs)
                runs = []
            else:
                finished.append(runs)
                runs = outer.pop()
        else:
            start, end = (begins[row - 1] + column for row, column in (token.start, token.end))
            run.append((start, end))
    finished.append([*runs, run] if run else runs)
    return finished


def prompt(before: Sequence[int], after: Sequence[int], context: int) -> tuple[list[int], list[int]]:
    """The parts of both sides that fit: half the space each, or a short side and the space that it leaves."""
    space = context - MIDDLE_TOKENS - MARKERS
    shorter = min(len(before), len(after))
    most = space // 2 if 2 * shorter > space else space - shorter
    return list(before[len(before) - most :] if most < len(before) else before), list(after[:most])


def stops(middle: Middle, parses: Callable[[str], bool]) -> list[tuple[int, float]]:
    """The stops of the text, in characters, with scores: in a token, that of the stop after the token."""
    stops_so_far, text, total = list[tuple[int, float]](), "", 0.0
    if middle.stop_at_start is not None and parses(""):
        stops_so_far.append((0, middle.stop_at_start))
    for number, token in enumerate(middle.trace, 1):
        total += token.log_probability
        if token.stop is None:
            break
        for character in token.text.decode():
            text += character
            if parses(text):
                stops_so_far.append((len(text), (total + token.stop) / (number + 1)))
    return stops_so_far


def longest_that_parses(text: str, parses: Callable[[str], bool]) -> int | None:
    """The length of the longest beginning after which the file parses."""
    return max((end for end in range(len(text) + 1) if parses(text[:end])), default=None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One case: True for each rule that agrees with the replay."""

    cut: bool
    prompt: bool
    stops: bool
    checked: bool


def compare(
    file_text: str,
    record: CutRecord,
    model: FimModel,
    engine: Engine,
    released: Any,
) -> Comparison:
    """Compare every rule with the replay at one case."""
    cut, text = record.cut, file_text
    texts = cut.left(text), cut.middle(text), cut.right(text)
    random.seed(seed_of(record.number or 0, record.index))
    same_cut = texts == _drawn(record.kind, text[:-1], released)
    return Comparison(same_cut, _same_prompt(model, texts[0], texts[2]), *_same_stops(record, text, engine))


def _drawn(kind: str, content: str, released: Any) -> Texts:
    if released is None:
        return boundary(content + "\n") if kind == "paper-boundary" else random_span(content)
    if kind == "paper-boundary":
        left, middle, right = released.cut_text_same_indentation_levels(content + "\n")
        return left, middle, right
    left, middle, right = released.cut_text_random(content, 0, 0.9, 0.2, 100)
    return left, middle, right + "\n"


def _same_prompt(model: FimModel, left: str, right: str) -> bool:
    vocabulary, fim = model.vocabulary, model.fim
    ours = build_prompt(vocabulary, fim, model.context, left.encode(), right.encode(), MIDDLE_TOKENS)
    three_markers = model.context - fim.overhead + MARKERS
    sides = prompt(vocabulary.encode_first(left), vocabulary.encode(right), three_markers)
    return list(ours.tokens) == fim.arrange(*sides)


def _same_stops(record: CutRecord, text: str, engine: Engine) -> tuple[bool, bool]:
    cut = record.cut
    if cut.end < cut.start:
        case = Case.overlapping(cut, text, engine, PYTHON)
    else:
        case = Case.at(cut, text, engine.document(text.encode()), PYTHON)
    if case.start is None:
        return False, False
    middle = scripted(Random(record.case))
    written = whole_text(middle)

    def parses(part: str) -> bool:
        return _parses(case.left + part + case.right)

    theirs = stops(middle, parses)
    ours = [
        (len(written[: stop.length].decode()), stop.score)
        for stop in complete_stops(written, stops_of(middle), case.start)
    ]
    longest = max((stop.length for stop in checked_stops(case, middle)), default=None)
    return ours == theirs, longest == longest_that_parses(written.decode(), parses)


def scripted(chosen: Random) -> Middle:
    """A text as of a model, with made-up probabilities."""
    trace = tuple(
        TokenTrace(chosen.choice(PIECES), -chosen.random(), (), False, -4 * chosen.random())
        for _ in range(chosen.randint(1, PIECES_MAX))
    )
    return Middle(b"", False, len(trace), 0, False, "end", 0.0, 0.0, 0.0, stop_at_start=-2.0, trace=trace)


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def comparisons(sources: Sequence[str], cases: int, released: Any) -> Iterator[Comparison]:
    """Comparisons at so many of the paper's own cuts, of files that are short enough to be parsed often."""
    model, engine = load_model(), Engine(PYTHON.grammar)
    selection = Selection(tuple(sources), ("paper-boundary", "paper-randspan"), per_file=10)
    short = (
        item for item in selection if isinstance(item, FileCases) and 1 < len(item.file.text) < SOURCE_MAX
    )
    for task in limited(short, cases):
        if isinstance(task, FileCases):
            for record in task.records:
                yield compare(task.file.text, record, model, engine, released)


def module_of(clone: Path) -> Any:
    """The released code that draws cuts, from a clone of its repository; executes that file."""
    path = clone / "incremental_parsing" / "evaluation" / "text_cuts.py"
    spec = importlib.util.spec_from_file_location("released_text_cuts", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise click.ClickException(f"Cannot find {path}. Give a clone of the released code.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--cases", default=1000, show_default=True, type=click.IntRange(1))
@click.option(
    "--released", type=click.Path(exists=True, file_okay=False, path_type=Path), help="A clone of the code."
)
def main(sources: tuple[str, ...], cases: int, released: Path | None) -> None:
    """Compare the paper's rules with a replay, on files of SOURCE..."""
    module = None if released is None else module_of(released)
    done = list(
        track(comparisons(sources, cases, module), "cases", total=cases, console=Console(stderr=True))
    )
    table = Table("rule", "equal", "different")
    for name in Comparison.__slots__:
        equal = sum(getattr(comparison, name) for comparison in done)
        table.add_row(name, f"{equal:,}", f"{len(done) - equal:,}")
    Console().print(table)
    if any(not all(getattr(comparison, name) for name in Comparison.__slots__) for comparison in done):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
