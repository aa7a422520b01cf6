"""Files in a grammar of the user's own: Lark's verdicts, its tokens, and where they are cut."""

import pickle

import pytest

from fimlsp.datasets.languages.own_grammar import OwnGrammar
from fimlsp.languages.custom import load_grammar

GRAMMAR = """
%import .words.WORD
start: statement*
statement: WORD "=" value ";" | WORD block
block: "{" statement* "}"
value: WORD | "[" [value ("," value)*] "]"
%ignore /[ \\n]+/
%ignore /#[^\\n]*/
"""
TEXT = """a = [b, [c]]; # }
b {
  c = d; d = {}
}
""".replace("{}", "[];")


@pytest.fixture(scope="module")
def language(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grammar")
    (folder / "config.lark").write_text(GRAMMAR)
    (folder / "words.lark").write_text("WORD: /[a-z]+/\n")
    return OwnGrammar(load_grammar(folder / "config.lark"), ("*.config",))


def texts(spans):
    return [TEXT[start:end] for start, end in spans]


def test_lark_judges(language):
    replayed = language.replay_language
    assert replayed.syntax_error(TEXT) is None
    assert "(line 2)" in replayed.syntax_error("a = b;\nc = = d;")
    assert replayed.syntax_error("a = §;")
    assert replayed.has_file("x.config")
    assert not replayed.has_file("x.lark")


def test_places_to_cut(language):
    replayed = language.replay_language
    spans = sorted(span for suite in replayed.suites(TEXT) for stretch in suite for span in stretch)
    assert "".join(texts(spans)) == "a=[b,[c]];b{c=d;d=[];}"
    assert [text.strip() for text in texts(replayed.bodies(TEXT))] == ["b, [c]", "c", "c = d; d = [];"]
    assert texts(replayed.statements(TEXT)) == ["a = [b, [c]];", "b {", "c = d; d = [];", "}"]


def test_blocks_of_columns(tmp_path):
    (tmp_path / "tree.lark").write_text(
        "start: item*\nitem: A _NL [_INDENT item+ _DEDENT]\nA: /[a-z]+/\n%declare _INDENT _DEDENT\n"
        "_NL: /(\\r?\\n[\\t ]*)+/\n%ignore /[ \\t]+/\n"
    )
    replayed = OwnGrammar(load_grammar(tmp_path / "tree.lark"), ("*.tree",)).replay_language
    text = "\n\na\n  b\n    c\n  d\ne"
    assert replayed.syntax_error(text) is None
    assert replayed.syntax_error(" a") == "the first line is indented"
    assert replayed.syntax_error("a\n  b\n c") is not None
    assert [text[slice(*body)].strip() for body in replayed.bodies(text)] == ["b\n    c\n  d", "c"]
    assert [text[slice(*span)] for span in replayed.statements(text)] == ["a", "b", "c", "d", "e"]


def test_it_is_kept_with_a_run_and_travels_to_other_processes(language):
    assert OwnGrammar.from_json(language.to_json()) == language
    assert pickle.loads(pickle.dumps(language.replay_language)).syntax_error(TEXT) is None
