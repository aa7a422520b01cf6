"""The constraint that a request to an inference engine asks for, by a text and its kind, and its matcher.

A matcher follows the text that the engine writes: token by token, with a way back.
"""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fimlsp.languages import language_named
from fimlsp.languages.between import MARK, Kind
from fimlsp.languages.custom import choice, gbnf, json_schema, load_grammar, regular
from fimlsp.models.masked_logits import write_mask
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.masks.vocabulary import WORD_BITS, Bitmask, Vocabulary
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:
    from fimlsp.models.masked_logits import Words

log = logging.getLogger(__name__)

ENGINE = RLock()
"""Engines compile constraints in one thread and fill masks in others, and the caches of ours are for one."""

MOST_FORCED = 256
"""Bytes of forced text that are looked up at once."""


class Matcher:
    """The state of a text after each of its tokens.

    States are immutable, so going back is dropping the last ones, and a copy shares all of them. *stops* are
    the tokens with which the engine ends this text; without any, those of the vocabulary. Other stops of the
    vocabulary are refused, as the engine would write on after them.

    Law: after `accept` of a token that `fill` allowed, the text can still be completed. After a stop token it
    is complete.
    """

    def __init__(self, start: State, vocabulary: Vocabulary, stops: Collection[int] = ()) -> None:
        self.vocabulary = vocabulary
        own = frozenset(stop for stop in stops if 0 <= stop < len(vocabulary))
        self.stops = own or vocabulary.stops
        self._states: list[State | None] = [start]

    def copy(self) -> Matcher:
        """A matcher of the same text from its start."""
        start = self._states[0]
        assert start is not None
        return Matcher(start, self.vocabulary, self.stops)

    @property
    def is_over(self) -> bool:
        """True after a stop token."""
        return self._states[-1] is None

    def accept(self, token: int) -> bool:
        """Go on with *token*; False, without a change, if it is not allowed here."""
        state = self._states[-1]
        if state is None or not 0 <= token < len(self.vocabulary):
            return False
        with ENGINE:
            following = self._after(state, token)
            if following is None and not (token in self.stops and self._allows(state, token)):
                return False
        self._states.append(following)
        return True

    def accepted(self, tokens: Sequence[int]) -> list[int]:
        """The longest prefix of *tokens* that is allowed here; nothing after a stop token."""
        before = len(self._states)
        taken = next((n for n, token in enumerate(tokens) if not self.accept(token)), len(tokens))
        del self._states[before:]
        return [*tokens[:taken]]

    def rollback(self, tokens: int) -> None:
        """Go back by a number of *tokens*.

        Raises:
            ValueError: fewer were accepted.
        """
        if not 0 <= tokens < len(self._states):
            raise ValueError(f"Cannot go back {tokens} tokens: {len(self._states) - 1} were accepted.")
        del self._states[len(self._states) - tokens :]

    def reset(self) -> None:
        """Go back to the start."""
        del self._states[1:]

    def fill(self, bitmask: Words, row: int) -> None:
        """Write the tokens that are allowed here into a *row* of a bitmask; after a stop token the stops."""
        with ENGINE:
            write_mask(bitmask, row, self._mask(self._states[-1]))

    def forced(self) -> str:
        """The characters that come next in every text, as far as the engine looks ahead; empty if it is over.

        The text ends after them, or goes on in several ways.
        """
        state, text = self._states[-1], b""
        with ENGINE:
            while state is not None and not state.complete and len(text) < MOST_FORCED:
                following = np.flatnonzero(state.allowed_texts(all_bytes()))
                if len(following) != 1:
                    break
                byte = all_bytes().texts[int(following[0])]
                text, state = text + byte, state.feed(byte)
        return text.decode(errors="ignore")  # without a character that is not finished

    def _after(self, state: State, token: int) -> State | None:
        text = self.vocabulary.token_bytes[token]
        return None if text is None or token in self.stops | self.vocabulary.stops else state.feed(text)

    def _allows(self, state: State, token: int) -> bool:
        return bool(self._mask(state)[token // WORD_BITS] >> np.uint32(token % WORD_BITS) & 1)

    def _mask(self, state: State | None) -> Bitmask:
        """The tokens allowed after *state*.

        An engine cannot go on without any token. So the stops are allowed where the vocabulary has none.
        """
        words = np.zeros(self.vocabulary.n_words, np.uint32)
        if state is not None:
            words = state.mask(self.vocabulary)
            _set_bits(words, self.vocabulary.stops | self.stops, value=False)
            _set_bits(words, self.stops, value=state.complete)
        if not words.any():
            if state is not None:
                log.warning("The vocabulary has no token that continues a text, which ends incomplete.")
            _set_bits(words, self.stops, value=True)
        return words


def _set_bits(words: Bitmask, tokens: Collection[int], *, value: bool) -> None:
    for token in tokens:
        word, bit = token // WORD_BITS, np.uint32(1 << token % WORD_BITS)
        words[word] = words[word] | bit if value else words[word] & ~bit


@cache
def all_bytes() -> Vocabulary:
    """A vocabulary of single bytes."""
    return Vocabulary([bytes([byte]) for byte in range(256)])


MOST_LANGUAGES = 32
"""Languages whose tables are kept."""


class Constraints:
    """The constraints of the requests to one model.

    *compact*: instances of a JSON Schema have no white space between lexemes.
    """

    def __init__(self, vocabulary: Vocabulary, *, compact: bool = False) -> None:
        self.vocabulary = vocabulary
        self._compact = compact
        self._engines = OrderedDict[tuple[Kind, str], Engine]()

    def matcher(self, kind: Kind, text: str, stops: Collection[int] = ()) -> Matcher:
        """The constraint of a request for the language of this *kind* and *text*; *stops* end the text.

        Raises:
            ValueError: there is no such language, or no text of it between the two texts of the request.
        """
        asked = _marked(text) if kind == "json" else None
        left = right = b""
        if asked is not None:
            kind, text, left, right = _fields(asked)
        with ENGINE:
            document = self._engine(kind, text).document(left + right)
            start = document.middle(len(left), len(left), relax=kind == "language").start
        if start is None:
            raise ValueError("Cannot fill in: no text connects these two. Check both sides of the cursor.")
        return Matcher(start, self.vocabulary, stops)

    def _engine(self, kind: Kind, text: str) -> Engine:
        """The engine of a language; those used last are kept, and the tables of the others dropped."""
        key = kind, text
        if key not in self._engines:
            self._engines[key] = engine = Engine(self._language(kind, text))
            engine.prepare(self.vocabulary)
        self._engines.move_to_end(key)
        if len(self._engines) > MOST_LANGUAGES:
            _, dropped = self._engines.popitem(last=False)
            self.vocabulary.stores.pop(dropped.tables, None)
        return self._engines[key]

    def _language(self, kind: Kind, text: str) -> Language:
        if kind == "json":
            return json_schema(_decoded(text), compact=self._compact)
        return _LANGUAGES[kind](text)


def _grammar(text: str) -> Language:
    return gbnf(text) if "::=" in text else load_grammar(text=text)


_LANGUAGES: Mapping[str, Callable[[str], Language]] = MappingProxyType(
    {
        "language": language_named,
        "lark": lambda text: load_grammar(text=text),
        "gbnf": gbnf,
        "grammar": _grammar,
        "regex": regular,
        "choice": lambda text: choice(_decoded(text)),
    }
)


def _decoded(text: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Cannot read the constraint as JSON: {error}. Correct it.") from error


def _marked(text: str) -> object:
    """The value of our keyword in a schema; None without it."""
    schema = _decoded(text) if MARK in text else None
    return schema.get(MARK) if isinstance(schema, dict) else None


def _fields(asked: object) -> tuple[Kind, str, bytes, bytes]:
    """The parts of a request that `fill_in_middle` made."""
    names = "kind", "text", "left", "right"
    values = [asked.get(name) if isinstance(asked, dict) else None for name in names]
    if not all(isinstance(value, str) for value in values) or values[0] not in {"json", *_LANGUAGES}:
        raise ValueError(f"Cannot read {MARK}: it lacks {', '.join(names)}. Make it by fill_in_middle.")
    kind, text, left, right = cast("list[str]", values)
    return cast("Kind", kind), text, left.encode(), right.encode()
