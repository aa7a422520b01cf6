"""Where holes are cut into sLua scripts: at tokens, in blocks and brackets, in lines, as in Lua."""

from __future__ import annotations

import re
from functools import partial

from fimlsp.datasets.languages.suites import Span
from fimlsp.datasets.languages.tokens import lua_tokens

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\d+(?:\.\d+)?|\w+|->|\.\.|[=~<>]=|\S')


def tokens_of(text: str) -> list[Span]:
    """The span of each token of a right script."""
    return [found.span() for found in _TOKEN.finditer(text)]


suites_of = partial(lua_tokens.suites_of, tokens_of=tokens_of)
bodies_of = partial(lua_tokens.bodies_of, tokens_of=tokens_of)
statements_of = partial(lua_tokens.statements_of, tokens_of=tokens_of)
