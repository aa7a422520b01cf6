"""Masks for models that others run: `model.generate(...)` of transformers, and inference engines.

With them only text is written that connects. In transformers they are a processor of logits. Inference
engines keep bitmasks: a row of words for each text, with a set bit for each allowed token.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from fimlsp.models.checkpoints.checkpoint_files import end_tokens
from fimlsp.models.checkpoints.hub import find_folder
from fimlsp.models.decoding.loop import REFUSALS_BEFORE_MASK
from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.fim_format import NoMarkersError, find_format
from fimlsp.models.prompts.vocabulary import read_vocabulary
from fimlsp.quotient.masks.vocabulary import WORD_BITS, Bitmask, Vocabulary
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:
    import torch

    Tensor: TypeAlias = torch.Tensor
    Words: TypeAlias = Tensor | NDArray[np.generic]
    import torch
    from transformers import PreTrainedTokenizerBase


def fill_bitmask(bitmask: Words, row: int, state: State, vocabulary: Vocabulary) -> None:
    """Write the mask of *state* into a *row* of a bitmask, whose words have 32 bits as engines allocate them.

    A bitmask of torch must be on the CPU.

    Raises:
        ValueError: the rows have fewer words than the vocabulary needs.
    """
    write_mask(bitmask, row, state.mask(vocabulary))


def write_mask(bitmask: Words, row: int, mask: Bitmask) -> None:
    """Write *mask* into a *row* of a bitmask; tokens that it lacks are refused.

    Raises:
        ValueError: the rows have fewer words than the mask.
    """
    words = bitmask[row] if isinstance(bitmask, np.ndarray) else bitmask[row].numpy()
    if words.shape[-1] < len(mask) or words.dtype.itemsize != mask.dtype.itemsize:
        raise ValueError(
            f"Cannot write {len(mask)} words of 32 bits into a row of {words.shape[-1]} of {words.dtype}."
        )
    words[: len(mask)] = mask.view(words.dtype)
    words[len(mask) :] = 0


def allocate_bitmask(rows: int, tokens: int) -> Tensor:
    """A bitmask of torch on the CPU for a number of *tokens*, with all of them allowed in all *rows*."""
    import torch

    words = -(-tokens // WORD_BITS)
    return torch.full((rows, words), -1, dtype=torch.int32, pin_memory=torch.cuda.is_available())


def apply_bitmask(logits: Tensor, bitmask: Tensor) -> None:
    """Set the *logits* [rows, tokens] of refused tokens to minus infinity in place, on any device.

    The bitmask is on the device of the logits.
    """
    import torch

    shifts = torch.arange(WORD_BITS, dtype=torch.int32, device=bitmask.device)
    allowed = (bitmask.unsqueeze(-1) >> shifts & 1).flatten(-2)[..., : logits.shape[-1]]
    logits[..., : allowed.shape[-1]].masked_fill_(allowed == 0, float("-inf"))
    logits[..., allowed.shape[-1] :] = float("-inf")


_TokenIds = tuple[int, ...]


class MaskedLogits:
    """A logits processor of transformers: allows tokens after which the text can be completed, and its end.

    Give a new one to each call of `generate`, in `logits_processor`. Batches, beams and sampling work as
    without it. *starts* are the first states, one for each prompt of the batch, or one for all. The prompt
    may be a fill-in-the-middle prompt or the text on the left: the first call records it.

    With *greedy* only the likeliest allowed token of each row is kept. It is found by trying tokens in their
    order, and a mask is made only after 24 refusals. Greedy decoding gives the same text, and costs less
    where masks are dear.

    Law: a text that was generated up to a stop token is complete; a text that ends at a limit of tokens can
    be completed, by `rest_of`.

    Raises:
        ModelError: there is no start, or one of them is None, as no text connects the two sides.
    """

    def __init__(
        self, vocabulary: Vocabulary, starts: State | Sequence[State], *, greedy: bool = False
    ) -> None:
        self.vocabulary = vocabulary
        self.starts: Sequence[State] = starts if isinstance(starts, Sequence) else (starts,)
        self.greedy = greedy
        if not self.starts:
            raise ModelError("Cannot mask without a start. Give the first state of each prompt.")
        missing = next((number for number, start in enumerate(self.starts) if start is None), None)
        if missing is not None:
            raise ModelError(
                f"Cannot mask: the start of prompt {missing} is None, as no text connects its two sides. "
                "Leave this prompt out, or change its sides."
            )
        self._prompts: torch.Tensor | None = None
        self._states: dict[tuple[int, _TokenIds], State | None] = {}

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """*scores* with minus infinity for all tokens that are not allowed after *input_ids*.

        After a stop token only stop tokens are allowed.

        Raises:
            ModelError: no token of the vocabulary is allowed, the prompts are not those of `starts`, or they
                are others than in the first call.
        """
        import torch

        self._check_prompts(input_ids)
        allowed = np.zeros(tuple(scores.shape), np.bool_)
        for row, (prompt, written) in enumerate(self._read(input_ids)):
            state = self._states[prompt, written]
            best = self._likeliest(state, scores[row]) if self.greedy and state is not None else None
            if best is None:
                tokens = self._allowed(state)[: scores.shape[1]]
                allowed[row, : len(tokens)] = tokens
            else:
                token, following = best
                allowed[row, token] = True
                self._states[prompt, (*written, token)] = following
        refused = torch.from_numpy(~allowed).to(scores.device)
        return cast("torch.FloatTensor", scores.masked_fill(refused, float("-inf")))

    def _allowed(self, state: State | None) -> NDArray[np.bool_]:
        """For each token of the vocabulary, True if it is allowed after *state*."""
        vocabulary = self.vocabulary
        if state is None:
            tokens = np.zeros(len(vocabulary), np.bool_)
            tokens[list(vocabulary.stops)] = True
            return tokens
        tokens = vocabulary.tokens(state.allowed_texts(vocabulary), complete=state.complete)[
            : len(vocabulary)
        ]
        if not tokens.any():
            raise ModelError(
                "Cannot continue the text: the vocabulary has no allowed token. Use another model."
            )
        return tokens

    def _likeliest(self, state: State, scores: torch.Tensor) -> tuple[int, State | None] | None:
        """The likeliest token that *state* allows and the state after it, if it is among those tried."""
        best = scores.topk(min(REFUSALS_BEFORE_MASK, len(scores)))
        for token, score in zip(best.indices.tolist(), best.values.tolist(), strict=True):
            following = self._after(state, token)
            is_end = token in self.vocabulary.stops and state.complete
            if score > -inf and (following is not None or is_end):
                return token, following
        return None

    def _check_prompts(self, input_ids: torch.LongTensor) -> None:
        """Record the prompts at the first call; later ones must begin with them.

        Raises:
            ModelError: they do not.
        """
        import torch

        if self._prompts is None:
            self._prompts = torch.unique(input_ids, dim=0)
        length = self._prompts.shape[1]
        known = input_ids.shape[1] >= length and bool(
            (input_ids[:, None, :length] == self._prompts).all(-1).any(-1).all()
        )
        if not known:
            raise ModelError(
                "Cannot mask another prompt than that of the first call. "
                "Give a new MaskedLogits to each call of generate."
            )

    @property
    def _prompt_length(self) -> int:
        assert self._prompts is not None, "generate has not been called"
        return self._prompts.shape[1]

    def rest_of(self, sequence: torch.Tensor, prompt: int = 0) -> bytes:
        """A short text that completes a *sequence* that `generate` returned for prompt number *prompt*.

        Empty if the sequence is complete.
        """
        state: State | None = self.starts[prompt if len(self.starts) > 1 else 0]
        for token in sequence.tolist()[self._prompt_length :]:
            following = state and self._after(state, token)
            if following is None:
                break
            state = following
        assert state is not None
        return state.shortest_completion

    def _read(self, input_ids: torch.LongTensor) -> list[tuple[int, _TokenIds]]:
        """The prompt of each row and the tokens written after it; only states after these are remembered."""
        rows: list[list[int]] = input_ids[:, self._prompt_length :].tolist()
        if not rows or len(rows) % len(self.starts):
            raise ModelError(
                f"Cannot match {len(rows)} rows to {len(self.starts)} prompts. Give a start for each prompt."
            )
        beams = len(rows) // len(self.starts)
        before, self._states = self._states, {}
        keys = [(row // beams, tuple(written)) for row, written in enumerate(rows)]
        for key in keys:
            if key not in self._states:
                self._states[key] = self._state(before, *key)
        return keys

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
    """The vocabulary of a tokenizer of transformers, with the tokens that end a text.

    These are the tokenizer's own end, those of the model's family, and those that the files of the checkpoint
    declare, `generation_config.json` among them. The checkpoint is looked up on this machine by the name of
    the tokenizer. *stops* are further ids. Give all of them to `generate`, as
    `eos_token_id=sorted(vocabulary.stops)`. Markers of the family or of conversations have no text, also
    where the tokenizer takes them for text.

    Raises:
        ModelError: the bytes of its tokens are unknown, as it is not backed by the tokenizers library.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ModelError(
            "Cannot read the bytes of this tokenizer: it has no tokenizer.json. Use a fast tokenizer."
        )
    copy = Tokenizer.from_str(backend.to_str())  # reading the vocabulary changes its treatment of markers
    own = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
    markers, family_ends = _of_family(copy, tokenizer.name_or_path)
    ends = {*stops, *own, *family_ends, *_declared(copy, tokenizer.name_or_path)}
    texts = read_vocabulary(copy, {*ends, *markers, *tokenizer.all_special_ids}).token_bytes
    return Vocabulary(texts, ends)


def _of_family(tokenizer: Tokenizer, name: str) -> tuple[frozenset[int], frozenset[int]]:
    """The markers of the family whose markers *tokenizer* has, and its ends; of a family unknown none."""
    try:
        fim = find_format(tokenizer.get_vocab(with_added_tokens=True), name)
    except NoMarkersError:
        return frozenset(), frozenset()
    return fim.markers, fim.stops


def _declared(tokenizer: Tokenizer, name: str) -> frozenset[int]:
    """The ends that the checkpoint called *name* declares, if it is on this machine."""
    try:
        return end_tokens(find_folder(name), tokenizer) if name else frozenset()
    except ModelError:
        return frozenset()
