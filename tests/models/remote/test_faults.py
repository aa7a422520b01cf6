"""A server on a failing network: each request gets a text that connects, or a reason."""

import random
from collections import Counter
from dataclasses import replace

import psutil
import pytest

from fimlsp import python
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import load_model
from fimlsp.models.remote.errors import ServerError
from fimlsp.quotient.engine import Engine

from ...sampling import sampled
from .documented_servers import FAMILY_NEEDED, SERVERS
from .documented_servers import start as start_server
from .fault_proxy import FAULTS, FaultProxy

LEFT, RIGHT = b"def read(path):\n    with open(", b"\n        return file.read()\n"
HARMLESS = ("passed", "delayed")
PATIENT, IMPATIENT = DecodeSettings(tokens=12, seconds=60.0), DecodeSettings(tokens=12, seconds=0.7)


@pytest.fixture(scope="module")
def start():
    return Engine(python()).document(LEFT + RIGHT).middle(len(LEFT), len(LEFT)).start


@pytest.fixture
def proxy(served):
    made = FaultProxy(served("bundled"), seed=1)
    yield made
    made.close()


def is_a_sentence(text):
    return text.endswith(".") and "\n" not in text


def outcome(model, start, settings=PATIENT):
    """The text of the best middle, or the reason why there is none."""
    try:
        middles = complete_many(model, LEFT, RIGHT, start, settings, lambda: False)
    except ServerError as error:
        return None if is_a_sentence(str(error)) else pytest.fail(f"{error!r} is no sentence")
    for middle in middles:
        state = start.feed(middle.text)
        assert state is not None
        assert state.complete
    return middles[0].text


def answers(proxy, start, faults, family=None):
    model, told = load_model(proxy.address, family=family), Counter()
    expected = outcome(model, start)
    for fault in faults:
        proxy.fault = fault
        if fault in HARMLESS:
            text = outcome(model, start)
            assert text == expected, fault
        else:
            text = outcome(model, start, IMPATIENT)
        told[fault, "text" if text is not None else "reason"] += 1
    proxy.fault = "passed"
    assert outcome(model, start) == expected, "it is well again"
    return told


@pytest.mark.parametrize("fault", sampled(FAULTS, 3))
def test_a_fault_costs_the_text_or_gives_a_reason_and_leaves_nothing_behind(proxy, start, fault):
    told = answers(proxy, start, [fault, fault])
    assert told.total() == 2


@pytest.fixture(params=SERVERS)
def kind_behind_proxy(request):
    """A kind of server, and a proxy before one."""
    server = start_server(request.param)
    made = FaultProxy(server.address, seed=2)
    yield request.param, made
    made.close()
    server.shutdown()
    server.server_close()


DAMAGED = sorted(set(FAULTS) - set(HARMLESS))
DRAWN_SIDE_BY_SIDE = ["LM Studio", "unknown"]
"""In requests at the same time, and for one request."""


@pytest.mark.slow
@pytest.mark.parametrize("kind_behind_proxy", DRAWN_SIDE_BY_SIDE, indirect=True)
def test_some_faults_while_several_texts_are_drawn(kind_behind_proxy, start):
    kind, proxy = kind_behind_proxy
    model = load_model(proxy.address, family=FAMILY_NEEDED.get(kind))
    for fault in random.Random(kind).sample(DAMAGED, k=4):
        proxy.fault = fault
        outcome(model, start, replace(IMPATIENT, candidates=3))
    proxy.fault = "passed"
    assert outcome(model, start, replace(PATIENT, candidates=3)) is not None, "it is well again"


@pytest.mark.slow
def test_some_faults_of_every_kind_of_server(kind_behind_proxy, start):
    kind, proxy = kind_behind_proxy
    faults = random.Random(kind).sample(DAMAGED, k=4)
    assert answers(proxy, start, faults, FAMILY_NEEDED.get(kind)).total() == len(faults)


@pytest.mark.slow
def test_all_faults_of_every_kind_of_server(kind_behind_proxy, start):
    kind, proxy = kind_behind_proxy
    faults = random.Random(kind).choices(list(FAULTS), k=60)
    assert answers(proxy, start, faults, FAMILY_NEEDED.get(kind)).total() == len(faults)


def test_a_server_without_room_is_told_to_be_given_more(proxy):
    model = load_model(proxy.address)
    proxy.fault = "overfull"
    with pytest.raises(ServerError, match=r"its context is full .* larger -c"):
        model.network.begin([1, 2, 3])


@pytest.mark.slow
def test_a_thousand_requests(proxy, start):
    random.seed(7)
    faults = random.choices(list(FAULTS), k=1000)
    answers(proxy, start, faults[:100])
    before = psutil.Process().memory_info().rss
    told = answers(proxy, start, faults)
    grown = (psutil.Process().memory_info().rss - before) / 1e6
    print(f"\n{told.total()} requests; memory grew by {grown:.1f} MB")
    for (fault, kind), number in sorted(told.items()):
        print(f"{fault}: {number} times a {kind}")
    assert told.total() == 1000
    assert grown < 50


@pytest.mark.parametrize("fault", ["page", "full", "elsewhere", "nothing", "wrong_ids", "random_bytes"])
def test_a_model_is_not_loaded_from_a_server_that_fails(proxy, fault):
    proxy.fault = fault
    with pytest.raises(ServerError, match=proxy.address.partition("//")[2]):
        load_model(proxy.address)
