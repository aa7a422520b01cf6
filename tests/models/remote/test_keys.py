"""What a key costs: tokens that the real llama.cpp reads for it, by its own figures."""

import json
import statistics
from urllib.request import Request, urlopen

import pytest

from fimlsp.models.loading import load_model
from fimlsp.models.prompts.prompt import build_prompt

LEFT = b"".join(b"def f%d(x):\n    return x\n\n" % n for n in range(4))
RIGHT = b"\n\nprint(f1(2), f2(3))\n" * 3
TYPED = b"value = f1(x)\nprint(value)\n"
MEDIAN_MAX = 32


def tokens_read(client):
    """The number of prompt tokens that the server has read so far."""
    key = client._headers["Authorization"]
    with urlopen(Request(f"http://{client.address}/metrics", headers={"Authorization": key})) as answer:
        lines = answer.read().decode().splitlines()
    return int(float(next(x for x in lines if x.startswith("llamacpp:prompt_tokens_total")).split()[1]))


def read_while_typing(model, *, steady):
    """The tokens read at each key."""
    client, read = model.network.server._client, []
    for n in range(1, len(TYPED) + 1):
        left = LEFT + TYPED[:n]
        prompt = build_prompt(model.vocabulary, model.fim, 512, left, RIGHT, 16, steady=steady)
        before = tokens_read(client)
        with model.network.cancellable(lambda: False):
            model.network.begin(prompt.tokens)
        read.append(tokens_read(client) - before)
    return read


@pytest.mark.slow
def test_a_key_costs_what_changed_with_the_prefix_first(gguf, tmp_path):
    path = tmp_path / "prefix_first.gguf"
    path.symlink_to(gguf("bundled"))
    own = {"psm": ["<|left|>", "{left}", "<|right|>", "{right}", "<|pad|>"], "stops": ["<|endoftext|>"]}
    (tmp_path / "fim.json").write_text(json.dumps(own))
    model = load_model(str(path), device="cpu", threads=1)
    steady = statistics.median(read_while_typing(model, steady=True))
    assert steady <= MEDIAN_MAX < statistics.median(read_while_typing(model, steady=False))
