"""Keys and values of what a checkpoint has read, in arrays that are allocated once.

The caches of transformers grow by copying themselves at every token. Here a layer writes into room that is
there already and hands out a view of the part in use; forgetting the end of a text moves a number.
"""

from __future__ import annotations

import torch
from transformers import PretrainedConfig
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer, DynamicSlidingWindowLayer


class RoomyLayer(DynamicLayer):  # type: ignore[no-untyped-call]  # transformers leaves some untyped
    """Keys and values of one layer, [1, heads, positions, width], with room for *context* positions."""

    def __init__(self, context: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # as above
        self._context = context
        self._length = 0

    def copied(self, n_rows: int, room: int) -> RoomyLayer:
        """The same positions for each of *n_rows* texts, [rows, heads, positions, width]."""
        layer = RoomyLayer(room)
        layer.update(self._in_use(self.keys, n_rows), self._in_use(self.values, n_rows))
        return layer

    def _in_use(self, states: torch.Tensor | None, n_rows: int) -> torch.Tensor:
        assert states is not None
        return states[:, :, : self._length].expand(n_rows, -1, -1, -1)

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Allocate the room."""
        self.dtype, self.device = key_states.dtype, key_states.device
        self.keys = self._room_like(key_states)
        self.values = self._room_like(value_states)
        self.is_initialized = True

    def _room_like(self, states: torch.Tensor) -> torch.Tensor:
        """Zeros, as what is masked counts nothing only if it is a number."""
        batch, heads, _, width = states.shape
        return states.new_zeros((batch, heads, self._context, width))

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        *_: object,
        **__: object,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write new positions behind those in use; views of all in use."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        begin, self._length = self._length, self._length + key_states.shape[-2]
        keys = _written(self.keys, begin, key_states)
        return keys, _written(self.values, begin, value_states)

    def get_seq_length(self) -> int:
        """Positions in use."""
        return self._length

    def crop(self, tokens_to_remove: int) -> None:
        """Forget the last -*tokens_to_remove* positions."""
        self._length += tokens_to_remove

    def grow(self) -> None:
        """One more position is in use: somebody else wrote it."""
        self._length += 1

    def reset(self) -> None:
        """Forget all positions, but keep the room."""
        self._length = 0


def _written(room: torch.Tensor | None, begin: int, states: torch.Tensor) -> torch.Tensor:
    """Write *states* into *room* from position *begin* on; the part in use then."""
    assert room is not None
    end = begin + states.shape[-2]
    room[:, :, begin:end] = states
    return room[:, :, :end]


def copied_cache(cache: Cache, n_rows: int, room: int) -> Cache:
    """What `KVCache` has, for each of *n_rows* texts, with room for *room* positions."""
    roomy = (layer for layer in cache.layers if isinstance(layer, RoomyLayer))
    return Cache(layers=[layer.copied(n_rows, room) for layer in roomy])


class KVCache:
    """The cache of one network for texts of up to *context* tokens."""

    def __init__(self, config: PretrainedConfig, context: int) -> None:
        self._config = config
        self.context = context
        self.clear()

    def clear(self) -> None:
        """Forget everything, and give the room back."""
        self.cache: Cache = DynamicCache(config=self._config)
        self._can_shrink = all(type(layer) in _KNOWN_LAYERS for layer in self.cache.layers)
        if self._can_shrink:
            n_layers = self._config.num_hidden_layers
            self.cache = Cache(layers=[RoomyLayer(self.context) for _ in range(n_layers)])

    @property
    def rooms(self) -> list[RoomyLayer]:
        """The layers, where they are roomy."""
        return [layer for layer in self.cache.layers if isinstance(layer, RoomyLayer)]

    @property
    def is_roomy(self) -> bool:
        """Whether positions can be forgotten, and copied."""
        return self._can_shrink

    def clear_texts(self) -> None:
        """Forget everything, but keep the room."""
        for room in self.rooms:
            room.reset()

    def grow(self) -> None:
        """One more position is in use: somebody else wrote it."""
        for room in self.rooms:
            room.grow()

    def keep(self, n: int) -> int:
        """Forget all but the first *n* tokens, or all where a layer cannot do that; how many are kept."""
        excess = self.cache.get_seq_length() - n
        if excess <= 0:
            return n
        if not self._can_shrink:
            self.clear()
            return 0
        self.cache.crop(-excess)
        return n


# The context is never longer than a sliding window, so a layer with one keeps everything as well.
_KNOWN_LAYERS = (DynamicLayer, DynamicSlidingWindowLayer)
