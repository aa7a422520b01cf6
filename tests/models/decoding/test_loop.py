"""The laws of the decoding loop, on scripted models and a toy constraint."""

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fimlsp.languages.python import python
from fimlsp.lexing.interruption import checkpoint
from fimlsp.models.decoding import loop
from fimlsp.models.decoding.loop import decode_middle
from fimlsp.models.decoding.settings import DecodeSettings, n_repeated
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.quotient.engine import Engine

from ..scripted import END, Brackets, ScriptedModel

PROMPT = Prompt((7, 8, 9), room=1000)


def never():
    return False


def decode(model, start=None, should_stop=never, **limits):
    limits.setdefault("tokens", 16)
    return decode_middle(model, PROMPT, start or Brackets(), DecodeSettings(**limits), should_stop)


def check(steps, text, stop_reason, *, start=b"", rejected=0, steered=False, **limits):
    middle = decode(ScriptedModel(*steps), Brackets(start), **limits)
    assert (middle.text, middle.stop_reason, middle.rejected) == (text, stop_reason, rejected)
    assert (middle.complete, middle.steered) == (True, steered)


def test_the_best_candidate_is_written_until_the_model_stops():
    check([[b"a", b"b"], [b"(", END], [b")"], [END]], b"a()", "end")


def test_a_dead_candidate_is_skipped_and_the_next_best_taken():
    check([[b"))", b"a"], [END]], b"a", "end", rejected=1)


def test_the_end_is_taken_only_where_the_middle_is_complete():
    check([[END, b"x"], [END, b")"], [END, b"y"]], b"x)", "end", start=b"(", rejected=2)


def test_special_tokens_write_nothing():
    check([[b"", b"a"], [END]], b"a", "end", rejected=1)


def test_the_prompt_is_read_as_it_is():
    model = ScriptedModel([END])
    decode(model)
    assert (model.prompt, model.steps) == (PROMPT.tokens, 1)


def test_a_line_ends_the_middle_where_it_may():
    check([[b"a"], [b"b\n    "], [b"c"]], b"ab", "lines")
    check([[b"a"], [b"\n"], [b"b"], [b"\n"]], b"a\nb", "lines", lines=2)
    check([[b"a"], [b"\n\n"], [b"b"], [END]], b"a\n\nb", "end", lines=None)
    check([[b":\n;\n"]], b":\n;", "lines")
    check([[b"\n"]], b"", "lines")


def test_what_is_behind_the_end_of_a_complete_line_need_not_fit():
    check([[b"a"], [b"b\n)", b"c"]], b"ab", "lines")
    check([[b"a\n"], [b"b\n]\n)"]], b"a\nb", "lines", lines=2)
    check([[b"a", b"b"], [b"\n]", b"b"]], b"a", "lines", lines=0)
    check([[b"a\n]", b")"], [b"\n]"]], b")", "lines", start=b"(", rejected=1)


def test_a_line_that_lacks_brackets_only_is_closed():
    check([[b"a"], [b",\n"]], b"a,])", "lines", start=b"([", steered=True)


def test_a_line_that_lacks_more_may_go_on_for_two_lines():
    check([[b":\n"], [b"a;"], [b"\n"]], b":\na;", "lines")
    check([[b":\n"], [b"a\n"], [b"b\n"], [b"c\n"]], b":\na\nb;", "lines", steered=True)


def test_a_line_end_is_not_decoded_where_none_is_wanted():
    check([[b"a"], [b":\n", b"b"], [b";\n", b"\n"]], b"ab", "lines", lines=0, steered=True, rejected=1)
    check([[b":"], [b"\n", b"a"], [b"\n", b";"], [b"\n"]], b":a;", "lines", lines=0, steered=True)


def test_where_only_a_further_line_would_connect_the_best_place_in_this_one_is_taken():
    left, right = b"def f(name):\n    if name", b":\n        return 1\n"
    start = Engine(python()).document(left + right).middle(len(left), len(left)).start
    middle = decode(ScriptedModel([b" in a"], [b":"], [b"\n        "]), start, lines=0)
    assert (middle.text, middle.complete, middle.steered) == (b" in a", True, False)


@pytest.mark.parametrize(
    ("steps", "text", "follows"),
    [
        ([[b"a"], [b")", b","]], b"a", b") + b"),
        ([[b"a"], [b"):\n", b","]], b"a", b"):"),
        ([[b")", b"a"]], b"", b")"),
    ],
)
def test_what_follows_already_is_not_written_again_but_ends_the_middle(steps, text, follows):
    check(steps, text, "follows", follows=follows, rejected=1)


