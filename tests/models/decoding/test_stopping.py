"""One line or a block, by the text around the cursor."""

from __future__ import annotations

import pytest

from fimlsp.languages.go import go
from fimlsp.languages.json import json
from fimlsp.languages.lua import lua
from fimlsp.languages.python import python
from fimlsp.models.decoding.settings import is_one_line

ONE_LINE = [
    ("x = <|>\n", True),
    ("<|>x\n", True),
    ("f(<|>)", True),
    ("a\n    <|>\nb", True),
    ("a\n\n    <|>\nb", False),
    ("a:\n    <|>  \r\nb", True),
    ("if a:\n    <|>  \r\nb", False),
    ("if a:  # why\n    <|>", False),
    ("if a:<|>", False),
    ("x = {a:<|>", True),
    ("lambda x:<|>", True),
    ("    async def f(x) -> int:<|>\nb", False),
    ("    # sort them\n    <|>", False),
    ("    x = 1  # sort them\n    <|>", True),
    ("a\r\r<|>\rb", False),
    ("<|>", False),
    ("\n\n<|>", False),
]


@pytest.mark.parametrize(("marked", "one_line"), ONE_LINE)
def test_one_line_or_a_block(marked, one_line):
    left, right = marked.encode().split(b"<|>")
    policy = python().editor
    assert is_one_line("auto", left, right, policy) is one_line
    assert is_one_line("always", left, right, policy) is True
    assert is_one_line("never", left, right, policy) is False


IN_OTHER_LANGUAGES = [
    (lua, "local x = 1\n<|>\n", True),
    (lua, "x = 1\n\n<|>\n", False),
    (lua, "if x then\n    <|>\nend", False),
    (lua, "if x then -- why\n    <|>\nend", False),
    (lua, "local function f(a, b)<|>", False),
    (lua, "return function()\n    <|>\nend", False),
    (lua, "f(a)\n<|>", True),
    (lua, "-- sort them\n<|>", False),
    (lua, "# no remark\n<|>", True),
    (lua, "x = 'then'<|>", True),
    (go, "func f() {\n\t<|>\n}", False),
    (go, "\tx := 1\n\t<|>", True),
    (go, "// sort them\n<|>", False),
    (go, "\tcase 1:\n\t\t<|>", False),
    (go, "import (<|>\n)", False),
    (go, "x := s[1:<|>", True),
    (go, "if x { // why<|>", False),
    (json, "{\n  <|>\n}", False),
    (json, '{"a": 1,\n  <|>\n}', True),
    (json, '{"a{": <|>', True),
]


@pytest.mark.parametrize(("language", "marked", "one_line"), IN_OTHER_LANGUAGES)
def test_a_block_begins_as_the_language_has_it(language, marked, one_line):
    left, right = marked.encode().split(b"<|>")
    assert is_one_line("auto", left, right, language.editor) is one_line
