"""Status and statistics of one client, for the editor's status bar (notification `fimlsp/status`)."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from fimlsp.lsp_server.messages import Completion, Loading, NotReady, Ready

STATUS = "fimlsp/status"
MOST_CHANGES_NAMED = 2
HEADER_ALONE = "a header alone, without its body"
_FIRST_WORD = re.compile(r"\s*(?:\w+|[^\w\s]+)")

State = Literal["loading", "idle", "thinking", "suggestion", "none"]


@dataclass(frozen=True, slots=True)
class Status:
    """A status of the server.

    The meaning of *reason* depends on *state*:

    - `loading`: the current step of loading the model; *percent* is done.
    - `idle`: the problem with the configured model, if another one is used.
    - `thinking`: always None; a completion is being made.
    - `suggestion`: assumptions about a file that is broken elsewhere, or that the text is a header alone, or
      that several texts start alike.
    - `none`: the reason for no suggestion.

    *uri* is the document of the completion, *model* the short name of the loaded model, *automatic* is false
    while only invoked completions are made. While another model than the configured one is used, *problem*
    has the reason. *missing* is the extra to install, if that is the reason. *names* is the reason that a
    completion was made without the names in scope. *files* is a sentence about files that it left out.

    *later* is true if the server reads on, so that the same request may soon have a suggestion. *learnt* says
    how many places the model's estimate has learnt from. *header* is true if the suggestion is the header of
    a block, which connects with the body that the user writes next.
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
    files: str | None = None
    later: bool = False
    learnt: str | None = None
    header: bool = False


def describe_relaxed(relaxed: Sequence[str]) -> str:
    """A sentence for the user about the engine's assumptions; *relaxed* has at least one."""
    more = f" and {len(relaxed) - MOST_CHANGES_NAMED} more" if len(relaxed) > MOST_CHANGES_NAMED else ""
    changes = f"{'; '.join(relaxed[:MOST_CHANGES_NAMED])}{more}"
    return f"the file is broken elsewhere; it was read with these changes: {changes}"


def same_start(texts: Sequence[str]) -> str | None:
    """A sentence for the user if all of several *texts* have the same first word; else None."""
    starts = {_FIRST_WORD.match(text) for text in texts}
    words = {start[0].strip() for start in starts if start is not None}
    return f"all suggestions here start with “{words.pop()}”" if len(texts) > 1 and len(words) == 1 else None


class StatusBoard:
    """Holds the current status; *notify* is called with every new one."""

    def __init__(self, notify: Callable[[Status], None]) -> None:
        self._notify = notify
        self._model: str | None = None
        self._problem: str | None = None
        self._missing: str | None = None
        self._learnt: str | None = None
        self.now = Status("loading", "starting", percent=0)

    def loading(self, report: Loading | Ready | NotReady) -> None:
        """The worker reported on loading."""
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
        """The worker died and will be restarted."""
        self._model = None
        self._show("loading", reason, percent=0)

    def thinking(self, uri: str) -> None:
        """A completion is being made. While the model is loading, the status does not change."""
        if self.now.state != "loading":
            self._show("thinking", None, uri=uri)

    def suggestion(self, uri: str, completion: Completion) -> None:
        """A suggestion was made."""
        relaxed = completion.relaxed
        header = HEADER_ALONE if completion.is_header else None
        reason = describe_relaxed(relaxed) if relaxed else header or same_start(completion.texts)
        self._show("suggestion", reason, uri=uri, completion=completion)

    def stale(self, uri: str) -> None:
        """The running request is not needed any more."""
        if self.now.state == "thinking":
            self._show("idle", self._problem, uri=uri)

    def ended(self, uri: str) -> None:
        """The suggestion for a document is not shown any more."""
        if self.now.state == "suggestion" and self.now.uri == uri:
            self._show("idle", self._problem, uri=uri)

    def none(self, uri: str, completion: Completion) -> None:
        """There is no suggestion."""
        self._show("none", completion.reason_in_words, uri=uri, completion=completion)

    def automatic(self, is_on: bool) -> None:
        """Automatic completion was turned on or off."""
        if is_on != self.now.automatic:
            self._put(replace(self.now, automatic=is_on))

    def learnt(self, places: int) -> None:
        """The estimate of the model has learnt from so many places. The next status says so."""
        self._learnt = f"learnt from {places:,} place{'s' * (places != 1)}" if places else None

    def _show(
        self,
        state: State,
        reason: str | None,
        *,
        percent: int | None = None,
        uri: str | None = None,
        completion: Completion | None = None,
    ) -> None:
        done = completion or Completion()
        self._put(
            Status(
                state,
                reason,
                percent,
                self._model,
                uri,
                self.now.automatic,
                self._problem,
                self._missing,
                done.unknown_names,
                done.left_out,
                done.later,
                self._learnt,
                completion is not None and completion.is_header,
            )
        )

    def _put(self, status: Status) -> None:
        if status != self.now:
            self.now = status
            self._notify(status)


MOST_LATENCIES = 1000
MOST_REASONS = 100


@dataclass(slots=True)
class Statistics:
    """Counts since the start of the client, in memory only. Latencies are in milliseconds."""

    requests: int = 0
    shown: int = 0
    accepted: int = 0
    accepted_partly: int = 0
    accepted_characters: int = 0
    typed_through: int = 0
    dismissed: int = 0
    cached: int = 0
    prefetched: int = 0
    tokens: int = 0
    rejected_tokens: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    model_latencies: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_LATENCIES))
    reuse_latencies: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_LATENCIES))

    def add_acceptance(self, text: bytes, *, partly: bool = False) -> None:
        """The user accepted *text*, as a whole or a part of it."""
        self.accepted_characters += len(text.decode(errors="replace"))
        self.accepted_partly += partly
        self.accepted += not partly

    def add_reason(self, reason: str) -> None:
        """A request had no suggestion."""
        is_new = reason not in self.reasons and len(self.reasons) >= MOST_REASONS
        self.reasons["other reasons" if is_new else reason] += 1

    def to_json(self) -> dict[str, object]:
        """All counts, and median and tail of the latencies."""
        return {
            "requests": self.requests,
            "shown": self.shown,
            "accepted": self.accepted,
            "acceptedPartly": self.accepted_partly,
            "acceptedCharacters": self.accepted_characters,
            "typedThrough": self.typed_through,
            "dismissed": self.dismissed,
            "cached": self.cached,
            "prefetched": self.prefetched,
            "tokens": self.tokens,
            "rejectedTokens": self.rejected_tokens,
            "noSuggestion": dict(self.reasons.most_common()),
            "latencyMs": {
                "model": latency_summary(self.model_latencies),
                "reused": latency_summary(self.reuse_latencies),
            },
        }


def latency_summary(latencies: Sequence[float]) -> dict[str, float | int | None]:
    """Count, median and 95th percentile of *latencies*; null where there are none."""
    ordered = sorted(latencies)

    def at(share: float) -> float | None:
        return round(ordered[int(share * (len(ordered) - 1))], 1) if ordered else None

    return {"count": len(ordered), "median": at(0.5), "p95": at(0.95)}
