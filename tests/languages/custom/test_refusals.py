"""Grammars that cannot be used: one sentence each, with the rule or terminal, the line, and a way out."""

from pathlib import Path

import pytest

from fimlsp.languages.custom import compiling, load_grammar
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.grammar.cfg import GrammarError

from ...sampling import sampled


def refusal(folder: Path, text: str | bytes, start: str = "start") -> str:
    file = folder / "bad.lark"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(GrammarError) as caught:
        load_grammar(file, start)
    said = str(caught.value)
    assert "\n" not in said
    assert str(folder) not in said
    return said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("start: a\na: missing\n", "The rule a (bad.lark, line 2) uses missing, which is not defined"),
        ("start: A\nA: /a*/\n", "terminal A (bad.lark, line 2) may match the empty text"),
        (f"start: A\nA: /{'(' * 3_000}a{')' * 3_000}/\n", "terminal A (bad.lark, line 2) nests too deeply"),
        ("start: A\n\nA: /(?<!b)a/\n", "terminal A (bad.lark, line 3) looks at the text before it"),
        ("start: A\nA: /a(?=b)/\n", "terminal A (bad.lark, line 2) looks at the text after its end"),
        ("start: A\nA: /(a)\\1/\n", "terminal A (bad.lark, line 2) refers back to a group by its number"),
        ("start: A A\nA: /a+/\n", "A (bad.lark, line 2) may follow A (bad.lark, line 2), but would be read"),
        (
            'start: A A | B\nA: /[^ ]+/\nB.2: /"[^"]*"/\n%ignore " "\n',
            "would be read as a part of B (bad.lark, line 3), which may start like A and goes on after it",
        ),
        (
            'start: WORD "=" NAME\nWORD: /[a-z]+/\nNAME.-1: /[a-z]+/\n',
            "the lexer reads all texts of NAME (bad.lark, line 3) as another terminal. Give NAME a higher",
        ),
        ('start: A B\nA: "a"\n%declare B\n', "start (bad.lark, line 1) needs B, which is only declared"),
        ("start: start\n", "rule start (bad.lark, line 1) derives no text"),
        ("start:\n", "derives no text, or only the empty one"),
        ('other: "a"\n', "Cannot start from start: bad.lark has no such rule"),
        ('start: "a\n', "at line 1 column 8"),
        ("start: A\nA: B\nB: A\n", "Recursion"),
        ('start: "a"\nstart: "b"\n', "defined more than once"),
        (f'start: {" ".join(["A?"] * 40)}\nA: "a"\n', "rule start (bad.lark, line 1) has 1"),
        ("start: A\nA: /(a|b)*a(a|b){14}/\n", "more than 5000 states"),
        ("start: a\n%import .missing.a\n", "neither in its folder"),
        ("start: a\n%import nothing.a\n", "Cannot import nothing into bad.lark"),
        (b'start: "\xff"\n', "not UTF-8 at byte 8"),
        ('// lexer = "other"\nstart: "a"\n', 'Cannot use the lexer "other" (bad.lark, line 1)'),
        ('// lexer = "dynamic"\nstart: A\nA: /(?<!b)a/\n', "terminal A (bad.lark, line 3) looks at the text"),
        ('// lexer = "dynamic"\nstart: A\nA: /a+(?!b)/\n', "looks ahead of its end, where another match"),
        ('// lexer = "dynamic"\nstart: start\n', "rule start (bad.lark, line 2) derives no text"),
        ('// lexer = "contextual"\nstart: a | b\na: "x"\nb: "x"\n', "it is not LALR(1) (Reduce/Reduce"),
    ],
)
def test_one_sentence(tmp_path, text, said):
    assert said in refusal(tmp_path, text)


@pytest.fixture
def within_half_a_second(monkeypatch):
    """The bound of a grammar is half a second of processor time."""
    with monkeypatch.context() as patch:
        patch.setattr(compiling, "MOST_SECONDS", 0.5)
        compiling.compiler.cache_clear()
        yield
        compiling.compiler().close()
    compiling.compiler.cache_clear()


