"""The messages between the server and its worker process.

To the worker go `Load`, `Workspace`, `Open`, `Edit`, `Close`, `Complete`, `Cancel` and `Leave`, with offsets
in bytes. From the worker come `Loading`, `Ready`, `NotReady`, and exactly one `Answer` for every `Complete`.
A message is a pickled dataclass, which tells by itself where it ends. Both ends are the same program, so
pickle is safe, and it keeps bytes as bytes.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import IO, NamedTuple, cast

from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.language.contract import Language


class DocumentId(NamedTuple):
    """A document of one of the clients that share a worker."""

    client: int
    uri: str


@dataclass(frozen=True, slots=True)
class Load:
    """Load the model *model*: a folder, a hub name, a GGUF file, an address, or None for the bundled one.

    The other fields are as in the settings; None leaves the choice to the model.
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


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folders (absolute paths) whose files may be read for *client*, but for those of *exclude*."""

    client: int
    folders: tuple[str, ...]
    exclude: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Open:
    """A document, UTF-8, in *grammar*; replaces an older one of that name."""

    document: DocumentId
    version: int
    data: bytes
    grammar: Language


@dataclass(frozen=True, slots=True)
class Edit:
    """The edit that makes *version* of the document."""

    document: DocumentId
    version: int
    replacement: Replacement


@dataclass(frozen=True, slots=True)
class Close:
    """The document is not needed any more."""

    document: DocumentId


@dataclass(frozen=True, slots=True)
class Leave:
    """Nothing of this client is needed any more."""

    client: int


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings that a completion depends on, under the same names; see `settings.options`.

    *cursor_inside*: the editor can leave the cursor inside of what it inserts, as between brackets.
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


@dataclass(frozen=True, slots=True)
class Complete:
    """Asks for the text to insert at byte *offset* of *version* of the document.

    *asked_at* is the time of the request by `time.monotonic`, which all processes of a machine share.
    """

    id: int
    document: DocumentId
    version: int
    offset: int
    limits: Limits
    asked_at: float


@dataclass(frozen=True, slots=True)
class AwaitNames:
    """Asks for an answer, an empty one, as soon as no names are being looked up any more."""

    id: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """The answer to request *id* is not wanted any more; the worker stops before the next token."""

    id: int


@dataclass(frozen=True, slots=True)
class Loading:
    """Loading has reached *step*, a few words for a progress bar, and is *percent* done."""

    step: str
    percent: int


@dataclass(frozen=True, slots=True)
class Ready:
    """*model* (a short name) is loaded; *problem*: why it is another than the one that was asked for.

    *missing* is the extra to be installed for that one, if that is the problem.
    """

    model: str
    problem: str | None = None
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class NotReady:
    """No model could be loaded, because of *reason*; completions will be empty."""

    reason: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What decoding found.

    *texts* may be inserted, best first; if there is none, *reason* says why. *complete*: left + text + right
    is a valid file. If the file is broken elsewhere, that holds with what was assumed there, as *relaxed*
    says in words, one string for each place. *tokens* were kept, *rejected* were tried and refused.
    *closing*: what the first text ends with, such as brackets, in front of which the cursor is to stay.
    *final*: the same question would get the same answer. *stale*: nobody waits for the answer any more.
    *model_ms*: milliseconds that the model took. *unknown_names*: why it was not known which names there are.
    """

    texts: tuple[str, ...] = ()
    complete: bool = False
    relaxed: tuple[str, ...] = ()
    tokens: int = 0
    rejected: int = 0
    reason: str | None = None
    closing: str = ""
    final: bool = False
    stale: bool = False
    model_ms: float = 0.0
    unknown_names: str | None = None

    @property
    def text(self) -> str:
        """The best text, or the empty one."""
        return self.texts[0] if self.texts else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to request *id*, *ms* milliseconds after the worker began to work on it."""

    id: int
    completion: Completion
    ms: float


Request = Load | Workspace | Open | Edit | Close | Complete | AwaitNames | Cancel | Leave
Report = Loading | Ready | NotReady | Answer


def read_request(stream: IO[bytes]) -> Request | None:
    """The next message of the server, waiting for it; None at the end of *stream*."""
    return cast("Request | None", _read(stream))


def read_report(stream: IO[bytes]) -> Report | None:
    """The next message of the worker, waiting for it; None at the end of *stream*."""
    return cast("Report | None", _read(stream))


def _read(stream: IO[bytes]) -> object:
    try:
        return pickle.load(stream)
    except (EOFError, pickle.UnpicklingError):  # the second where the other end died within a message
        return None
