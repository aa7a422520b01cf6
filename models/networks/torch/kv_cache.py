"""A key-value cache in arrays that are allocated once.

The caches of transformers grow by copying themselves at every token. Here a layer writes into preallocated
space and returns a view of the part in use. Forgetting the end of a text changes one number.
"""

from __future__ import annotations

import torch
from transformers import PretrainedConfig
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer, DynamicSlidingWindowLayer


class PreallocatedLayer(DynamicLayer):  # type: ignore[no-untyped-call]  # transformers leaves some untyped
    """Keys and values of one layer, [rows, heads, positions, width], with space for *context* positions."""

    def __init__(self, context: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # as above
        self._context = context
        self._length = 0

    def copied(self, n_rows: int, context: int) -> PreallocatedLayer:
        """A copy for each of *n_rows* texts, with space for *context* positions."""
        layer = PreallocatedLayer(context)
        layer.update(self._in_use(self.keys, n_rows), self._in_use(self.values, n_rows))
        return layer

    def _in_use(self, states: torch.Tensor | None, n_rows: int) -> torch.Tensor:
        assert states is not None
        return states[:, :, : self._length].expand(n_rows, -1, -1, -1)

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Allocate the space."""
        self.dtype, self.device = key_states.dtype, key_states.device
        self.keys = self._space_like(key_states)
        self.values = self._space_like(value_states)
        self.is_initialized = True

    def _space_like(self, states: torch.Tensor) -> torch.Tensor:
        """Zeros, because a masked position adds nothing only if it contains a number."""
        batch, heads, _, width = states.shape
        return states.new_zeros((batch, heads, self._context, width))

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        *_: object,
        **__: object,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write new positions after those in use; views of all in use."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        start, self._length = self._length, self._length + key_states.shape[-2]
        keys = _written(self.keys, start, key_states)
        return keys, _written(self.values, start, value_states)

    def get_seq_length(self) -> int:
        """Positions in use."""
        return self._length

    def crop(self, tokens_to_remove: int) -> None:
        """Forget the last -*tokens_to_remove* positions."""
        self._length += tokens_to_remove

    def grow(self) -> None:
        """Count one more position as in use, which was written from outside."""
        self._length += 1

    def reset(self) -> None:
        """Forget all positions, but keep the space."""
        self._length = 0


def _written(space: torch.Tensor | None, start: int, states: torch.Tensor) -> torch.Tensor:
    """Write *states* into *space* from position *start* on; the part then in use."""
    assert space is not None
    end = start + states.shape[-2]
    space[:, :, start:end] = states
    return space[:, :, :end]


def copied_cache(cache: Cache, n_rows: int, context: int) -> Cache:
    """A copy of a `KVCache`'s *cache* for each of *n_rows* texts, with space for *context* positions."""
    layers = (layer for layer in cache.layers if isinstance(layer, PreallocatedLayer))
    return Cache(layers=[layer.copied(n_rows, context) for layer in layers])


class KVCache:
    """The keys and values of one network, for texts of up to *context* tokens.

    Architectures with layers other than plain attention get the growing cache of transformers, which can only
    be cleared as a whole; then `is_preallocated` is False.
    """

    def __init__(self, config: PretrainedConfig, context: int) -> None:
        self._config = config
        self.context = context
        self.clear()

    def clear(self) -> None:
        """Forget everything and free the space."""
        self.cache: Cache = DynamicCache(config=self._config)
        self._is_preallocated = all(type(layer) in _KNOWN_LAYERS for layer in self.cache.layers)
        if self._is_preallocated:
            n_layers = self._config.num_hidden_layers
            self.cache = Cache(layers=[PreallocatedLayer(self.context) for _ in range(n_layers)])

    @property
    def layers(self) -> list[PreallocatedLayer]:
        """The preallocated layers."""
        return [layer for layer in self.cache.layers if isinstance(layer, PreallocatedLayer)]

    @property
    def is_preallocated(self) -> bool:
        """True if the end of a text can be forgotten, and the cache be copied."""
        return self._is_preallocated

    def clear_texts(self) -> None:
        """Forget everything, but keep the space."""
        for layer in self.layers:
            layer.reset()

    def grow(self) -> None:
        """Count one more position as in use, which was written from outside."""
        for layer in self.layers:
            layer.grow()

    def keep(self, n: int) -> int:
        """Forget all but the first *n* tokens, or everything if that is impossible; the number kept."""
        excess = self.cache.get_seq_length() - n
        if excess <= 0:
            return n
        if not self._is_preallocated:
            self.clear()
            return 0
        self.cache.crop(-excess)
        return n


# The context is never longer than a sliding window, so a layer with one keeps everything as well.
_KNOWN_LAYERS = (DynamicLayer, DynamicSlidingWindowLayer)
