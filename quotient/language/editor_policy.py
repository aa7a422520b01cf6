"""The rules of a language for editors and models, beside its grammar: comments, blocks, missing names.

They never decide about validity. They decide the size of a suggestion, the part of it that is worth showing,
and the form of a file's name in a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from re import Pattern
from typing import Protocol

from fimlsp.quotient.language.joined_line import KNOWN_WITHIN, JoinedLine, is_word_of

_STEPS = {**dict.fromkeys(b"([{", 1), **dict.fromkeys(b")]}", -1)}


@dataclass(frozen=True, slots=True)
class Comment:
    """The marks of a comment on one line: its beginning, and its end if it has one."""

    begin: str
    end: str = ""


@dataclass(frozen=True)
class EditorPolicy:
    """The editor's side of a language, by default of one with blocks in brackets.

    Attributes:
        file_ending: the ending of file names, for a buffer without a name.
        comment: the marks of a comment; None if there are no comments.
        known_names: the names that need not be defined in a file, such as keywords.
        header_end: the end of a line after which a block starts; empty if that is a bracket.
        shortest_body: a body in the header's own line, with which a header alone is judged.
        block_opener: matches at the beginning of a line, without its comment, after which a block starts.
        block_closer: matches a line that only closes parts of code begun above it.
        not_code: matches strings and comments, those without an end up to the end of the text or line.
        prose: matches the beginning of a text with sentences rather than code.
        field_opener: the sign that starts a field of a string, which `}` ends; empty if there are none.
        access: matches a sign that calls, indexes or goes into the value of a name directly before it.
    """

    file_ending: str = ""
    comment: Comment | None = None
    known_names: frozenset[bytes] = frozenset()
    header_end: bytes = b""
    shortest_body: bytes = b""
    block_opener: Pattern[bytes] = re.compile(rb".*[(\[{]\s*\Z", re.DOTALL)
    block_closer: Pattern[bytes] = re.compile(rb"[)\]},:;\s]*\Z")
    not_code: Pattern[bytes] = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"?")
    prose: Pattern[bytes] = re.compile(rb"(?!)")
    field_opener: bytes = b""
    access: Pattern[bytes] = re.compile(rb"[(\[]|\.(?![.\d])")

    def opens_block(self, line: bytes) -> bool:
        """True if a block may start after *line*."""
        return self.block_opener.match(self.code_alone(line)) is not None

    def ends_header(self, left: bytes, text: bytes) -> bool:
        """True if `header_end` after *text*, which follows *left*, ends the header of a block."""
        line = left[left.rfind(b"\n") + 1 :] + text
        return bool(self.header_end) and self.opens_block(line + self.header_end)

    def is_header(self, left: bytes, text: bytes) -> bool:
        """True if *text*, which follows *left*, ends with the header of a block and its `header_end`."""
        del left, text
        return False

    def is_comment(self, line: bytes) -> bool:
        """True if *line* is a comment and nothing else."""
        return self.comment is not None and line.strip().startswith(self.comment.begin.encode())

    def only_closes(self, line: bytes) -> bool:
        """True if *line* only closes parts of code begun above it."""
        return self.block_closer.match(line.strip()) is not None

    def code_alone(self, text: bytes) -> bytes:
        """*text* without its strings and comments."""
        return self.not_code.sub(b"", text)

    def swaps_brackets(self, text: bytes) -> bool:
        """True if *text* closes a bracket that it did not open, and then leaves another one open.

        Between `f(` and `)` that is `a) + g(b`. Strings and comments do not count.
        """
        depth = lowest = 0
        for byte in self.code_alone(text):
            depth += _STEPS.get(byte, 0)
            lowest = min(lowest, depth)
        return lowest < 0 and depth > lowest

    def ends_in_code(self, text: bytes) -> bool:
        """True if *text* ends outside of strings and comments."""
        return self.code_alone(text[-KNOWN_WITHIN:] + b"x").endswith(b"x")

    def first_issue(self, left: bytes, text: bytes, right: bytes) -> int | None:
        """The offset in *text*, between *left* and *right*, up to which it may be shown; None if all may."""
        cuts = self.first_joining_fault(left, text, right), self.first_unwanted(left, text, right)
        return min((cut for cut in cuts if cut is not None), default=None)

    def first_joining_fault(self, left: bytes, text: bytes, right: bytes) -> int | None:
        """As `first_issue`, for the line that *text* makes with *right*.

        It says nothing twice, comments out no code, and leaves no closer of a field over.
        """
        line = JoinedLine.of(left, text, right)
        mark = b"" if self.comment is None or self.comment.end else self.comment.begin.encode()
        cuts = (
            line.cut_in_word(lambda word: word in self.known_names or is_word_of(word, left, right)),
            line.cut_before_access(self.access, lambda: self.ends_in_code(left + text[: line.start])),
            line.cut_repetition(self.only_closes),
            line.cut_field(self.field_opener),
            line.cut_comment(mark, lambda end: self.ends_in_code(left + text[: line.start + end])),
        )
        return min((line.start + cut for cut in cuts if cut is not None), default=None)

    def first_unwanted(self, left: bytes, text: bytes, right: bytes) -> int | None:
        """As `first_issue`, for all that the language's own rules hold back."""
        del left, text, right
        return None

    def stops_idly(self, left: bytes, text: bytes, right: bytes, whole: bytes) -> bool:
        """True if *text*, a beginning of *whole*, ends where no author would stop."""
        del left, text, right, whole
        return False

    def first_unknown_name(
        self,
        left: bytes,
        text: bytes,
        right: bytes,
        is_visible: Callable[[bytes], bool] = lambda _: False,
    ) -> int | None:
        """The offset of the first unbound name in *text*; None if there is none, or it is not known.

        *is_visible* returns True for a name that was looked up and can be used, such as one of another file.
        """
        del left, text, right, is_visible
        return None


SOMETHING_ELSE = 0.03
"""The probability that something else starts as an expected text does."""


def rests_after(texts: Mapping[bytes, float], text: bytes) -> Mapping[bytes, float]:
    """The rests of those of *texts* that start with *text*, with their probabilities after it."""
    rests = {known[len(text) :]: share for known, share in texts.items() if known.startswith(text)}
    rests.pop(b"", None)
    if not text or not rests:
        return rests
    ended = sum(share for known, share in texts.items() if text.startswith(known))
    total = sum(rests.values()) + ended + SOMETHING_ELSE
    return {rest: share / total for rest, share in rests.items()}


class ExpectedTexts(Protocol):
    """Texts that are likely at an offset, `back` bytes before the cursor or at the cursor itself.

    They are so for a reason that a model hardly sees: the code lacks a name there, for instance.
    """

    @property
    def back(self) -> int:
        """The distance of the offset from the cursor in bytes."""

    def after(self, text: bytes) -> Mapping[bytes, float]:
        """The expected texts after *text*, which follows the offset, with their probabilities.

        All other texts share the remaining probability.
        """
