"""What the server is doing right now, for an editor's status bar: the notification `fimlsp/status`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fimlsp.lsp_server.messages import Completion, Loading, NotReady, Ready

STATUS = "fimlsp/status"

State = Literal["loading", "idle", "thinking", "suggestion", "none"]


@dataclass(frozen=True, slots=True)
class Status:
    """One state of the server.

    `loading`: no model yet, *reason* says what is being done. `idle`: ready, *reason* names the model.
    `thinking`: a completion is being made. `suggestion`: one was given; a *reason* says what was left out
    for it. `none`: there is no suggestion, and *reason* says why.
    """

    state: State
    reason: str | None = None


def describe_relaxed(relaxed: str) -> str:
    """What it means for the user that the engine left out part of the context *relaxed*."""
    sides = {"left": "before", "right": "after", "both": "before and after"}
    return f"the file is broken {sides[relaxed]} the cursor, so part of it was left out"


def status_of_completion(completion: Completion) -> Status:
    """The status that a completion means."""
    if not completion.text:
        return Status("none", completion.reason)
    return Status("suggestion", completion.relaxed and describe_relaxed(completion.relaxed))


def status_of_loading(report: Loading | Ready | NotReady) -> Status:
    """The status that a report about loading means."""
    match report:
        case Loading(step):
            return Status("loading", step)
        case Ready(model):
            return Status("idle", model)
        case NotReady(reason):
            return Status("none", reason)
