"""Programs of a researcher, with what docs/library.md and docs/sql.md show, and no more."""

import json
import math
import sqlite3
from collections import Counter
from dataclasses import replace

import jsonschema
import numpy as np
import pytest

from fimlsp import (
    Candidates,
    DecodeSettings,
    Engine,
    Scoring,
    Vocabulary,
    choice,
    complete_many,
    gbnf,
    generate,
    generate_many,
    json_schema,
    load_grammar,
    load_model,
    python,
    regular,
    score_middle,
)
from fimlsp.languages.sql.queries import begin
from fimlsp.languages.sql.schema import read_schema
from fimlsp.languages.typed.state import Spaced


@pytest.fixture(scope="module")
def model():
    return load_model()


@pytest.fixture(scope="module")
def network_alone():
    """Without the buffer and without healing: its distribution is that of its network."""
    return replace(load_model(uses_buffer=False), heals=False)


def start_of(language, left=b"", right=b"", **options):
    start = Engine(language).document(left + right).middle(len(left), len(left), **options).start
    assert start is not None
    return start


def allowed(state, vocabulary):
    return np.unpackbits(state.mask(vocabulary).view(np.uint8), bitorder="little")[: len(vocabulary)]


def middles(model, left, right, start, **settings):
    return complete_many(model, left, right, start, DecodeSettings(**settings), lambda: False)


def test_masks_are_what_feeding_accepts(model):
    state = start_of(python(), b"import os\nprint(os.path.join(", b"))\n")
    vocabulary = Vocabulary(model.network.token_bytes, model.network.stops)
    bits = allowed(state, vocabulary)
    for token in range(0, len(vocabulary), 29):
        text = vocabulary.token_bytes[token]
        if text is not None and token not in vocabulary.stops:
            assert (state.feed(text) is not None) == bool(bits[token]), text


@pytest.mark.parametrize(
    "language",
    [
        load_grammar(text='start: NUMBER ("+" NUMBER)*\nNUMBER: /[0-9]{1,2}/'),
        regular("(ab|cd)+!"),
        choice(["red", "green"]),
        gbnf('root ::= "<" [a-c]+ ">"'),
    ],
    ids=["Lark", "expression", "choice", "GBNF"],
)
def test_texts_of_a_grammar_in_a_string(language, model):
    settings = DecodeSettings(tokens=8, candidates=4, temperature=1, independent=True)
    written = generate_many(model, b"", start_of(language), settings)
    assert len(written) == 4
    assert all(start_of(language).feed(text.text).complete for text in written)


class Uniform:
    """Single bytes, and the end of the text, are equally likely."""

    def __init__(self, network):
        self.token_bytes, self.stops = network.token_bytes, network.stops
        self.tokens = [token for token, text in enumerate(self.token_bytes) if text and len(text) == 1]
        self.tokens += self.stops

    def begin(self, tokens, written=()):
        del tokens, written
        share = -math.log(len(self.tokens))
        return Candidates(self.tokens, [share] * len(self.tokens), share)

    def advance(self, token):
        return self.begin([token])


def test_a_network_from_nothing(model, network_alone):
    own, left, right = replace(network_alone, network=Uniform(model.network)), b"x = [", b"]\n"
    start = start_of(python(), left, right)
    draws = {"tokens": 8, "temperature": 1, "candidates": 5, "independent": True, "stop_rule": "last"}
    texts = [middle.text for middle in middles(own, left, right, start, **draws)]
    assert len(set(texts)) > 1
    for text in texts:
        compile(left + text + right, "drawn", "exec")


def test_the_listed_candidates_have_the_rest_of_the_mass_that_is_unlisted(model):
    left, right = b"def area(width, height):\n    return ", b"\n"
    state, network = start_of(python(), left, right), model.network
    vocabulary = Vocabulary(network.token_bytes, network.stops)
    candidates = network.begin(model.prompt(left, right, tokens=4).tokens)
    for _ in range(4):
        covered = sum(map(math.exp, candidates.log_probabilities))
        assert covered == pytest.approx(1 - candidates.unlisted, abs=1e-6)
        bits = allowed(state, vocabulary)
        token = next(token for token in candidates.tokens if bits[token] and token not in network.stops)
        state, candidates = state.feed(network.token_bytes[token]), network.advance(token)


