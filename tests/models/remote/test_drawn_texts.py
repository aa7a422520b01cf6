"""Texts that a server draws side by side: for one request, for requests at the same time, or in turn."""

import json
import threading

import pytest

from fimlsp.models.loading import load_model
from fimlsp.models.remote.drawn_texts import draws_of, first_words
from fimlsp.models.remote.errors import ServerError
from fimlsp.models.remote.texts import decode_id, text_id

from ...sampling import sampled
from .conftest import serve
from .documented_servers import FAMILY_NEEDED, start
from .test_text_servers import CURSORS, middles_at

WRITTEN = ["alpha + 1", "beta(2)", "gamma"]
LONG = 5.0
"""Seconds after which a test gives up waiting for a request."""


@pytest.fixture
def server(request):
    running = start(request.param)
    running.kind = request.param
    yield running
    running.shutdown()
    running.server_close()


def opened(server):
    model = load_model(server.address, family=FAMILY_NEEDED.get(server.kind), uses_buffer=False)
    return model.network.server


def answer(texts):
    """The stream of several *texts*, their words in turn, each ended by the model."""
    words = [[*text.replace(" ", "| ").split("|"), None] for text in texts]
    choices = [
        {"index": index, "text": own[at] or "", "finish_reason": "stop" if own[at] is None else None}
        for at in range(max(map(len, words)))
        for index, own in enumerate(words)
        if at < len(own)
    ]
    lines = [f"data: {json.dumps({'choices': [choice]})}\n\n" for choice in choices]
    return 200, [*lines, "data: [DONE]\n\n"]


def drawn_texts(server, n=3):
    """The texts of *n* draws after a prompt, each read to its end."""
    found = []
    for draws in draws_of(server, 1, n, 32):
        for one in draws.servers():
            tokens = [decode_id(step.token) for step in one.run([text_id("x = ")], 8)]
            found.append("".join(text for is_marker, text in tokens if not is_marker))
        draws.close()
    return found


ONE_REQUEST = {  # the texts that a server writes for one request; those that are read, and its requests
    "as many as requested": (3, WRITTEN, 1),
    "it ignores the number": (1, ["alpha + 1"] * 3, 3),
    "two": (2, ["alpha + 1", "beta(2)", "alpha + 1"], 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", ONE_REQUEST)
@pytest.mark.parametrize("server", ["unknown"], indirect=True)
def test_texts_for_one_request(server, case):
    most, expected, n_requests = ONE_REQUEST[case]
    server.posts = {"/v1/completions": lambda _, body: answer(WRITTEN[: min(most, body.get("n", 1))])}
    model = opened(server)
    assert model.at_once == most
    server.asked.clear()
    assert drawn_texts(model) == expected
    assert len(server.asked) == n_requests


@pytest.mark.parametrize("server", ["unknown"], indirect=True)
def test_a_server_that_writes_fewer_texts_than_before_is_asked_for_the_others(server):
    server.posts = {"/v1/completions": lambda _, body: answer(WRITTEN[: body.get("n", 1)])}
    model = opened(server)
    server.posts = {"/v1/completions": lambda *_: answer(WRITTEN[:1])}
    assert drawn_texts(model) == [WRITTEN[0]] * 3


@pytest.mark.parametrize("server", ["unknown"], indirect=True)
def test_a_server_that_refuses_several_is_asked_for_one_after_the_other(server):
    server.posts = {"/v1/completions": lambda _, body: answer(WRITTEN[: body.get("n", 1)])}
    model, most = opened(server), 1
    server.posts = {
        "/v1/completions": lambda _, body: (
            answer(WRITTEN[:1]) if body.get("n", 1) <= most else (400, ['{"error": "n is too large"}'])
        )
    }
    assert drawn_texts(model) == [WRITTEN[0]] * 3
    server.asked.clear()
    assert drawn_texts(model) == [WRITTEN[0]] * 3
    assert [body.get("n") for _, body in server.asked] == [None] * 3, "it is not tried again"


@pytest.mark.parametrize("server", ["unknown"], indirect=True)
def test_endless_texts_end_the_request(server):
    server.posts = {"/v1/completions": lambda _, body: answer(WRITTEN[: body.get("n", 1)])}
    model = opened(server)
    chunk = f"data: {json.dumps({'choices': [{'index': 1, 'text': 'a ' * 500}]})}\n\n"
    server.posts = {"/v1/completions": lambda *_: (200, [chunk] * 100)}
    with pytest.raises(ServerError, match="more text than was requested"):
        drawn_texts(model)


@pytest.mark.parametrize("server", ["LM Studio"], indirect=True)
def test_requests_at_the_same_time(server, monkeypatch):
    """Each waits until all have arrived, so that one after the other would never be answered."""
    model = opened(server)
    monkeypatch.setattr("tests.models.remote.documented_servers.ONE_AT_A_TIME", threading.Semaphore(3))
    all_here = threading.Barrier(3, timeout=LONG)

    def complete(_, body):
        assert body["temperature"] > 0
        return answer([WRITTEN[all_here.wait()]])

    server.posts = {"/v1/completions": complete}
    assert sorted(drawn_texts(model)) == sorted(WRITTEN)


@pytest.mark.parametrize("server", ["LM Studio"], indirect=True)
def test_a_refused_request_at_the_same_time_is_sent_again_alone(server):
    model, asked = opened(server), []

    def complete(_, body):
        asked.append(body)
        return (429, ['{"error": "too many"}']) if len(asked) == 2 else answer(WRITTEN[:1])

    server.posts = {"/v1/completions": complete}
    assert drawn_texts(model) == [WRITTEN[0]] * 3
    assert len(asked) == 4
    assert model.parallel == 1


@pytest.mark.parametrize("server", ["llama-cpp-python", "LM Studio", "unknown"], indirect=True)
def test_first_words_are_those_of_several_draws(server):
    words = iter([WRITTEN[0], WRITTEN[1], WRITTEN[0]])
    model = opened(server)
    (path,) = server.posts
    server.posts = {path: lambda _, body: answer([next(words) for _ in range(body.get("n", 1))])}
    found = first_words(model, [text_id("x = ")])
    assert [decode_id(token)[1] for token in found.tokens] == ["alpha", "beta"]
    assert found.log_probabilities[0] > found.log_probabilities[1]


@pytest.mark.parametrize("server", sampled(["LM Studio", "llama-cpp-python", "unknown"], 3), indirect=True)
def test_each_candidate_starts_with_a_word_of_its_own(server):
    model = load_model(server.address, family=FAMILY_NEEDED.get(server.kind), uses_buffer=False)
    found = middles_at(model, CURSORS[1], candidates=3, tokens=12)
    assert len({middle.text[:2] for middle in found}) == len(found) >= 2


SLOTS = [1, 2, 4]


@pytest.mark.parametrize("slots", SLOTS)
def test_the_real_llama_cpp_writes_as_many_texts_as_it_has_slots(slots, gguf):
    running = serve(gguf("bundled"), slots=slots)
    model = load_model(running.listening_address, api="texts", family="fimlsp", uses_buffer=False)
    told = {1: "one text at a time", 2: "2 texts at once", 4: "4 texts at once"}[slots]
    assert model.name.endswith(f"(llama-server, approximate: no probabilities, {told})")
    assert model.network.server.at_once == min(slots, 3)
    found = middles_at(model, CURSORS[1], candidates=3, tokens=12)
    assert all(middle.complete for middle in found)
