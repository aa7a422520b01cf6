import tokenize
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fimlsp.datasets.cuts import STRATEGIES, Cut, CutRecord, boundary, make_cuts, paper_boundary, randspan
from fimlsp.datasets.languages.json_and_toml import JSON
from fimlsp.datasets.languages.python import (
    PYTHON,
    bodies_of,
    kinds_and_tokens,
    statements_of,
    suites_of,
)
from fimlsp.datasets.sources import Excluded, SourceFile

NESTED = "a\nif b:\n    c\n    for d in e:\n        f\n    g  # h\ni\n"
FILES = {
    "nothing": "",
    "one name": "a",
    "no line end": "x = 1",
    "suites": NESTED,
    "only a comment": "# é\n",
    "string of many lines": 'def f():\n    """a\n  b\n\n    """\n    return {\n        1: "ü",\n    }\n',
    "f-string": "x = f'{a!r:>{b}}' f\"{c}\"\n",
    "form feed, tabs": "\x0cif a:\n\tb\n\n\tc\n",
    "blank lines": "\n\n\nclass A: pass\n\n\n",
}


JSON_FILES = {
    "value": "1",
    "empty": "[]",
    "nested": '{"a": [1, {"b": null}, -2.5e3], "c": {}, "d": "é"}',
    "lines": '[\n  {"a": 1},\n  {"a": [\n    2\n  ]}\n]',
}
CONTENTS = [(PYTHON, content) for content in FILES.values()] + [(JSON, text) for text in JSON_FILES.values()]


@pytest.mark.parametrize(("language", "content"), CONTENTS, ids=[*FILES, *JSON_FILES])
@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
@settings(max_examples=15)
@given(seed=st.integers())
def test_a_cut_loses_nothing_and_comes_again(strategy, language, content, seed):
    text = content + "\n"
    cut = strategy(text, Random(seed), language)
    assert cut == strategy(text, Random(seed), language)
    if cut is not None and cut.end < cut.start:
        assert cut.swapped
        assert strategy is paper_boundary
        assert cut.left(text) + cut.right(text) == text[: cut.start] + text[cut.end :]
    elif cut is not None:
        assert 0 <= cut.start <= cut.end <= len(text)
        assert cut.left(text) + cut.middle(text) + cut.right(text) == text


@settings(max_examples=50)
@given(content=st.text("ab\n é", max_size=700), seed=st.integers())
def test_a_random_span_is_as_in_the_protocol(content, seed):
    text = content + "\n"
    cut = randspan(text, Random(seed), PYTHON)
    length = len(content)
    assert cut.start == int(0.9 * Random(seed).random() * length)
    assert len(cut.middle(text)) == min(int(min(0.2 * length, 100)), length - cut.start)
    assert cut.right(text).endswith("\n")


def texts_of(suites, text):
    return {tuple("".join(text[a:b] for a, b in stretch) for stretch in suite) for suite in suites}


def test_suites_are_suites_and_their_stretches_what_lies_between_nested_ones():
    assert texts_of(suites_of(NESTED), NESTED) == {
        ("a\nifb:\n", "i\n"),
        ("c\nforde".replace("de", "dine") + ":\n", "g# h\n"),
        ("f\n",),
    }


def test_comments_and_line_ends_count_and_an_f_string_is_one_token():
    text = FILES["f-string"] + "# c\n\n"
    texts = [text[start:end] for kind, (start, end) in kinds_and_tokens(text)]
    assert texts == ["x", "=", "f'{a!r:>{b}}'", 'f"{c}"', "\n", "# c", "\n", "\n", ""]


def test_a_boundary_lies_within_two_tokens_of_one_suite():
    text = NESTED
    suites = suites_of(text)
    for seed in range(300):
        cut = boundary(text, Random(seed), PYTHON)
        assert any(
            any(a <= cut.start <= b for a, b in tokens) and any(a <= cut.end <= b for a, b in tokens)
            for tokens in ([token for stretch in suite for token in stretch] for suite in suites)
        )


