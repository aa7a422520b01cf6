"""The messages between the server and its worker process.

The server sends a `Request`, with offsets in bytes. The worker sends `Loading`, `Ready`, `NotReady`,
`Working`, `Reading`, `Read`, and exactly one `Answer` for every `Complete` and `AwaitNames`. A message is a
pickled dataclass; the pickle marks its own end. Both ends are the same program, so pickle is safe, and it
keeps bytes as bytes.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, NamedTuple, cast

from fimlsp.models.learnt import Correction
from fimlsp.processes.plain_values import read_plain
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.language.contract import Language


class DocumentId(NamedTuple):
    """A document of one of the clients that share a worker."""

    client: int
    uri: str


CONFINED = "confined"
"""The argument of a worker process that the kernel is to confine."""


@dataclass(frozen=True, slots=True)
class Load:
    """Load *model*: a folder, a hub name, a GGUF file, a server's address, or None for the bundled model.

    The other fields are as in the settings; None selects the default of the model.
    """

    model: str | None = None
    device: str | None = None
    revision: str | None = None
    precision: str | None = None
    family: str | None = None
    order: str | None = None
    threads: int | None = None
    api: str | None = None
    api_key_variable: str | None = None

    @property
    def can_be_confined(self) -> bool:
        """True for the bundled model; others need devices, caches or servers that are not known before."""
        return not self.model


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folders (absolute paths) whose files may be read for *client*, and the globs of excluded files.

    *compiler* is the program that checks the types of TypeScript; empty: none.
    """

    client: int
    folders: tuple[str, ...]
    exclude: tuple[str, ...]
    compiler: str = ""


@dataclass(frozen=True, slots=True)
class Open:
    """A document, UTF-8, in *grammar*; replaces an older one with the same id."""

    document: DocumentId
    version: int
    data: bytes
    grammar: Language


@dataclass(frozen=True, slots=True)
class Edit:
    """The edit of a document that results in *version*."""

    document: DocumentId
    version: int
    replacement: Replacement


@dataclass(frozen=True, slots=True)
class Close:
    """A document is not needed any more."""

    document: DocumentId


