"""The constraint of a request: masks, going back, forced text, and requests for a text between two others."""

import json
import random

import numpy as np
import pytest

from fimlsp import Engine, Vocabulary, fill_in_middle, json_schema
from fimlsp.backends.constraints import MOST_LANGUAGES, Constraints

END = 257
"""The stop token of the vocabulary."""

TEXTS = [*(bytes([byte]) for byte in range(256)), b"hel", None, b"x)", b"\n", b'{"', b"12"]
VOCABULARY = Vocabulary(TEXTS, stops=[END])
SUMS = 'start: NUMBER ("+" NUMBER)*\nNUMBER: /[0-9]+/'


def matcher(kind, text, stops=(), **settings):
    return Constraints(VOCABULARY, **settings).matcher(kind, text, stops)


def tokens_of(text):
    return list(text.encode())


def allowed(one):
    row = np.full((1, 12), -1, np.int32)
    one.fill(row, 0)
    return set(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist())


@pytest.mark.parametrize(
    ("kind", "text", "accepted", "refused"),
    [
        ("choice", '["hello", "help"]', ["hello", "help"], ["hel", "helpo", "x"]),
        ("regex", "[a-c]+[0-9]", ["a1", "abc9"], ["a", "1", "d1"]),
        ("json", '{"type": "integer"}', ["12", "-3"], ["1.5", '"a"', "[1]"]),
        ("gbnf", 'root ::= "a" [0-9]+', ["a1", "a12"], ["a", "b1"]),
        ("grammar", 'root ::= "a" [0-9]+', ["a1", "a12"], ["a", "b1"]),
        ("lark", SUMS, ["1", "1+22"], ["+", "1+", "a"]),
        ("grammar", SUMS, ["1", "1+22"], ["+", "1+", "a"]),
        ("language", "json", ['{"a": [1]}', "3"], ["{", "[1,]"]),
        ("language", "python", ["x = 1\n", "if a:\n  b"], ["if a:\nb", "(", "x ="]),
        (
            "json",
            json.dumps(fill_in_middle("x = (", ")\ny = 2\n")),
            ["1", "1, 2", "", ")\nz = ("],
            ["1)", "("],
        ),
        ("json", json.dumps(fill_in_middle("[1, ", "]", "json")), ["2", "2, 3", "[4], 5"], ["", "2]", "2, "]),
        ("json", json.dumps(fill_in_middle("1+", "+3", SUMS, kind="lark")), ["2", "22+1"], ["", "+"]),
        ("json", json.dumps(fill_in_middle("a", "1", "[a-c]+[0-9]", kind="regex")), ["", "bc"], ["1", "x"]),
        ("json", json.dumps(fill_in_middle('["h', "", '["help"]', kind="choice")), [], None),
    ],
)
def test_a_request_allows_the_texts_of_its_language(kind, text, accepted, refused):
    if refused is None:
        with pytest.raises(ValueError, match="no text connects these two"):
            matcher(kind, text)
        return
    for each in (*accepted, *refused):
        one = matcher(kind, text)
        taken = one.accepted([*tokens_of(each), END])
        assert (taken == [*tokens_of(each), END]) == (each in accepted), each


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("json", "{", "Cannot read the constraint as JSON"),
        ("json", '{"not": {"x-fimlsp": 1}}', "not"),
        ("json", '{"x-fimlsp": 1}', "Cannot read x-fimlsp"),
        (
            "json",
            '{"x-fimlsp": {"kind": "poem", "text": "", "left": "", "right": ""}}',
            "Cannot read x-fimlsp",
        ),
        ("language", "cobol", "cobol"),
        ("regex", "(", "Cannot use the expression"),
        ("grammar", "start: missing", "missing"),
        ("choice", "[]", "Cannot choose from no texts"),
    ],
)
def test_a_request_that_cannot_be_kept_is_refused(kind, text, message):
    with pytest.raises(ValueError, match=message):
        matcher(kind, text)


