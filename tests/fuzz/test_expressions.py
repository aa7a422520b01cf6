"""No regular expression of the code takes more than linear time, in the way in which it is used."""

from __future__ import annotations

from collections import deque
from itertools import product
from types import SimpleNamespace

import pytest
from lark.lexer import PatternRE

from fimlsp.languages.sql.lexemes import LEXICON
from fimlsp.languages.typed.declared import NUMBER, TEXT, Binary, Declaration

from .attacks import attacks
from .expressions import expressions
from .growth import MOST, growth

NEWLINE = PatternRE("(\\r?\\n[\\t ]*)+")
QUOTE = {"quote": b'"'}
SIGNS = {sign: Binary(1, {"number": "number"}, "number") for sign in ("<", "<=", "+")}
DECLARED = Declaration({NUMBER: "number", TEXT: "text"}, SIGNS).tokens.lexicon
# expressions that are made at run time, by module and beginning: the values of their variables
SAMPLES = {
    "datasets/languages/own_grammar.py": {"f'[": {"line_ends": NEWLINE.to_regexp()}},
    "languages/custom/compiling.py": {"one": {"one": SimpleNamespace(pattern=NEWLINE)}},
    "languages/custom/grammar_files.py": {"f'^": {"name": "start"}},
    "languages/custom/indentation.py": {
        "newline": {"newline": SimpleNamespace(pattern=NEWLINE)},
        "pattern_text": {"pattern_text": NEWLINE.to_regexp()},
        "terminal": {"terminal": SimpleNamespace(pattern=NEWLINE)},
    },
    "languages/custom/language.py": {
        "b'|'": {
            "bracketed": [rb"/\*.*?(?:\*/|\Z)", rb"\(\*.*?(?:\*\)|\Z)"],
            "to_line_end": [rb"//[^\n]*", rb"\-\-[^\n]*"],
            "strings": [rb"\"(?:\\.|[^\"\\\n])*\"?"],
        },
        "b'\\\\s*(": {"starts": [rb"//", rb"\-\-"]},
    },
    "languages/custom/lexemes.py": {"one": {"one": SimpleNamespace(pattern=NEWLINE)}},
    "languages/python/compiler/file_check.py": {"b'[(,]": {"name": b"name"}},
    "languages/python/compiler/expression_parser.py": {
        "b'(?:[^\\\\\\\\%s]": QUOTE,
        "b'(?:[^\\\\\\\\]|": {"quote": b"'''"},
    },
    "languages/python/missing_names/at_cursor.py": {"b'": {"name": b"name"}},
    "languages/python/missing_names/likely_texts.py": {"b'": {"word": b"name"}},
    "languages/python/missing_names/import_table.py": {
        "_DEFINED % re": {"name": b"name"},
        "_CLASS % re": {"name": b"name"},
        "b'^[": {"header": (b"", b"    ")},
    },
    "languages/python/missing_names/unbound_names.py": {"b'": {"name": b"name"}},
    "languages/python/names/code_state.py": {"b'": {"ending": b'"""'}},
    "languages/python/names/preference.py": {"b'": {"owner": b"self"}},
    "languages/python/open_strings.py": {
        "b'(?:%s|%s": {"ordinary": rb"[^{}\\\0\"\x80-\xff]+", "quote": b'"""'},
        "b'": QUOTE,
    },
    "languages/python/suggestion_checks/lines.py": {"b'^%b%b": {"code": b"import name"}},
    "languages/python/suggestion_checks/unknown_names.py": {"b'": {"word": b"name"}},
    "languages/slua/middles/middle.py": {"b'": {"before": SimpleNamespace(partial=b"name")}},
    "languages/typed/declared.py": {
        "lexeme": {"lexeme": DECLARED.lexeme.pattern.decode("ascii")},
        "token": {"token": DECLARED.token.pattern},
    },
    "languages/typed/lexicon.py": {"b'": {"lexeme": LEXICON.lexeme.pattern}},
    "lexing/lexer_tables.py": {"b'%s*(?:(": {"loops": rb"[^\"\\\n]", "detours": rb"[\\][^\n]"}},
    "lexing/line.py": {"b'%s*(?:[": {"marks": rb";,", "other": rb"[^\r\n;,]"}},
    "lsp_server/workspace_files.py": {"fnmatch": {"name": "*a*?[a-z]*b*"}},
    "models/checkpoints/hub.py": {"f'(": {"quantisation": "Q4_K_M"}},
    "quotient/states/fault_repairs.py": {"b'": {"word": b"name"}},
}


def sample(expression):
    """The values for an expression that is made at run time; none for the others."""
    path, source = expression.place.split(" ", 1)
    listed = SAMPLES.get(path, {})
    return next((values for beginning, values in listed.items() if source.startswith(beginning)), {})


def test_samples_are_for_expressions_that_need_them():
    used = [sample(each) for each in expressions() if each.variables]
    assert all(
        any(values is given for given in used) for listed in SAMPLES.values() for values in listed.values()
    )


@pytest.mark.parametrize(
    ("most_pumps", "most_bytes"),
    [
        pytest.param(4, 3_000, id="short"),
        pytest.param(100, 30_000, id="long", marks=pytest.mark.fuzz),
    ],
)
@pytest.mark.parametrize("expression", expressions(), ids=lambda each: each.place[:100])
def test_time_is_linear(expression, most_pumps, most_bytes):
    pattern = expression.compiled(**sample(expression))
    for method, attack in product(sorted(expression.methods), attacks(pattern, most_pumps)):
        ratio = growth(*attempt(pattern, method, attack), most_bytes)
        assert ratio < MOST, (method, attack)


def attempt(pattern, method, attack):
    start, piece, end = attack

    def text_of(n):
        text = start + piece * n + end
        return text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")

    return (lambda text: USES.get(method, all_matches)(pattern, text)), text_of


def all_matches(pattern, text):
    deque(pattern.finditer(text), 0)


def one_after_another(pattern, text):
    """As a lexer reads a text."""
    offset = 0
    while (match := pattern.match(text, offset)) and match.end() > offset:
        offset = match.end()


USES = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "search": lambda pattern, text: pattern.search(text),
    "match at": one_after_another,
    "fullmatch at": lambda pattern, text: pattern.fullmatch(text),
}