@dataclass(frozen=True, slots=True)
class Arrange:
    """A notebook of *client* has the code cells *cells*, URIs in their order; none: it is closed."""

    client: int
    notebook: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Leave:
    """The client is gone."""

    client: int


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings that a completion depends on, as in `options.Settings`.

    *cursor_inside*: the editor can place the cursor inside the inserted text, such as between brackets.
    *explain*: the answer lists all texts that could be shown (option `logLevel` at `debug`).
    """

    max_tokens: int = 64
    deadline_ms: int = 2000
    one_line: str = "auto"
    candidates: int = 1
    context_escape: bool = False
    steering: bool = True
    relaxed_contexts: bool = True
    neighbour_tokens: int = 0
    confidence: float = 0.0
    min_length: int = 0
    cursor_inside: bool = False
    explain: bool = False


class Substitution(NamedTuple):
    """A change within a line: *inserted* replaced *removed*, between the texts *before* and *after*."""

    before: bytes
    removed: bytes
    inserted: bytes
    after: bytes


class Pending(NamedTuple):
    """The change that is being made at the cursor: *typed* came in place of *removed* so far."""

    removed: bytes = b""
    typed: bytes = b""


class Recent(NamedTuple):
    """The last edits, as they matter at a cursor.

    *deleted* has texts that would bring deleted text back, *substitutions* the changes so far, the newest
    last, without the *pending* one. *texts* are the changed pieces of text.
    """

    deleted: tuple[bytes, ...] = ()
    pending: Pending = Pending()
    substitutions: tuple[Substitution, ...] = ()
    texts: tuple[bytes, ...] = ()


NO_EDITS = Recent()


@dataclass(frozen=True, slots=True)
class Complete:
    """Requests the text to insert at byte *offset* of *version* of the document, after the edits *recent*.

    *requested_at* is the time of the request by `time.monotonic`, which all processes of a machine share.
    Nobody waits for one that *is_unhurried*: it may take a minute, and any other message ends it.
    *correction* is that of the model's estimate, learnt from typing.
    """

    id: int
    document: DocumentId
    version: int
    offset: int
    limits: Limits
    requested_at: float
    recent: Recent = NO_EDITS
    is_unhurried: bool = False
    correction: Correction | None = None


@dataclass(frozen=True, slots=True)
class Rest:
    """The cursor rests at byte *offset* of *version* of the document; a request with *limits* may follow.

    A slow model reads the text around it until then.
    """

    document: DocumentId
    version: int
    offset: int
    limits: Limits


@dataclass(frozen=True, slots=True)
class AwaitNames:
    """Requests an empty answer as soon as all names are looked up."""

    id: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """Request *id* was cancelled; the worker stops before the next token."""

    id: int


@dataclass(frozen=True, slots=True)
class Loading:
    """Progress of loading: *step* in a few words for a progress bar, and *percent*."""

    step: str
    percent: int


@dataclass(frozen=True, slots=True)
class Working:
    """All work from now on is on *document*, until the next such message.

    So the server knows the document if the process hangs or dies.
    """

    document: DocumentId


@dataclass(frozen=True, slots=True)
class Reading:
    """The model has been reading the text of *document* for a while; *percent* is read, 0 if unknown."""

    document: DocumentId
    percent: int


@dataclass(frozen=True, slots=True)
class Read:
    """The model does not read the text of *document* any more, or all work for a `later` answer is done."""

    document: DocumentId


@dataclass(frozen=True, slots=True)
class Ready:
    """*model* (a short name) is loaded; *problem* is the reason if it is not the requested model.

    *missing* is the extra to install for the requested model, if that is the problem.
    """

    model: str
    problem: str | None = None
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class NotReady:
    """No model is loaded, because of *reason*; completions will be empty."""

    reason: str


class Choice(NamedTuple):
    """A text that could be shown, with the features of it and of its opening.

    *is_held*: it has a fault, or would bring deleted text back. *is_header*: it connects with a body, which
    the user writes.
    """

    text: str
    closing: str
    ends_line: bool
    features: Mapping[str, float]
    opening: Mapping[str, float] | None
    is_held: bool
    is_header: bool


class Estimated(NamedTuple):
    """The likeliest text, shown or not, before any correction of the estimate with this *key*.

    *log_odds* are those that it is right, *opening* those that its opening is, if it has one.
    """

    key: str
    text: bytes
    log_odds: float
    opening: float | None


@dataclass(frozen=True, slots=True)
class Completion:
    """The result of decoding.

    Attributes:
        texts: Texts to insert, best first.
        complete: True if left + text + right is a valid file, under the assumptions of *relaxed*. The only
            texts that are not complete are headers, shown while typing, whose bodies the user writes next.
        relaxed: Assumed changes of a file that is broken elsewhere, in words.
        tokens: Number of accepted tokens.
        rejected: Number of refused tokens.
        reason: The reason for no texts.
        guess: The likeliest text and its estimate, in words, if the model is not confident enough of it.
        closing: Suffix of the first text, such as brackets, before which the cursor is to stay.
        final: True if the same request would get the same answer.
        stale: True if the request is not needed any more.
        later: True if the worker reads on, so that the same request may soon have an answer.
        model_ms: Milliseconds that the model took.
        unknown_names: The reason that the names in scope were unknown.
        left_out: A sentence about the files of the workspace that were left out, if any were.
        choices: All texts that could be shown while typing, if the limits wanted them.
        estimated: The likeliest text while typing, if any, for learning from the text that is then typed.
    """

    texts: tuple[str, ...] = ()
    complete: bool = False
    relaxed: tuple[str, ...] = ()
    tokens: int = 0
    rejected: int = 0
    reason: str | None = None
    guess: str = ""
    closing: str = ""
    final: bool = False
    stale: bool = False
    later: bool = False
    model_ms: float = 0.0
    unknown_names: str | None = None
    left_out: str | None = None
    choices: tuple[Choice, ...] = ()
    estimated: Estimated | None = None

    @property
    def text(self) -> str:
        """The best text; empty if there is none."""
        return self.texts[0] if self.texts else ""

    @property
    def is_header(self) -> bool:
        """True if the text is the header of a block that connects with a body."""
        return bool(self.texts) and not self.complete

    @property
    def reason_in_words(self) -> str:
        """The reason, with the best guess first, as a status bar shows its start."""
        reason = self.reason or ""
        return f"best guess: {self.guess}; {reason}" if self.guess else reason


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to request *id*, which took the worker *ms* milliseconds."""

    id: int
    completion: Completion
    ms: float


Request = Load | Workspace | Open | Edit | Close | Arrange | Complete | Rest | AwaitNames | Cancel | Leave
Report = Working | Loading | Ready | NotReady | Reading | Read | Answer


def read_request(stream: IO[bytes]) -> Request | None:
    """The next message of the server; None at the end of *stream*. Blocks."""
    return cast("Request | None", _read(pickle.load, stream))


def read_report(stream: IO[bytes]) -> Report | None:
    """The next message of the worker, a plain value; None at the end of *stream*. Blocks."""
    return cast("Report | None", _read(read_plain, stream))


def _read(read: Callable[[IO[bytes]], object], stream: IO[bytes]) -> object:
    try:
        return read(stream)
    except (EOFError, pickle.UnpicklingError):  # the second if the other end died within a message
        return None