@pytest.mark.parametrize("may_escape", [True, False])
def test_middles_that_stay_in_their_brackets(may_escape, model):
    left, right = b"x = f(", b")\n"
    start = start_of(python(), left, right, may_escape=may_escape)
    draws = {"lines": None, "temperature": 1, "candidates": 5, "independent": True}
    for middle in middles(model, left, right, start, tokens=10, **draws):
        compile(left + middle.text + right, "drawn", "exec")
    assert (start.feed(b"a) + f(b") is not None) is may_escape


def test_exact_draws_have_the_distribution_of_the_scores(network_alone):
    left, right, texts = b"n = ", b"\n", (b"1", b"12", b"300", b"None")
    start = start_of(choice([text.decode() for text in texts]))
    draws = {"lines": None, "temperature": 1, "candidates": 200, "independent": True, "aligned": "exactly"}
    found = Counter(middle.text for middle in middles(network_alone, left, right, start, tokens=8, **draws))
    scores = {text: math.exp(score_middle(network_alone, left, right, text).total) for text in texts}
    for text, score in scores.items():
        assert found[text] / 200 == pytest.approx(score / sum(scores.values()), abs=0.08)


def test_draws_of_a_token_have_the_renormalised_distribution(network_alone):
    left, right, network = b"for i in ", b":\n    pass\n", network_alone.network
    start = start_of(python(), left, right)
    one = {"lines": None, "stop_rule": "last", "steer": False, "temperature": 1, "independent": True}
    drawn = middles(network_alone, left, right, start, tokens=1, candidates=400, **one)
    found = Counter(middle.text for middle in drawn)
    assert isinstance(network, Scoring)
    scores = np.exp(network.log_probabilities(network_alone.prompt(left, right, tokens=1).tokens))
    vocabulary = Vocabulary(network.token_bytes, network.stops)
    shares = scores[: len(vocabulary)] * allowed(start, vocabulary)[: len(scores)]
    shares /= shares.sum()
    for token in np.argsort(-shares)[:3]:
        assert found[network.token_bytes[token]] / 400 == pytest.approx(shares[token], abs=0.09)


@pytest.mark.slow
def test_queries_over_a_schema(model):
    schema = "CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE b (a_id INTEGER, total REAL);"
    database = sqlite3.connect(":memory:")
    database.executescript(schema)
    start = Spaced(begin(read_schema(schema))).feed(b"SELECT ")
    settings = DecodeSettings(tokens=30, temperature=1, candidates=4, independent=True)
    queries = [query.text.decode() for query in generate_many(model, b"SELECT ", start, settings)]
    assert len(queries) == 4
    assert all(database.execute(f"EXPLAIN SELECT {query}").fetchall() for query in queries)
    database.close()


def test_json_under_a_schema_between_two_sides(model):
    tags = {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2}
    schema = {"type": "object", "properties": {"tags": tags, "n": {"type": "integer"}}, "required": ["n"]}
    left, right = b'{"tags": ["a"', b', "n": 3}'
    start = start_of(json_schema(schema), left, right)
    (middle,) = middles(model, left, right, start, tokens=12, lines=None)
    assert jsonschema.Draft202012Validator(schema).is_valid(json.loads(left + middle.text + right))


def test_a_beam_search_of_ones_own(model):
    left, right = b"total = sum(", b")\n"
    network, prompt = model.network, model.prompt(left, right, tokens=4).tokens
    beams = [(0.0, (), start_of(python(), left, right))]
    for _ in range(4):
        grown = []
        for score, written, state in beams:
            candidates = network.begin(prompt, written)
            listed = zip(candidates.tokens, candidates.log_probabilities, strict=True)
            for token, log_probability in list(listed)[:20]:
                text = network.token_bytes[token]
                following = None if text is None or token in network.stops else state.feed(text)
                if following is not None:
                    grown.append((score + log_probability, (*written, token), following))
        beams = sorted(grown, key=lambda beam: -beam[0])[:4]
    assert len({written for _, written, _ in beams}) == 4
    for _, written, state in beams:
        text = model.vocabulary.decode(written) + state.shortest_completion
        compile(left + text + right, "searched", "exec")


def test_a_program_from_its_beginning(model):
    written = b"def area(width, height):\n"
    result = generate(model, written, start_of(python(), written), DecodeSettings(tokens=40))
    assert compile(written + result.text, "written", "exec").co_consts[0].co_name == "area"
