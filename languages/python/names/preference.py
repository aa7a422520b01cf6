"""Scores how badly a continuation of code fits the names that are known at the cursor.

It is a preference, not a rule, as a name may be bound in an unforeseen way.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from fimlsp.languages.python.names.code_state import KEYWORDS, CodeState, NameRole, first_piece, is_word
from fimlsp.languages.python.names.known_names import BUILTIN_NAMES, KnownNames, NameKind, NameQuery, NameSet

UNKNOWN_NAME = 3.0
"""Nats subtracted for a name that should be known and is not."""

DOUBTFUL_NAME = 1.0
"""The same, where later code may still bind it."""

SURE = math.log(0.9)
"""The log-probability from which the model is trusted more than the known names."""

NEAR = 1_000
"""Bytes before the cursor whose words count as known, as they may be newer than the known names."""

WINDOW = 16_000
"""Bytes around the cursor whose attributes and keyword arguments count as known."""

LINE_END = b"\n"

_ALWAYS_KNOWN = NameSet([*BUILTIN_NAMES, *KEYWORDS])
_NAME = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*"
_WORD = re.compile(_NAME)
_KEYWORD_ARGUMENT = re.compile(rb"(?<![\w\x80-\xff])(%b) ?=(?!=)" % _NAME)
_BINDS = re.compile(rb"=(?!=)|,|:")
_NAMES_ARGUMENT = re.compile(rb"=(?!=)")
_NEEDS_VALUE = frozenset(b"in with await + - / % < > <= >=".split())
_NEEDS_TRUTH = frozenset(b"if elif while not and or".split())
_ENDS_CONDITION = re.compile(rb"[ \t]*(?:[:\n)\]},]|and\b|or\b|else\b|\Z)")
_ENDS_STATEMENT = re.compile(rb"[ \t]*(?:[\n;#]|\Z)")


class NamePreference:
    """Scores continuations between *left*, which ends with *state*, and *right*.

    *known* is called at each name, as more names may be known by then. `missed` has the queries that these
    did not answer.
    """

    def __init__(self, left: bytes, right: bytes, state: CodeState, known: Callable[[], KnownNames]) -> None:
        self.missed = dict[NameQuery, None]()
        self._known = known
        self._around = left[-WINDOW : len(left) - len(state.word)], right[:WINDOW]
        self._states = {b"": state}
        self._words: frozenset[bytes] | None = None
        self._keywords: NameSet | None = None
        self._attributes = dict[bytes, NameSet]()

    def misfit(self, text: bytes, continuation: bytes) -> float:
        """The nats to subtract for *continuation* after *text*."""
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
        """The offset of the first of *tokens*, given with log-probabilities, that fits no known name.

        None if all fit, or are `SURE`.
        """
        text = b""
        for token, log_probability in tokens:
            if log_probability < SURE and self.misfit(text, token) >= UNKNOWN_NAME:
                return len(text)
            text += token
        return None

    def is_left_uncalled(self, text: bytes) -> bool:
        """True if *text* ends with a function that is useless there unless it is called."""
        state = self._state(text)
        return bool(state.word) and not state.quote and self._uncalled(state.ended(), b"\n") >= UNKNOWN_NAME

    def is_surely_visible(self, name: bytes) -> bool:
        """True if *name* was looked up in the newest text, and can be used at the cursor."""
        return self._known().is_surely_visible(name)

    def _state(self, text: bytes) -> CodeState:
        state = self._states.get(text)
        if state is None:
            prefix = max((known for known in self._states if text.startswith(known)), key=len)
            state = self._states[text] = self._states[prefix].feed(text[len(prefix) :])
        return state

    def _ended(self, state: CodeState, text: bytes, code: bytes, offset: int) -> float:
        """The misfit of the name that ends at *offset* of *code*, where *state* is reached."""
        worst = self._word(state, text, is_whole=True) if state.word else 0.0
        ended = state.ended() if state.word else state
        if ended.chain and b"." not in ended.chain and not code[offset : offset + 1].isspace():
            name = replace(ended, chain=b"", word=ended.chain)
            worst = max(worst, self._ended_name(name, text, code, offset))
        return max(worst, self._uncalled(ended, code[offset:])) if ended.chain else worst

    def _uncalled(self, ended: CodeState, following: bytes) -> float:
        """The misfit of a function at *ended* that *following* does not call.

        At the end of the text or its line, the text right of the cursor follows.
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

    def _ended_name(self, state: CodeState, text: bytes, code: bytes, offset: int) -> float:
        """The misfit of the word at *state*, by the code after it, from *offset* of *code*."""
        word, role = state.word, state.role
        if role is NameRole.ARGUMENT and _NAMES_ARGUMENT.match(code, offset):
            keywords = self._looked_up("keywords", state.callee)
            return UNKNOWN_NAME if keywords is not None and word not in keywords else 0.0
        is_checked = role in (NameRole.START, NameRole.ARGUMENT, NameRole.ELEMENT)
        if not is_checked or self._is_visible(word, text, True):
            return 0.0
        if (role is NameRole.START and _BINDS.match(code, offset)) or code.startswith(b":=", offset):
            return 0.0
        return DOUBTFUL_NAME if role is NameRole.ELEMENT else UNKNOWN_NAME

    def _word(self, state: CodeState, text: bytes, is_whole: bool) -> float:
        """The misfit of the word at *state*, whole or as a prefix."""
        word = state.word
        match state.role:
            case NameRole.ATTRIBUTE if state.owner:
                return self._attribute(state, is_whole)
            case NameRole.IMPORTED:
                names = self._looked_up("imports", state.module)
                return 0.0 if names is None or names.has(word, is_whole) else UNKNOWN_NAME
            case NameRole.USE:
                return 0.0 if self._is_visible(word, text, is_whole) else UNKNOWN_NAME
            case NameRole.ELEMENT if not is_whole:
                return 0.0 if self._is_visible(word, text, is_whole) else DOUBTFUL_NAME
            case NameRole.ARGUMENT if not is_whole and not self._is_visible(word, text, is_whole):
                keywords = self._looked_up("keywords", state.callee)
                if (self._keywords_nearby() if keywords is None else keywords).has(word, is_whole):
                    return 0.0
                return DOUBTFUL_NAME if keywords is None else UNKNOWN_NAME
        return 0.0

    def _attribute(self, state: CodeState, is_whole: bool) -> float:
        names = self._looked_up("attributes", state.owner)
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
        return word in words if is_whole else any(known.startswith(word) and known != word for known in words)

    def _looked_up(self, kind: NameKind, name: bytes) -> NameSet | None:
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
        """The names of keyword arguments in calls near the cursor."""
        if self._keywords is None:
            left, right = self._around
            self._keywords = NameSet(_KEYWORD_ARGUMENT.findall(left) + _KEYWORD_ARGUMENT.findall(right))
        return self._keywords

    def _attributes_nearby(self, owner: bytes) -> NameSet:
        """The attributes of *owner* that are used or bound near the cursor."""
        if owner not in self._attributes:
            used = re.compile(rb"(?<![\w.])%b\.(%b)" % (re.escape(owner), _NAME))
            left, right = self._around
            self._attributes[owner] = NameSet(used.findall(left) + used.findall(right))
        return self._attributes[owner]
