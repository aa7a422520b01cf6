"""Decides which clients are served: no more than a machine bears, and only those that know the token.

The token matters on a TCP port, which every user of the machine can reach.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from fimlsp.lsp_server.settings.options import TOKEN

MOST_CLIENTS = 32


class Door:
    """Admits clients; *token* is asked for unless it is None."""

    def __init__(self, token: str | None = None) -> None:
        self._token = token
        self._n_inside = 0

    def admit(self, options: object) -> str | None:
        """Admit the client that introduces itself with these `initializationOptions`, or say why not."""
        given = options.get(TOKEN) if isinstance(options, Mapping) else None
        if self._token is not None and not _is_equal(given, self._token):
            return f"this server asks for a token; give its own as {TOKEN} in the initialization options"
        if self._n_inside >= MOST_CLIENTS:
            return (
                f"this server has {MOST_CLIENTS} clients, which is the most; end one or start another server"
            )
        self._n_inside += 1
        return None

    def leave(self) -> None:
        """A client that was admitted is gone."""
        self._n_inside -= 1


def _is_equal(given: object, token: str) -> bool:
    """Whether *given* is *token*; the time that takes does not tell how much of it is right."""
    if not isinstance(given, str):
        return False
    return hmac.compare_digest(given.encode(errors="surrogatepass"), token.encode(errors="surrogatepass"))