def test_suites_are_chosen_by_their_tokens():
    text = "if a:\n    b = c + d + e + f\nelse:\n    g\n"
    n_tokens = {"b": 10, "g": 2, "if": 7}
    chosen = Counter()
    for seed in range(3000):
        random = Random(seed)
        suites = suites_of(text)
        suite = random.choices(suites, [sum(map(len, suite)) for suite in suites])[0]
        chosen[text[slice(*suite[0][0])]] += 1
    for name, n in n_tokens.items():
        assert abs(chosen[name] / 3000 - n / sum(n_tokens.values())) < 0.03


def test_ends_in_the_wrong_order_are_swapped_and_told():
    text = "abcdefghij\n"
    cuts = [boundary(text, Random(seed), PYTHON) for seed in range(200)]
    swapped = [cut for cut in cuts if cut.swapped]
    assert 3 < len(swapped) < 30
    assert all(cut.start < cut.end for cut in swapped)


@pytest.mark.parametrize(
    ("kind", "content", "possible"),
    [
        ("line", "if a:\n    bc\n", {"if a:", "f a:", " a:", "a:", ":", "bc", "c"}),
        ("block", "if a:\n    b\n    # c\nelse:\n  d\n", {"    b", "  d"}),
        ("block", NESTED, {"    c\n    for d in e:\n        f\n    g  # h", "        f"}),
        ("user", "a = [\n 1]\n# b\nif c: d\n", {
            " = [\n 1]", "= [\n 1]", " [\n 1]", "[\n 1]", "\n 1]", " 1]", "1]", "]",
            "f c: d", " c: d", "c: d", ": d", " d", "d",
        }),
    ],
)  # fmt: skip
def test_kinds_of_holes(kind, content, possible):
    text = content + "\n"
    middles = {STRATEGIES[kind](text, Random(seed), PYTHON).middle(text) for seed in range(300)}
    assert middles == possible


@pytest.mark.parametrize(
    ("kind", "content", "possible"),
    [
        ("block", '{"a": [1], "b": {}}', {'"a": [1], "b": {}', "1"}),
        ("user", '{"ab": [1, 23]}', {
            'ab": [1, 23]', 'b": [1, 23]', '": [1, 23]', ": [1, 23]", " [1, 23]", "[1, 23]", "1, 23]",
            ", 23]", " 23]", "23]", "3]", "]", "3",
        }),
        ("boundary", "[1, [2]]", {
            "", "[", "1", ",", "[1", "1,", "[1,", ", [2]]", "1, [2]]", "[1, [2]]", " [2]]", " [2]", "1, [2]",
            "[1, [2]", ", [2]", "2", "]", "[2", "2]", "[2]",
        }),
    ],
)  # fmt: skip
def test_kinds_of_holes_in_json(kind, content, possible):
    text = content + "\n"
    cuts = [STRATEGIES[kind](text, Random(seed), JSON) for seed in range(600)]
    assert {cut.middle(text) for cut in cuts} == possible


def test_nothing_to_cut():
    assert [STRATEGIES[kind]("\n", Random(0), PYTHON) for kind in ("line", "block", "user")] == [None] * 3
    assert bodies_of("\n") == statements_of("\n") == []
    file = SourceFile.of("empty.py", "")
    assert list(make_cuts(file, PYTHON, ["block"], 3, 0)) == [
        Excluded("empty.py", "nothing to cut for block")
    ]


def test_a_file_that_only_the_parser_reads_is_left_out(monkeypatch):
    def fail(_readline):
        raise tokenize.TokenError("odd")

    monkeypatch.setattr(tokenize, "generate_tokens", fail)
    file = SourceFile.of("odd.py", "a = 'never read before'\n")
    kinds = [type(record) for record in make_cuts(file, PYTHON, ["randspan", "boundary"], 2, 0)]
    assert kinds == [CutRecord, CutRecord, Excluded]