@pytest.mark.parametrize(
    ("kind", "text", "before", "forced"),
    [
        ("choice", '["hello", "help"]', "", "hel"),
        ("choice", '["hello", "help"]', "hell", "o"),
        ("choice", '["hello", "help"]', "help", ""),
        ("choice", '["aé", "aè"]', "", "a"),
        ("choice", '["é!"]', "", "é!"),
        ("regex", "a+", "", "a"),
        ("json", '{"const": {"name": 1}}', "", '{"name":1}'),
    ],
)
def test_forced_text_is_whole_characters_that_come_in_any_case(kind, text, before, forced):
    one = matcher(kind, text, compact=True)
    assert one.accepted(tokens_of(before)) == tokens_of(before)
    for token in tokens_of(before):
        assert one.accept(token)
    assert one.forced() == forced


@pytest.mark.parametrize("seed", range(6))
def test_going_back_and_copies_lead_to_the_same_masks(seed):
    random_ = random.Random(seed)
    one = matcher("json", json.dumps(fill_in_middle("def f(a):\n    return (", ")\n")))
    masks = [allowed(one)]
    for _ in range(60):
        if len(masks) > 1 and (one.is_over or random_.random() < 0.3):
            back = random_.randrange(1, len(masks))
            one.rollback(back)
            del masks[len(masks) - back :]
            assert allowed(one) == masks[-1]
        token = random_.choice(sorted(masks[-1]))
        assert one.accept(token)
        masks.append(allowed(one))
    assert allowed(one.copy()) == masks[0]
    one.reset()
    assert allowed(one) == masks[0]


def test_a_bit_is_set_exactly_if_the_token_is_accepted():
    one = matcher("json", json.dumps(fill_in_middle("x = (", ")\n")), stops=[ord(";")])
    for text in ("", "1", "1 if a", "'"):
        one.reset()
        for token in tokens_of(text):
            assert one.accept(token)
        assert allowed(one) == {token for token in range(len(TEXTS)) if one.accepted([token])}


def test_stops_of_a_request_end_its_text_and_are_no_text_before():
    one = matcher("regex", "a;?b*", stops=[ord(";"), 99_999])
    assert one.accepted([ord(";")]) == one.accepted([END]) == []
    assert one.accepted(tokens_of("a;b")) == tokens_of("a;")
    assert one.accept(ord("a"))
    assert allowed(one) == {ord("b"), ord(";")}
    assert not one.accept(END)
    assert one.accept(ord(";"))
    assert one.is_over
    assert not one.accept(ord("b"))
    assert allowed(one) == {ord(";")}


def test_a_vocabulary_that_cannot_go_on_may_stop(caplog):
    vocabulary = Vocabulary([b"a", None], stops=[1])
    one = Constraints(vocabulary).matcher("regex", "ab")
    assert one.accept(0)
    assert allowed(one) == {1}
    assert "ends incomplete" in caplog.text
    assert one.accept(1)


def test_more_steps_back_than_were_taken_are_refused():
    one = matcher("regex", "aa")
    assert one.accept(ord("a"))
    with pytest.raises(ValueError, match="Cannot go back 2 tokens: 1 were accepted"):
        one.rollback(2)


def test_a_server_without_the_backend_can_only_say_so():
    schema = json_schema({"const": fill_in_middle("a", "b")["const"]})
    state = Engine(schema).document(b"").middle(0, 0).start
    assert b"runs without the backend of fimlsp" in state.shortest_completion


def test_tables_of_languages_that_were_not_used_lately_are_dropped():
    vocabulary = Vocabulary(TEXTS, stops=[END])
    constraints = Constraints(vocabulary)
    for number in range(MOST_LANGUAGES + 5):
        allowed(constraints.matcher("choice", json.dumps([f"a{number}"])))
    assert len(vocabulary.stores) == MOST_LANGUAGES
