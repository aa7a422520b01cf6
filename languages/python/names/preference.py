"""Scores how badly a continuation of code fits the names that are known at the cursor.

A preference and no law: a name may be bound in a way that nobody has foreseen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from fimlsp.languages.python.names.code_state import KEYWORDS, CodeState, Place, first_piece, is_word
from fimlsp.languages.python.names.known_names import Kind, KnownNames, NameSet, Wanted
from fimlsp.languages.python.suggested.builtin_names import BUILTIN_NAMES

UNKNOWN_NAME = 3.0
"""Nats by which a name counts less that should be known and is not."""

DOUBTFUL_NAME = 1.0
"""The same, where the code that follows may still bind it."""

SURE = math.log(0.9)
"""The log-probability from which a model may know better than what was looked up."""

NEAR = 1_000
"""Bytes before the cursor whose words are known, as they may be newer than what was looked up."""

WINDOW = 16_000
"""Bytes around the cursor whose attributes and keyword arguments are known."""

LINE_END = b"\n"

_ALWAYS_KNOWN = NameSet([*BUILTIN_NAMES, *KEYWORDS])
_NAME = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*"
_WORD = re.compile(_NAME)
_KEYWORD_ARGUMENT = re.compile(rb"(%b) ?=(?!=)" % _NAME)
_BINDS = re.compile(rb"=(?!=)|,|:")
_NAMES_ARGUMENT = re.compile(rb"=(?!=)")
_NEEDS_VALUE = frozenset(b"in with await + - / % < > <= >=".split())
_NEEDS_TRUTH = frozenset(b"if elif while not and or".split())
_ENDS_CONDITION = re.compile(rb"[ \t]*(?:[:\n)\]},]|and\b|or\b|else\b|\Z)")
_ENDS_STATEMENT = re.compile(rb"[ \t]*(?:[\n;#]|\Z)")


class NamePreference:
    """How well continuations suit between *left*, behind which the code is as *behind* says, and *right*.

    *known* is asked at each name, as more may be known by then. `missed` is what it did not tell.
    """

    def __init__(self, left: bytes, right: bytes, behind: CodeState, known: Callable[[], KnownNames]) -> None:
        self.missed = dict[Wanted, None]()
        self._known = known
        self._around = left[-WINDOW : len(left) - len(behind.word)], right[:WINDOW]
        self._states = {b"": behind}
        self._words: frozenset[bytes] | None = None
        self._keywords: NameSet | None = None
        self._attributes = dict[bytes, NameSet]()

    def misfit(self, text: bytes, continuation: bytes) -> float:
        """By how many nats *continuation* behind *text* should count less."""
        state, worst, offset = self._state(text), 0.0, 0
        if state.quote:
            return 0.0
        while offset < len(continuation):
            piece = first_piece(continuation, offset)
            if not (is_word(piece) or state.is_prefix(piece)):
                worst = max(worst, self._ended(state, text, continuation, offset))
            state = state.after(piece)
            if state.quote:
                return worst
            offset += len(piece)
        return max(worst, self._word(state, text, is_whole=False)) if state.word else worst

    def first_misfit(self, tokens: Iterable[tuple[bytes, float]]) -> int | None:
        """The offset of the first of *tokens*, with their log-probabilities, that no known name allows.

        What is sure all the same may stand. None if all may.
        """
        text = b""
        for token, log_probability in tokens:
            if log_probability < SURE and self.misfit(text, token) >= UNKNOWN_NAME:
                return len(text)
            text += token
        return None

    def is_left_uncalled(self, text: bytes) -> bool:
        """Whether *text* ends with a function that has no use there unless it is called."""
        state = self._state(text)
        return bool(state.word) and not state.quote and self._uncalled(state.ended(), b"\n") >= UNKNOWN_NAME

    def _state(self, text: bytes) -> CodeState:
        state = self._states.get(text)
        if state is None:
            begun = max((each for each in self._states if text.startswith(each)), key=len)
            state = self._states[text] = self._states[begun].feed(text[len(begun) :])
        return state

    def _ended(self, state: CodeState, text: bytes, code: bytes, offset: int) -> float:
        """How badly the name suits that ends before *offset* of *code*, where *state* is reached."""
        worst = self._word(state, text, is_whole=True) if state.word else 0.0
        ended = state.ended() if state.word else state
        if ended.chain and b"." not in ended.chain and not code[offset : offset + 1].isspace():
            name = replace(ended, chain=b"", word=ended.chain)
            worst = max(worst, self._name_before(name, text, code, offset))
        return max(worst, self._uncalled(ended, code[offset:])) if ended.chain else worst

    def _uncalled(self, ended: CodeState, following: bytes) -> float:
        """How badly it suits that the names before *following* are not called, if they are a function's.

        Where the text ends or its line, what stands right of the cursor follows.
        """
        if following == LINE_END:
            following = self._around[1] or following
        if following.lstrip(b" ").startswith((b"(", b".")) or not self._known().has_function(ended.chain):
            return 0.0
        if following.startswith(b"[") or ended.last in _NEEDS_VALUE:
            return UNKNOWN_NAME
        if ended.last in _NEEDS_TRUTH:
            return UNKNOWN_NAME if _ENDS_CONDITION.match(following) else 0.0
        if not _ENDS_STATEMENT.match(following):
            return 0.0
        if not (ended.last or ended.clause or ended.brackets):
            return UNKNOWN_NAME
        return DOUBTFUL_NAME if ended.last in (b"=", b"return") and not ended.brackets else 0.0

    def _name_before(self, state: CodeState, text: bytes, code: bytes, offset: int) -> float:
        """How badly the word of *state* suits, now that it is seen in *code* what follows it."""
        word, place = state.word, state.place
        if place is Place.ARGUMENT and _NAMES_ARGUMENT.match(code, offset):
            keywords = self._found("keywords", state.callee)
            return UNKNOWN_NAME if keywords is not None and word not in keywords else 0.0
        if place not in (Place.START, Place.ARGUMENT, Place.ELEMENT) or self._is_visible(word, text, True):
            return 0.0
        if (place is Place.START and _BINDS.match(code, offset)) or code.startswith(b":=", offset):
            return 0.0
        return DOUBTFUL_NAME if place is Place.ELEMENT else UNKNOWN_NAME

    def _word(self, state: CodeState, text: bytes, is_whole: bool) -> float:
        """How badly the word of *state* suits, be it whole or only begun."""
        word = state.word
        match state.place:
            case Place.ATTRIBUTE if state.owner:
                return self._attribute(state, is_whole)
            case Place.IMPORTED:
                names = self._found("imports", state.module)
                return 0.0 if names is None or names.has(word, is_whole) else UNKNOWN_NAME
            case Place.USE:
                return 0.0 if self._is_visible(word, text, is_whole) else UNKNOWN_NAME
            case Place.ELEMENT if not is_whole:
                return 0.0 if self._is_visible(word, text, is_whole) else DOUBTFUL_NAME
            case Place.ARGUMENT if not is_whole and not self._is_visible(word, text, is_whole):
                keywords = self._found("keywords", state.callee)
                if (self._keywords_nearby() if keywords is None else keywords).has(word, is_whole):
                    return 0.0
                return DOUBTFUL_NAME if keywords is None else UNKNOWN_NAME
        return 0.0

    def _attribute(self, state: CodeState, is_whole: bool) -> float:
        names = self._found("attributes", state.owner)
        if names is None or names.has(state.word, is_whole):
            return 0.0
        if self._attributes_nearby(state.owner).has(state.word, is_whole):
            return 0.0
        may_be_bound = not state.last and not state.brackets
        return DOUBTFUL_NAME if may_be_bound else UNKNOWN_NAME

    def _is_visible(self, word: bytes, text: bytes, is_whole: bool) -> bool:
        if _ALWAYS_KNOWN.has(word, is_whole):
            return True
        visible = self._known().visible
        if visible is None or visible.has(word, is_whole):
            return True
        if self._words is None:
            self._words = frozenset(_WORD.findall(self._around[0][-NEAR:]))
        words = self._words.union(_WORD.findall(text))
        return word in words if is_whole else any(each.startswith(word) and each != word for each in words)

    def _found(self, kind: Kind, name: bytes) -> NameSet | None:
        known = self._known()
        match kind:
            case "attributes":
                names = known.attributes.get(name)
            case "keywords":
                names = known.keywords.get(name)
            case _:
                names = known.imports.get(name)
        if names is None and name:
            self.missed[kind, name] = None
        return names

    def _keywords_nearby(self) -> NameSet:
        """The names of keyword arguments in calls around the cursor."""
        if self._keywords is None:
            left, right = self._around
            self._keywords = NameSet(_KEYWORD_ARGUMENT.findall(left) + _KEYWORD_ARGUMENT.findall(right))
        return self._keywords

    def _attributes_nearby(self, owner: bytes) -> NameSet:
        """The attributes of *owner* that are used or bound around the cursor."""
        if owner not in self._attributes:
            used = re.compile(rb"(?<![\w.])%b\.(%b)" % (re.escape(owner), _NAME))
            left, right = self._around
            self._attributes[owner] = NameSet(used.findall(left) + used.findall(right))
        return self._attributes[owner]
