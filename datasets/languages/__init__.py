"""The languages that can be replayed: their files, their reference parsers, and their places for holes."""

from __future__ import annotations

from collections.abc import Mapping

from fimlsp.datasets.languages.go import GO
from fimlsp.datasets.languages.json_and_toml import JSON, TOML
from fimlsp.datasets.languages.lua import LUA, SLUA
from fimlsp.datasets.languages.python import PYTHON
from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.datasets.languages.typescript import JAVASCRIPT, JSX, TSX, TYPESCRIPT

LANGUAGES: Mapping[str, ReplayLanguage] = {
    language.name: language
    for language in (PYTHON, JSON, LUA, GO, TYPESCRIPT, TSX, JAVASCRIPT, JSX, TOML, SLUA)
}
