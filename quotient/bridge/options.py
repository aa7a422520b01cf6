"""How much of what stands around it a middle must fit."""

from __future__ import annotations

from fimlsp.lexing.values import value


@value
class ConnectOptions:
    """What a middle must fit.

    If `lenient`, lines further down that cannot be parsed are passed over. If `forbid_escape`, the middle
    does not escape from what both contexts are in (see `escape.py`).
    """

    lenient: bool = False
    forbid_escape: bool = False
