"""What depends on the language of a document beside its grammar."""

from __future__ import annotations

from dataclasses import replace

from fimlsp.languages.python import Python
from fimlsp.lsp_server.messages import Completion
from fimlsp.quotient.language.contract import Language

KNOWS_PYTHON_ONLY = "the bundled model knows Python only, so choose another one (option model)"


def is_python(grammar: Language) -> bool:
    """Whether what is known of Python's imports and outlines says anything of a document."""
    return isinstance(grammar, Python)


def of_bundled_model(answer: Completion, grammar: Language) -> Completion:
    """What the bundled model's *answer* is where it knows little: with why there is nothing."""
    if answer.reason is None or is_python(grammar):
        return answer
    return replace(answer, reason=f"{answer.reason}; {KNOWS_PYTHON_ONLY}")
