"""The real llama.cpp server in this process, on a port of its own."""

import json
from contextlib import contextmanager
from urllib.request import Request, urlopen

import xllamacpp

SILENT = -1


@contextmanager
def serving(path, **settings):
    """A function from route and body to the answer of a server with the model at *path*."""
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.cpuparams.n_threads = 1
    params.n_gpu_layers = 0
    params.verbosity = SILENT
    for name, value in ({"n_ctx": 512} | settings).items():
        setattr(params, name, value)
    server = xllamacpp.Server(params)
    address = server.listening_address

    def ask(route, **body):
        data = json.dumps(body).encode()
        request = Request(address + route, data, {"Content-Type": "application/json"})
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)

    ask.address = address
    yield ask
    del server


def candidates(ask, tokens, size, plain):
    """The entries of all *size* tokens after *tokens*, without the bias.

    The next token is *plain*, as the server reports nothing for one that leaves a character unfinished.
    """
    body = {
        "prompt": tokens,
        "n_predict": 1,
        "n_probs": size,
        "temperature": 0,
        "logit_bias": [[plain, 1000]],
    }
    (place,) = ask("/completion", **body)["completion_probabilities"]
    return place["top_logprobs"]
