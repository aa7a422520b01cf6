"""The estimate of a model in a file or on a server: its own, or a general one, never that of another."""

import pytest

from fimlsp.models.confidence import GENERAL, WITHOUT_PROBABILITIES, ConfidenceEstimate, Regression
from fimlsp.models.loading import BUNDLED, load_model

from .documented_servers import start

OWN = ConfidenceEstimate(Regression(0.5, {}), Regression(0.25, {}), 7, 9)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def general(name):
    return ConfidenceEstimate.load(BUNDLED, name)


def test_a_file_has_that_of_the_model_it_was_made_of(gguf, cache):
    model = load_model(str(gguf("bundled")))
    assert model.acceptance == load_model().acceptance
    assert cache in model.estimates.parents
    OWN.save(model.estimates)
    assert load_model(str(gguf("bundled"))).acceptance == OWN
    other = load_model(str(gguf("Qwen-Coder")))
    assert other.acceptance == general(GENERAL)
    assert other.estimates != model.estimates


@pytest.mark.usefixtures("elsewhere")
def test_a_server_has_a_general_one_until_it_has_its_own(served):
    model, other = load_model(served("bundled")), load_model(served("Qwen-Coder"))
    assert model.acceptance == other.acceptance == general(GENERAL)
    OWN.save(model.estimates)
    assert load_model(served("bundled")).acceptance == OWN
    assert load_model(served("Qwen-Coder")).acceptance == general(GENERAL)


def test_a_server_of_a_file_on_this_machine_has_that_of_the_file(gguf, served):
    file, model = load_model(str(gguf("bundled"))), load_model(served("bundled"))
    assert model.acceptance == file.acceptance
    assert model.estimates == file.estimates
    assert load_model(served("Qwen-Coder")).acceptance == general(GENERAL)


@pytest.mark.parametrize(
    ("kind", "expected"), [("LM Studio", WITHOUT_PROBABILITIES), ("TabbyAPI", GENERAL), ("vLLM", GENERAL)]
)
def test_one_without_probabilities_has_one_by_the_text_alone(kind, expected):
    server = start(kind)
    try:
        family = None if kind == "vLLM" else "fimlsp"
        assert load_model(server.address, family=family).acceptance == general(expected)
    finally:
        server.shutdown()
        server.server_close()


def test_without_a_home_there_is_a_general_one(gguf, monkeypatch):
    def homeless():
        raise RuntimeError

    monkeypatch.setattr("fimlsp.models.loading.cache_folder", homeless)
    assert load_model(str(gguf("Qwen-Coder"))).acceptance == general(GENERAL)
