"""Makes completions: the engine's constraint at the cursor, and the model that writes within it.

The worker process and the command line use it. What is slow to import or to make waits until `load`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from fimlsp.errors import explain
from fimlsp.languages.python import Python
from fimlsp.languages.python.wanted.wanted_here import wanted_here
from fimlsp.lexing.interruption import Interrupted, interruptible, time_limit
from fimlsp.lsp_server.messages import Complete, Completion, Limits, Load, Workspace
from fimlsp.lsp_server.worker.answers import (
    NOT_SURE,
    as_limited,
    faults_in_words,
    in_words,
    to_completion,
    what_is_sure,
)
from fimlsp.lsp_server.worker.engine_documents import EngineDocuments, Entry
from fimlsp.lsp_server.worker.names import Names, NamesHere
from fimlsp.lsp_server.worker.other_files import Beside, OtherFiles
from fimlsp.models.errors import ModelError
from fimlsp.models.served.http.address import is_address
from fimlsp.models.served.http.failures import ServerError
from fimlsp.quotient.engine import Constraint, EditedDocument, Engine
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from fimlsp.models.decoding.middle import Middle
    from fimlsp.models.decoding.settings import DecodeSettings
    from fimlsp.models.loading import FimModel
    from fimlsp.models.networks.precedents import Precedents
    from fimlsp.models.protocols import Preference
    from fimlsp.quotient.language.editor_policy import EditorPolicy

log = logging.getLogger(__name__)

PRECISIONS: Mapping[str | None, Mapping[str, int]] = {None: {}, "int8": {"bits": 8}, "int4": {"bits": 4}}
"""The option `precision` as arguments of `load_model`; all other values are types of numbers."""

GRAMMAR_PERCENT = 40
"""How much of loading is done when the grammar is there and the model comes next."""

TOO_SLOW = "the model has not answered within {} ms (option deadlineMs)"

SLOW_IN_A_ROW = 3
"""After this many requests in a row that were too slow, a server counts as failing."""

ONLY_ESCAPES = "only a text that closes this bracket and opens another would connect (option contextEscape)"

KNOWS_PYTHON_ONLY = "the bundled model knows Python only, so choose another one (option model)"

TAKES_TOO_LONG = "reading the text around the cursor takes longer than the time limit (option deadlineMs)"

DEADLINE_SHARE_KEPT = 0.25
"""The share of its time limit that a request keeps for decoding, however long it had to wait."""

CHOOSING_S = 0.5
"""What the engine may take to judge what was written, even when the time of the request is up."""


def distinct_percents(report: Callable[[int], None]) -> Callable[[float], None]:
    """A function of the share of the weights that is loaded; it gives *report* each new per cent once."""
    last = GRAMMAR_PERCENT

    def tell(share: float) -> None:
        nonlocal last
        percent = int(GRAMMAR_PERCENT + (100 - GRAMMAR_PERCENT) * share)
        if percent > last:
            last = percent
            report(percent)

    return tell


class Cursor(NamedTuple):
    """The text on both sides of a cursor, and what may stand there."""

    left: bytes
    right: bytes
    start: State


class Backend:
    """Engine and model for a set of documents; see `fimlsp.lsp_server.worker.worker.Backend`.

    *names* looks up the names at cursors; without it, nothing is known of them.
    """

    def __init__(self, names: Names | None = None) -> None:
        self._names = names
        self.documents = EngineDocuments(Engine, names)
        self.open, self.edit = self.documents.open, self.documents.edit
        self.close = self.documents.close
        self._other_files: dict[int, OtherFiles] = {}
        self._model: FimModel | None = None
        self._loaded: Load | None = None
        self._why_no_model = "no model is loaded yet"
        self._slow = 0

    @property
    def model(self) -> FimModel | None:
        """The model that was loaded last."""
        return self._model

    def load(self, load: Load, report: Callable[[str, int], None]) -> str:
        """Load a model; its short name.

        Raises:
            fimlsp.models.errors.ModelError: It cannot be used; the message says what to do.
        """
        self._model = None
        try:
            report("reading the grammar of Python", 0)
            self.documents.engine(Python())
            step = f"loading {load.model or 'the bundled model'}"
            report(step, GRAMMAR_PERCENT)
            telling = distinct_percents(lambda percent: report(step, percent))
            self._model = loaded(load, telling)
            self._loaded = load
        except Exception as error:
            problem = explain(error, "loading the model", log)
            self._why_no_model = f"no model is loaded: {problem}"
            if isinstance(error, ModelError):
                raise
            raise ModelError(problem) from error
        return self._model.name

    def is_there(self, load: Load) -> bool:
        """Whether the server of a model answers; true of a model that needs none."""
        from fimlsp.models.served.connecting.which_server import answers

        return load.model is None or not is_address(load.model) or answers(load.model, load.api_key_variable)

    def enter(self, workspace: Workspace) -> None:
        """Take in which files may be read for a client."""
        if self._names is not None:
            self._names.enter(workspace)
        self._forget(workspace.client)
        self._other_files[workspace.client] = OtherFiles(workspace)

    def leave(self, client: int) -> None:
        """Forget all that belongs to a client."""
        self.documents.leave(client)
        self._forget(client)

    def _forget(self, client: int) -> None:
        if (files := self._other_files.pop(client, None)) is not None:
            files.end()

    def prepare(self) -> bool:
        """Parse a piece of the document touched last, unless that is done; whether there was work."""
        newest = self.documents.newest()
        return newest is not None and not self._is_strange(newest) and self.documents.prepare_newest()

    def has_names(self, tell: Callable[[], None]) -> bool:
        """Whether no names are being looked up; if some are, *tell* is called later, by another thread."""
        return self._names is None or self._names.are_looked_up(tell)

    def complete(self, request: Complete, should_stop: Callable[[], bool]) -> Completion:
        """Write middles for the cursor of *request*; they are complete, or there is none and a reason.

        The engine stops soon after *should_stop* has become true or the request's time is up. What it has
        read by then is kept.
        """
        entry = self.documents.find(request.document)
        if entry is None or entry.version != request.version:
            return Completion(reason="the text was changed")
        if self._model is None:
            return Completion(reason=self._why_no_model)
        if request.limits.confidence and self._is_strange(entry):
            return Completion(reason=KNOWS_PYTHON_ONLY, final=True)
        names = self.documents.names_at(request.document, request.offset)
        try:
            with interruptible(should_stop):
                answer = self._write(self._model, request, entry, names, should_stop)
        except Interrupted:
            self.documents.read_on(request.document)
            return Completion(reason="cancelled" if should_stop() else TAKES_TOO_LONG)
        except GrammarError as error:
            return Completion(reason=str(error), final=True)
        except Exception:
            self.documents.renew(request.document)
            raise
        if names is None or self._names is None:
            return answer
        self._names.learn(request.document, names)
        return replace(answer, unknown_names=names.problem)

    def _is_strange(self, entry: Entry) -> bool:
        """Whether the model has never seen the language of a document; by hand it may still be tried."""
        return self._loaded is not None and not self._loaded.model and not entry.is_python

    def _write(
        self,
        model: FimModel,
        request: Complete,
        entry: Entry,
        names: NamesHere | None,
        should_stop: Callable[[], bool],
    ) -> Completion:
        from fimlsp.models.completion import complete_many

        limits, policy = request.limits, entry.policy
        document = self.documents.document(request.document)
        constraint = self._constraint(document, request)
        beyond = (
            entry.grammar.not_read(document.data) if constraint.relaxed or constraint.start is None else None
        )
        if constraint.start is None:
            return Completion(reason=beyond or cannot_connect(limits), final=True)
        cursor = Cursor(document.data[: request.offset], document.data[request.offset :], constraint.start)
        beside = self._beside(model, request, entry) if limits.neighbour_tokens else Beside()
        written = complete_many(
            model,
            *cursor,
            decode_settings(
                limits,
                cursor.left,
                cursor.right,
                seconds_left(limits, request),
                policy,
                least_total=model.acceptance.least_total(limits.confidence) if limits.confidence else -inf,
                preference=None if names is None else names.preference,
            ),
            should_stop,
            neighbours=beside.neighbours,
            path=beside.path,
            comment=policy.comment,
            elsewhere=beside.elsewhere,
            wanted=wanted_here(*cursor, entry.real_path, beside.imports)
            if names and model.uses_buffer
            else None,
        )
        if is_too_slow(written):
            return self._too_slow(model, limits)
        self._slow = 0
        relaxed = in_words(document.data, constraint.relaxed) + ((beyond,) if beyond else ())
        relaxed += faults_in_words(document.data, constraint.ignored)
        with interruptible(time_limit(CHOOSING_S)):
            answer = self._chosen(written, request, entry, model, cursor, relaxed, names, beside.elsewhere)
        if answer.reason is not None and self._is_strange(entry):
            return replace(answer, reason=f"{answer.reason}; {KNOWS_PYTHON_ONLY}")
        return answer

    def _constraint(self, document: EditedDocument, request: Complete) -> Constraint:
        """What may stand at the cursor of *request*."""
        limits = request.limits
        with interruptible(time_limit(seconds_left(limits, request))):
            return document.middle(
                request.offset,
                request.offset,
                relax=limits.relaxed_contexts,
                may_escape=limits.context_escape,
            )

    def _beside(self, model: FimModel, request: Complete, entry: Entry) -> Beside:
        files = self._other_files.get(request.document.client) or OtherFiles()
        others = self.documents.others(request.document)
        return files.beside(model, entry, others, request.limits.neighbour_tokens)

    def _chosen(
        self,
        written: Sequence[Middle],
        request: Complete,
        entry: Entry,
        model: FimModel,
        cursor: Cursor,
        relaxed: tuple[str, ...],
        names: NamesHere | None,
        elsewhere: Precedents | None,
    ) -> Completion:
        """What the editor is told of the middles *written* for *request*."""
        limits, policy = request.limits, entry.policy
        left, right, start = cursor
        allowed = as_limited(written, limits, start, policy)
        if not allowed:
            answer = to_completion(written[:1], relaxed, left, right, start, policy)
            return replace(answer, texts=(), reason=ONLY_ESCAPES)
        if not limits.confidence or allowed[0].stop_reason == "cancelled":
            return to_completion(allowed, relaxed, left, right, start, policy)
        sure = what_is_sure(
            allowed[0],
            *self.documents.around(request.document, request.offset),
            start,
            model.acceptance,
            limits,
            policy,
            preference=None if names is None else names.preference,
            elsewhere=elsewhere,
        )
        if sure is not None:
            cut = replace(allowed[0], text=sure.inserted, complete=True)
            answer = to_completion([cut], relaxed, left, right, start, policy)
            is_whole = answer.text.encode() == sure.inserted
            return replace(answer, closing=sure.closing.decode() if is_whole else "")
        answer = to_completion(allowed, relaxed, left, right, start, policy)
        is_cut_short = allowed[0].stop_reason == "unsure"
        return replace(answer, texts=(), reason=NOT_SURE if is_cut_short else answer.reason or NOT_SURE)

    def _too_slow(self, model: FimModel, limits: Limits) -> Completion:
        """The answer where there was no time for one token.

        Raises:
            ServerError: that happened several times in a row.
        """
        self._slow += 1
        if self._slow >= SLOW_IN_A_ROW:
            self._slow = 0
            raise ServerError(
                f"{model.name} was too slow {SLOW_IN_A_ROW} times in a row; look what else its server does, "
                f"use a smaller model, or allow more time (option deadlineMs)."
            )
        return Completion(reason=TOO_SLOW.format(limits.deadline_ms))


def loaded(load: Load, tell: Callable[[float], None]) -> FimModel:
    """The model of *load*; *tell* hears which share of its weights is there."""
    from fimlsp.models.loading import load_model
    from fimlsp.models.networks.torch.threads import default_threads

    precision: Any = PRECISIONS.get(load.precision, {"dtype": load.precision})
    order: Any = load.order
    api: Any = load.api
    return load_model(
        load.model,
        device=load.device,
        revision=load.revision,
        family=load.family,
        order=order,
        threads=load.threads or default_threads(),
        api=api,
        api_key_variable=load.api_key_variable,
        on_progress=tell,
        **precision,
    )


def seconds_left(limits: Limits, request: Complete) -> float:
    """How long *request* may still take; a share of its time even if it had to wait for longer than that."""
    deadline = limits.deadline_ms / 1000
    return max(deadline - (time.monotonic() - request.asked_at), DEADLINE_SHARE_KEPT * deadline)


def decode_settings(
    limits: Limits,
    left: bytes,
    right: bytes,
    seconds: float,
    policy: EditorPolicy,
    *,
    least_total: float = -inf,
    preference: Preference | None = None,
) -> DecodeSettings:
    """*limits* for the decoding loop, at the cursor between *left* and *right*, if *seconds* are left.

    *policy* is that of the language.
    """
    from fimlsp.models.decoding.settings import DecodeSettings
    from fimlsp.models.decoding.stopping import is_one_line

    return DecodeSettings(
        tokens=limits.max_tokens,
        lines=1 if is_one_line(limits.one_line, left, right, policy) else None,
        steer=limits.steering,
        seconds=seconds,
        candidates=limits.candidates,
        least_total=least_total,
        preference=preference,
    )


def cannot_connect(limits: Limits) -> str:
    """Why there is no text that connects, and what to do."""
    if limits.relaxed_contexts:
        return "the text around the cursor cannot be connected"
    return "the file is broken elsewhere (option relaxedContexts)"


def is_too_slow(written: Sequence[Middle]) -> bool:
    """Whether the time was over before the model had said anything."""
    return written[0].stop_reason == "deadline" and written[0].stop_at_start is None
