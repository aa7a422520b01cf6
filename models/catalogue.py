"""Models on the hub that are known to fill in the middle of Python.

For each GGUF file, *source* is the hub page that shows its size and licence. Files from before May 2024 are
left out, as llama.cpp did not record the splitting rule of the vocabulary then. That of CodeLlama is older,
but its vocabulary has no such rule.
"""

from __future__ import annotations

from dataclasses import dataclass

HALF_PRECISION_BYTES = 2


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model on the hub.

    Attributes:
        name: hub name.
        family: family of its prompt.
        billions: billions of parameters.
        context: tokens of context.
    """

    name: str
    family: str
    billions: float
    context: int

    @property
    def bytes(self) -> int:
        """Size of the weights in half precision."""
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


@dataclass(frozen=True, slots=True)
class KnownGguf:
    """A model as a GGUF file on the hub.

    Attributes:
        name: name for users.
        repository: repository on the hub.
        file: name of the file in the repository.
        family: family of its prompt.
        billions: billions of parameters.
        gigabytes: size of the file.
        licence: licence, as the hub names it.
        source: page of the repository that shows all of this, after `https://huggingface.co/`.
    """

    name: str
    repository: str
    file: str
    family: str
    billions: float
    gigabytes: float
    licence: str
    source: str

    @property
    def bytes(self) -> int:
        """Approximate size of the file."""
        return int(self.gigabytes * 1e9)


KNOWN_GGUF = (
    KnownGguf(
        "qwen2.5-coder-0.5b",
        "lmstudio-community/Qwen2.5-Coder-0.5B-GGUF",
        "Qwen2.5-Coder-0.5B-Q8_0.gguf",
        "Qwen-Coder",
        0.49,
        0.53,
        "apache-2.0",
        "lmstudio-community/Qwen2.5-Coder-0.5B-GGUF/tree/main",
    ),
    KnownGguf(
        "deepseek-coder-1.3b",
        "icycodes/deepseek-coder-1.3b-base-Q8_0-GGUF",
        "deepseek-coder-1.3b-base-q8_0.gguf",
        "DeepSeek-Coder",
        1.35,
        1.43,
        "deepseek-license",
        "icycodes/deepseek-coder-1.3b-base-Q8_0-GGUF/tree/main",
    ),
    KnownGguf(
        "qwen2.5-coder-1.5b",
        "ggml-org/Qwen2.5-Coder-1.5B-Q8_0-GGUF",
        "qwen2.5-coder-1.5b-q8_0.gguf",
        "Qwen-Coder",
        1.54,
        1.65,
        "apache-2.0",
        "ggml-org/Qwen2.5-Coder-1.5B-Q8_0-GGUF/tree/8be1b8a895a84beea772817caaa71eba6b6e0d07",
    ),
    KnownGguf(
        "codegemma-2b",
        "tensorblock/codegemma-2b-GGUF",
        "codegemma-2b-Q4_K_M.gguf",
        "CodeGemma",
        2.51,
        1.63,
        "gemma",
        "tensorblock/codegemma-2b-GGUF/tree/main",
    ),
    KnownGguf(
        "stable-code-3b",
        "itlwas/stable-code-3b-Q4_K_M-GGUF",
        "stable-code-3b-q4_k_m.gguf",
        "Stable-Code",
        2.8,
        1.71,
        "other",
        "itlwas/stable-code-3b-Q4_K_M-GGUF/tree/main",
    ),
    KnownGguf(
        "starcoder2-3b",
        "QuantFactory/starcoder2-3b-GGUF",
        "starcoder2-3b.Q4_K_M.gguf",
        "StarCoder2",
        3.03,
        1.89,
        "bigcode-openrail-m",
        "QuantFactory/starcoder2-3b-GGUF/tree/0b602ed05476eee80120c0043dabd8df00c30b3a",
    ),
    KnownGguf(
        "qwen2.5-coder-3b",
        "ggml-org/Qwen2.5-Coder-3B-Q8_0-GGUF",
        "qwen2.5-coder-3b-q8_0.gguf",
        "Qwen-Coder",
        3.09,
        3.29,
        "qwen-research",
        "ggml-org/Qwen2.5-Coder-3B-Q8_0-GGUF/tree/main",
    ),
    KnownGguf(
        "granite-3b-code",
        "mradermacher/granite-3b-code-base-GGUF",
        "granite-3b-code-base.Q4_K_M.gguf",
        "StarCoder",
        3.48,
        2.13,
        "apache-2.0",
        "mradermacher/granite-3b-code-base-GGUF/tree/main",
    ),
    KnownGguf(
        "codellama-7b",
        "TheBloke/CodeLlama-7B-GGUF",
        "codellama-7b.Q4_K_M.gguf",
        "CodeLlama",
        6.74,
        4.08,
        "llama2",
        "TheBloke/CodeLlama-7B-GGUF/tree/main",
    ),
    KnownGguf(
        "starcoder2-7b",
        "QuantFactory/starcoder2-7b-GGUF",
        "starcoder2-7b.Q4_K_M.gguf",
        "StarCoder2",
        7.17,
        4.46,
        "bigcode-openrail-m",
        "QuantFactory/starcoder2-7b-GGUF/tree/main",
    ),
    KnownGguf(
        "qwen2.5-coder-7b",
        "ggml-org/Qwen2.5-Coder-7B-Q8_0-GGUF",
        "qwen2.5-coder-7b-q8_0.gguf",
        "Qwen-Coder",
        7.62,
        8.1,
        "apache-2.0",
        "ggml-org/Qwen2.5-Coder-7B-Q8_0-GGUF/tree/main",
    ),
    KnownGguf(
        "granite-8b-code",
        "mradermacher/granite-8b-code-base-4k-GGUF",
        "granite-8b-code-base-4k.Q4_K_M.gguf",
        "StarCoder",
        8.05,
        4.88,
        "apache-2.0",
        "mradermacher/granite-8b-code-base-4k-GGUF/tree/main",
    ),
)
MODELS_THAT_WORK = (
    "bigcode/gpt_bigcode-santacoder, bigcode/starcoder2-3b, Qwen/Qwen2.5-Coder-0.5B, "
    "deepseek-ai/deepseek-coder-1.3b-base, codellama/CodeLlama-7b-hf or google/codegemma-2b"
)


def known_gguf(name: str) -> KnownGguf | None:
    """The GGUF file with the *name* of the catalogue; None if there is none."""
    return next((file for file in KNOWN_GGUF if file.name == name.lower()), None)


WRITTEN_TOKENS, READ_TOKENS = 16, 512
"""Tokens of a suggestion, and those of the smallest prompt of a slow model."""

READ_PER_SECOND = 37.0
"""Tokens that llama.cpp reads in a second, for each thread and a billion parameters (docs/servers.md)."""

BYTES_PER_SECOND = 8e9
"""Bytes of weights that a processor reads from its memory in a second; each written token reads all."""

CACHE_SHARE = 0.2
"""Memory for the texts that were read, as a share of the weights."""

OFFERED, FIRST_S_MAX = 3, 60.0
"""Sizes that are offered, and the longest time until the first suggestion."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A GGUF file that fits this machine, and what it costs on processors alone.

    Attributes:
        file: the file.
        memory: bytes of memory that it takes.
        first_s: seconds until the first suggestion after a jump, as all of the text is read.
        next_s: seconds for each further one.
    """

    file: KnownGguf
    memory: int
    first_s: float
    next_s: float


def offers(free: int | None, threads: int) -> tuple[Offer, ...]:
    """A small, a middle and a large file for so many bytes of *free* memory (None: unknown) and *threads*.

    The smallest one is offered however slow it is.
    """
    costs = sorted((_offer(file, threads) for file in KNOWN_GGUF), key=lambda offer: offer.memory)
    in_memory = [offer for offer in costs if free is None or offer.memory <= free]
    fitting = [offer for offer in in_memory if offer.first_s <= FIRST_S_MAX] or in_memory[:1]
    if len(fitting) <= OFFERED:
        return tuple(fitting)
    return fitting[0], fitting[len(fitting) // 2], fitting[-1]


def _offer(file: KnownGguf, threads: int) -> Offer:
    next_s = WRITTEN_TOKENS * file.bytes / BYTES_PER_SECOND
    first_s = READ_TOKENS * file.billions / (READ_PER_SECOND * threads) + next_s
    return Offer(file, int((1 + CACHE_SHARE) * file.bytes), first_s, next_s)


def largest_within(size: int) -> KnownModel | None:
    """The largest model whose weights fit into *size* bytes; None if none does."""
    fitting = (model for model in KNOWN_MODELS if model.bytes <= size)
    return max(fitting, key=lambda model: model.bytes, default=None)
