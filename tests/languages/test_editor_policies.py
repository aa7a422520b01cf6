"""The blocks, comments, brackets and repetitions of each language's policy."""

from __future__ import annotations

import pytest

from fimlsp.languages import LANGUAGES
from fimlsp.languages.custom import load_grammar
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.language.editor_policy import Comment

# left <| suggestion |> right; `¦` marks the place where the suggestion is cut off
FAULTS = [
    ("lua", "<|x = 1|>\n"),
    ("lua", "x = 1\n<|¦x = 1|>\n"),
    ("lua", "x = 1\n<|y = 2¦\nx = 1|>\n"),
    ("lua", "<|y = 2¦\nx = 1|>\nx = 1\n"),
    ("lua", "if a then\n  return nil\nend\n<|if b then\n  return nil\nend|>\n"),
    ("lua", "-- one\n<|¦-- two|>\n"),
    ("lua", "if a then\n  <|b()\nend|>\n"),
    ("lua", "if a then\n  <|b()¦\nc()|>\n"),
    ("go", "\tif err != nil {\n\t\treturn err\n\t}\n<|\tif err != nil {\n\t\treturn err\n\t}|>\n"),
    ("go", "\tx := 1\n<|¦\tx := 1|>\n"),
    ("go", "// one\n<|¦// two|>\nvar a int\n"),
    ("go", "func f() {\n\t<|g()\n}|>\n"),
    ("go", "func f() {\n\t<|g()¦\nvar x int|>\n"),
    ("typescript", "let x = 1;\n<|¦let x = 1;|>\n"),
    ("typescript", "() => {\nif (a) {\n  return;\n}\n<|if (b) {\n  return;\n}|>\n};\n"),
    ("typescript", "// one\n<|¦// two|>\n"),
    ("tsx", "x = (\n  <p>\n    <|a\n  </p>\n)|>\n"),
    ("tsx", "  <p>\n    <a/>\n  </p>\n<|  <p>\n    b\n  </p>|>\n"),
    ("tsx", "    <a/>\n<|¦    <a/>|>\n"),
    ("javascript", "if (a) {\n  <|b();¦\nc();|>\n}\n"),
    ("javascript", "const a = 1;\n<|¦const a = 2;|>\n"),
    ("javascript", "<|b();\n¦const a = 2;|>\nlet a = 1;\n"),
    ("typescript", "let a: b;\nif (c) {\n  <|let a: d;|>\n}\n"),
    ("typescript", "if (c) {\n  let a: d;\n}\n<|let a: b;|>\n"),
    ("typescript", "<|let a: b;|>\nif (c) {\n  let a: d;\n}\n"),
    ("typescript", "for (const a of b) c();\n<|for (const a of d) e();|>\n"),
    ("typescript", "class A {}\n<|x = class A {};|>\n"),
    ("typescript", "class A {}\n<|¦class A {}|>\n"),
    ("typescript", "const enum A {}\n<|const enum B {}|>\n"),
    ("typescript", "switch (a) {\n  case 1:\n    const b = 1;\n  case 2:\n    <|¦const b = 2;|>\n}\n"),
    ("typescript", "// const a\nx = 'const a';\n<|const a = `const a`;|>\n"),
    ("typescript", "x = { const: a };\ny.let\n<|let a = 1;|>\n"),
    ("javascript", "a: for (;;) {\n  <|break a;|>\n}\n"),
    ("javascript", "for (;;) {\n  <|break ¦a;|>\n}\n"),
    ("javascript", "for (;;) {\n  <|break;|>\n}\n"),
    ("javascript", "for (;;) {\n  <|break ¦a|>\n}\n"),
    ("javascript", "for (;;) {\n  <|// break the loop, or continue it;|>\n}\n"),
    ("javascript", "a = 'please <|continue reading';|>\n"),
    ("javascript", "// please <|continue reading;|>\n"),
    ("javascript", "<|// see a.#b|>\n"),
    ("tsx", "a = <p>{b} <|continue shopping</p>;|>\n"),
    ("tsx", "a = <p>let us know, let me see</p>;\n<|b = <p>let us go</p>;|>\n"),
    ("typescript", "let a;\n<|¦let a|>\n"),
    (
        "typescript",
        "function f<const A extends b>(): void;\n<|function f<const A extends b>(c: A): void;|>\n",
    ),
    ("javascript", "class A {\n  b = `${`${c}`}`;\n  #d() {}\n  e() {\n    <|return this.#d();|>\n  }\n}\n"),
    ("javascript", "class A {\n  #b;\n  m() {\n    <|this.#b();|>\n  }\n}\n"),
    ("javascript", "class A {\n  m() {\n    <|this.#b();|>\n  }\n  #b() {}\n}\n"),
    ("javascript", "class A {\n  m() {\n    <|this.¦#b();|>\n    c.#b;\n  }\n}\n"),
    ("json", '{\n  "a": 1,\n  <|¦"a": 2|>\n}\n'),
    ("json", '{\n  "a": 1,\n  "b": {\n    <|"a": 2|>\n  }\n}\n'),
    ("json", '{\n  <|"a": 2,¦\n  "b": 3|>,\n  "b": 1\n}\n'),
    ("json", '{\n  <|"a": 2,¦\n  "a": 3|>\n}\n'),
    ("json", '{\n  "a": 1,\n  "a": <|2|>\n}\n'),
    ("json", "[\n  1,\n  <|1,\n  1|>\n]\n"),
]


