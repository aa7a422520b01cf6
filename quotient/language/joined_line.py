"""The line that a suggestion makes with the text on both sides of the cursor.

Nothing in it may be doubled, and no code of it may become a comment.

The token at the end of the suggestion is read again with the text that touches it. Within a word only a
known word may result. Directly before a call, an index or an attribute only a name may stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_WORD_END = re.compile(rb"(?<![\w\x80-\xff])[\w\x80-\xff]+\Z")
_WORD = re.compile(rb"[\w\x80-\xff]+")
_PIECE = re.compile(rb"[\w\x80-\xff]+|[^\w\s\x80-\xff]")
_NAME = re.compile(rb"[ \t]*[\w\x80-\xff]+|[.:][\w\x80-\xff]+")
_DOTTED = re.compile(rb"[ \t]*[\w\x80-\xff]+(?:\.[\w\x80-\xff]+)*")
_LINE_END = re.compile(rb"[\r\n]")
_BRACE = re.compile(rb"\$?[{}]")

NEAR = 2_000
"""Bytes of the cursor's line on either side that are read; longer lines are no code."""

KNOWN_WITHIN = 200_000
"""Bytes on either side of the cursor within which a word is known."""


@dataclass(frozen=True, slots=True)
class JoinedLine:
    """The part of a suggestion in the line that goes on right of the cursor.

    `head` is the text left of the cursor in that line. `text` starts at the offset `start` of the suggestion,
    and `rest` follows it. With code in `head`, that is all of the suggestion, even of several lines.
    """

    head: bytes
    text: bytes
    start: int
    rest: bytes

    @classmethod
    def of(cls, left: bytes, text: bytes, right: bytes) -> JoinedLine:
        """The line that *text* makes with *left* and *right*."""
        near = left[-NEAR:]
        head = near[_last_line(near) :]
        start = 0 if head.strip() else _last_line(text)
        return cls(head, text[start:], start, _LINE_END.split(right[:NEAR], maxsplit=1)[0])

    def cut_in_word(self, is_known: Callable[[bytes], bool]) -> int | None:
        """The length up to which the text makes a known word of the one around it; None if all of it does.

        Beside a word on the right alone, only the word at the end of the text counts.
        """
        begun, rest = _WORD_END.search(self.head), _WORD.match(self.rest)
        if rest is None or not self.text:
            return None
        if begun is None:
            last = _WORD_END.search(self.text)
            return None if last is None or is_known(last[0] + rest[0]) else last.start()
        word = _WORD.match(self.text)
        for end in range(word.end() if word is not None else 0, 0, -1):
            if is_known(begun[0] + self.text[:end] + rest[0]):
                return end if end < len(self.text) else None
        return 0

    def cut_before_access(self, access: re.Pattern[bytes], in_code: Callable[[], bool]) -> int | None:
        """The length of the name that may stand directly before an *access*; None if that is all."""
        if not self.text.strip() or access.match(self.rest) is None:
            return None
        goes_on = self.head[-1:] == b"." or _WORD_END.search(self.head) is not None
        name = (_NAME if goes_on else _DOTTED).match(self.text)
        end = name.end() if name is not None else 0
        return end if end < len(self.text) and in_code() else None

    def cut_repetition(self, only_closes: Callable[[bytes], bool]) -> int | None:
        """The length of the text before it repeats the text after it; None if it does not.

        Signs and words that only close something may follow each other.
        """
        rest = self.rest.lstrip()
        if not rest or not self.text.strip():
            return None
        if self._starts_with(rest, only_closes):
            return 0
        pieces = [(piece.start(), _may_repeat(piece[0], only_closes)) for piece in _PIECE.finditer(self.text)]
        for number, (start, _) in enumerate(pieces):
            said = self.text[start:].rstrip()
            is_said = rest.startswith(said) and not _is_in_word(rest, len(said))
            if is_said and not all(may_repeat for _, may_repeat in pieces[number:]):
                return start
        return None

    def cut_comment(self, mark: bytes, in_code: Callable[[int], bool]) -> int | None:
        """The length of the text before a comment that takes in the code after it; None without one.

        *mark* starts comments that go on to the end of the line; empty if there are none. *in_code* is True
        for a length of the text that ends outside of strings and comments.
        """
        if not mark or not self.rest.strip() or self.rest.lstrip().startswith(mark):
            return None
        at = self.text.find(mark, _last_line(self.text))
        while at >= 0 and not (in_code(at) and not in_code(at + len(mark))):
            at = self.text.find(mark, at + 1)
        return at if at >= 0 else None

    def cut_field(self, opener: bytes) -> int | None:
        """The length of the text before it ends a field of a string that the text after it ends.

        *opener* starts fields, as `${` does in templates; empty if there are none. Without this rule the end
        that an editor has added would be a part of the string.
        """
        if not opener or not self.rest.startswith(b"}"):
            return None
        opened = list[bytes]()
        for sign in _BRACE.finditer(self.head):
            if sign[0].endswith(b"{"):
                opened.append(sign[0])
            elif opened:
                opened.pop()
        if opened[-1:] != [opener]:
            return None
        depth = 1
        for sign in _BRACE.finditer(self.text):
            depth += 1 if sign[0].endswith(b"{") else -1
            if not depth:
                return sign.end() - 1
        return None

    def _starts_with(self, rest: bytes, only_closes: Callable[[bytes], bool]) -> bool:
        """True if the text starts with all of *rest* but the signs at its end that close something."""
        pieces = [*_PIECE.finditer(rest)]
        while pieces and only_closes(pieces[-1][0]):
            pieces.pop()
        said = rest[: pieces[-1].end()] if pieces else b""
        text = self.text.lstrip()
        has_word = any(_WORD.match(piece[0]) for piece in pieces)
        return has_word and len(pieces) > 1 and text.startswith(said) and not _is_in_word(text, len(said))


def _last_line(text: bytes) -> int:
    """The offset of the last line of *text*."""
    return max(text.rfind(b"\n"), text.rfind(b"\r")) + 1


def _may_repeat(piece: bytes, only_closes: Callable[[bytes], bool]) -> bool:
    """True if *piece* closes a bracket or a block, so that the next one may close another."""
    return piece in (b")", b"]", b"}") or (_WORD.match(piece) is not None and only_closes(piece))


def is_word_of(word: bytes, left: bytes, right: bytes) -> bool:
    """True if *word* occurs in *left* or *right*, apart from the word around the cursor between them."""
    begun, rest = _WORD_END.search(left[-NEAR:]), _WORD.match(right)
    above = left[: len(left) - len(begun[0])] if begun else left
    return _has_word(above[-KNOWN_WITHIN:], word) or _has_word(right[rest.end() if rest else 0 :], word)


def _has_word(text: bytes, word: bytes) -> bool:
    """True if *word* occurs in the first bytes of *text*. A pattern takes 20 times as long as this search."""
    at = text.find(word, 0, KNOWN_WITHIN)
    while at >= 0 and (_is_in_word(text, at) or _is_in_word(text, at + len(word))):
        at = text.find(word, at + len(word), KNOWN_WITHIN)
    return at >= 0


def _is_in_word(text: bytes, offset: int) -> bool:
    """True if *offset* is inside a word of *text*."""
    around = text[max(0, offset - 1) : offset + 1]
    return offset > 0 and len(around) == 2 and _WORD.fullmatch(around) is not None