@pytest.mark.parametrize(
    ("steps", "text", "follows", "start"),
    [
        ([[b"a"], [b"):"]], b"a)", b": b", b"("),  # the whole token is possible too
        ([[b"a"], [b"))"]], b"a)", b")", b"("),  # it is refused
    ],
)
def test_a_token_that_ends_with_what_follows_is_cut_there(steps, text, follows, start):
    check(steps, text, "follows", follows=follows, start=start)


def test_a_token_is_cut_between_words_only_and_only_where_the_middle_is_complete():
    check([[b"a:b"], [b";"], [END]], b"a:b;", "end", follows=b"b c")
    check([[b"a:("], [b");"], [END]], b"a:();", "end", follows=b"( c")
    check([[b"a):"], [b";"], [END]], b"a):;", "end", follows=b": c", start=b"(", stop_rule="last")


def test_other_refused_text_ends_no_middle():
    check([[b"a"], [b"))", b"b"], [END]], b"ab", "end", follows=b")", rejected=1)
    check([[b"a"], [b")", b"b"], [END]], b"ab", "end", follows=b"", rejected=1)
    check([[b"("], [b"]", b")"], [END]], b"()", "end", follows=b"]", rejected=1)
    check([[b"a"], [b"b", b"c"], [END]], b"ab", "end", follows=b"b")
    check([[b"a"], [b")", b"b"], [END]], b"ab", "end", follows=b")", rejected=1, stop_rule="last")


@pytest.mark.parametrize(
    ("steps", "text", "reason"),
    [
        ([[b"a"], [b")", b","]], b"a", "follows"),
        ([[b"a"], [b"):", b","]], b"a", "follows"),
        ([[b"a"], [b"b", b")"], [b"c"], [b"d"]], b"a", "budget"),  # the best place to stop
        ([[b"a"], [b"b", b"c"], [b"c"], [b")"]], b"abc", "follows"),
    ],
)
def test_a_bracket_that_the_network_has_not_read_ends_the_middle_where_it_would_write_it(steps, text, reason):
    model, prompt = ScriptedModel(*steps), Prompt((7,), 1000, b")")
    middle = decode_middle(model, prompt, Brackets(), DecodeSettings(tokens=4), never)
    assert (middle.text, middle.stop_reason) == (text, reason)
    assert middle.trace[len(text) - 1].stop == pytest.approx(
        math.log(0.5 if reason == "follows" else 0.25), abs=1e-3
    )


def test_at_the_end_of_the_budget_the_best_place_to_stop_is_chosen():
    likely, unlikely = [b"b", END], [b"c", b"d", b"e", END]
    check([[b"a", b"x"], likely, unlikely], b"a", "budget", tokens=4)


def test_with_the_rule_last_nothing_is_taken_back():
    check([[b"a"], [b"b", END]], b"abbb", "budget", tokens=4, stop_rule="last", lines=None)
    check([[b"a"]], b"aaa)", "budget", start=b"(", tokens=3, stop_rule="last", lines=None, steered=True)
    check([[b"a"]], b"a" * 30, "budget", tokens=30, stop_rule="last", lines=None)
    check([[b"b"], [b")"]], b"b)", "dead_end", start=b"(", tokens=3, stop_rule="last", rejected=1)


def test_without_a_place_to_stop_the_shortest_completion_is_written():
    check([[b"a"]], b"aaa)", "budget", start=b"(", steered=True, tokens=3)
    check([[b"[a"]], b"[a])", "dead_end", start=b"(", steered=True, tokens=3)


def test_without_steering_the_budget_may_end_in_an_incomplete_middle():
    middle = decode(ScriptedModel([b"(a"]), tokens=3, steer=False)
    assert (middle.text, middle.complete, middle.stop_reason) == (b"", True, "budget")
    middle = decode(ScriptedModel([b"(a"]), Brackets(b"("), tokens=3, steer=False)
    assert (middle.text, middle.complete, middle.steered) == (b"(a(a(a", False, False)


def test_steering_refuses_candidates_that_lead_too_far_from_an_end():
    steps = [[b"([" * 12, b"]"], [b"(" * 50, b")"]]
    middle = decode(ScriptedModel(*steps), Brackets(b"([" * 2), tokens=8)
    assert (middle.text, middle.complete, middle.steered) == (b"])])", True, True)


