"""Faults beyond the grammar, of texts made from real files, against acorn."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fimlsp.datasets.languages.typescript import packages_folder, refusal
from fimlsp.languages.syntax_trees import first_fault
from fimlsp.languages.typescript.early_errors import TYPESCRIPT_RULES
from fimlsp.languages.typescript.regular_expressions import is_regular_expression

from .early_errors import compared

ROOT = Path(__file__).parents[3]
SIGNS = r"""
( ) (?: (?= (?! (?<= (?<! (?<a> (?<b> (?i: (?-i: [ ] [^ - a b z \d \w \b \1 \2 \0 \c \ca \x \x41 \u \u0041
\u{41} \u{110000} \k \k<a> \k<b> \p{L} { } {1} {2,1} {1,} , 1 * + ? *? | ^ $ . \- \_ \( \] \8 \07
"""
PIECES = SIGNS.split()


@pytest.mark.node
def test_no_valid_text_is_held_back_and_most_faults_are_found():
    folder = packages_folder() / "node_modules"
    of_packages = folder / "acorn-jsx/index.js", folder / "acorn/dist/bin.js"
    own = (ROOT / name for name in ("vscode-extension/pack", "editors/jupyter/pack", "datasets/languages"))
    paths = [*of_packages, *(path for room in own for path in sorted(room.glob("*.mjs")))]
    texts = [path.read_text("utf-8") for path in paths]
    counts, wrong = compared(texts, 400, 3)
    assert wrong == []
    assert counts["valid"] > 100
    assert counts["found"] > 9 * counts["missed"]


@pytest.mark.node
def test_random_regular_expressions_against_acorn():
    rng = random.Random(7)
    wrong = []
    for _ in range(1_500):
        pattern = "(?:)" + "".join(rng.choices(PIECES, k=rng.randrange(1, 8)))
        flags = rng.choice(("", "", "u", "v", "g", "gg", "x", "uv", "i"))
        told = refusal("javascript", f"x=/{pattern}/{flags}".encode())
        if told is None and not is_regular_expression(pattern, flags):
            wrong.append((pattern, flags))
    assert wrong == []


FILES = [*(ROOT / "vscode-extension/src").glob("*.ts"), *(ROOT / "editors/jupyter/src").glob("*.ts")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_of_a_real_file_is_held_back(path):
    rng, data = random.Random(2), path.read_bytes()
    for _ in range(3):
        begin, end = sorted(rng.choices(range(len(data)), k=2))
        assert first_fault("typescript", TYPESCRIPT_RULES, data[:begin], data[begin:end], data[end:]) is None
