"""vLLM and Ollama, in the form that their documents show."""

import pytest

from fimlsp import python
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import load_model
from fimlsp.models.remote.errors import ServerError
from fimlsp.quotient.engine import Engine

from . import documented_servers
from .documented_servers import start

ENGINE = Engine(python())
CURSORS = [
    "def read(path):\n    with open(<|>\n        return file.read()\n",
    "import os\n\n\ndef area(width, height):\n    return <|>\n",
    "text = 'über <|>'  # <|left|> is no marker here\n",
    "class A:\n    def get(self):\n        return self.<|>\n",
]


@pytest.fixture
def server(request):
    running = start(request.param)
    yield running
    running.shutdown()
    running.server_close()


def middle_of(model, cursor):
    left, right = map(str.encode, cursor.split("<|>", 1))
    begin = ENGINE.document(left + right).middle(len(left), len(left)).start
    (middle,) = complete_many(model, left, right, begin, DecodeSettings(tokens=16), lambda: False)
    assert middle.complete
    return middle


@pytest.mark.parametrize("server", ["vLLM"], indirect=True)
def test_vllm_writes_what_the_model_itself_would(server):
    model, itself = load_model(server.address, uses_buffer=False), server.model
    assert (model.name, model.context) == ("bundled (vLLM)", 1024)
    for cursor in CURSORS:
        assert middle_of(model, cursor).text == middle_of(itself, cursor).text
    path, body = server.asked[-1]
    assert path == "/v1/completions"
    assert all(isinstance(token, int) for token in body["prompt"])
    assert body["logprobs"] == documented_servers.LOGPROBS_MAX


@pytest.mark.parametrize("server", ["vLLM"], indirect=True)
def test_a_server_that_tells_few_candidates_is_asked_for_all_only_once(server):
    network = load_model(server.address).network
    assert [network.more_after([1, 2, 3], ()) for _ in range(2)] == [None, None]
    wanted = [body for _, body in server.asked if body["logprobs"] == len(network.token_bytes)]
    assert len(wanted) == 1


@pytest.mark.parametrize("server", ["vLLM"], indirect=True)
def test_one_that_tells_all_is_asked_for_all(server, monkeypatch):
    network = load_model(server.address).network
    monkeypatch.setattr(documented_servers, "LOGPROBS_MAX", len(network.token_bytes))
    everything, listed = network.more_after([1, 2, 3], ()), server.model.network.begin([1, 2, 3])
    assert everything.tokens == listed.tokens, "as many as the stand-in knows"


NOT_HERE = {
    "by its name": ({"id": "no/where", "root": "no/where"}, "models pull --tokenizer no/where`"),
    "an alias": ({"id": "fast", "root": "no/where"}, "models pull --tokenizer no/where`"),
    "an adapter": (
        {"id": "ours", "root": "/adapters/ours", "parent": "no/where"},
        "models pull --tokenizer no/where`",
    ),
    "an alias of a folder there": (
        {"id": "fast", "root": "/models/there"},
        "--served-model-name fast OWNER/NAME`.*models pull --tokenizer OWNER/NAME`",
    ),
    "nothing told": ({"id": "fast", "root": None}, "--served-model-name fast OWNER/NAME`"),
}


@pytest.mark.parametrize(("listed", "remedy"), NOT_HERE.values(), ids=NOT_HERE)
@pytest.mark.parametrize("server", ["vLLM"], indirect=True)
def test_a_tokenizer_that_is_not_here_is_asked_for(server, listed, remedy):
    server.listed["data"][0] = server.listed["data"][0] | listed
    with pytest.raises(ModelError, match=remedy):
        load_model(server.address)


@pytest.mark.parametrize("server", ["vLLM"], indirect=True)
def test_several_names_of_one_model_are_one_model(server):
    entry = server.listed["data"][0]
    server.listed["data"] = [entry | {"id": name} for name in ("fast", "some/one", "tiny")]
    assert load_model(server.address).name == "some/one (vLLM)"
    assert load_model(f"{server.address}#fast").name == "fast (vLLM)"
    server.listed["data"].append(entry | {"id": "other", "root": "no/where"})
    with pytest.raises(ServerError, match="fast, some/one, tiny, other"):
        load_model(server.address)


@pytest.mark.parametrize("server", ["Ollama"], indirect=True)
def test_ollama_writes_what_connects_and_is_called_approximate(server):
    model = load_model(server.address, uses_buffer=False)
    assert model.name == "tiny:latest (Ollama, approximate: texts in place of tokens)"
    texts = [middle_of(model, cursor).text for cursor in CURSORS]
    assert texts[0] == middle_of(server.model, CURSORS[0]).text
    prompts = [body["prompt"] for path, body in server.asked if path == "/api/generate"]
    assert any("< |left|> is no marker" in prompt for prompt in prompts)
    assert all(prompt.count("<|left|>") == 1 for prompt in prompts)


@pytest.mark.parametrize("server", ["Ollama"], indirect=True)
def test_which_of_several_models_is_meant_is_written_behind_the_address(server):
    server.listed["data"].append({"id": "other", "owned_by": "library"})
    with pytest.raises(ServerError, match="tiny:latest, other"):
        load_model(server.address)
    assert load_model(f"{server.address}#tiny:latest").name.startswith("tiny:latest")


@pytest.mark.parametrize("server", ["vLLM"], indirect=True)
def test_how_likely_an_end_is_that_is_not_listed_is_asked(server):
    model = load_model(server.address, uses_buffer=False)
    tokens = model.fim.arrange(model.vocabulary.encode("def read("), [])
    exact = server.model.network.begin(tokens).stop
    assert model.network.stop_after(tokens, ()) == pytest.approx(exact, abs=1e-5)
    assert model.network.begin(tokens).stop >= exact
