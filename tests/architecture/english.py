"""Counts words and long sentences in the project's English: documents, docstrings and comments.

Run as a script it prints a table: `python tests/architecture/english.py [--sentences] [PATH...]`. After
counts went down, `--lower` writes them to english.json as the new limits of `test_english.py`.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMITS = Path(__file__).with_name("english.json")
ROOMS = ("lexing", "quotient", "languages", "models", "lsp_server", "datasets")
CODE = ("src", *ROOMS, "benchmarks")
FOLDERS = (*CODE, "editors", "examples", "tests")
NOT_OURS = ("results", "node_modules", "build", "dist", "server", "__pycache__")
WATCHED = ("what", "whether", "behind", "begins", "asked", "tells")
"""Words that often stand for a missing noun or a plainer verb; other projects use them rarely."""
MOST_WORDS, MOST_LINES = 25, 6
SLACK = 0.5
"""The rate by which a count may exceed its limit."""

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"*_]*\s+(?=[^a-z\s]|fimlsp)|:\s*\n")
_FENCE = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(
    r"\n\s*\n"
    r"|\n(?=\s*(?:[-*+]|\d+\.|[|#>])\s)|(?<=\|)\n|\n(?=#)"  # Markdown
    r"|\n(?= *\*{0,2}[\w.]+(?:, \*{0,2}[\w.]+)*: )"  # entries of a docstring's section
)
_SPAN = re.compile(r"``.+?``|`[^`]*`|<[^>\s][^>]*>|https?://\S+", re.DOTALL)
_HEADING = re.compile(r"^\s*(?:Args|Returns|Raises|Yields|Attributes|Example)s?:\s*$", re.MULTILINE)


@dataclass
class Figures:
    """Counts of some text."""

    words: int = 0
    watched: Counter[str] = field(default_factory=Counter)
    long_sentences: list[str] = field(default_factory=list)
    long_paragraphs: list[str] = field(default_factory=list)

    def rate(self, word: str) -> float:
        """Occurrences of *word* among 10,000 words."""
        return 10_000 * self.watched[word] / max(self.words, 1)

    def add(self, other: Figures) -> None:
        """Add the counts of *other* text."""
        self.words += other.words
        self.watched += other.watched
        self.long_sentences += other.long_sentences
        self.long_paragraphs += other.long_paragraphs


def figures_of(text: str, origin: str) -> Figures:
    """The counts of *text*, which is Markdown or the text of a docstring or comment in *origin*."""
    figures = Figures()
    for block in _BLOCK.split(_HEADING.sub("", _FENCE.sub("\n\n", text))):
        prose = _SPAN.sub("X", block)
        words = _WORD.findall(prose)
        figures.words += len(words)
        figures.watched.update(word for word in map(str.lower, words) if word in WATCHED)
        if block.lstrip().startswith(("|", "#")):
            continue
        if len(block.strip().splitlines()) > MOST_LINES:
            figures.long_paragraphs.append(f"{origin}: {' '.join(block.split())[:90]}")
        for sentence in _SENTENCE_END.split(prose):
            if len(_WORD.findall(sentence)) > MOST_WORDS:
                figures.long_sentences.append(f"{origin}: {' '.join(sentence.split())}")
    return figures


def texts_of_code(source: str) -> Iterator[tuple[int, str]]:
    """The line and the text of each docstring and each run of comments of a module."""
    statements: list[ast.AST] = [ast.parse(source)]
    while statements:
        node = statements.pop()
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, part, ())
            statements += inner if isinstance(inner, list) else ()
    run: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or re.match(r"#(?:!| ?(?:noqa|type:|fmt:))", token.string):
            continue
        line = token.start[0]
        if run and line != last + 1:
            yield first, "\n".join(run)
            run = []
        first = first if run else line
        last = line
        run.append(token.string.lstrip("# "))
    if run:
        yield first, "\n".join(run)


def figures_of_file(path: Path) -> Figures:
    """The counts of a Markdown file or a module."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT).as_posix()
    if path.suffix == ".md":
        return figures_of(text, name)
    figures = Figures()
    for line, part in texts_of_code(text):
        figures.add(figures_of(part, f"{name}:{line}"))
    return figures


def files(paths: list[Path]) -> list[Path]:
    """The Markdown files and modules at and below *paths*."""
    found = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*")))]
    return [
        file
        for file in found
        if file.suffix in (".py", ".md") and not set(NOT_OURS) & set(file.relative_to(ROOT).parts)
    ]


def groups() -> dict[str, list[Path]]:
    """The parts of the project: its documents, and each folder of code."""
    documents = [*ROOT.glob("*.md"), *(ROOT / ".github").rglob("*.md")]
    folders = [ROOT / name for name in ("docs", "vscode-extension")]
    return {"documents": files([*documents, *folders]), **{name: files([ROOT / name]) for name in FOLDERS}}


def total(paths: list[Path]) -> Figures:
    """The counts of all *paths* together."""
    figures = Figures()
    for path in paths:
        figures.add(figures_of_file(path))
    return figures


def counts() -> dict[str, dict[str, float]]:
    """The limited counts of each part: watched words per 10,000, long sentences, long paragraphs."""
    return {name: _limited(total(paths)) for name, paths in groups().items()}


def _limited(figures: Figures) -> dict[str, float]:
    lengths = {"sentences": len(figures.long_sentences), "paragraphs": len(figures.long_paragraphs)}
    return {word: round(figures.rate(word), 1) for word in WATCHED} | lengths


def excesses(counted: dict[str, dict[str, float]]) -> Iterator[str]:
    """The exceeded limits, each in words."""
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    for part, of_part in counted.items():
        for name, count in of_part.items():
            if count > limits[part][name] + SLACK:
                yield f"{part}: {name} {count} is above the limit {limits[part][name]}; see --sentences"


def main(arguments: list[str]) -> None:
    """Print a row for each part, or for each of the given paths; with `--sentences` the long ones, too.

    Exits with 1 if a part exceeds one of its limits.
    """
    if "--lower" in arguments:
        LIMITS.write_text(json.dumps(counts(), indent=1) + "\n", encoding="utf-8")
    paths = [Path(each).resolve() for each in arguments if not each.startswith("-")]
    parts = {path.relative_to(ROOT).as_posix(): files([path]) for path in paths} or groups()
    everything = Figures()
    print(f"{'':24}{'words':>8}", *(f"{word:>9}" for word in WATCHED), "  long sentences, paragraphs")
    for name, part in parts.items():
        figures = total(part)
        everything.add(figures)
        _print_row(name, figures)
    _print_row("together", everything)
    exceeded = list(excesses(counts())) if not paths else []
    for limit in exceeded:
        print(limit)
    if "--sentences" in arguments:
        print("", *everything.long_sentences, *everything.long_paragraphs, sep="\n")
    sys.exit(bool(exceeded))


def _print_row(name: str, figures: Figures) -> None:
    rates = (f"{figures.rate(word):9.1f}" for word in WATCHED)
    print(
        f"{name:24}{figures.words:8}",
        *rates,
        f"{len(figures.long_sentences):10} {len(figures.long_paragraphs):10}",
    )


if __name__ == "__main__":
    main(sys.argv[1:])
