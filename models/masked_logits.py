"""Masks for transformers: with them, `model.generate(...)` writes only text that connects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from tokenizers import Tokenizer

from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.vocabulary import read_vocabulary
from fimlsp.quotient.masks.vocabulary import Vocabulary
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:  # both are heavy, and an extra
    import torch
    from transformers import PreTrainedTokenizerBase

_TokenIds = tuple[int, ...]


class MaskedLogits:
    """A logits processor of transformers: allows tokens after which the text can be completed, and its end.

    Give a new one to each call of `generate`, in `logits_processor`. Batches, beams and sampling work as
    without it. *starts* are the first states, one for each prompt of the batch, or one for all. The prompt
    may be a fill-in-the-middle prompt or the text on the left: the first call records where it ends.

    Law: a text that was generated up to a stop token is complete; a text that ends at a limit of tokens can
    be completed, by `rest_of`.
    """

    def __init__(self, vocabulary: Vocabulary, starts: State | Sequence[State]) -> None:
        self.vocabulary = vocabulary
        self.starts: Sequence[State] = starts if isinstance(starts, Sequence) else (starts,)
        self._prompt_length: int | None = None
        self._states: dict[tuple[int, _TokenIds], State | None] = {}

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """*scores* with minus infinity for all tokens that are not allowed after *input_ids*.

        After a stop token only stop tokens are allowed.

        Raises:
            ModelError: no token of the vocabulary is allowed, or the prompts are not those of `starts`.
        """
        if self._prompt_length is None:
            self._prompt_length = input_ids.shape[1]
        states = self._states_after(input_ids)
        allowed = np.zeros(tuple(scores.shape), np.bool_)
        width = min(scores.shape[1], len(self.vocabulary))
        for row, state in enumerate(states):
            if state is None:
                allowed[row, sorted(self.vocabulary.stops)] = True
                continue
            tokens = self.vocabulary.tokens(state.allowed_texts(self.vocabulary), complete=state.complete)
            if not tokens[:width].any():
                raise ModelError(
                    "Cannot continue the text: the vocabulary has no allowed token. Use another model."
                )
            allowed[row, :width] = tokens[:width]
        import torch

        refused = torch.from_numpy(~allowed).to(scores.device)
        return cast("torch.FloatTensor", scores.masked_fill(refused, float("-inf")))

    def rest_of(self, sequence: torch.Tensor, prompt: int = 0) -> bytes:
        """A short text that completes a *sequence* that `generate` returned for prompt number *prompt*.

        Empty if the sequence is complete.
        """
        assert self._prompt_length is not None, "generate has not been called"
        state: State | None = self.starts[prompt if len(self.starts) > 1 else 0]
        for token in sequence.tolist()[self._prompt_length :]:
            following = state and self._after(state, token)
            if following is None:
                break
            state = following
        assert state is not None
        return state.shortest_completion

    def _states_after(self, input_ids: torch.LongTensor) -> list[State | None]:
        """The state after each row; None after a stop token. Those of the last step are remembered."""
        rows: list[list[int]] = input_ids[:, self._prompt_length :].tolist()
        if not rows or len(rows) % len(self.starts):
            raise ModelError(
                f"Cannot match {len(rows)} rows to {len(self.starts)} prompts. Give a start for each prompt."
            )
        beams = len(rows) // len(self.starts)
        before, self._states = self._states, {}
        for row, written in enumerate(map(tuple, rows)):
            key = row // beams, written
            if key not in self._states:
                self._states[key] = self._state(before, *key)
        return [self._states[row // beams, tuple(written)] for row, written in enumerate(rows)]

    def _state(
        self, before: dict[tuple[int, _TokenIds], State | None], prompt: int, written: _TokenIds
    ) -> State | None:
        """The state of a prompt after *written*, from the state *before* its last token if that is known."""
        known = next((n for n in (len(written) - 1, len(written)) if (prompt, written[:n]) in before), 0)
        state = before.get((prompt, written[:known]), self.starts[prompt])
        for token in written[known:]:
            if state is None:
                return None
            state = self._after(state, token)
        return state

    def _after(self, state: State, token: int) -> State | None:
        """The state after a token; None for a stop token, or one that no mask allows, such as padding."""
        text = self.vocabulary.token_bytes[token] if token < len(self.vocabulary) else None
        return None if text is None or token in self.vocabulary.stops else state.feed(text)


def vocabulary_of(tokenizer: PreTrainedTokenizerBase, stops: Sequence[int] = ()) -> Vocabulary:
    """The vocabulary of a tokenizer of transformers; *stops* are further ids that end a text.

    Raises:
        ModelError: the bytes of its tokens are unknown, as it is not backed by the tokenizers library.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ModelError(
            "Cannot read the bytes of this tokenizer: it has no tokenizer.json. Use a fast tokenizer."
        )
    copy = Tokenizer.from_str(backend.to_str())  # reading the vocabulary changes its treatment of markers
    ends = {*stops, *([] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id])}
    texts = read_vocabulary(copy, ends | set(tokenizer.all_special_ids)).token_bytes
    return Vocabulary(texts, ends)
