"""The bytes of a server's tokens, as far as it has told them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import overload

from fimlsp.models.served.http.address import Address
from fimlsp.models.served.http.failures import ServerError


class LearntBytes(Sequence["bytes | None"]):
    """The exact bytes of each token of the server at *address*; those in *silent* have none.

    A token that was never told of has none either. *known* is what is known from the beginning.
    """

    def __init__(
        self, address: Address, size: int, known: Sequence[bytes | None] = (), silent: Collection[int] = ()
    ) -> None:
        self._address = address
        self._table: list[bytes | None] = [*known, *[None] * (size - len(known))]
        self._is_known = bytearray([1] * len(known) + [0] * (size - len(known)))
        for token in silent:
            self._table[token] = None
            self._is_known[token] = 1
        self._silent = frozenset(silent)

    def learn(self, token: int, data: bytes | None) -> None:
        """The server says that *token* has the bytes *data*.

        Raises:
            ServerError: it said something else before, so it has another model now; or no such token.
        """
        if token >= len(self._table):
            raise self._changed(f"it tells of a token numbered {token}, but had {len(self._table)}")
        if not self._is_known[token]:
            self._table[token] = data
            self._is_known[token] = 1
        elif self._table[token] != data and token not in self._silent:
            raise self._changed(f"its token {token} was another one before")

    def _changed(self, how: str) -> ServerError:
        return ServerError(
            f"The server at {self._address} has another model than before ({how}); it is looked at again."
        )

    @overload
    def __getitem__(self, at: int) -> bytes | None: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[bytes | None]: ...
    def __getitem__(self, at: int | slice) -> bytes | Sequence[bytes | None] | None:
        return self._table[at]

    def __len__(self) -> int:
        return len(self._table)
