"""The reference: a network that asks a llama-server for each token alone, and for all candidates there."""

import contextlib
import json
from urllib.request import Request, urlopen

from fimlsp.models.protocols import Candidates

from .conftest import KEY


class OneByOne:
    """`NextToken` over the server at *address*, with as many tokens as *network*, and its stops.

    It has the attributes of `ReadsAhead`, so that its prompts are those of *network*.
    """

    keeps_read_part, is_own, meter = True, False, None

    def __init__(self, address, network):
        self.address = address
        self.token_bytes, self.stops = [None] * len(network.token_bytes), network.stops
        self.text = []

    def begin(self, tokens, written=()):
        self.text = [*tokens, *written]
        return self._next()

    def advance(self, token):
        self.text.append(token)
        return self._next()

    def read_ahead(self, tokens):
        """Nothing is read ahead."""

    def cancellable(self, _should_stop):
        return contextlib.nullcontext()

    def _next(self):
        body = {
            "prompt": self.text,
            "n_predict": 1,
            "n_probs": len(self.token_bytes),
            "temperature": 0,
            "logit_bias": [[min(self.stops), 1000]],
        }
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
        request = Request(f"{self.address}/completion", json.dumps(body).encode(), headers)
        with urlopen(request, timeout=60) as answer:
            (place,) = json.load(answer)["completion_probabilities"]
        listed = place["top_logprobs"]
        for entry in listed:
            self.token_bytes[entry["id"]] = bytes(entry["bytes"]) or None
        stop = max(entry["logprob"] for entry in listed if entry["id"] in self.stops)
        return Candidates([entry["id"] for entry in listed], [entry["logprob"] for entry in listed], stop)
