"""The kinds of model servers: how to recognise each, the API that it speaks, and advice for its users.

A server is recognised by `owned_by` of its models. The forms are those of

| server | source |
|---|---|
| llama.cpp | `tools/server/README.md` of github.com/ggml-org/llama.cpp, with "Using multiple models" |
| llama-swap | README and `internal/server/api.go` of github.com/mostlygeek/llama-swap |
| vLLM | docs.vllm.ai, "OpenAI-Compatible Server" |
| SGLang | docs.sglang.ai, "OpenAI APIs - Completions" |
| Ollama | `docs/faq.md` and `docs/openai.md` of github.com/ollama/ollama |
| LM Studio | lmstudio.ai/docs, "OpenAI Compatibility API" |
| TabbyAPI | `endpoints/core/types/model.py` of github.com/theroyallab/tabbyAPI, and its wiki |
| llama-cpp-python | `llama_cpp/server/app.py` of github.com/abetlen/llama-cpp-python |
| DeepSeek | api-docs.deepseek.com, "FIM Completion (Beta)" |
| Mistral | docs.mistral.ai/api, "FIM" |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Api = Literal["llama-server", "completions", "ollama", "texts"]


@dataclass(frozen=True, slots=True)
class ServerKind:
    """A kind of server.

    Attributes:
        name: its name for people.
        owner: `owned_by` of its models.
        api: the API that it is used with.
        longer_context: the remedy if a prompt does not fit.
        less_busy: the remedy if it has no time.
        absent: the remedy if it does not know the path or the model.
        remark: a reservation about all of its models; None: no objection.
    """

    name: str
    owner: str
    api: Api
    longer_context: str = "Choose a model with a longer context"
    less_busy: str = "Wait for the next attempt"
    absent: str = "Check the address, the model name after # and the option api"
    remark: str | None = None


NO_PROBABILITIES = "approximate, as it reports no probabilities of tokens"

UNKNOWN = ServerKind("server", "", "texts")

KINDS = (
    ServerKind(
        "llama-server",
        "llamacpp",
        "llama-server",
        "Start it with a larger -c or fewer slots",
        "Wait for the next attempt, or give it more slots (--parallel)",
        "Check the name after # and update llama.cpp",
    ),
    ServerKind("llama-swap", "llama-swap", "llama-server", absent="Check the name after #"),
    ServerKind("vLLM", "vllm", "completions", "Start it with a larger --max-model-len"),
    ServerKind("SGLang", "sglang", "completions", "Start it with a larger --context-length"),
    ServerKind(
        "Ollama",
        "library",
        "ollama",
        "Set OLLAMA_CONTEXT_LENGTH to more tokens",
        "Wait for the next attempt, or set OLLAMA_NUM_PARALLEL to more",
        "Download the model with `ollama pull NAME`",
        "approximate, as it reports texts in place of tokens; its files can be used directly",
    ),
    ServerKind(
        "LM Studio",
        "organization_owner",
        "texts",
        "Load the model there with a longer context",
        absent="Load the model there, and check the name after #",
        remark=f"{NO_PROBABILITIES}; use its GGUF files directly",
    ),
    ServerKind(
        "TabbyAPI",
        "tabbyAPI",
        "texts",
        "Set max_seq_len in its config.yml to more tokens",
        absent="Load the model there (/v1/model/load)",
        remark="approximate, as it reports texts in place of tokens",
    ),
    ServerKind(
        "llama-cpp-python",
        "me",
        "texts",
        "Start it with a larger --n_ctx",
        remark=f"{NO_PROBABILITIES}; llama-server runs the same files and is exact",
    ),
    ServerKind("DeepSeek", "deepseek", "texts", remark="approximate, as it reports texts in place of tokens"),
    ServerKind("Mistral", "mistralai", "texts", remark=NO_PROBABILITIES),
)
_BY_OWNER = {kind.owner: kind for kind in KINDS}


def kind_of(entry: Mapping[str, Any]) -> ServerKind:
    """The kind of the server whose list of models has this *entry*."""
    return _BY_OWNER.get(str(entry.get("owned_by")), UNKNOWN)
