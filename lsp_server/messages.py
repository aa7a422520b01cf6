"""What the server and its worker process say to each other, and how it travels.

To the worker: `Load`, `Open`, `Edit`, `Close`, `Complete`, `Cancel`; in this order of a document's life,
with offsets in bytes. From the worker: `Loading`, `Ready`, `NotReady`, and for every `Complete` exactly
one `Answer`. A message is one frame: four bytes of length, then the pickled dataclass. Both ends are
the same program, so pickle is safe and keeps bytes as bytes.
"""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass
from typing import IO, cast

_LENGTH = struct.Struct("!I")


@dataclass(frozen=True, slots=True)
class Load:
    """Load the model *model*: a folder, a hub name, or None for the bundled one."""

    model: str | None


@dataclass(frozen=True, slots=True)
class Open:
    """A document, UTF-8; replaces an older one of that name."""

    uri: str
    version: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Edit:
    """The bytes from *start* to *end* become *replacement*, which makes *version* of the document."""

    uri: str
    version: int
    start: int
    end: int
    replacement: bytes


@dataclass(frozen=True, slots=True)
class Close:
    """The document is not needed any more."""

    uri: str


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a completion may go: tokens, milliseconds of decoding, and whether it may leave the line.

    *one_line* is "auto", "always" or "never" (see `settings`).
    """

    max_tokens: int
    deadline_ms: int
    one_line: str


@dataclass(frozen=True, slots=True)
class Complete:
    """Wanted: the text to insert at byte *offset* of *version* of the document."""

    id: int
    uri: str
    version: int
    offset: int
    limits: Limits


@dataclass(frozen=True, slots=True)
class Cancel:
    """The answer to request *id* is not wanted any more: stop before the next token."""

    id: int


@dataclass(frozen=True, slots=True)
class Loading:
    """Loading has come to *step*, a few words for a progress bar."""

    step: str


@dataclass(frozen=True, slots=True)
class Ready:
    """*model* (a short name) is loaded."""

    model: str


@dataclass(frozen=True, slots=True)
class NotReady:
    """No model could be loaded, because of *reason*; completions will be empty."""

    reason: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What decoding found.

    *text* is what to insert; it may be empty, and then *reason* says why. *complete*: left + text + right is
    a valid file, after leaving out what *relaxed* names ("left", "right", "both" or None) when the file is
    broken elsewhere. *tokens* were kept, *rejected* were tried and found dead.
    """

    text: str = ""
    complete: bool = False
    relaxed: str | None = None
    tokens: int = 0
    rejected: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of request *id*, *ms* milliseconds after the worker began on it."""

    id: int
    completion: Completion
    ms: float


Request = Load | Open | Edit | Close | Complete | Cancel
Report = Loading | Ready | NotReady | Answer


def pack(message: Request | Report) -> bytes:
    """The frame of *message*."""
    body = pickle.dumps(message)
    return _LENGTH.pack(len(body)) + body


def read_request(stream: IO[bytes]) -> Request | None:
    """The next message of the server, waiting for it; None at the end of *stream*."""
    return cast("Request | None", _read(stream))


def read_report(stream: IO[bytes]) -> Report | None:
    """The next message of the worker, waiting for it; None at the end of *stream*."""
    return cast("Report | None", _read(stream))


def _read(stream: IO[bytes]) -> object:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = stream.read(length)
    return pickle.loads(body) if len(body) == length else None
