"""Structured outputs of vLLM by fimlsp.

vLLM has no registry for such backends: it picks one of its own by name. It does let users choose the class of
the scheduler, which is given the manager of structured outputs before any request comes (`scheduler.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vllm.v1.structured_output.backend_types import (
    StructuredOutputBackend,
    StructuredOutputGrammar,
    StructuredOutputOptions,
)

from fimlsp.backends.constraints import Constraints, Matcher
from fimlsp.languages.between import Kind
from fimlsp.models.masked_logits import allocate_bitmask, vocabulary_of

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.tokenizers import TokenizerLike
    from vllm.v1.structured_output import StructuredOutputManager

    from fimlsp.models.masked_logits import Tensor

_KINDS: dict[StructuredOutputOptions, Kind] = {
    StructuredOutputOptions.JSON: "json",
    StructuredOutputOptions.REGEX: "regex",
    StructuredOutputOptions.GRAMMAR: "grammar",
    StructuredOutputOptions.CHOICE: "choice",
}
_ANY_OBJECT = '{"type": "object"}'


class FimlspGrammar(StructuredOutputGrammar):
    """The constraint of one request."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:  # noqa: ARG002 - by vLLM's interface
        """Go on with *tokens*; those after a stop token do not count. False if one is not allowed."""
        return all(self._matcher.is_over or self._matcher.accept(token) for token in tokens)

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """The longest prefix of *tokens* that is allowed."""
        return self._matcher.accepted(tokens)

    def rollback(self, num_tokens: int) -> None:
        """Go back by *num_tokens* tokens."""
        self._matcher.rollback(num_tokens)

    def fill_bitmask(self, bitmask: Tensor, batch_index: int) -> None:
        """Write the allowed tokens into row *batch_index*."""
        self._matcher.fill(bitmask, batch_index)

    def is_terminated(self) -> bool:
        """True after a stop token."""
        return self._matcher.is_over

    def reset(self) -> None:
        """Go back to the start."""
        self._matcher.reset()


class FimlspBackend(StructuredOutputBackend):
    """The constraints of one engine of vLLM."""

    def __init__(self, vllm_config: VllmConfig, tokenizer: TokenizerLike, vocab_size: int) -> None:
        super().__init__(vllm_config, tokenizer, vocab_size)
        compact = vllm_config.structured_outputs_config.disable_any_whitespace
        self._constraints = Constraints(vocabulary_of(tokenizer), compact=compact)

    def compile_grammar(
        self,
        request_type: StructuredOutputOptions,
        grammar_spec: str,
        stop_token_ids: set[int] | None = None,
    ) -> StructuredOutputGrammar:
        """The constraint of a request.

        Raises:
            ValueError: it is none that fimlsp has.
        """
        if request_type == StructuredOutputOptions.JSON_OBJECT:
            request_type, grammar_spec = StructuredOutputOptions.JSON, _ANY_OBJECT
        if request_type not in _KINDS:
            raise ValueError("Cannot use structural tags with fimlsp. Give a grammar or a JSON Schema.")
        return FimlspGrammar(
            self._constraints.matcher(_KINDS[request_type], grammar_spec, stop_token_ids or ())
        )

    def allocate_token_bitmask(self, max_num_seqs: int) -> Tensor:
        """A bitmask with all tokens allowed."""
        return allocate_bitmask(max_num_seqs, self.vocab_size)

    def destroy(self) -> None:
        """Nothing is held that has to be released."""


def put_in(manager: StructuredOutputManager) -> None:
    """Let *manager* use this backend in place of the one that vLLM's configuration names.

    Raises:
        RuntimeError: this vLLM keeps its backend elsewhere, or the configuration names none.
    """
    named = manager.vllm_config.structured_outputs_config.backend
    if named == "auto":
        raise RuntimeError(
            "Cannot use fimlsp while vLLM chooses a backend for each request. "
            'Do: --structured-outputs-config \'{"backend": "guidance"}\'.'
        )
    if (
        getattr(manager, "backend", manager) is not None
        or getattr(manager, "backend_name", manager) is not None
    ):
        raise RuntimeError("Cannot use fimlsp with this vLLM: its manager has no free place for a backend.")
    manager.backend = FimlspBackend(
        manager.vllm_config, manager.tokenizer, manager.vllm_config.model_config.get_vocab_size()
    )
    manager.backend_name = named