@pytest.mark.parametrize(("name", "marked"), FAULTS)
def test_a_suggestion_is_cut_off_before_a_repetition(name, marked):
    left, rest = marked.split("<|")
    text, right = rest.split("|>")
    at = text.find("¦")
    cut_at = (
        LANGUAGES[name]
        .language()
        .editor.first_issue(left.encode(), text.replace("¦", "").encode(), right.encode())
    )
    assert cut_at == (None if at < 0 else at)


SWAPS = [
    ("lua", "a) g(b", True),
    ("lua", "--[[ )( ]] x", False),
    ("lua", "[==[ )( ]] ]==] x", False),
    ("lua", "')(' .. \")(\" -- )(", False),
    ("go", "a) g(b", True),
    ("go", '`)(` + ")(" // )(', False),
    ("go", "/* )(\n */ ')'", False),
    ("typescript", "a) g(b", True),
    ("typescript", '`)(` + ")(" // )(', False),
    ("tsx", "don't (a", False),
    ("tsx", "<a b=')('/>", False),
    ("json", "1], [2", True),
    ("json", '"], ["', False),
]


@pytest.mark.parametrize(("name", "text", "swaps"), SWAPS)
def test_a_bracket_is_closed_and_another_opened(name, text, swaps):
    assert LANGUAGES[name].language().editor.swaps_brackets(text.encode()) is swaps


COMMENTED = {
    "python": "x = 1\n",
    "lua": "x = 1\n",
    "go": "package p\n",
    "toml": "",
    **dict.fromkeys(("typescript", "tsx", "javascript", "jsx"), ""),
}


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_remark_of_the_policy_is_one_of_the_language(name):
    language = LANGUAGES[name].language()
    comment = language.editor.comment
    assert (comment is not None) == (name in COMMENTED), f"add a shortest valid text of {name} to COMMENTED"
    if comment is not None:
        text = f"{comment.begin} Path: a{comment.end}\n{COMMENTED[name]}".encode()
        start = Engine(language).document(text).middle(0, 0).start
        assert start is not None
        assert start.complete
        assert language.editor.is_comment(text.partition(b"\n")[0])


GRAMMARS = [
    (r"%ignore /#[^\n]*/", Comment("#")),
    (r"%ignore /--[^\n]*/", Comment("--")),
    (r"%ignore /\/\*(.|\n)*?\*\//", Comment("/*", "*/")),
    (r"%ignore /[ \n]+/", None),
]


@pytest.mark.parametrize(("rest", "comment"), GRAMMARS)
def test_a_grammar_tells_its_remarks_words_and_strings(tmp_path, rest, comment):
    (tmp_path / "query.lark").write_text(
        'start: ("select" (WORD | STRING) "(" ")")+\nWORD: /[a-z]+/\nSTRING: /"[^"]*"/\n%ignore " "\n' + rest
    )
    policy = load_grammar(tmp_path / "query.lark").editor
    assert (policy.comment, policy.file_ending) == (comment, ".query")
    assert policy.known_names == {b"select"}
    assert policy.code_alone(b'a ")(" b') == b"a  b"
    assert policy.opens_block(b"select a (")
    assert not policy.opens_block(b"select a")