def test_a_step_without_a_viable_candidate_ends_the_middle():
    check([[b"a"], [b")"]], b"a", "dead_end", rejected=1)
    check([[b"a"], [b"]"]], b"a)", "dead_end", start=b"(", rejected=1, steered=True)


def test_at_most_fifty_candidates_are_refused_in_a_step():
    dead = [b")" * (n + 1) for n in range(60)]
    check([[b"a"], [*dead, b"b"]], b"a", "dead_end", rejected=50)


def test_a_loop_is_left_before_it_begins_to_repeat():
    check([[b"a"], [b"b"], *[[b"x"], [b"y"]] * 6, [END]], b"abxy", "repetition", tokens=64)


def test_repetitions_in_token_sequences():
    assert n_repeated([1, 2, 3] * 4) == 9
    assert n_repeated([9, *[1, 2, 3] * 4]) == 9
    assert n_repeated([1] * 11) == 0
    assert n_repeated([1] * 12) == 11
    assert n_repeated(range(100)) == 0
    assert n_repeated(list(range(24)) * 3) == 48


def test_cancelling_stops_before_the_next_step_of_the_network():
    model = ScriptedModel([b"a"])
    middle = decode(model, should_stop=lambda: model.steps == 3)
    assert (middle.text, middle.stop_reason, model.steps) == (b"aaa", "cancelled", 3)
    assert decode(ScriptedModel([b"a"]), should_stop=lambda: True).tokens == 0


def test_at_the_deadline_the_middle_is_finished():
    check([[b"a"]], b")", "deadline", start=b"(", steered=True, seconds=0)


class Slow(Brackets):
    """A constraint that is given up when an `s` comes, and whose end cannot be found in time either."""

    def feed(self, text):
        if b"s" in text:
            checkpoint()
        following = super().feed(text)
        return following and Slow(following.open, following.pending)

    @property
    def shortest_completion(self):
        checkpoint()
        return super().shortest_completion


@pytest.mark.parametrize("opened", [b"", b"("])
def test_a_constraint_that_takes_too_long_ends_the_middle(opened, monkeypatch):
    monkeypatch.setattr(loop, "time_limit", lambda _: lambda: True)
    middle = decode(ScriptedModel([b"a"], [b"s"]), Slow(opened), tokens=64)
    assert (middle.text, middle.stop_reason, middle.complete) == (b"a", "deadline", not opened)


def test_tokens_may_end_inside_a_character():
    check([[b"\xc3"], [b"\x28", b"\xa9"], [END]], "é".encode(), "end", rejected=1)
    check([[b"a"], [b"\xe2\x82"], [END, b"x", b"\xac"], [END]], "a€".encode(), "end", rejected=2)


def test_scores_are_means_over_tokens():
    middle = decode(ScriptedModel([b"a"], [END, b"b"]))
    assert round(middle.log_probability, 6) == round(-0.693147, 6)


PIECES = st.sampled_from(
    [b"(", b")", b"[", b"]", b"a", b"\n", b"(\n", b"])", b"\xc3", b"\xa9", "é(".encode(), END, b""]
)


@settings(max_examples=300)
@given(
    steps=st.lists(st.lists(PIECES, min_size=1, max_size=5, unique=True), min_size=1, max_size=6),
    start=st.sampled_from([b"", b"(", b"([", b"(" * 40]),
    tokens=st.integers(1, 40),
    lines=st.sampled_from([None, 0, 1, 2]),
)
def test_every_middle_connects(steps, start, tokens, lines):
    middle = decode(ScriptedModel(*steps), Brackets(start), tokens=tokens, lines=lines)
    assert middle.complete
    assert Brackets(start).feed(middle.text).complete
    assert middle.tokens <= tokens


def test_the_trace_tells_how_every_token_was_taken():
    middle = decode(ScriptedModel([b"))", b"]", b"a"], [b"(", END], [b")"], [END, b"b"]))
    assert [token.text for token in middle.trace] == [b"a", b"(", b")"]
    assert [token.rejected for token in middle.trace] == [2, 0, 0]
    halves = [round(token.log_probability / math.log(0.5)) for token in middle.trace]
    assert halves == [3, 1, 1]
    assert [token.stop for token in middle.trace] == [2 * math.log(0.5), -10.0, math.log(0.5)]
    assert middle.stop_at_start == -10.0
    assert (middle.tried, middle.rejected, middle.tokens) == (6, 2, 3)


