"""The state of the server for an editor's status bar: the notification `fimlsp/status`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fimlsp.lsp_server.messages import Loading, NotReady, Ready

STATUS = "fimlsp/status"
_MOST_TOLD = 2

State = Literal["loading", "idle", "thinking", "suggestion", "none"]


@dataclass(frozen=True, slots=True)
class Status:
    """One state of the server.

    `loading`: no model yet; *reason* says what is being done, and *percent* how much of it is. `idle`: ready;
    a *reason* says why another model is used than was asked for. `thinking`: a completion is being made.
    `suggestion`: one was given; a *reason* says what was assumed for it. `none`: there is no suggestion, and
    *reason* says why. *uri* is the document that a completion is about, *model* the short name of the model
    that is loaded, *automatic* whether there are completions while typing. As long as another model is used
    than was asked for, *problem* says why in every state, and *missing* names the extra to be installed for
    it, if that is why. *names* says why a completion was made without knowing which names there
    are.
    """

    state: State
    reason: str | None = None
    percent: int | None = None
    model: str | None = None
    uri: str | None = None
    automatic: bool = True
    problem: str | None = None
    missing: str | None = None
    names: str | None = None


def describe_relaxed(relaxed: Sequence[str]) -> str:
    """One sentence for the user about what the engine assumed; *relaxed* tells at least one thing."""
    rest = f" and {len(relaxed) - _MOST_TOLD} more" if len(relaxed) > _MOST_TOLD else ""
    changes = f"{'; '.join(relaxed[:_MOST_TOLD])}{rest}"
    return f"the file is broken elsewhere; it was read with these changes: {changes}"


class StatusBoard:
    """Holds the current status; *tell* is called with every new one."""

    def __init__(self, tell: Callable[[Status], None]) -> None:
        self._tell = tell
        self._model: str | None = None
        self._problem: str | None = None
        self._missing: str | None = None
        self.now = Status("loading", "starting", percent=0)

    def loading(self, report: Loading | Ready | NotReady) -> None:
        """A report about loading came."""
        self._model = self._problem = self._missing = None
        match report:
            case Loading(step, percent):
                self._show("loading", step, percent=percent)
            case Ready(model, problem, missing):
                self._model, self._problem, self._missing = model, problem, missing
                self._show("idle", problem)
            case NotReady(reason):
                self._show("none", reason)

    def worker_ended(self, reason: str) -> None:
        """The worker died and is started again."""
        self._model = None
        self._show("loading", reason, percent=0)

    def thinking(self, uri: str) -> None:
        """A completion is being made; where no model is loaded yet, that is said instead."""
        if self.now.state != "loading":
            self._show("thinking", None, uri=uri)

    def suggestion(self, uri: str, relaxed: Sequence[str], names: str | None = None) -> None:
        """A suggestion was given; *names* as in `Status`."""
        self._show("suggestion", describe_relaxed(relaxed) if relaxed else None, uri=uri, names=names)

    def stale(self, uri: str) -> None:
        """What was thought about is not wanted any more."""
        if self.now.state == "thinking":
            self._show("idle", self._problem, uri=uri)

    def ended(self, uri: str) -> None:
        """The suggestion that was given for a document is not shown any more."""
        if self.now.state == "suggestion" and self.now.uri == uri:
            self._show("idle", self._problem, uri=uri)

    def none(self, uri: str, reason: str, names: str | None = None) -> None:
        """There is no suggestion; *names* as in `Status`."""
        self._show("none", reason, uri=uri, names=names)

    def automatic(self, is_on: bool) -> None:
        """Completions while typing were turned on or off."""
        if is_on != self.now.automatic:
            self._put(replace(self.now, automatic=is_on))

    def _show(
        self,
        state: State,
        reason: str | None,
        *,
        percent: int | None = None,
        uri: str | None = None,
        names: str | None = None,
    ) -> None:
        automatic, problem, missing = self.now.automatic, self._problem, self._missing
        self._put(Status(state, reason, percent, self._model, uri, automatic, problem, missing, names))

    def _put(self, status: Status) -> None:
        if status != self.now:
            self.now = status
            self._tell(status)
