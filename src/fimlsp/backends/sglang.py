"""Structured outputs of SGLang by fimlsp: `--grammar-backend fimlsp`.

SGLang has a registry for such backends, and calls `register` in each of its processes by an entry point.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    InvalidGrammarObject,
    register_grammar_backend,
)
from sglang.srt.server_args import add_grammar_backend_choices

from fimlsp.backends.constraints import Constraints, Matcher
from fimlsp.languages.between import Kind
from fimlsp.models.masked_logits import allocate_bitmask, apply_bitmask, vocabulary_of

if TYPE_CHECKING:
    from sglang.srt.server_args import ServerArgs

    from fimlsp.models.masked_logits import Tensor

NAME = "fimlsp"
_ANY_JSON_KEY = "$$ANY$$"
_ANY_JSON: tuple[Kind, str] = "language", "json"


class FimlspGrammar(BaseGrammarObject):
    """The constraint of one request."""

    def __init__(self, matcher: Matcher) -> None:
        super().__init__()
        self._matcher = matcher

    def accept_token(self, token: int) -> None:
        """Go on with *token*; after a stop token nothing counts.

        Raises:
            ValueError: it is not allowed here.
        """
        if not self._matcher.is_over and not self._matcher.accept(token):
            raise ValueError(f"Cannot go on with token {token}: the constraint refuses it.")

    def rollback(self, k: int) -> None:
        """Go back by *k* tokens."""
        self._matcher.rollback(k)

    def is_terminated(self) -> bool:
        """True after a stop token."""
        return self._matcher.is_over

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: object) -> Tensor:
        """A bitmask on the CPU with all tokens allowed, which `move_vocab_mask` copies to the device."""
        del device
        return allocate_bitmask(batch_size, vocab_size)

    def fill_vocab_mask(self, vocab_mask: Tensor, idx: int) -> None:
        """Write the allowed tokens into row *idx*."""
        self._matcher.fill(vocab_mask, idx)

    @staticmethod
    def reset_vocab_mask(vocab_mask: Tensor) -> None:
        """Allow all tokens in all rows."""
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: Tensor, device: str) -> Tensor:
        """The bitmask on *device*."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: Tensor, vocab_mask: Tensor) -> None:
        """Set refused tokens to minus infinity."""
        apply_bitmask(logits, vocab_mask)

    def copy(self) -> FimlspGrammar:
        """The constraint of another request for the same texts."""
        return FimlspGrammar(self._matcher.copy())

    def try_jump_forward(self, tokenizer: object) -> tuple[list[int], str] | None:
        """The text that comes next in any case; None if there are several ways to go on."""
        del tokenizer
        text = self._matcher.forced()
        return ([], text) if text else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        """That text, without a number for the state after it."""
        return helper[1], -1

    def jump_and_retokenize(
        self,
        old_output_ids: Sequence[int],
        new_output_ids: Sequence[int],
        next_state: int,
    ) -> None:
        """Go on with *new_output_ids* in place of *old_output_ids*, which were accepted.

        Raises:
            ValueError: one of them is not allowed.
        """
        del next_state
        pairs = enumerate(zip(old_output_ids, new_output_ids, strict=False))
        same = next(
            (at for at, (old, new) in pairs if old != new), min(len(old_output_ids), len(new_output_ids))
        )
        self._matcher.rollback(len(old_output_ids) - same)
        for token in new_output_ids[same:]:
            self.accept_token(token)


class FimlspBackend(BaseGrammarBackend):
    """The constraints of one engine of SGLang."""

    def __init__(self, constraints: Constraints, ends: frozenset[int]) -> None:
        super().__init__()
        self._constraints = constraints
        self._ends = ends

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """The constraint of a JSON Schema, of any JSON, or of a request made by `fill_in_middle`."""
        return self._grammar(*(_ANY_JSON if key_string == _ANY_JSON_KEY else ("json", key_string)))

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """The constraint of a regular expression."""
        return self._grammar("regex", key_string)

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """The constraint of a grammar."""
        return self._grammar("grammar", key_string)

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """An object that has SGLang refuse the request."""
        del key_string
        return InvalidGrammarObject("fimlsp has no structural tags. Give a grammar or a JSON Schema.")

    def _grammar(self, kind: Kind, text: str) -> BaseGrammarObject:
        try:
            return FimlspGrammar(self._constraints.matcher(kind, text, self._ends))
        except ValueError as error:
            return InvalidGrammarObject(str(error))


def create(
    server_args: ServerArgs,
    tokenizer: Any,  # noqa: ANN401 - of transformers
    vocab_size: int,  # noqa: ARG001 - by SGLang's registry
    eos_token_ids: set[int] | None = None,
) -> FimlspBackend:
    """The backend for the model of *tokenizer*, with the ends at which SGLang stops."""
    further = getattr(tokenizer, "additional_stop_token_ids", None) or ()
    ends = frozenset({*(eos_token_ids or ()), *further, tokenizer.eos_token_id} - {None})
    compact = server_args.constrained_json_disable_any_whitespace
    return FimlspBackend(Constraints(vocabulary_of(tokenizer, sorted(ends)), compact=compact), ends)


def register() -> None:
    """Make `--grammar-backend fimlsp` known to this process of SGLang."""
    add_grammar_backend_choices([NAME])
    register_grammar_backend(NAME, create)
