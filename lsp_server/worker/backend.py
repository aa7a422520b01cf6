"""Makes completions: the engine's constraint at the cursor, and the model that decodes under it.

The worker process and the command line use it. Slow imports and tables wait until `load`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from fimlsp.errors import explain
from fimlsp.languages.python import Python
from fimlsp.languages.python.missing_names.annotation_texts import AnnotationTexts
from fimlsp.languages.python.missing_names.at_cursor import missing_at_cursor
from fimlsp.languages.python.missing_names.likely_texts import ImportTexts, LikelyTexts
from fimlsp.lexing.interruption import Interrupted, interruptible, time_limit, work_limit
from fimlsp.lsp_server.last_edits import RepeatedChanges, brings_back
from fimlsp.lsp_server.messages import Complete, Completion, Limits, Load, Rest, Workspace
from fimlsp.lsp_server.worker.answers import (
    DELETED,
    DOES_NOT_FIT,
    NOT_CONFIDENT,
    REPEATS,
    cannot_connect,
    confident_part,
    describe_faults,
    describe_repairs,
    estimated,
    to_completion,
    within_limits,
)
from fimlsp.lsp_server.worker.engine_documents import (
    DocumentEntry,
    EngineDocuments,
    refused_place,
    with_cells,
)
from fimlsp.lsp_server.worker.names import NameLookup, NamesAtCursor
from fimlsp.lsp_server.worker.other_files import OtherFileContext, OtherFiles
from fimlsp.lsp_server.worker.pace import Pace, decode_settings, is_shortened, is_too_slow, seconds_left
from fimlsp.lsp_server.worker.reading_ahead import ReadingAhead
from fimlsp.lsp_server.worker.type_checks import TypeChecks, TypesAtCursor
from fimlsp.models.errors import ModelError
from fimlsp.models.remote.address import is_address
from fimlsp.models.remote.errors import ServerError
from fimlsp.quotient.engine import Constraint, Document, Engine
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from fimlsp.languages.python.missing_names.import_table import Required
    from fimlsp.languages.python.names.preference import NamePreference
    from fimlsp.models.decoding.middle import Middle
    from fimlsp.models.decoding.settings import DecodeSettings
    from fimlsp.models.loading import FimModel
    from fimlsp.quotient.language.editor_policy import EditorPolicy, ExpectedTexts

log = logging.getLogger(__name__)

PRECISIONS: Mapping[str | None, Mapping[str, int]] = {None: {}, "int8": {"bits": 8}, "int4": {"bits": 4}}
"""The option `precision` as arguments of `load_model`; all other values are types of numbers."""

GRAMMAR_PERCENT = 40
"""Progress of loading after the grammar, before the model."""

TOO_SLOW = "the model did not answer within {} ms (option deadlineMs)"
STILL_READING = "the model is still reading, and goes on while you do not type (option deadlineMs)"

SLOW_IN_A_ROW = 3
"""After so many slow requests in a row, a model server counts as failed."""

ONLY_ESCAPES = "only a text that leaves the bracket at the cursor connects (option contextEscape)"
PYTHON_ONLY = "the bundled model is trained on Python only; choose another one (option model)"
CONTEXT_TOO_SLOW = "parsing the text around the cursor takes longer than the time limit (option deadlineMs)"
SELECTION_TOO_SLOW = "checking the suggestion takes too long here; request it by hand"

SELECTION_S = 0.5, 3.0
"""Seconds of work, and on the clock, for the selection among the decoded texts, even after the deadline."""


def distinct_percents(report: Callable[[int], None]) -> Callable[[float], None]:
    """A function of the loaded share of the weights, which calls *report* once for each new percent."""
    last = GRAMMAR_PERCENT

    def report_share(share: float) -> None:
        nonlocal last
        percent = int(GRAMMAR_PERCENT + (100 - GRAMMAR_PERCENT) * share)
        if percent > last:
            last = percent
            report(percent)

    return report_share


@dataclass(frozen=True, slots=True)
class Job:
    """A request and everything that its completion depends on.

    *constraint* allows the middles between *left* and *right* that start with the state *start*. *above* and
    *below* are the notebook's other cells, if this is one. *unread* describes a part of the text that the
    grammar does not cover, if there is one. *pace* is that of a model elsewhere.
    """

    request: Complete
    entry: DocumentEntry
    model: FimModel
    names: NamesAtCursor | None
    types: TypesAtCursor | None
    others: OtherFileContext
    constraint: Constraint
    left: bytes
    right: bytes
    start: State
    unread: str | None
    above: bytes
    below: bytes
    pace: Pace | None

    @property
    def limits(self) -> Limits:
        """The limits of the request."""
        return self.request.limits

    @property
    def policy(self) -> EditorPolicy:
        """The policy of the document's language."""
        return self.entry.policy

    @property
    def preference(self) -> NamePreference | None:
        """The preference for names in scope."""
        return None if self.names is None else self.names.preference

    def decode(self, should_stop: Callable[[], bool]) -> Sequence[Middle]:
        """The best middles, at least one."""
        from fimlsp.models.completion import complete_many

        model, others = self.model, self.others
        left, right = self._whole
        return complete_many(
            model,
            left,
            right,
            self.start,
            self._settings(),
            should_stop,
            neighbours=others.neighbours,
            path=others.path,
            comment=self.policy.comment,
            elsewhere=others.elsewhere,
            expected=self._expected() if model.uses_buffer else (),
        )

    @property
    def _whole(self) -> tuple[bytes, bytes]:
        return with_cells(self.left, self.right, self.above, self.below)

    def _expected(self) -> Sequence[ExpectedTexts]:
        """The texts that are likely here for reasons of their own, those with the best reasons last."""
        (left, right), path = self._whole, self.entry.real_path
        texts: list[ExpectedTexts | None] = []
        if self.names is not None:
            texts.append(missing_at_cursor(left, right, self.start, path, self.others.imports))
        if self.entry.is_python:
            texts.append(LikelyTexts.at(left, right, self._signatures))
            texts.append(ImportTexts.at(left, path, self.others.imports))
            texts.append(AnnotationTexts.at(left, right))
        texts.append(RepeatedChanges.at(self.request.recent, left, right))
        return [text for text in texts if text is not None]

    def _signatures(self, name: bytes) -> Sequence[Required]:
        tables = self.others.imports()
        return [required for table in tables for required in table.signatures.get(name, ())]

    def _settings(self) -> DecodeSettings:
        limits = self.limits
        ends_early = limits.confidence and not limits.explain
        least_total = self.model.acceptance.least_total(limits.confidence) if ends_early else -inf
        return decode_settings(
            limits,
            self.left,
            self.right,
            seconds_left(limits, self.request),
            self.policy,
            self.pace,
            least_total=least_total,
            preference=self.preference,
            chooses=bool(limits.confidence) and self._chooses,
        )

    @property
    def _chooses(self) -> bool:
        """True if several texts are worth their time: an estimate has to compare them."""
        return self.model.uses_buffer or (self.pace is not None and self.model.heals)

    def assumptions(self) -> tuple[str, ...]:
        """The changes of the text that the constraint has assumed by now, in words."""
        data = self.left + self.right
        relaxed = describe_repairs(data, self.constraint.relaxed) + ((self.unread,) if self.unread else ())
        return relaxed + describe_faults(data, self.constraint.ignored)

    def to_completion(
        self, middles: Sequence[Middle], relaxed: tuple[str, ...], body: bytes = b""
    ) -> Completion:
        """The completion with *middles*, at least one, under the assumptions *relaxed*.

        With a *body* the one middle is a header that lacks it.
        """
        deleted = self.request.recent.deleted
        return to_completion(
            middles,
            relaxed,
            self.left,
            self.right,
            self.start,
            self.policy,
            deleted=deleted,
            preference=self.preference,
            types=self.types,
            body=body,
        )