def test_the_trace_of_a_line_has_the_whole_last_token():
    middle = decode(ScriptedModel([b"a"], [b"b\n    "]))
    assert middle.text == b"ab"
    assert middle.trace[-1].text == b"b\n    "
    assert middle.trace[-1].stop is None


def test_the_trace_tells_where_steering_chose():
    middle = decode(ScriptedModel([b"a"], [b":\n", b"b"], [END]), lines=0)
    assert [token.steered for token in middle.trace] == [False, True]


def test_nothing_is_traced_where_nothing_was_asked():
    middle = decode(ScriptedModel([b"a"]), should_stop=lambda: True)
    assert (middle.trace, middle.stop_at_start, middle.tried) == ((), None, 0)


def best(*steps, **limits):
    return decode(ScriptedModel(*steps), **({"lines": None, "stop_rule": "best", "steer": False} | limits))


def test_by_the_best_rule_the_most_likely_place_to_stop_is_taken():
    unsure = [[b"a"], [b"b", END], [b"c", b"d", b"e", END], [b"x", b"y", END]]
    assert best(*unsure, [END]).text == b"abcx"
    middle = best(*unsure, [b"z", b"y", b"q", END], [b"z", b"y", b"q", END], tokens=5)
    assert (middle.text, middle.stop_reason, middle.tokens) == (b"a", "budget", 5)


def test_by_the_best_rule_the_end_need_not_be_the_best():
    steps = [[b"a"], [b"b", END], [b")", b"]", b"))", b"]]", END]]
    middle = best(*steps)
    assert (middle.text, middle.stop_reason, middle.tokens) == (b"a", "end", 2)
    assert decode(ScriptedModel(*steps)).text == b"ab"


def test_by_the_best_rule_a_repetition_does_not_end_the_middle():
    assert best([b"a"], tokens=20).tokens == 20


def test_by_the_best_rule_a_middle_that_was_never_complete_is_a_failure():
    middle = best([b"(a"], tokens=5)
    assert (middle.text, middle.complete) == (b"", True)
    middle = decode(
        ScriptedModel([b"(a"]), Brackets(b"("), tokens=5, lines=None, stop_rule="best", steer=False
    )
    assert not middle.complete


def draw(steps, start=b"", n=2000, **limits):
    texts = (
        decode(ScriptedModel(*steps), Brackets(start), tokens=1, lines=None, steer=False, seed=seed, **limits)
        for seed in range(n)
    )
    return Counter(middle.trace[0].text for middle in texts)


def renormalised(steps, viable, temperature):
    weights = {text: 0.5 ** ((rank + 1) / temperature) for rank, text in enumerate(steps[0])}
    total = sum(weights[text] for text in viable)
    return {text: weights[text] / total for text in viable}


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_drawn_tokens_follow_the_distribution_over_those_that_are_viable(temperature):
    steps = [[b")", b"a", b"b", b"]", b"c", b"(", b"))"]]
    expected = renormalised(steps, [b"a", b"b", b"c", b"("], temperature)
    counts = draw(steps, temperature=temperature)
    assert counts.keys() == expected.keys()
    n = counts.total()
    chi_squared = sum((counts[text] - n * share) ** 2 / (n * share) for text, share in expected.items())
    assert chi_squared < 16.27, "3 degrees of freedom: passed by chance 999 times in 1000"


def test_only_the_likeliest_are_drawn():
    steps = [[b"a", b"b", b"c", b"d"]]
    assert draw(steps, n=200, temperature=1.0, top_p=0.5).keys() == {b"a"}
    assert draw(steps, n=200, temperature=1.0, top_p=0.7).keys() == {b"a", b"b"}
    assert draw([[b")", b"b", b"c"]], n=200, temperature=1.0, top_p=0.4).keys() == {b"b", b"c"}


def test_the_same_seed_draws_the_same_middle():
    steps = [[b"a", b"b", b"c", b"d", END]]
    texts = [decode(ScriptedModel(*steps), temperature=2.0, seed=seed).text for seed in (1, 1, 2, 3, 4)]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 2


