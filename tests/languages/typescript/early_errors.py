"""Texts with a fault beyond the grammar, made of real files, against acorn.

No text that acorn accepts may be held back. Of the texts that it refuses for such a fault, nearly all should
be: `python -m tests.languages.typescript.early_errors FOLDER`.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from fimlsp.datasets.languages.typescript import refusal
from fimlsp.languages.syntax_trees import first_fault
from fimlsp.languages.typescript.early_errors import JAVASCRIPT_RULES

STATEMENTS = (
    """
    return;|return x;|break;|continue;|break x;|a: for (;;) continue a;|a: { a: x; }|foo: { break foo; }
    yield x;|super.x;|super();|new.target;|delete x;|this.#x;|#x;|#x() {}|constructor() {}|let x = 1;
    var x = 1;|function x() {}|class x {}|const { y, x } = z;|export { x };|export const x = 1;
    export default x;|x = /(/;|x = /a{2,1}/;|(x, x) => 1;|import x from 'x';
    try {} catch (x) { var x; }|function f(x, x) {}
    for (let x of y) { var x; }|for (const x of y) { let x; }|z = { __proto__: 1, __proto__: 2 };
    switch (y) { case 1: let x; case 2: let x; }
    """.strip()
    .replace("\n", "|")
    .split("|")
)
_BETWEEN = re.compile(r"[;{}]\s*\n")
_NAME = re.compile(r"(?<![\w$.'\"])[A-Za-z_$][\w$]*(?![\w$'\"])")
_WORDS = re.compile(r"\b(?:async|function\s*\*|static|let|const|var|extends \w+|get|set|export)\b")


def mutants(text: str, rng: random.Random) -> Iterator[str]:
    """Endless texts that differ from *text* in a statement, a line or a word."""
    lines, names, words = text.split("\n"), [*_NAME.finditer(text)], [*_WORDS.finditer(text)]
    places = [0, *(found.end() for found in _BETWEEN.finditer(text))]
    while True:
        place, line, kind = rng.choice(places), rng.randrange(len(lines)), rng.randrange(5)
        if kind < 2:
            statement = re.sub(r"\bx\b", rng.choice(names).group(), rng.choice(STATEMENTS).strip())
            yield f"{text[:place]}{statement}\n{text[place:]}"
        elif kind == 2:
            end = line + rng.choice((1, 1, 2, 4))
            yield "\n".join((*lines[:end], *lines[line:end], *lines[end:]))
        elif kind == 3 or not words:
            found, other = rng.choice(names), rng.choice(names)
            yield text[: found.start()] + other.group() + text[found.end() :]
        else:
            found = rng.choice(words)
            yield text[: found.start()] + rng.choice(("", "let", "function")) + text[found.end() :]


def compared(texts: Sequence[str], cases: int, seed: int) -> tuple[Counter[str], list[str]]:
    """The counts of valid, found and missed texts, and the valid ones that are held back."""
    rng = random.Random(seed)
    counts, wrong = Counter[str](), list[str]()
    endless = [mutants(text, rng) for text in texts]
    for number in range(cases):
        text = next(endless[number % len(texts)])
        told = refusal("jsx", text.encode())
        fault = first_fault("javascript", JAVASCRIPT_RULES, b"", text.encode(), b"")
        if told is None:
            counts["valid"] += 1
            wrong += [text] if fault is not None else []
        elif told.later and not re.search(r"nexpected|escape", told.error):
            counts["missed" if fault is None else "found"] += 1
    return counts, wrong


def main() -> None:
    """Print the counts for the files of a folder, and the first texts that are wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    files = [path for path in options.folder.rglob("*.js") if 300 < path.stat().st_size < 20_000]
    chosen = random.Random(options.seed).sample(sorted(files), min(len(files), options.cases // 5 + 1))
    counts, wrong = compared(
        [path.read_text("utf-8", "replace") for path in chosen if path.is_file()], options.cases, options.seed
    )
    print(dict(counts), len(wrong), "held back and valid")
    print(*wrong[:3], sep="\n---\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
