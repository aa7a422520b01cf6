"""The JSON texts that are instances of a JSON Schema, as a language.

Properties are in the order of the schema, and those that it does not name come after them. Names, and
strings with a condition, are spelled as usual. Whole numbers are digits alone, and numbers with a bound have
no exponent. Such texts are instances of the schema, and it says of no other whether they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fimlsp.languages.custom.rules import NoSentenceError, TooManyProductionsError, to_grammar
from fimlsp.languages.custom.schema.forms import canonical
from fimlsp.languages.custom.schema.rules import SchemaRules
from fimlsp.languages.custom.schema.texts import LINE_END, SPACE
from fimlsp.lexing.automata.dfa import Dfa
from fimlsp.lexing.automata.whole_texts import TooManyStatesError, limited
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.lexing.nesting import ModeStack
from fimlsp.quotient.grammar.cfg import Grammar, GrammarError
from fimlsp.quotient.language.contract import Language

MOST_STATES = 30_000
MOST_SECONDS = 12
"""Processor time until the automaton is made."""


@dataclass(frozen=True, eq=True)
class JsonSchema(Language):
    """The language of the instances of the schema *source*, which is a JSON text.

    Without *is_compact* there may be white space between any two lexemes.
    """

    source: str
    is_compact: bool = False
    name = "JSON Schema"

    @property
    def enclosures(self) -> dict[str, str]:  # type: ignore[override]  # as in `Language`
        """The brackets of JSON."""
        return {"{": "}", "[": "]"}

    def lexical_spec(self) -> LexicalSpec:
        """As in `Language`."""
        return LexicalSpec(
            _compiled(self.source, self.is_compact)[0],
            start=ModeStack(),
            unknown=ModeStack(known=False),
            space="" if self.is_compact else SPACE,
            line_end="" if self.is_compact else LINE_END,
            separators=b",",
        )

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return _compiled(self.source, self.is_compact)[1]


def json_schema(schema: Mapping[str, Any] | bool, *, compact: bool = False) -> JsonSchema:
    """The language of the instances of *schema*; if *compact*, without white space between lexemes.

    The schema is read as draft 2020-12. Properties are in its order. A model of pydantic gives its schema by
    `model_json_schema()`.

    Raises:
        GrammarError: it is no schema, has no instances, or has a keyword that is not supported. The message
            names the path in the schema, and a remedy.
    """
    try:
        source = json.dumps(canonical(schema), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise GrammarError(f"Cannot use the schema: it is no JSON ({error}). Change it.") from error
    _compiled(source, compact)
    return JsonSchema(source, compact)


@lru_cache(32)
def _compiled(source: str, is_compact: bool) -> tuple[Dfa, Grammar]:
    try:
        schema = SchemaRules(json.loads(source), limited(MOST_STATES, MOST_SECONDS))
        dfa, texts = schema.texts.lexemes(compact=is_compact)
        return dfa.expand(), to_grammar(schema.start, {**schema.rules, **texts})
    except TooManyStatesError as error:
        raise GrammarError(
            f"Cannot use the schema: it needs {error}. Use fewer or shorter strings with "
            f"conditions, and patterns that begin with ^ and differ early."
        ) from None
    except NoSentenceError:
        raise GrammarError("Cannot use the schema: it has no instances. Change it.") from None
    except RecursionError:
        raise GrammarError("Cannot use the schema: its references nest too deeply. Use fewer.") from None
    except TooManyProductionsError as error:
        raise GrammarError(f"Cannot use the schema: it is too large ({error}). Use a smaller one.") from None