class Dislikes:
    """Prefers continuations other than *texts*, and records its calls."""

    def __init__(self, texts, nats):
        self.texts, self.nats, self.asked = texts, nats, []

    def misfit(self, text, continuation):
        self.asked.append((text, continuation))
        return self.nats * continuation.startswith(self.texts)


@pytest.mark.parametrize(("nats", "text"), [(0.0, b"a"), (0.5, b"a"), (1.0, b"a"), (1.5, b"c"), (9.0, b"c")])
def test_a_preference_takes_a_candidate_back_by_so_many_nats(nats, text):
    preference = Dislikes((b"a", b"b"), nats)
    middle = decode(ScriptedModel([b"a", b"b", b"c"], [END]), preference=preference)
    assert middle.text == text


def test_a_preference_is_no_law():
    check([[b"a", b"ab"], [END]], b"a", "end", preference=Dislikes((b"a",), 9.0))
    check([[b")", b"a"], [END]], b"a", "end", preference=Dislikes((b"a",), 9.0), rejected=1)


def test_only_candidates_that_may_be_taken_are_asked_about():
    preference = Dislikes((b"x",), 9.0)
    decode(ScriptedModel([b"a", b"b"], [b"x", b"c", b"d"], [END]), preference=preference)
    assert preference.asked == [(b"", b"a"), (b"a", b"x"), (b"a", b"c"), (b"ac", b"\n")]


NESTED = [b"try:", b"\n ", b"try:", b"\n  ", b"try:", b"\n   ", b"a", b"\n", b"b"]


WRITTEN = [b"\n", b"\n ", b"\n  ", b"try:", b"if a:", b"(", b"a", b"'''"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(WRITTEN), min_size=1, max_size=9))
def test_lines_are_exceeded_by_two_at_most(pieces):
    start = Engine(python()).document(b"f()\n\ng()\n").middle(4, 4).start
    steps = [[piece, b"a", END] for piece in pieces]
    for lines in (1, 2):
        middle = decode_middle(
            ScriptedModel(*steps), PROMPT, start, DecodeSettings(lines=lines), lambda: False
        )
        assert middle.complete
        assert middle.text.count(b"\n") < lines + 2 + (not middle.text.strip())


def test_lines_are_exceeded_by_two_where_blocks_nest():
    start = Engine(python()).document(b"f()\n\ng()\n").middle(4, 4).start
    middle = decode_middle(
        ScriptedModel(*([piece] for piece in NESTED)), PROMPT, start, DecodeSettings(), lambda: False
    )
    assert middle.complete
    assert middle.text.count(b"\n") <= 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"temperature": -1.0}, "temperature must be at least 0 and finite"),
        ({"temperature": float("nan")}, "temperature"),
        ({"top_p": 0.0}, "top_p must be above 0 and at most 1"),
        ({"stop_rule": "none"}, "stop_rule must be one of first, best, last"),
        ({"candidates": 0}, "candidates must be at least 1"),
        ({"tokens": 0}, "tokens must be at least 1"),
        ({"lines": -1}, "lines must be None or at least 0"),
        ({"seconds": -0.1}, "seconds must be None or at least 0"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"independent": True}, "independent draws need a temperature above 0"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        DecodeSettings(**changes)


@pytest.mark.parametrize(("least", "text", "reason"), [(-2.0, b"ab", "unsure"), (-9.0, b"abc", "end")])
def test_what_is_too_unlikely_is_not_decoded_any_further(least, text, reason):
    middle = decode(ScriptedModel([b"a"], [b")", b"b"], [b"c"], [END]), least_total=least)
    assert (middle.text, middle.stop_reason) == (text, reason)


def test_the_trace_names_tokens_and_what_was_refused():
    model = ScriptedModel([b"))", b"]", b"a"], [b"(", END], [b")"], [END])
    (first, *others) = decode(model).trace
    assert model.token_bytes[first.token] == b"a"
    assert [model.token_bytes[token] for token, _ in first.refused] == [b"))", b"]"]
    assert first.refused_mass == pytest.approx(0.5 + 0.25)
    assert [step.refused_mass for step in others] == [0, 0]


def test_a_rule_of_the_callers_own_ends_what_is_complete():
    seen = []

    def wanted(text):
        seen.append(text)
        return text.count(b"a") == 2

    check([[b"a"], [b"("], [b"a"], [b")"], [b"a"]], b"a(a)", "asked", stop_when=wanted, lines=None)
    assert seen == [b"a", b"a(a)"]
