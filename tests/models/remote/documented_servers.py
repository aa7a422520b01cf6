"""Servers with the documented interfaces of vLLM, Ollama and others, which serve the bundled model.

What a real vLLM answered is in `vllm.json` (see `recorded.py`); of Ollama nothing was recorded. The forms
follow
- vLLM, `docs/serving/openai_compatible_server.md` and `CompletionRequest` in its OpenAI protocol: `logprobs`
  up to 20, `return_tokens_as_token_ids`, `allowed_token_ids`, `ignore_eos`; an error is
  `{"error": {"message": ...}}` with status 400, which in a stream is the first event after a status 200;
- Ollama, `docs/api.md`, with `logprobs` as in release 0.12.11: lines of JSON, texts of tokens alone, U+FFFD
  for bytes that are no text, no candidates where the model ends;
- LM Studio, lmstudio.ai/docs, "OpenAI Compatibility API" and "REST API v0": `logprobs` is null;
- TabbyAPI, `endpoints/OAI/types/completion.py`: the candidates as texts, in the form of OpenAI;
- llama-cpp-python, `llama_cpp/server/app.py` and `llama.py`: `suffix`, `n` without effect, and status 500
  for `logprobs` unless the model was loaded with `logits_all`;
- an unknown server that takes `n`, as the real llama.cpp does: the texts come side by side, by their `index`;
- DeepSeek, api-docs.deepseek.com, "Create FIM Completion (Beta)": `/beta/completions` with `suffix`;
- Mistral, docs.mistral.ai/api, "FIM": `/v1/fim/completions`, whose texts are `delta.content`; status 422 for
  keys that it does not know.
"""

import json
import threading
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, zip_longest

from fimlsp.models.loading import BUNDLED, load_model

LOGPROBS_MAX = 20
ONE_AT_A_TIME = threading.Lock()
"""Held while the model of all servers computes."""


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        found = {"/v1/models": self.server.listed, **self.server.others}.get(self.path)
        self.answer(json.dumps(found or {"error": {"message": "not found"}}), 200 if found else 404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body))
        with ONE_AT_A_TIME:
            status, lines = self.server.posts[self.path](self.server.model, body)
            text = "".join(lines)
        self.answer(text, status)

    def answer(self, text, status=200):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def written(model, tokens, length, *, ignores_end=False, allowed=None):
    """Pairs of the token that the model writes and its candidates."""
    candidates = model.network.begin(tokens)
    for _ in range(length):
        listed = list(zip(candidates.tokens, candidates.log_probabilities, strict=True))
        token = next(
            candidate for candidate, _ in listed if not (ignores_end and candidate in model.fim.stops)
        )
        if allowed is not None:
            (token,) = allowed
            listed = [*listed[:LOGPROBS_MAX], (token, candidates.stop)]
        yield token, dict(listed[:LOGPROBS_MAX]) | dict(listed[LOGPROBS_MAX:][:1] if allowed else [])
        if token in model.fim.stops and not ignores_end:
            return
        candidates = model.network.advance(token)


def vllm_completions(model, body):
    if body["logprobs"] > LOGPROBS_MAX:
        message = f"Requested sample logprobs of {body['logprobs']}, which is greater than max allowed: 20"
        error = json.dumps({"error": {"message": message, "type": "BadRequestError", "code": 400}})
        return (200, [f"data: {error}\n\n", "data: [DONE]\n\n"]) if body["stream"] else (400, [error])
    run = written(
        model,
        body["prompt"],
        body["max_tokens"],
        ignores_end=body.get("ignore_eos"),
        allowed=body.get("allowed_token_ids"),
    )
    chunks = [
        {
            "object": "text_completion",
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "text": "",
                    "logprobs": {
                        "tokens": [f"token_id:{token}"],
                        "token_logprobs": [listed[token]],
                        "top_logprobs": [
                            {f"token_id:{candidate}": value for candidate, value in listed.items()}
                        ],
                    },
                    "finish_reason": None,
                }
            ],
        }
        for token, listed in run
    ]
    if not body["stream"]:
        return 200, [json.dumps(chunks[0])]
    return 200, [*(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks), "data: [DONE]\n\n"]


def ollama_generate(model, body):
    vocabulary, text = model.vocabulary, body["prompt"]
    assert body["raw"]
    right, _, left = text.removeprefix("<|right|>").partition("<|left|>")
    tokens = model.fim.arrange(vocabulary.encode(left), vocabulary.encode(right))

    def shown(token):
        return (vocabulary.token_bytes[token] or b"").decode(errors="replace")

    lines, reason = [], "length"
    for token, listed in written(model, tokens, body["options"]["num_predict"]):
        if token in model.fim.stops:
            reason = "stop"
            break
        top = [{"token": shown(candidate), "logprob": value} for candidate, value in listed.items()]
        place = {"token": shown(token), "logprob": listed[token], "top_logprobs": top}
        lines.append({"model": body["model"], "response": shown(token), "done": False, "logprobs": [place]})
    lines.append({"model": body["model"], "response": "", "done": True, "done_reason": reason})
    return 200, [f"{json.dumps(line)}\n" for line in lines]


