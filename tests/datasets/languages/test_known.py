"""The languages that can be replayed, and the names of their files."""

import pytest

from fimlsp.datasets.languages import LANGUAGES


@pytest.mark.parametrize(
    ("name", "own", "foreign"),
    [
        ("python", ["a.py", "__init__.py"], ["a.pyi", "a.json", "py", "a.PY"]),
        ("json", ["a.json", ".x.json", "b.ipynb"], ["a.jsonl", "a.py", "json"]),
        ("lua", ["a.lua"], ["a.luac", "lua"]),
        ("go", ["a.go", "a_test.go"], ["go.mod", "go"]),
        ("typescript", ["a.ts", "a.d.ts", "a.mts", "a.cts"], ["a.tsx", "ts"]),
        ("tsx", ["a.tsx"], ["a.ts", "a.jsx"]),
        ("jsx", ["a.jsx"], ["a.js", "a.tsx"]),
        ("javascript", ["a.js", "a.mjs", "a.cjs"], ["a.jsx", "a.json"]),
        ("toml", ["a.toml"], ["a.lock", "toml"]),
        ("slua", ["a.slua"], ["a.lua", "slua"]),
    ],
)
def test_files_are_known_by_their_names(name, own, foreign):
    language = LANGUAGES[name]
    assert [file for file in [*own, *foreign] if language.has_file(file)] == own
