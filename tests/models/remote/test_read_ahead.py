"""The real llama.cpp: texts are read before a request, or read on after it was cancelled."""

import pytest

from fimlsp import python
from fimlsp.lexing.interruption import Interrupted
from fimlsp.models.completion import complete_many, prompt_ahead
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import load_model
from fimlsp.models.protocols import ReadsAhead
from fimlsp.models.remote.reading import MEASURED_TOKENS
from fimlsp.quotient.engine import Engine

from .documented_servers import FAMILY_NEEDED, start

TEXT = list(range(300, 1100))
ANOTHER = list(range(1200, 1900))


def read_now(network, text):
    """The number of tokens that the server has to read for *text*, by its own figures."""
    body = {"prompt": text, "n_predict": 1, "cache_prompt": True}  # takes the slot that has most of it
    return network.server._client.ask("/completion", body, seconds=600)["timings"]["prompt_n"]


def never():
    return False


@pytest.fixture
def network(gguf):
    return load_model(str(gguf("bundled")), threads=1).network


def test_a_text_is_read_to_its_end_after_its_request_was_cancelled(network):
    with pytest.raises(Interrupted), network.cancellable(lambda: True):
        network.begin(TEXT)
    with network.cancellable(never):
        network.read_ahead(TEXT)
    assert read_now(network, TEXT) <= 2, "only the last token is read again"


@pytest.mark.slow
def test_two_texts_that_are_read_ahead_keep_their_slots(network):
    with network.cancellable(never):
        network.read_ahead(TEXT)
        network.meter.per_second = None
        network.read_ahead(ANOTHER)
    assert read_now(network, TEXT) <= 2
    assert read_now(network, ANOTHER) <= 2


@pytest.mark.slow
def test_reading_that_is_stopped_goes_on_where_it_was(network, monkeypatch):
    def stop_after_some():
        return network.meter.share is not None and network.meter.share >= 0.2

    with pytest.raises(Interrupted), network.cancellable(stop_after_some):
        network.read_ahead(TEXT)
    reports, report = [], network.meter.report
    monkeypatch.setattr(
        network.meter, "report", lambda progress: (reports.append(progress), report(progress))
    )
    network.begin(TEXT)  # waits for the slot, which the stopped request may still hold
    assert reports[0]["cache"] > 0, "a part of it is read"


@pytest.mark.slow
def test_the_speed_is_known_from_the_first_text_on_and_a_quick_one_is_not_read_ahead(network):
    assert network.meter.per_second is None, "the model has read an empty prompt"
    network.begin(TEXT)
    assert network.meter.per_second > 0
    assert network.meter.share is None, "it does not read now"
    network.meter.per_second = 1e9
    with network.cancellable(never):
        network.read_ahead(ANOTHER)
    assert read_now(network, ANOTHER) == len(ANOTHER)


@pytest.mark.parametrize(
    ("left", "right"), [(b"def area(width):\n    re", b"\n"), (b"x = [1]\n" * 90, b"y\n" * 90)]
)
def test_the_prompt_that_is_read_ahead_is_that_of_the_request(gguf, left, right, monkeypatch):
    model, settings = load_model(str(gguf("bundled"))), DecodeSettings(tokens=8)
    start = Engine(python()).document(left + right).middle(len(left), len(left)).start
    begin, read = model.network.begin, []

    def recorded(tokens, written=()):
        read.append(tokens)
        return begin(tokens, written)

    monkeypatch.setattr(model.network, "begin", recorded)
    complete_many(model, left, right, start, settings, never)
    assert read[0] == prompt_ahead(model, left, right, settings).tokens


def test_llama_cpp_in_the_process_and_on_this_machine_reads_ahead(gguf, served):
    for name in (str(gguf("bundled")), served("bundled")):
        network = load_model(name).network
        assert isinstance(network, ReadsAhead)
        assert network.is_own
        assert network.keeps_read_part


OTHERS = {  # servers that keep the beginning of a text, and the key for the number of tokens to write
    "Ollama": lambda body: body["options"]["num_predict"],
    "LM Studio": lambda body: body["max_tokens"],
    "llama-cpp-python": lambda body: body["max_tokens"],
    "vLLM": lambda body: body["max_tokens"],
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_servers_on_this_machine_read_the_prompt_of_a_request_before_it(kind):
    left, right = b"def area_1(width):\n    return width\n\n\n" * 8 + b"total = ", b"\nprint(total)\n"
    server = start(kind)
    try:
        model, settings = load_model(server.address, family=FAMILY_NEEDED.get(kind)), DecodeSettings(tokens=4)
        network = model.network
        prompt = prompt_ahead(model, left, right, settings).tokens
        assert len(prompt) >= MEASURED_TOKENS
        server.asked.clear()
        with network.cancellable(never):
            network.read_ahead(prompt)
            network.read_ahead(prompt)
        ((_, ahead),) = server.asked
        assert OTHERS[kind](ahead) == 1
        assert network.meter.per_second > 0, "its speed decides about the length of prompts"
        begin = Engine(python()).document(left + right).middle(len(left), len(left)).start
        complete_many(model, left, right, begin, settings, never)
        assert server.asked[1][1]["prompt"] == ahead["prompt"]
    finally:
        server.shutdown()
        server.server_close()


def test_brackets_that_an_editor_closes_cost_no_reading(gguf):
    model = load_model(str(gguf("bundled")), threads=1)
    settings = DecodeSettings(tokens=8)
    prompts = [
        prompt_ahead(model, left, right, settings)
        for left, right in [
            (b"total = ", b"\n\nprint(total)\n"),
            (b"total = sum(", b")\n\nprint(total)\n"),
            (b"total = sum(areas['", b"'])\n\nprint(total)\n"),
        ]
    ]
    assert all(
        prompt.tokens == prompts[0].tokens[: len(prompt.tokens)]
        or prompt.tokens[: len(prompts[0].tokens)] == prompts[0].tokens
        for prompt in prompts
    )
    assert [prompt.left_out for prompt in prompts] == [b"", b")", b"'])"]
