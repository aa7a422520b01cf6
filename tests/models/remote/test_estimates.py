"""The estimate of a model in a file or on a server: its own, or a general one, never that of another."""

import pytest

from fimlsp.models.confidence import GENERAL, WITHOUT_PROBABILITIES, ConfidenceEstimate, Regression
from fimlsp.models.loading import BUNDLED, load_model
from fimlsp.models.remote.bundled_elsewhere import recognised

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
    model, other = load_model(served("Qwen-Coder")), load_model(served("StarCoder2"))
    assert model.acceptance == other.acceptance == general(GENERAL)
    OWN.save(model.estimates)
    assert load_model(served("Qwen-Coder")).acceptance == OWN
    assert load_model(served("StarCoder2")).acceptance == general(GENERAL)


CODE = "for größe in self.areas[1]:\n    x_1 += 2.5  # 中 `naïve`\n\n\ndef f(a):\n        return a_b.c"


@pytest.mark.usefixtures("elsewhere")
def test_the_bundled_model_is_recognised_wherever_its_file_is(served):
    model, own = load_model(served("bundled")), load_model()
    assert model.acceptance == own.acceptance
    assert (model.uses_buffer, model.prompt_tokens) == (own.uses_buffer, own.prompt_tokens)
    assert model.vocabulary.encode(CODE) == own.vocabulary.encode(CODE), "as ours, not as llama.cpp splits it"


UNLIKE = {  # the sizes that a server reports, or the bytes of its tokens: another model of our own
    "another width": ({"n_embd": 512}, {}),
    "more tokens": ({"n_vocab": 8193}, {}),
    "no sizes": ({"n_embd": None}, {}),
    "other tokens": ({}, {300: b"q\xc3"}),
}


@pytest.mark.parametrize("case", [*UNLIKE, "the same"])
def test_another_model_of_our_own_is_not_taken_for_the_bundled_one(case):
    sizes, others = UNLIKE.get(case, ({}, {}))
    own = load_model()
    meta = {"n_vocab": 8192, "n_embd": 640, "n_ctx_train": 1024} | sizes

    class Tokenizer:
        def pieces(self, text):
            table = own.vocabulary.token_bytes
            return [(one, others.get(n, table[one])) for n, one in enumerate(own.vocabulary.encode(text))]

    assert (recognised(meta, own.fim, Tokenizer()) is not None) is (case == "the same")


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
