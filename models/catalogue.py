"""Lists models of the hub that are known to fill in the middle of Python, for users who look for one."""

from __future__ import annotations

from dataclasses import dataclass

HALF_PRECISION_BYTES = 2


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model on the hub: the family of its prompt, billions of parameters, and tokens of context."""

    name: str
    family: str
    billions: float
    context: int

    @property
    def bytes(self) -> int:
        """Size of its weights in half precision."""
        return int(self.billions * 1e9 * HALF_PRECISION_BYTES)


KNOWN_MODELS = (
    KnownModel("Qwen/Qwen2.5-Coder-0.5B", "Qwen-Coder", 0.49, 32_768),
    KnownModel("bigcode/gpt_bigcode-santacoder", "SantaCoder", 1.12, 2_048),
    KnownModel("bigcode/starcoderbase-1b", "StarCoder", 1.14, 8_192),
    KnownModel("deepseek-ai/deepseek-coder-1.3b-base", "DeepSeek-Coder", 1.35, 16_384),
    KnownModel("Qwen/Qwen2.5-Coder-1.5B", "Qwen-Coder", 1.54, 32_768),
    KnownModel("google/codegemma-2b", "CodeGemma", 2.51, 8_192),
    KnownModel("stabilityai/stable-code-3b", "Stable-Code", 2.8, 16_384),
    KnownModel("bigcode/starcoder2-3b", "StarCoder2", 3.03, 16_384),
    KnownModel("bigcode/starcoderbase-3b", "StarCoder", 3.04, 8_192),
    KnownModel("Qwen/Qwen2.5-Coder-3B", "Qwen-Coder", 3.09, 32_768),
    KnownModel("ibm-granite/granite-3b-code-base-2k", "StarCoder", 3.48, 2_048),
    KnownModel("deepseek-ai/deepseek-coder-6.7b-base", "DeepSeek-Coder", 6.74, 16_384),
    KnownModel("codellama/CodeLlama-7b-hf", "CodeLlama", 6.74, 16_384),
    KnownModel("bigcode/starcoder2-7b", "StarCoder2", 7.17, 16_384),
    KnownModel("bigcode/starcoderbase-7b", "StarCoder", 7.33, 8_192),
    KnownModel("Qwen/Qwen2.5-Coder-7B", "Qwen-Coder", 7.62, 32_768),
    KnownModel("ibm-granite/granite-8b-code-base-4k", "StarCoder", 8.05, 4_096),
)

MODELS_THAT_WORK = (
    "bigcode/gpt_bigcode-santacoder, bigcode/starcoder2-3b, Qwen/Qwen2.5-Coder-0.5B, "
    "deepseek-ai/deepseek-coder-1.3b-base, codellama/CodeLlama-7b-hf or google/codegemma-2b"
)


def largest_within(size: int) -> KnownModel | None:
    """The largest model whose weights fit into *size* bytes; None if none does."""
    return max((model for model in KNOWN_MODELS if model.bytes <= size), key=lambda m: m.bytes, default=None)
