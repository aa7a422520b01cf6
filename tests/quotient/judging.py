"""The verdicts of an interpreter on texts; as a program, JSON from standard input to standard output.

Runs in every version of Python that has a grammar here, and imports nothing of ours.
"""

from __future__ import annotations

import json
import random
import sys
from collections import namedtuple

from .corpus import complaint, library_files, read, syntax_snippets
from .python_symbols import NotPythonError, symbols

Verdict = namedtuple("Verdict", "text complaint symbols")
"""A text, the error of the interpreter, and its symbols; None for missing parts."""


def verdicts(request: dict[str, object]) -> list[Verdict]:
    """Of given "texts", of the "snippets" in the tests of syntax, or of some "files" of the library.

    Texts that are to be "compiled" have no symbols.
    """
    if "texts" in request:
        texts = request["texts"]
        if request.get("compiled"):
            return [Verdict(text, complaint(text, compiled=True), None) for text in texts]
    elif "snippets" in request:
        texts = syntax_snippets()
        texts = random.Random(1).sample(texts, min(request["snippets"], len(texts)))
    else:
        texts = [read(path) for path in library_files(request["files"], request["seed"])]
    return [Verdict(text, complaint(text), names(text)) for text in texts]


def names(text: str) -> list[str] | None:
    """The symbols of a text, if it has any."""
    try:
        return symbols(text)
    except NotPythonError:
        return None


if __name__ == "__main__":
    json.dump(verdicts(json.load(sys.stdin)), sys.stdout)
