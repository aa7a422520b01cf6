"""The real llama.cpp: a text whose reading was cancelled is read to its end, and then costs nothing."""

import pytest

from fimlsp.lexing.interruption import Interrupted
from fimlsp.models.loading import load_model

TEXT = list(range(300, 1100))


def test_a_text_is_read_to_its_end_after_its_request_was_cancelled(gguf):
    network = load_model(str(gguf("bundled"))).network
    with pytest.raises(Interrupted), network.cancellable(lambda: True):
        network.begin(TEXT)
    network.read_on(lambda: False)
    body = {"prompt": TEXT, "n_predict": 1, "cache_prompt": True}  # takes the slot that has most of it
    timings = network.server._client.ask("/completion", body)["timings"]
    assert timings["prompt_n"] <= 2, "only the last token is read again"
    assert timings["cache_n"] >= len(TEXT) - 2