def test_a_record_is_the_same_wherever_the_file_is():
    here = SourceFile.of("here/a.py", NESTED.replace("\n", "\r\n"))
    there = SourceFile.of("there/b.py", NESTED)
    cuts = [
        [record.cut for record in make_cuts(file, PYTHON, list(STRATEGIES), 3, 5)] for file in (here, there)
    ]
    assert cuts[0] == cuts[1]
    more = [record.cut for record in make_cuts(there, PYTHON, ["randspan"], 9, 5)]
    assert more[:3] == cuts[0][3:6]
    assert more != [record.cut for record in make_cuts(there, PYTHON, ["randspan"], 9, 6)]


@settings(max_examples=25)
@given(st.integers(0, 99), st.integers(0, 9), st.booleans())
def test_records_go_to_json_and_back(start, index, swapped):
    file = SourceFile.of("a.py", "a" * 99)
    (record,) = [r for r in make_cuts(file, PYTHON, ["line"], index + 1, start) if r.index == index]
    assert CutRecord.from_json(record.to_json() | {"swapped": swapped}).to_json()["swapped"] == swapped
    assert CutRecord.from_json(record.to_json()) == record


@pytest.mark.parametrize(
    "change", [{"start": None}, {"start": 9, "end": 8}, {"end": "x"}, {"start": -1}], ids=str
)
def test_what_is_no_record_says_why(change):
    (record,) = make_cuts(SourceFile.of("a.py", "abc"), PYTHON, ["line"], 1, 0)
    with pytest.raises(ValueError, match="case"):
        CutRecord.from_json(record.to_json() | change)


PAPER_TEXT = "a = 1\nif b:\n    c = d\n    for e in f:\n        g()\ni  # h\n"


def test_the_papers_own_cuts_come_from_the_numbers_of_file_and_cut():
    """As the released code draws them, written in plain steps."""
    file = SourceFile.of("a.py", PAPER_TEXT)
    for number in range(40):
        records = list(
            make_cuts(replace(file, number=number), PYTHON, ["paper-boundary", "paper-randspan"], 10, 99)
        )
        for record in records:
            random = Random(hash((number, record.index)) % 2**32)
            if record.kind == "paper-randspan":
                start = int(0.9 * random.random() * len(PAPER_TEXT))
                assert record.cut == Cut(start, min(start + int(0.2 * len(PAPER_TEXT)), len(PAPER_TEXT)))
            else:
                assert (record.cut.start, record.cut.end) == plain_boundary(random, file.text)
            assert record.case == f"{record.kind}-{number}-{record.index}"
            assert CutRecord.from_json(record.to_json()) == record


def plain_boundary(random, text):
    suites = suites_of(text)
    (suite,) = random.choices(suites, [sum(map(len, suite)) for suite in suites], k=1)
    stretches = random.choices(suite, [len(stretch) for stretch in suite], k=2)
    tokens = sorted(stretch[random.randint(0, len(stretch) - 1)] for stretch in stretches)
    return tuple(random.randint(*token) for token in tokens)


def test_the_papers_swapped_ends_stay_and_both_sides_share_a_text():
    text = "abcdefghij\n"
    cuts = [paper_boundary(text, Random(seed), PYTHON) for seed in range(200)]
    swapped = [cut for cut in cuts if cut.swapped]
    assert swapped
    for cut in swapped:
        assert cut.middle(text) == ""
        assert cut.left(text).endswith(text[cut.end : cut.start])
        assert cut.right(text).startswith(text[cut.end : cut.start])


def test_an_empty_file_is_one_case_of_a_kind():
    cuts = list(make_cuts(SourceFile.of("a.py", ""), PYTHON, ["randspan", "boundary"], 5, 0))
    assert [cut.kind for cut in cuts] == ["randspan", "boundary"]


def test_a_case_keeps_the_name_that_somebody_gave_it():
    (record,) = make_cuts(SourceFile.of("a.py", "abc"), PYTHON, ["line"], 1, 0)
    named = CutRecord.from_json(record.to_json() | {"case": "my favourite"})
    assert named.case == named.to_json()["case"] == "my favourite"
