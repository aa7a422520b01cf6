"""A vocabulary of 262,144 tokens: candidates are requested in growing lists, until no other matters."""

import pytest

from fimlsp import python
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.loop import LONGER_LISTS
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import load_model
from fimlsp.models.remote.http_client import HttpClient
from fimlsp.quotient.engine import Engine

from ...sampling import sampled
from .random_models import GEMMA_SIZE

CURSORS = [
    "area_width = 1\nprint(area_w<|>)\n",
    "def area(width, height):\n    return <|>\n",
    "for index in [1, 2, 3<|>\n    print(index)\n",
]
LARGEST_ANSWER = 4 << 20


@pytest.fixture(params=sampled(["served", "in the process", "served elsewhere"], 3))
def model(request, gguf, served):
    if request.param == "served elsewhere":
        request.getfixturevalue("elsewhere")
    return load_model(str(gguf("as Gemma")) if request.param == "in the process" else served("as Gemma"))


@pytest.mark.parametrize("cursor", sampled(CURSORS, 3))
def test_what_is_written_connects_without_a_list_of_all(model, cursor, monkeypatch):
    assert len(model.network.token_bytes) == GEMMA_SIZE
    server, listed, sizes = model.network.server, [], []
    more_after, ask = server.more_after, HttpClient.ask

    def recorded(text, most):
        listed.append(most)
        return more_after(text, most)

    def measured(*arguments, **named):
        answer = ask(*arguments, **named)
        sizes.append(len(str(answer)))
        return answer

    monkeypatch.setattr(server, "more_after", recorded)
    monkeypatch.setattr(HttpClient, "ask", measured)
    left, right = map(str.encode, cursor.split("<|>"))
    start = Engine(python()).document(left + right).middle(len(left), len(left)).start
    (middle,) = complete_many(model, left, right, start, DecodeSettings(tokens=6), lambda: False)
    assert middle.complete
    assert set(listed) <= set(LONGER_LISTS)
    assert max(sizes, default=0) < LARGEST_ANSWER
    assert listed or cursor != CURSORS[0], "a begun word is not among the likeliest"
