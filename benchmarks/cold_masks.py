"""Measures the very first masks with a vocabulary: `python benchmarks/cold_masks.py TOKENIZER.json...`.

Each vocabulary and language is measured in two new processes, first with an empty cache folder, and then with
the files of that run. Preparation is `Engine.prepare`. Times are processor times in milliseconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import click
from rich.console import Console
from rich.table import Table
from tokenizers import Tokenizer

CURSORS = {
    "python": (b"import os\ndef f(a, b):\n    return a + ", b"\n\nprint(f(1, 2))\n"),
    "json": (b'{"a": [1, ', b'], "b": "c"}'),
}


def measure(tokenizer: Path, language: str) -> None:
    """Print the tokens of a vocabulary, its preparation and the first mask of this process."""
    from fimlsp import Engine, Vocabulary
    from fimlsp.languages import language_named
    from fimlsp.models.prompts.vocabulary import read_vocabulary

    token_bytes = read_vocabulary(Tokenizer.from_file(str(tokenizer)), ()).token_bytes
    left, right = CURSORS[language]
    engine = Engine(language_named(language))
    start = engine.document(left + right).middle(len(left), len(left)).start
    assert start is not None
    vocabulary = Vocabulary(token_bytes, [token_bytes.index(None)])
    before = process_time()
    engine.prepare(vocabulary)
    prepared = process_time()
    start.mask(vocabulary)
    print(len(vocabulary), 1000 * (prepared - before), 1000 * (process_time() - prepared))


@click.command()
@click.argument("tokenizers", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--language", help="Measure this language in this process; used by the command itself.")
def main(tokenizers: tuple[Path, ...], language: str | None) -> None:
    """Print a table, or measure one vocabulary."""
    if language is not None:
        measure(tokenizers[0], language)
        return
    table = Table("vocabulary", "language", "cache folder", "tokens", "preparation", "first mask")
    for tokenizer in tokenizers:
        for name in CURSORS:
            with TemporaryDirectory() as folder:
                for state in ("empty", "filled"):
                    command = [sys.executable, __file__, str(tokenizer), "--language", name]
                    environment = {**os.environ, "XDG_CACHE_HOME": folder}
                    done = subprocess.run(
                        command, env=environment, capture_output=True, text=True, check=True
                    )
                    tokens, *times = done.stdout.split()
                    table.add_row(str(tokenizer), name, state, tokens, *(f"{float(t):.0f}" for t in times))
    Console().print(table)


if __name__ == "__main__":
    main()
