"""What depends on the language of a document beside its grammar."""

from __future__ import annotations

from dataclasses import replace

from fimlsp.languages.python import Python
from fimlsp.lsp_server.messages import Completion, Load
from fimlsp.quotient.language.contract import Language

KNOWS_PYTHON_ONLY = "the bundled model knows Python only, so choose another one (option model)"


def is_python(grammar: Language) -> bool:
    """Whether what is known of Python's imports and outlines says anything of a document."""
    return isinstance(grammar, Python)


def of_bundled_model(answer: Completion, loaded: Load | None, grammar: Language) -> Completion:
    """*answer*, which says as well if there is nothing because the bundled model knows little."""
    if answer.reason is None or loaded is None or loaded.model or is_python(grammar):
        return answer
    return replace(answer, reason=f"{answer.reason}; {KNOWS_PYTHON_ONLY}")