def ollama_show(model, _):
    tokens = [None] * len(model.vocabulary.token_bytes)
    for text, token in model.fim.marker_ids.items():
        tokens[token] = text
    tokens[min(model.fim.stops)] = "<|endoftext|>"
    info = {
        "general.architecture": "llama",
        "llama.context_length": 1024,
        "tokenizer.ggml.tokens": [text or f"t{n}" for n, text in enumerate(tokens)],
    }
    return 200, [json.dumps({"model_info": info})]


def text_reports(model, prompt, suffix, length, draw):
    """The text that the model writes, in one piece a token, with its candidates, and why it ends.

    A *draw* is a number: it starts with a candidate of that rank.
    """
    vocabulary = model.vocabulary
    if suffix is None:
        suffix, _, prompt = prompt.removeprefix("<|right|>").partition("<|left|>")
    tokens = model.fim.arrange(vocabulary.encode(prompt), vocabulary.encode(suffix))
    if draw:
        tokens.append(model.network.begin(tokens).tokens[draw])
        yield (vocabulary.token_bytes[tokens[-1]] or b"").decode(errors="ignore"), {}, None
    for token, listed in written(model, tokens, length):
        if token in model.fim.stops:
            yield "", {}, "stop"
            return
        texts = {
            (vocabulary.token_bytes[one] or b"").decode(errors="replace"): value
            for one, value in listed.items()
        }
        yield (vocabulary.token_bytes[token] or b"").decode(errors="replace"), texts, None
    yield "", {}, "length"


def completions_of(*, refuses_candidates=None, tells=False, has_suffix=False, knows=None, most=1):
    """`/v1/completions` in the form of OpenAI; *knows* are the keys that are not refused.

    It writes *most* texts for a request. A draw starts with another candidate than the one before.
    """
    draws = count()

    def complete(model, body):
        if refuses_candidates and "logprobs" in body:
            return 500, [json.dumps({"error": {"message": refuses_candidates}})]
        if knows is not None and not body.keys() <= knows:
            return 422, [json.dumps({"detail": "Extra inputs are not permitted"})]
        assert has_suffix == ("suffix" in body)
        choices = []
        for index in range(min(most, body.get("n", 1))):
            draw = 1 + next(draws) % 4 if body["temperature"] else 0
            written = text_reports(model, body["prompt"], body.get("suffix"), body["max_tokens"], draw)
            choices += [choice_of(index, *report) for report in written]
        lines = [f"data: {json.dumps({'choices': [choice]})}\n\n" for choice in mingled(choices)]
        return 200, [*lines, "data: [DONE]\n\n"]

    def choice_of(index, text, texts, reason):
        if knows is not None:
            return {"index": index, "delta": {"content": text}, "finish_reason": reason}
        logprobs = None
        if tells and texts:
            logprobs = {"tokens": [text], "token_logprobs": [0], "top_logprobs": [texts]}
        return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": reason}

    return complete


def mingled(choices):
    """*choices* of several texts in turn, as they are written side by side."""
    texts = {}
    for choice in choices:
        texts.setdefault(choice["index"], []).append(choice)
    return [choice for turn in zip_longest(*texts.values()) for choice in turn if choice is not None]


MISTRAL_KEYS = {"model", "prompt", "suffix", "max_tokens", "temperature", "stream", "stop", "random_seed"}
NO_LOGITS = "logprobs is not supported for models created with logits_all=False"
CODER = {"id": "bundled", "object": "model"}
STUDIO = {"id": "bundled", "state": "loaded", "max_context_length": 32768, "loaded_context_length": 1024}
SERVERS = {
    "LM Studio": (
        CODER | {"owned_by": "organization_owner"},
        {"/v1/completions": completions_of()},
        {"/api/v0/models/bundled": STUDIO},
    ),
    "TabbyAPI": (
        CODER | {"owned_by": "tabbyAPI", "parameters": {"max_seq_len": 1024}},
        {"/v1/completions": completions_of(tells=True)},
    ),
    "llama-cpp-python": (
        CODER | {"owned_by": "me"},
        {"/v1/completions": completions_of(refuses_candidates=NO_LOGITS, has_suffix=True)},
    ),
    "DeepSeek": (
        CODER | {"owned_by": "deepseek"},
        {"/beta/completions": completions_of(tells=True, has_suffix=True)},
    ),
    "Mistral": (
        CODER | {"owned_by": "mistralai"},
        {"/v1/fim/completions": completions_of(has_suffix=True, knows=MISTRAL_KEYS)},
    ),
    "unknown": (CODER, {"/v1/completions": completions_of(has_suffix=True, most=3)}),
    "vLLM": (
        {"id": "bundled", "object": "model", "owned_by": "vllm", "root": str(BUNDLED), "max_model_len": 1024},
        {"/v1/completions": vllm_completions},
    ),
    "Ollama": (
        {"id": "tiny:latest", "object": "model", "owned_by": "library"},
        {"/api/generate": ollama_generate, "/api/show": ollama_show},
    ),
}


FAMILY_NEEDED = {"LM Studio": "fimlsp", "TabbyAPI": "fimlsp"}
"""The family by server, where neither the server nor the name of its model gives it."""


@cache
def own_model():
    """The model of all servers."""
    return load_model(uses_buffer=False, dtype="float32")


def start(kind):
    """A running server of that kind, with its `address` and its requests in `asked`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    entry, server.posts, *others = SERVERS[kind]
    server.others = others[0] if others else {}
    server.listed = {"object": "list", "data": [entry]}
    server.model, server.asked = own_model(), []
    server.address = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server
