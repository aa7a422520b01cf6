"""Servers with the documented interfaces of vLLM and Ollama, which serve the bundled model.

What a real vLLM answered is in `vllm.json` (see `recorded.py`); of Ollama nothing was recorded. The forms
follow
- vLLM, `docs/serving/openai_compatible_server.md` and `CompletionRequest` in its OpenAI protocol: `logprobs`
  up to 20, `return_tokens_as_token_ids`, `allowed_token_ids`, `ignore_eos`; an error is
  `{"error": {"message": ...}}` with status 400, which in a stream is the first event after a status 200;
- Ollama, `docs/api.md`, with `logprobs` as in release 0.12.11: lines of JSON, texts of tokens alone, U+FFFD
  for what is no text, no candidates where the model ends.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from fimlsp.models.loading import BUNDLED, load_model

LOGPROBS_MAX = 20


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(json.dumps(self.server.listed))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body))
        status, lines = self.server.posts[self.path](self.server.model, body)
        self.answer("".join(lines), status)

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


SERVERS = {
    "vLLM": (
        {"id": "bundled", "object": "model", "owned_by": "vllm", "root": str(BUNDLED), "max_model_len": 1024},
        {"/v1/completions": vllm_completions},
    ),
    "Ollama": (
        {"id": "tiny:latest", "object": "model", "owned_by": "library"},
        {"/api/generate": ollama_generate, "/api/show": ollama_show},
    ),
}


def start(kind):
    """A running server of that kind, with its `address` and its requests in `asked`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    entry, server.posts = SERVERS[kind]
    server.listed = {"object": "list", "data": [entry]}
    server.model, server.asked = load_model(uses_buffer=False), []
    server.address = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
