"""Servers that report texts in place of tokens, or texts alone, in the form that their documents show."""

import json

import pytest

from fimlsp import python
from fimlsp.models.completion import complete_many
from fimlsp.models.confidence import ConfidenceEstimate
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import BUNDLED, load_model
from fimlsp.models.remote.errors import ServerError
from fimlsp.models.remote.text_completions import CompletionsDialect
from fimlsp.models.remote.texts import TextServer, decode_id, marker_id, text_id
from fimlsp.quotient.engine import Engine

from ...sampling import sampled
from .documented_servers import start

ENGINE = Engine(python())
CURSORS = [
    "def read(path):\n    with open(<|>\n        return file.read()\n",
    "class A:\n    def get(self):\n        return self.<|>\n",
]
PLAIN, LISTED = "approximate: no probabilities", "approximate: texts in place of tokens"
ONE, THREE, FOUR = (f"{PLAIN}, {n}" for n in ("one text at a time", "3 texts at once", "4 texts at once"))
KINDS = [
    ("LM Studio", "fimlsp", FOUR, 1024),
    ("TabbyAPI", "fimlsp", LISTED, 1024),
    ("llama-cpp-python", None, ONE, 2048),
    ("DeepSeek", None, LISTED, 4096),
    ("Mistral", None, THREE, 4096),
    ("unknown", None, THREE, 2048),
]


@pytest.fixture
def server(request):
    running = start(request.param)
    yield running
    running.shutdown()
    running.server_close()


def middles_at(model, cursor, **settings):
    left, right = map(str.encode, cursor.split("<|>", 1))
    begin = ENGINE.document(left + right).middle(len(left), len(left)).start
    return complete_many(model, left, right, begin, DecodeSettings(**{"tokens": 6} | settings), lambda: False)


@pytest.mark.parametrize(
    ("server", "family", "told", "context"),
    sampled(KINDS, 3),
    ids=[kind[0] for kind in KINDS],
    indirect=["server"],
)
def test_what_it_writes_connects(server, family, told, context):
    model = load_model(server.address, family=family, uses_buffer=False)
    kind = "server" if server.listed["data"][0].get("owned_by") is None else model.name.split("(")[1]
    assert model.name == f"bundled ({kind.split(',')[0]}, {told})"
    assert model.context == context
    for cursor in CURSORS:
        (middle,), (own,) = middles_at(model, cursor), middles_at(server.model, cursor)
        assert middle.complete
        assert middle.text[:4] == own.text[:4], "it writes the same until a text is refused"


class Scripted:
    """An `HttpClient` that streams one text, character by character; a full stop means the model's end."""

    address = "there"

    def __init__(self, text):
        self.text = text

    def events(self, *_):
        for character in self.text.removesuffix("."):
            yield {"choices": [{"text": character, "finish_reason": None}]}
        yield {"choices": [{"text": "", "finish_reason": "stop" if self.text.endswith(".") else "length"}]}


def steps(text, length=8):
    server = TextServer(Scripted(text), "m", CompletionsDialect(), frozenset([marker_id("<end>")]), None)
    return [decode_id(step.token)[1] for step in server.run([text_id("x = ")], length)]


WRITTEN = [
    ("words and signs", "self.area == 2)", ["self", ".", "area", " ", "=", "=", " 2", ")"]),
    ("lines with their indentation", "a\n\n    b", ["a", "\n", "\n", "    b"]),
    ("the model's end", "b.", ["b", "<end>"]),
    ("nothing but the end", ".", ["<end>"]),
    ("a marker ends it", "a<end>b", ["a", "<end>"]),
    ("half a character ends it", "a\ufffdb", ["a", "<end>"]),
    ("no ASCII", "über = 'ß'", ["über", " ", "=", " ", "'", "ß", "'"]),
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in WRITTEN], ids=[c[0] for c in WRITTEN])
def test_a_text_in_words(text, expected):
    assert steps(text) == expected


def test_half_a_character_is_refused():
    with pytest.raises(ServerError, match="half a character"):
        steps("a\ud83d")


def test_a_server_that_never_ends_is_stopped():
    with pytest.raises(ServerError, match="more text than was requested"):
        steps("a " * 1000, length=4)


@pytest.mark.parametrize("server", ["LM Studio"], indirect=True)
def test_several_texts_are_drawn(server):
    model = load_model(server.address, family="fimlsp", uses_buffer=False)
    found = middles_at(model, CURSORS[1], candidates=3, tokens=12)
    assert len({middle.text for middle in found}) == len(found) >= 2
    assert [body["temperature"] > 0 for _, body in server.asked].count(True) >= 1


@pytest.mark.parametrize("server", ["LM Studio"], indirect=True)
def test_after_a_refused_word_it_continues_from_there(server):
    """After `1` a number is refused; the draws have a comma there, and then nothing is missing."""

    def complete(_, body):
        written = body["prompt"].rpartition("<|left|>")[2].removeprefix("x = f(")
        text = {"": "1 2, 4", "1": ", 3" if body["temperature"] else " 2, 4", "1,": " 3"}.get(written, "")
        chunks = [{"choices": [{"text": text, "finish_reason": None}]}]
        chunks.append({"choices": [{"text": "", "finish_reason": "stop"}]})
        return 200, [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]

    model = load_model(server.address, family="fimlsp", uses_buffer=False)
    server.posts = {"/v1/completions": complete}
    (middle,) = middles_at(model, "x = f(<|>, y=2)\n")
    assert middle.text == b"1, 3"
    assert middle.rejected == 1