def chain(n, step, end):
    return "".join(step.format(at=at, next=at + 1) for at in range(n)) + end


# grammars that would keep Lark, Python's matcher or the engine busy
WITHOUT_END = {
    "a literal without its end": 'start: "' + "\\\\" * 40 + "\n",
    "an expression without its end": "start: /" + "\\\\" * 40 + "\n",
    "blank lines": 'start: "a"\n' + "\n" * 900_000,
    "an expression that backtracks": f'start: A "{"a" * 60}"\nA: /(a+)+b|b/\n',
    "a template of itself": 'start: t{"a"}\nt{x}: x t{t{x}}\n',
    "terminals that double": "start: T0\n" + chain(40, "T{at}: T{next} T{next}\n", 'T40: "x"\n'),
    "a chain of terminals": "start: T0\n" + chain(3_000, "T{at}: T{next}\n", 'T3000: "x"\n'),
    "a long rule": "start: " + "A " * 400_000 + '\nA: "a"\n',
}


@pytest.mark.parametrize("text", sampled(WITHOUT_END.values(), 3), ids=WITHOUT_END)
@pytest.mark.usefixtures("within_half_a_second")
def test_no_grammar_takes_longer_than_its_bound(tmp_path, text):
    said = refusal(tmp_path, text)
    assert said.startswith("Cannot use bad.lark: it takes more than 0.5 s of processor time to compile.")
    (tmp_path / "good.lark").write_text('start: "a"\n')
    assert load_grammar(tmp_path / "good.lark").grammar()


# grammars that ended in the traceback of a library
WITHOUT_A_SENTENCE = [
    "start: /\\N{nothing}/\n",
    "start: /a{99999999999999999999}/\n",
    'start: "\\x"\n',
    "start: " + "(" * 3_000 + '"a"' + ")" * 3_000 + "\n",
]


@pytest.mark.parametrize("text", WITHOUT_A_SENTENCE)
def test_failures_of_libraries_are_sentences(tmp_path, text):
    assert refusal(tmp_path, text).startswith("Cannot ")


def test_what_lies_elsewhere_is_not_read(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "other.lark").write_text('a: "a"\n')
    (inside / "linked.lark").symlink_to(outside / "other.lark")
    assert "it lies outside of the grammar's folder" in refusal(inside, "start: a\n%import .linked.a\n")


def test_a_file_that_is_missing_or_large_or_a_folder(tmp_path):
    for path, said in ((tmp_path / "none.lark", "no such file"), (tmp_path, "Cannot read")):
        with pytest.raises(GrammarError, match=said):
            load_grammar(path)
    large = tmp_path / "large.lark"
    large.write_bytes(b"//" + bytes(1_000_000))
    with pytest.raises(GrammarError, match="not a regular file of at most 1,000,000 bytes"):
        load_grammar(large)


def test_no_code_of_the_folder_is_run(tmp_path):
    (tmp_path / "lark.py").write_text("raise SystemExit('run')")
    (tmp_path / "common.py").write_text("raise SystemExit('run')")
    (tmp_path / "g.lark").write_text("start: INT\n%import common.INT\n")
    assert Engine(load_grammar(tmp_path / "g.lark")).document(b"1").middle(1, 1).start.complete


@pytest.mark.parametrize("count", [2_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_many_rules(tmp_path, count):
    rules = "".join(f'r{n}: "a" r{n + 1} "b" | "c"\n' for n in range(count))
    (tmp_path / "g.lark").write_text(f'start: r0\n{rules}r{count}: "d"\n%ignore " "\n')
    start = Engine(load_grammar(tmp_path / "g.lark")).document(b"a a c  b").middle(6, 6).start
    assert start.shortest_completion == b"b"
