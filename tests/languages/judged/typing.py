"""A line that is typed piece by piece: after each the document answers as a new one does."""

from __future__ import annotations

from collections.abc import Sequence

from ...quotient.middle_support import verdict
from .checking import Judged


def type_a_line(of: Judged, data: bytes, pieces: Sequence[bytes]) -> bytes:
    """Type *pieces* at a line start in the middle of *data*; returns the text with them."""
    document = of.engine.document(data)
    place = data.index(b"\n", len(data) // 2) + 1
    for piece in pieces:
        document.edit(place, place, piece)
        place += len(piece)
        fresh = of.fresh_engine().document(document.data).middle_at_bytes(place, place, relax=False).start
        state = document.middle_at_bytes(place, place, relax=False).start
        assert verdict(state) == verdict(fresh), (document.data, place)
    return document.data
