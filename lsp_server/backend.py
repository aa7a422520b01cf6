"""The work itself: the engine's constraint at the cursor, and the model that writes within it.

Used by the worker process and by the command line. What is slow to import or to make waits until `load`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fimlsp.lsp_server.engine_documents import EngineDocuments
from fimlsp.lsp_server.errors import summary
from fimlsp.lsp_server.messages import Complete, Completion, Limits
from fimlsp.quotient.engine import Engine

if TYPE_CHECKING:
    from fimlsp.models.loading import FimModel
    from fimlsp.models.middle import DecodeSettings, Middle


class Backend:
    """Engine and model for a set of documents; see `fimlsp.lsp_server.worker.Backend`."""

    def __init__(self) -> None:
        self.documents = EngineDocuments(Engine)
        self._model: FimModel | None = None
        self._why_no_model = "no model is loaded yet"

    @property
    def model(self) -> FimModel | None:
        """The model that was loaded last."""
        return self._model

    def load(self, model: str | None, report: Callable[[str], None]) -> str:
        """Load *model*, or the bundled one; its short name.

        Raises:
            fimlsp.models.errors.ModelError: It cannot be used; the message says what to do.
        """
        self._model = None
        try:
            report("reading the grammar of Python")
            self.documents.start_engine()
            report(f"loading {model or 'the bundled model'}")
            from fimlsp.models.loading import load_model

            self._model = load_model(model)
        except Exception as error:
            self._why_no_model = f"no model is loaded: {summary(error)}"
            raise
        return self._model.name

    def open(self, uri: str, version: int, data: bytes) -> None:
        """Take a document in."""
        self.documents.open(uri, version, data)

    def edit(self, uri: str, version: int, start: int, end: int, replacement: bytes) -> None:
        """Replace the bytes from *start* to *end*."""
        self.documents.edit(uri, version, start, end, replacement)

    def close(self, uri: str) -> None:
        """Forget a document."""
        self.documents.close(uri)

    def prepare(self) -> bool:
        """Parse the document touched last, unless that is done; whether there was work."""
        return self.documents.prepare_newest()

    def complete(self, request: Complete, should_stop: Callable[[], bool]) -> Completion:
        """Write a middle for the cursor of *request*; it is complete, or empty with a reason."""
        if self.documents.version(request.uri) != request.version:
            return Completion(reason="the text was changed")
        if self._model is None:
            return Completion(reason=self._why_no_model)
        try:
            return self._write(self._model, request, should_stop)
        except Exception:
            self.documents.renew(request.uri)
            raise

    def _write(self, model: FimModel, request: Complete, should_stop: Callable[[], bool]) -> Completion:
        from fimlsp.models.completion import complete

        document = self.documents.document(request.uri)
        constraint = document.middle(request.offset, request.offset)
        if constraint.start is None:
            return Completion(
                relaxed=constraint.relaxed, reason="the text around the cursor cannot be connected"
            )
        left, right = document.data[: request.offset], document.data[request.offset :]
        settings = decode_settings(request.limits, left, right)
        written = complete(model, left, right, constraint.start, settings, should_stop)
        return to_completion(written, constraint.relaxed)


def is_one_line(mode: str, left: bytes, right: bytes) -> bool:
    """Whether a completion is to end with its line: with "auto" unless the cursor's line is blank."""
    if mode != "auto":
        return mode == "always"
    before = left[max(left.rfind(b"\n"), left.rfind(b"\r")) + 1 :]
    after = right.replace(b"\r", b"\n").partition(b"\n")[0]
    return bool(before.strip() or after.strip())


def decode_settings(limits: Limits, left: bytes, right: bytes) -> DecodeSettings:
    """*limits* for the decoding loop, at the cursor between *left* and *right*."""
    from fimlsp.models.middle import DecodeSettings

    lines = 1 if is_one_line(limits.one_line, left, right) else None
    return DecodeSettings(tokens=limits.max_tokens, lines=lines, seconds=limits.deadline_ms / 1000)


def to_completion(written: Middle, relaxed: str | None) -> Completion:
    """What the editor is told of *written*."""
    reason = None
    if written.stop_reason == "cancelled" or not written.complete:
        reason = f"nothing that connects was found ({written.stop_reason})"
    elif not written.text:
        reason = "the model has nothing to add here"
    return Completion(
        text=written.text.decode() if reason is None else "",
        complete=written.complete,
        relaxed=relaxed,
        tokens=written.tokens,
        rejected=written.rejected,
        reason=reason,
    )
