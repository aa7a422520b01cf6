"""One client: its documents, settings, worker and completions.

A session runs on the event loop and never blocks for the worker.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from fimlsp.languages.python.versions import Check
from fimlsp.lsp_server.documents import UNREADABLE, CompletionRules, OpenDocuments, TextChange
from fimlsp.lsp_server.messages import (
    AwaitNames,
    Load,
    Loading,
    NotReady,
    Read,
    Reading,
    Ready,
    Request,
    Workspace,
)
from fimlsp.lsp_server.options import AUTO, Settings, load_of, version_of
from fimlsp.lsp_server.session.completer import Completer
from fimlsp.lsp_server.session.status import Status, StatusBoard
from fimlsp.lsp_server.session.workspace_reads import UserGrammars, WorkspaceFolders, compiler_of
from fimlsp.lsp_server.worker_pool import TooManyWorkersError, WorkerHandle, WorkerPool
from fimlsp.lsp_server.workspace_files import exclusions, path_of

NAMES_S = 15.0
"""Time limit of the command that waits for names, in case that the analysis hangs."""


class Session:
    """One client.

    *on_status* is called when the status changes, *on_loading* while a model is loading. *on_reading* is
    called while one reads a text for long, and with None at the end.
    """

    def __init__(
        self,
        pool: WorkerPool,
        on_status: Callable[[Status], None],
        on_loading: Callable[[Loading | Ready | NotReady], None],
        on_reading: Callable[[Reading | None], None] = lambda _: None,
    ) -> None:
        self.number = pool.new_client()
        self.log = logging.Logger("fimlsp.client", logging.INFO)
        self.status = StatusBoard(on_status)
        self._folders = WorkspaceFolders(self._apply_rules)
        self._compiler = ""
        self._grammars = UserGrammars(self._apply_rules)
        self.documents = OpenDocuments(self.number, self._send, self._folders.python_of)
        self.completer = Completer(self.documents, pool.new_request, self.status, self.log)
        self._pool = pool
        self._on_loading = on_loading
        self._on_reading = on_reading
        self._tells_cursor = False
        self._cursor: tuple[str, int, int] | None = None
        self._settings = Settings()

    def start(self) -> None:
        """Start to use a worker with the model of the settings, unless there are too many."""
        requests = self.completer.requests
        try:
            requests.worker = WorkerHandle(self._pool, load_of(self._settings), self.number, self)
        except TooManyWorkersError as error:
            requests.why_no_worker = str(error)
            self.worker_reported(NotReady(str(error)))
        else:
            requests.why_no_worker = None
            requests.worker.join()

    async def close(self) -> None:
        """Answer the running requests and leave the worker."""
        requests = self.completer.requests
        requests.fail_all("the server is shutting down")
        await self.completer.learning.end(self._text_of)
        worker, requests.worker = requests.worker, None
        if worker is not None:
            await worker.leave()

    def _text_of(self, uri: str) -> bytes:
        document = self.documents.get(uri)
        return b"" if document is None else document.text.data

    # Settings

    @property
    def settings(self) -> Settings:
        """The settings in use."""
        return self._settings

    def configure(self, settings: Settings) -> None:
        """Use *settings* from now on; another model is loaded in the background."""
        before, self._settings = self._settings, settings
        self.log.setLevel(settings.log_level.upper())
        self.completer.configure(settings)
        self.set_automatic(settings.automatic)
        if settings.exclude != before.exclude:
            for problem in exclusions(settings.exclude).problems:
                self.log.warning("%s", problem)
        if settings.typescript != before.typescript:
            self._compiler = self._find_compiler()
        self._read_workspace()
        if load_of(settings) != load_of(before):
            self.completer.forget()
            self._change_model(load_of(settings))

    def _find_compiler(self) -> str:
        """The program that checks the types of TypeScript; empty without one, and a warning says why."""
        name = self._settings.typescript
        found = compiler_of(name, self._folders.paths) if name else Path()
        if isinstance(found, str):
            self.log.warning("%s", found)
        return str(found) if name and isinstance(found, Path) else ""

    def set_automatic(self, is_on: bool) -> None:
        """Turn automatic completion on or off, until the next settings."""
        self.completer.automatic = is_on
        self.status.automatic(is_on)

    def change_folders(self, added: Iterable[str], removed: Iterable[str] = ()) -> None:
        """The editor opened or closed folders; both are URIs."""
        self._folders.remove(removed)
        self._folders.add(added)
        self._compiler = self._find_compiler()
        self._read_workspace()

    def reload(self) -> None:
        """Load the model again."""
        self.completer.forget()
        requests = self.completer.requests
        if requests.worker is not None:
            requests.worker.reload()
        elif requests.why_no_worker is not None:
            self.start()

    def _read_workspace(self) -> None:
        """Update the files that may be read, the documents that are completed, and their languages."""
        self._folders.read()
        settings = self._settings
        self._grammars.read(dict(settings.grammars), self._folders.paths, settings.interface)
        self._send(self._workspace())
        self._apply_rules()

    def _apply_rules(self) -> None:
        settings = self._settings
        version = None if settings.python_version == AUTO else version_of(settings.python_version)
        check: Check = "parse" if settings.check == "parse" else "compile"
        excluded = exclusions(settings.exclude)
        self.documents.follow(
            CompletionRules(settings.languages, excluded, version, check, self._grammars.languages)
        )

    def _workspace(self) -> Workspace:
        return Workspace(self.number, self._folders.paths, self._settings.exclude, self._compiler)

    # Documents

    def open(self, uri: str, language: str, version: int, text: str, *, cell: bool = False) -> None:
        """The editor opened a document; *cell*: of a notebook."""
        self.completer.requests.drop(uri, "the document was opened again")
        self.completer.suggestions.forget(uri)
        self.completer.learning.close(uri, b"")
        self.completer.edits.forget(uri)
        self.documents.open(uri, language, version, text, cell=cell)
        if self._cursor is not None and self._cursor[0] == uri:
            self._send_rest()
        elif not (cell or self._tells_cursor):
            self._rest(uri, 0, 0)

    def rest(self, uri: str, line: int, character: int) -> None:
        """The cursor rests there. In editors without this command it is at the start of opened documents."""
        self._tells_cursor = True
        self._rest(uri, line, character)

    def _rest(self, uri: str, line: int, character: int) -> None:
        self._cursor = uri, line, character
        self._send_rest()

    def _send_rest(self) -> None:
        rest = None if self._cursor is None else self.completer.rest_at(*self._cursor)
        if rest is not None:
            self._send(rest)

    def change(self, uri: str, version: int, changes: Sequence[TextChange]) -> None:
        """The editor changed a document. A request for the old text is stale, and answered at once."""
        if self.documents.get(uri) is None:
            self.log.warning("a change of %s is ignored: it is not open in this server", uri)
            return
        self.completer.requests.drop(uri, "the text was changed")
        self._forget_cursor(uri)
        suggestions, last = self.completer.suggestions, None
        for data, last in self.documents.change(uri, version, changes):
            suggestions.edited(uri, len(data), last)
            self.completer.learning.edited(uri, len(data), last)
            if self.documents.find_open(uri).refusal is None:
                self.completer.edits.edited(uri, data, last)
        if last is None:
            return
        document = self.documents.find_open(uri)
        self.completer.learning.settle(uri, document.text.data)
        end = suggestions.completed(uri, document.text.data, last)
        if end is not None:
            self.completer.prefetch(document, end)

    def _forget_cursor(self, uri: str) -> None:
        if self._cursor is not None and self._cursor[0] == uri:
            self._cursor = None

    def close_document(self, uri: str) -> None:
        """The editor closed a document."""
        self._forget_cursor(uri)
        self.completer.requests.drop(uri, "the document was closed")
        self.completer.suggestions.forget(uri)
        if (document := self.documents.get(uri)) is not None:
            self.completer.learning.close(uri, document.text.data)
        self.documents.close(uri)

    async def names_are_known(self) -> bool:
        """Wait until all names are looked up, at most `NAMES_S`; false if the time is up."""
        worker = self.completer.requests.worker
        if worker is None:
            return False
        answered = asyncio.Event()
        worker.request(AwaitNames(self._pool.new_request()), lambda _: answered.set())
        try:
            await asyncio.wait_for(answered.wait(), NAMES_S)
        except asyncio.TimeoutError:
            return False
        return True

    # The worker

    def _change_model(self, load: Load) -> None:
        """Use another model. If that fails, the current one stays."""
        requests = self.completer.requests
        if requests.why_no_worker is not None:
            self.start()
        elif requests.worker is not None:
            try:
                requests.worker.use(load)
            except TooManyWorkersError as error:
                name = self.status.now.model or "the previous model"
                self.worker_reported(Ready(name, f"{error}. Until then {name} is used."))

    def _send(self, message: Request) -> None:
        worker = self.completer.requests.worker
        if worker is not None:
            worker.process.send(message)

    def worker_started(self) -> None:
        """A process was started: send it the documents, and requests that arrived meanwhile."""
        self._send(self._workspace())
        self.documents.send_all()
        self._send_rest()
        self.completer.requests.send_all()

    def worker_reported(self, report: Loading | Ready | NotReady) -> None:
        """Progress or end of loading the model."""
        self.status.loading(report)
        failed = isinstance(report, NotReady) or (isinstance(report, Ready) and report.problem is not None)
        self.log.log(logging.ERROR if failed else logging.INFO, "model: %s", describe(report))
        if isinstance(report, Ready):
            for uri in self.completer.requests.waited_for():
                self.status.thinking(uri)
        self._on_loading(report)

    def worker_reads(self, report: Reading | Read) -> None:
        """The model reads a text, or does not any more, so that a later answer may be there."""
        if isinstance(report, Read):
            self._on_reading(None)
            self.completer.requests.resume(report.document.uri)
        else:
            self._on_reading(report)

    def worker_ended(self, reason: str, uri: str | None) -> None:
        """The worker died; it will be restarted. It cannot read the document *uri*, if given."""
        if uri is not None:
            self.documents.leave_out(uri)
            path = path_of(uri)
            reason = f"{reason}. {uri if path is None else path.name} is left out: {UNREADABLE}"
        self.log.error("%s", reason)
        self._on_reading(None)
        self.completer.requests.fail_all(reason)
        self.status.worker_ended(reason)

    def describe(self) -> dict[str, object]:
        """The current status."""
        return asdict(self.status.now)


def describe(report: Loading | Ready | NotReady) -> str:
    """A report on loading in words."""
    match report:
        case Loading(step, percent):
            return f"{step} ({percent} %)"
        case Ready(model, problem):
            return problem or f"{model} is ready"
        case NotReady(reason):
            return reason