FAMILIES = [
    ("qwen2.5-coder-1.5b-instruct", "Qwen-Coder"),
    ("Qwen/Qwen3-Coder-30B-A3B", "Qwen-Coder"),
    ("codeqwen-1_5-7b", "CodeQwen1.5"),
    ("starcoder2-3b", "StarCoder2"),
    ("bigcode/starcoderbase-1b", "StarCoder"),
    ("deepseek-coder-6.7b-base", "DeepSeek-Coder"),
    ("codellama-7b", "CodeLlama"),
    ("CodeLlama-13b", "CodeLlama"),
    ("codegemma-2b", "CodeGemma"),
    ("codestral-22b-v0.1", "Codestral"),
    ("Seed-Coder-8B-Base", "Seed-Coder"),
    ("mellum-4b-base", "Mellum"),
    ("granite-4.0-h-tiny-base", "Granite 4"),
    ("granite-3b-code-base", "StarCoder"),
    ("stable-code-3b", "Stable-Code"),
]


@pytest.mark.parametrize(("name", "family"), FAMILIES)
@pytest.mark.parametrize("server", ["LM Studio"], indirect=True)
def test_the_family_is_known_by_the_name(server, name, family):
    server.listed["data"][0] = server.listed["data"][0] | {"id": name}
    server.posts = {"/v1/completions": lambda *_: (200, ['data: {"choices": [{"text": "x"}]}\n\n'])}
    fim = load_model(server.address).fim
    assert fim.family == family
    prompts = [body["prompt"] for _, body in server.asked]
    assert not any(marker in prompt for prompt in prompts for marker in ("<s>", "<bos>", "begin▁of")), (
        "the server writes the first marker itself"
    )


REFUSED = [
    (400, "the model ran out of context length", "its context is full .* longer context"),
    (404, "No models loaded", "not found .* Load the model there"),
    (401, "bad key", "rejected the key .* FIMLSP_API_KEY"),
]


@pytest.mark.parametrize(("status", "message", "told"), REFUSED)
@pytest.mark.parametrize("server", ["LM Studio"], indirect=True)
def test_advice_fits_the_server(server, status, message, told):
    error = json.dumps({"error": {"message": message}})
    server.posts = {"/v1/completions": lambda *_: (status, [error])}
    with pytest.raises(ModelError, match=told):
        load_model(server.address, family="fimlsp")


@pytest.mark.parametrize("server", ["unknown"], indirect=True)
def test_a_server_without_suffix_needs_a_family(server):
    server.posts = {"/v1/completions": lambda *_: (400, ['{"error": {"message": "unknown key suffix"}}'])}
    with pytest.raises(ServerError, match=r"shows no family.* option family"):
        load_model(server.address)


@pytest.mark.parametrize("server", ["unknown"], indirect=True)
def test_a_service_that_lists_no_models_needs_the_name(server):
    server.listed = None
    with pytest.raises(ServerError, match="not found"):
        load_model(server.address)
    load_model(f"{server.address}#fast")
    assert server.asked[-1][1]["model"] == "fast"


MIXED = [
    ("TabbyAPI", "fimlsp", True),
    ("Ollama", None, True),
    ("vLLM", None, True),
    ("LM Studio", "fimlsp", False),
    ("TabbyAPI", "StarCoder", False),
]


@pytest.mark.parametrize(("server", "family", "expected"), MIXED, indirect=["server"])
def test_models_of_our_own_are_mixed_with_the_buffer_where_candidates_are_reported(server, family, expected):
    model = load_model(server.address, family=family)
    assert model.uses_buffer is expected
    assert load_model(server.address, family=family, uses_buffer=False).uses_buffer is False
    if expected:
        seen = "class Basket:\n    def fill(self):\n        self.quokka_total = self.quokka_total + 1\n"
        for rest in ("        return self.quo<|>\n", "        print(self.quokka_<|>)\n"):
            (middle,) = middles_at(model, seen + rest)
            assert middle.text.startswith((b"kka_total", b"total"))


HEADERS = [(True, True), (False, False), (None, True), ("yes", True)]


@pytest.mark.parametrize("server", ["Ollama"], indirect=True)
@pytest.mark.parametrize(("wish", "expected"), HEADERS)
def test_a_header_that_the_server_shows_decides(server, wish, expected, monkeypatch):
    estimate = ConfidenceEstimate.load(BUNDLED)
    status, (shown,) = server.posts["/api/show"](server.model, {})
    info = json.loads(shown)
    info["model_info"] |= {"fimlsp.acceptance": (BUNDLED / "acceptance.json").read_text(encoding="utf-8")}
    info["model_info"] |= {} if wish is None else {"fimlsp.buffer_cache": wish}
    monkeypatch.setitem(server.posts, "/api/show", lambda *_: (status, [json.dumps(info)]))
    model = load_model(server.address)
    assert (model.uses_buffer, model.acceptance) == (expected, estimate)
