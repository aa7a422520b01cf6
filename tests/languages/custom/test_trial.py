"""Whole texts that a grammar reads, and the place where it refuses others."""

import pytest
from click.testing import CliRunner

from fimlsp.languages.custom import load_grammar
from fimlsp.languages.custom.trial import refusal
from fimlsp.lsp_server.command_line.cli import command_line

LIST = 'start: "list" NAME ("," NAME)* ";"\nNAME: /[a-z]+/\n%ignore /[ \\n]+/\n'
REST = "start: (NAME REST NL)+\nNAME: /[a-z]+/\nREST: /:[^\\n]*/\nNL: /\\n/\n"
NAMES = 'start: KEY "=" NAME\nKEY: /[a-z]+/\nNAME: /[a-z]+/i\n%ignore " "\n'
AMBIGUOUS = "x: a | b\na: WORD\nb: WORD\n"
UNREACHED = """// lexer = "contextual"
start: "c" LATER
u: v FIRST | FIRST
v: u
FIRST: /a/
LATER.-1: /[ab]+/
"""

CASES = [
    # a grammar, a text, and the refusal
    (LIST, "list a, b;", None),
    (LIST, "list a,\n b c;", "line 2, column 4: refused at 'c;'; expected ',', ';'."),
    (LIST, "list a, 1", "line 1, column 9: refused at '1'; expected NAME."),
    (LIST, "list a", "line 1, column 7: refused at its end; expected ',', ';'."),
    (LIST, "list é", "line 1, column 6: refused at 'é'; expected NAME."),
    (
        AMBIGUOUS + 'start: x "=" ANY\nWORD: /[a-z]+/\nANY.-1: /[a-z0-9]+;/\n',
        "a=b;",
        "line 1, column 3: refused at 'b;'; expected ANY. The lexer reads 'b' as WORD. The dynamic lexer "
        'reads all of it: write // lexer = "dynamic" into the grammar.',
    ),
    (
        AMBIGUOUS + 'start: x | "=" NAME\nWORD: /[a-z]+/\nNAME.-1: /[a-z]+/\n',
        "=b",
        "line 1, column 1: refused at '=b'; expected WORD. The dynamic lexer reads all of it: write "
        '// lexer = "dynamic" into the grammar.',
    ),
    (
        AMBIGUOUS + 'start: x "=" ANY\nWORD: /[a-z]+/\nANY.-1: /[a-z0-9]+;/\n',
        "a=b;;",
        "line 1, column 3: refused at 'b;;'; expected ANY. The lexer reads 'b' as WORD. Give the terminals "
        "that are meant a higher priority, or texts of their own.",
    ),
    (
        AMBIGUOUS + 'start: x | "=" NAME\nWORD: /[a-z]+/\nNAME.-1: /[a-z]+/\n',
        "=b=",
        "line 1, column 1: refused at '=b='; expected WORD. The lexer never reads NAME, as other terminals "
        "take all their texts. Give the terminals that are meant a higher priority, or texts of their own.",
    ),
    (REST, "a: x\nb:\n", None),
    (REST, "a: x\n;", "line 2, column 1: refused at ';'; expected NAME or the end."),
    (
        NAMES.replace("NAME: /[a-z]+/i", "NAME: /[A-Z]+/"),
        "a = B \n",
        "line 1, column 7: refused at '\\n'; expected the end. Only white space follows: leave it out, or "
        "%ignore it in the grammar.",
    ),
    (REST, "a\n", "line 1, column 2: refused at '\\n'; expected REST."),
    (
        NAMES,
        "a = a",
        "line 1, column 5: refused at 'a'; expected NAME. The lexer reads 'a' as KEY. The contextual lexer "
        "reads all of it: "
        'write // lexer = "contextual" into the grammar.',
    ),
    ('// lexer = "contextual"\n' + NAMES, "a = a", None),
    (UNREACHED, "cab", None),
    ('// lexer = "contextual"\n' + NAMES, "a a", "line 1, column 3: refused at 'a'; expected '='."),
]


def said(grammar, text):
    place = refusal(load_grammar(grammar), text.encode())
    return None if place is None else str(place)


@pytest.mark.parametrize(("grammar", "text", "expected"), CASES)
def test_places(tmp_path, grammar, text, expected):
    file = tmp_path / "tried.lark"
    file.write_text(grammar)
    assert said(file, text) == expected


def test_the_command_names_each_file_and_fails_if_one_is_refused(tmp_path):
    (tmp_path / "own.lark").write_text(LIST)
    for name, text in (("good", "list a;"), ("bad", "list;")):
        (tmp_path / name).write_text(text)
    options = ["verify", "--grammar", str(tmp_path / "own.lark")]
    read = CliRunner().invoke(command_line, [*options, "--try", str(tmp_path / "good")])
    assert (read.exit_code, read.output) == (0, f"{tmp_path / 'good'}: read.\n")
    both = [*options, "--try", str(tmp_path / "good"), "--try", str(tmp_path / "bad")]
    refused = CliRunner().invoke(command_line, both)
    assert refused.exit_code == 1
    assert refused.output.splitlines()[1].endswith("bad, line 1, column 5: refused at ';'; expected NAME.")
    alone = CliRunner().invoke(command_line, ["verify", "--try", str(tmp_path / "good")])
    assert "--try needs --grammar" in alone.output
