"""The constraint that a request to an inference engine asks for, by a text and its kind."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, cast

from fimlsp.backends.matcher import ENGINE, Matcher
from fimlsp.languages import language_named
from fimlsp.languages.between import MARK, Kind
from fimlsp.languages.custom import choice, gbnf, json_schema, load_grammar, regular
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.masks.vocabulary import Vocabulary

MOST_LANGUAGES = 32
"""Languages whose tables are kept."""


class Constraints:
    """The constraints of the requests to one model.

    *compact*: instances of a JSON Schema have no white space between lexemes.
    """

    def __init__(self, vocabulary: Vocabulary, *, compact: bool = False) -> None:
        self.vocabulary = vocabulary
        self._compact = compact
        self._engines = OrderedDict[tuple[Kind, str], Engine]()

    def matcher(self, kind: Kind, text: str, stops: Collection[int] = ()) -> Matcher:
        """The constraint of a request for the language of this *kind* and *text*; *stops* end the text.

        Raises:
            ValueError: there is no such language, or no text of it between the two texts of the request.
        """
        asked = _marked(text) if kind == "json" else None
        left = right = b""
        if asked is not None:
            kind, text, left, right = _fields(asked)
        with ENGINE:
            document = self._engine(kind, text).document(left + right)
            start = document.middle(len(left), len(left), relax=kind == "language").start
        if start is None:
            raise ValueError("Cannot fill in: no text connects these two. Check both sides of the cursor.")
        return Matcher(start, self.vocabulary, stops)

    def _engine(self, kind: Kind, text: str) -> Engine:
        """The engine of a language; those used last are kept, and the tables of the others dropped."""
        key = kind, text
        if key not in self._engines:
            self._engines[key] = Engine(self._language(kind, text))
        self._engines.move_to_end(key)
        if len(self._engines) > MOST_LANGUAGES:
            _, dropped = self._engines.popitem(last=False)
            self.vocabulary.stores.pop(dropped.tables, None)
        return self._engines[key]

    def _language(self, kind: Kind, text: str) -> Language:
        if kind == "json":
            return json_schema(_decoded(text), compact=self._compact)
        return _LANGUAGES[kind](text)


def _grammar(text: str) -> Language:
    return gbnf(text) if "::=" in text else load_grammar(text=text)


_LANGUAGES: Mapping[str, Callable[[str], Language]] = MappingProxyType(
    {
        "language": language_named,
        "lark": lambda text: load_grammar(text=text),
        "gbnf": gbnf,
        "grammar": _grammar,
        "regex": regular,
        "choice": lambda text: choice(_decoded(text)),
    }
)


def _decoded(text: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Cannot read the constraint as JSON: {error}. Correct it.") from error


def _marked(text: str) -> object:
    """The value of our keyword in a schema; None without it."""
    schema = _decoded(text) if MARK in text else None
    return schema.get(MARK) if isinstance(schema, dict) else None


def _fields(asked: object) -> tuple[Kind, str, bytes, bytes]:
    """The parts of a request that `fill_in_middle` made."""
    names = "kind", "text", "left", "right"
    values = [asked.get(name) if isinstance(asked, dict) else None for name in names]
    if not all(isinstance(value, str) for value in values) or values[0] not in {"json", *_LANGUAGES}:
        raise ValueError(f"Cannot read {MARK}: it lacks {', '.join(names)}. Make it by fill_in_middle.")
    kind, text, left, right = cast("list[str]", values)
    return cast("Kind", kind), text, left.encode(), right.encode()
