"""What the server is doing right now, for an editor's status bar: the notification `fimlsp/status`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

STATUS = "fimlsp/status"

State = Literal["loading", "idle", "thinking", "suggestion", "none"]


@dataclass(frozen=True, slots=True)
class Status:
    """One state of the server.

    `loading`: no model yet, *reason* says what is being done. `idle`: ready, *reason* names the model.
    `thinking`: a completion is being made. `suggestion`: one was given. `none`: there is no
    suggestion, and *reason* says why.
    """

    state: State
    reason: str | None = None
