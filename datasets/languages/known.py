"""The languages that can be replayed, by name."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from fimlsp.datasets.languages.judges import go_judge, json_judge, lua_judge, python_judge
from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.datasets.languages.scripts import Scripts
from fimlsp.datasets.languages.tokens import go_tokens, json_tokens, lua_tokens, python_tokens
from fimlsp.languages.go import go
from fimlsp.languages.json import json
from fimlsp.languages.lua import lua
from fimlsp.languages.python import python
from fimlsp.languages.python.versions import PYTHON_VERSIONS, PythonVersion


def grammar_for(interpreter: PythonVersion) -> PythonVersion:
    """The version whose grammar goes with *interpreter* as the judge: its own, or the newest one before."""
    return max(version for version in PYTHON_VERSIONS if version <= interpreter)


PYTHON = ReplayLanguage(
    name="python",
    patterns=("*.py",),
    grammar=python(grammar_for(sys.version_info[:2])),
    judge="CPython",
    syntax_error=python_judge.syntax_error,
    compiler=python_judge.compile_error,
    suites=python_tokens.suites_of,
    bodies=python_tokens.bodies_of,
    statements=python_tokens.statements_of,
)
JSON = ReplayLanguage(
    name="json",
    patterns=("*.json", "*.ipynb"),
    grammar=json,
    judge="Python's json module (strict)",
    syntax_error=json_judge.syntax_error,
    compiler=None,
    suites=json_tokens.suites_of,
    bodies=json_tokens.bodies_of,
    statements=json_tokens.statements_of,
)
LUA = ReplayLanguage(
    name="lua",
    patterns=("*.lua",),
    grammar=lua,
    judge="Lua 5.4's load (lupa)",
    syntax_error=lua_judge.syntax_error,
    compiler=None,
    suites=lua_tokens.suites_of,
    bodies=lua_tokens.bodies_of,
    statements=lua_tokens.statements_of,
)
GO = ReplayLanguage(
    name="go",
    patterns=("*.go",),
    grammar=go,
    judge="go/parser",
    syntax_error=go_judge.syntax_error,
    compiler=None,
    suites=go_tokens.suites_of,
    bodies=go_tokens.bodies_of,
    statements=go_tokens.statements_of,
)
SLUA = Scripts().replay_language
"""Scripts that are given nothing."""

LANGUAGES: Mapping[str, ReplayLanguage] = {
    language.name: language for language in (PYTHON, JSON, LUA, GO, SLUA)
}
