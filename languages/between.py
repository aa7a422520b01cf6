"""Requests for a text between two others, in a form that every inference engine hands on.

Engines know schemas, expressions and grammars, all of whole texts. So such a request is a JSON Schema with a
keyword of ours. An engine with the backend of fimlsp reads that keyword. Any other writes the constant in the
schema, which says so.
"""

from __future__ import annotations

from typing import Any, Literal

Kind = Literal["language", "lark", "gbnf", "grammar", "regex", "choice", "json"]
"""A way to name a language.

| kind | text |
|---|---|
| language | the name of a language of fimlsp, such as `python` |
| lark | a grammar of Lark, whose files start with the rule `start` |
| gbnf | a grammar in GBNF, from its rule `root` on |
| grammar | one of both: `::=` is in every grammar of GBNF, and in hardly one of Lark |
| regex | an expression of Python's `re`, which matches the whole text |
| choice | a list of texts, in JSON |
| json | a JSON Schema |
"""

MARK = "x-fimlsp"
"""The keyword of a schema that stands for a constraint of fimlsp."""


def fill_in_middle(left: str, right: str, text: str = "python", *, kind: Kind = "language") -> dict[str, Any]:
    """A JSON Schema that asks for the texts between *left* and *right* in a language, for any engine.

    The prompt is yours: it has the markers of the model. With an empty *right*, a text goes on from left to
    right. With both empty, the request is one for a whole text of the language. Code in a *language* that is
    broken elsewhere is read as the nearest valid file.
    """
    return {
        MARK: {"kind": kind, "text": text, "left": left, "right": right},
        "const": "Cannot fill in: this server runs without the backend of fimlsp.",
    }