class Backend:
    """Engine and model for a set of documents; see `fimlsp.lsp_server.worker.worker.BackendProtocol`.

    *names* looks up the names in scope at cursors; without it, they are unknown. *types* checks the types of
    texts there; without it, none are checked.
    """

    def __init__(self, names: NameLookup | None = None, types: TypeChecks | None = None) -> None:
        self._names = names
        self._types = types
        self.documents = EngineDocuments(Engine, names, types)
        self.open, self.edit = self.documents.open, self.documents.edit
        self.close, self.arrange = self.documents.close, self.documents.arrange
        self._other_files: dict[int, OtherFiles] = {}
        self._model: FimModel | None = None
        self._loaded: Load | None = None
        self._estimate_key = ""
        self._why_no_model = "no model is loaded yet"
        self._slow = 0
        self._ahead: ReadingAhead | None = None

    @property
    def model(self) -> FimModel | None:
        """The loaded model."""
        return self._model

    def load(self, load: Load, report: Callable[[str, int], None]) -> str:
        """Load a model; returns its short name. One of a server replaces another model only if it works.

        Raises:
            fimlsp.models.errors.ModelError: It cannot be used; the message has a remedy.
        """
        if load.model is None or not is_address(load.model):
            self._model = self._ahead = None
        try:
            report("loading the Python grammar", 0)
            self.documents.engine(Python())
            step = f"loading {load.model or 'the bundled model'}"
            report(step, GRAMMAR_PERCENT)
            on_progress = distinct_percents(lambda percent: report(step, percent))
            self._model = open_model(load, on_progress)
            self._ahead = ReadingAhead.of(self._model.network)
            self._estimate_key = self._model.estimate_key
            self._loaded = load
        except Exception as error:
            problem = explain(error, "loading the model", log)
            self._why_no_model = f"no model is loaded: {problem}"
            if isinstance(error, ModelError):
                raise
            raise ModelError(problem) from error
        return self._model.name

    def is_there(self, load: Load) -> bool:
        """True if the server of a model answers, or the model needs none."""
        from fimlsp.models.remote.open_model import is_ready

        return load.model is None or not is_address(load.model) or is_ready(load.model, load.api_key_variable)

    def enter(self, workspace: Workspace) -> None:
        """Set the files that may be read for a client."""
        if self._names is not None:
            self._names.enter(workspace)
        if self._types is not None:
            self._types.enter(workspace)
        self._forget(workspace.client)
        self._other_files[workspace.client] = OtherFiles(workspace)

    def leave(self, client: int) -> None:
        """Drop everything of a client."""
        self.documents.leave(client)
        self._forget(client)

    def _forget(self, client: int) -> None:
        if (files := self._other_files.pop(client, None)) is not None:
            files.end()

    def rest(self, rest: Rest) -> None:
        """The cursor rests; a slow model reads the text around it in idle time."""
        if self._ahead is not None:
            self._ahead.rest(rest)

    def prepare(self) -> bool:
        """Parse a piece of the newest document, or let the model read ahead; false if nothing is left."""
        newest = self.documents.newest()
        if newest is not None and not self._is_untrained(newest) and self.documents.prepare_newest():
            return True
        if self._ahead is not None:
            self._ahead.read(self._current, self._prompt_at)
        return False

    def reading(self) -> tuple[Rest, float] | None:
        """The place whose text the model reads now, and the share that is read; None if it reads none."""
        return None if self._ahead is None else self._ahead.reading

    def _current(self, place: Rest) -> Rest | None:
        """*place* in the newest version of its document: the end of the last edit; None if it is closed."""
        entry = self.documents.find(place.document)
        if entry is None or entry.version == place.version:
            return None if entry is None else place
        if entry.edit_end is None:
            return None
        return replace(place, version=entry.version, offset=entry.edit_end)

    def _prompt_at(self, place: Rest) -> Sequence[int] | None:
        """The prompt that a request at *place* would have; None if there is none."""
        from fimlsp.models.completion import prompt_ahead
        from fimlsp.models.decoding.settings import DecodeSettings

        entry = self.documents.find(place.document)
        if entry is None or self._model is None:
            return None
        above, below = self.documents.other_cells(place.document)
        model = self._sized(self._model, place.limits)
        others = self._other_file_context(model, place, entry, above)
        left, right = entry.data[: place.offset], entry.data[place.offset :]
        prompt = prompt_ahead(
            model,
            *with_cells(left, right, above, below),
            DecodeSettings(tokens=place.limits.max_tokens),
            neighbours=others.neighbours,
            path=others.path,
            comment=entry.policy.comment,
        )
        return prompt.tokens

    def has_names(self, when_done: Callable[[], None]) -> bool:
        """True if all names are looked up; otherwise *when_done* is called later, by another thread."""
        are_names = self._names is None or self._names.are_looked_up(when_done)
        return are_names and (self._types is None or self._types.are_at_rest(when_done))

    def complete(self, request: Complete, should_stop: Callable[[], bool]) -> Completion:
        """The completion at the cursor of *request*: complete middles, or a reason for none.

        The engine stops soon after *should_stop* returns true or the request's time is up. The contexts that
        it has parsed by then are kept.
        """
        entry = self.documents.find(request.document)
        if entry is None or entry.version != request.version:
            return Completion(reason="the text was changed")
        if self._model is None:
            return Completion(reason=self._why_no_model)
        if request.limits.confidence and self._is_untrained(entry):
            return Completion(reason=PYTHON_ONLY, final=True)
        names = self.documents.names_at(request.document, request.offset)
        types = self.documents.types_at(request.document, request.offset, request.limits.deadline_ms)
        try:
            with interruptible(should_stop):
                model = self._corrected(self._sized(self._model, request.limits), request)
                job = self._job(model, request, entry, names, types)
                answer = job if isinstance(job, Completion) else self._decode(job, should_stop)
        except Interrupted:
            self.documents.read_on(request.document)
            is_cancelled = should_stop()
            return Completion(
                reason="cancelled" if is_cancelled else CONTEXT_TOO_SLOW, later=not is_cancelled
            )
        except GrammarError as error:
            return Completion(reason=str(error), final=True)
        except Exception:
            self.documents.renew(request.document)
            raise
        if names is None or self._names is None:
            return answer
        self._names.learn(request.document, names)
        return replace(answer, unknown_names=names.why_unknown())

    def _sized(self, model: FimModel, limits: Limits) -> FimModel:
        """*model* with prompts that it can read in good time, the same however many tokens it may write."""
        if self._ahead is None:
            return model
        room = model.context - model.fim.overhead - limits.max_tokens
        most = room if model.prompt_tokens is None else min(room, model.prompt_tokens)
        return replace(model, prompt_tokens=self._ahead.prompt_tokens(max(most, 1)))

    def _corrected(self, model: FimModel, request: Complete) -> FimModel:
        """*model* with the correction of its estimate that was learnt, unless that is of another one."""
        correction = request.correction
        if correction is None or correction.key != self._estimate_key:
            return model
        return replace(model, acceptance=model.acceptance.corrected(correction))

    def _is_untrained(self, entry: DocumentEntry) -> bool:
        """True if the model was not trained on a document's language; it still makes invoked completions."""
        return self._loaded is not None and not self._loaded.model and not entry.is_python

    def _decode(self, job: Job, should_stop: Callable[[], bool]) -> Completion:
        written = self._written(job, should_stop)
        if is_too_slow(written):
            return self._too_slow(job.model, job.limits)
        self._slow = 0
        relaxed = job.assumptions()
        try:
            with interruptible(work_limit(*SELECTION_S)):
                answer = replace(self._select(job, written, relaxed), left_out=job.others.left_out)
            if any(is_shortened(middle, job.limits) for middle in written):
                answer = replace(answer, final=False)
        except Interrupted:
            if should_stop():
                raise
            answer = Completion(reason=SELECTION_TOO_SLOW)
        if answer.reason is not None and self._is_untrained(job.entry):
            return replace(answer, reason=f"{answer.reason}; {PYTHON_ONLY}")
        return answer

    def _written(self, job: Job, should_stop: Callable[[], bool]) -> Sequence[Middle]:
        """The middles of *job*; a text that was not read to its end is read on in idle time."""
        if self._ahead is None:
            return job.decode(should_stop)
        place = self._ahead.request(job.request)
        written = job.decode(should_stop)
        is_cancelled = written[0].stop_reason == "cancelled"
        is_read = not is_too_slow(written) and not (is_cancelled and written[0].stop_at_start is None)
        self._ahead.answer(place, is_read=is_read, is_cancelled=is_cancelled)
        return written

    def _job(
        self,
        model: FimModel,
        request: Complete,
        entry: DocumentEntry,
        names: NamesAtCursor | None,
        types: TypesAtCursor | None,
    ) -> Job | Completion:
        """The job of *request*, or the completion if no middle connects."""
        document = self.documents.document(request.document)
        constraint = self._constraint(document, request)
        start, data = constraint.start, document.data
        unread = entry.grammar.exceeded_limit(data) if constraint.relaxed or start is None else None
        if start is None:
            place = refused_place(entry.grammar, data, request.offset)
            return Completion(reason=unread or place or cannot_connect(request.limits), final=True)
        left, right = data[: request.offset], data[request.offset :]
        above, below = self.documents.other_cells(request.document)
        others = self._other_file_context(model, request, entry, above)
        pace = None if self._ahead is None else Pace.of(self._ahead.network)
        return Job(
            *(
                request,
                entry,
                model,
                names,
                types,
                others,
                constraint,
                left,
                right,
                start,
                unread,
                above,
                below,
            ),
            pace,
        )

    def _constraint(self, document: Document, request: Complete) -> Constraint:
        """The constraint on middles at the cursor of *request*."""
        limits = request.limits
        with interruptible(time_limit(seconds_left(limits, request))):
            return document.middle(
                request.offset,
                request.offset,
                relax=limits.relaxed_contexts,
                may_escape=limits.context_escape,
            )

    def _other_file_context(
        self, model: FimModel, request: Complete | Rest, entry: DocumentEntry, above: bytes
    ) -> OtherFileContext:
        """Context from other files for *entry*; *above* has the cells above it, if it is one."""
        if not request.limits.neighbour_tokens:
            return OtherFileContext()
        files = self._other_files.get(request.document.client) or OtherFiles()
        others = self.documents.others(request.document)
        tokens = request.limits.neighbour_tokens
        recent = request.recent.texts if isinstance(request, Complete) else ()
        return files.context(model, entry, others, tokens, above, recent)

    def _select(self, job: Job, written: Sequence[Middle], relaxed: tuple[str, ...]) -> Completion:
        """The completion with the best of the middles *written* under the assumptions *relaxed*."""
        limits = job.limits
        allowed = within_limits(written, limits, job.start, job.policy)
        if not allowed:
            return replace(job.to_completion(written[:1], relaxed), texts=(), reason=ONLY_ESCAPES)
        if not limits.confidence or allowed[0].stop_reason == "cancelled":
            return job.to_completion(allowed, relaxed)
        confident = confident_part(
            allowed,
            *self.documents.around(job.request.document, job.request.offset),
            job.start,
            job.model.acceptance,
            limits,
            job.policy,
            deleted=job.request.recent.deleted,
            preference=job.preference,
            elsewhere=job.others.elsewhere,
            types=job.types,
        )
        likeliest = None
        if self._model is not None:
            likeliest = estimated(confident.likeliest, self._model.acceptance, self._estimate_key)
        if confident.part is None:
            answer = job.to_completion(allowed[:1], relaxed)
            reason = self._why_unsure(job, allowed[0], answer.reason)
            guess = confident.guess if reason == NOT_CONFIDENT else ""
            answer = replace(answer, texts=(), reason=reason, guess=guess)
        else:
            cut = replace(allowed[0], text=confident.part.inserted, complete=True)
            answer = job.to_completion([cut], relaxed, confident.part.body)
            is_whole = answer.text.encode() == confident.part.inserted
            answer = replace(answer, closing=confident.part.closing.decode() if is_whole else "")
        return replace(answer, choices=confident.choices, estimated=likeliest)

    def _why_unsure(self, job: Job, written: Middle, problem: str | None) -> str:
        """The reason that no part of *written* is shown; *problem* is one of the whole text."""
        if job.policy.first_joining_fault(job.left, written.text, job.right) == 0:
            return REPEATS
        if job.types is not None and job.types.held is not None:
            return DOES_NOT_FIT.format(job.types.held)
        if brings_back(written.text, job.request.recent.deleted):
            return DELETED
        return NOT_CONFIDENT if written.stop_reason == "unsure" else problem or NOT_CONFIDENT

    def _too_slow(self, model: FimModel, limits: Limits) -> Completion:
        """The completion if the time was up before the first token.

        A model that may be reading is not given up, as it would lose the part that it has read.

        Raises:
            ServerError: After several times in a row, for a model on a server.
        """
        name = None if self._loaded is None else self._loaded.model
        is_reading = self._ahead is not None and self._ahead.is_alive
        if name is None or not is_address(name) or is_reading:
            return Completion(reason=STILL_READING, later=True)
        self._slow += 1
        if self._slow >= SLOW_IN_A_ROW:
            self._slow = 0
            raise ServerError(
                f"{model.name} was too slow {SLOW_IN_A_ROW} times in a row. Check the load of its server, "
                f"use a smaller model, or increase option deadlineMs."
            )
        return Completion(reason=TOO_SLOW.format(limits.deadline_ms))


def open_model(load: Load, on_progress: Callable[[float], None], context: int | None = None) -> FimModel:
    """The model of *load*; *on_progress* receives the loaded share of its weights.

    *context* is that of `load_model`.
    """
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
        context=context,
        api=api,
        api_key_variable=load.api_key_variable,
        on_progress=on_progress,
        **precision,
    )
