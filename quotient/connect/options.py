"""How strictly a middle must fit its context."""

from __future__ import annotations

from fimlsp.lexing.values import value


@value
class ConnectOptions:
    """How strictly a middle must fit its context.

    With `forbid_escape`, the middle must not escape from the node that both contexts are in (see
    `escape.py`).
    """

    forbid_escape: bool = False
