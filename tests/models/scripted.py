"""Partners of the decoding loop that need no weights and no grammar."""

import math
from dataclasses import dataclass

from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.protocols import Candidates

END = b"<end>"
CLOSER = {ord("("): ord(")"), ord("["): ord("]"), ord(":"): ord(";")}


class ScriptedModel:
    """Proposes the listed candidates (bytes or END, best first) step by step, the last step for ever."""

    stops = frozenset({0})

    def __init__(self, *steps):
        self.texts = [END, b"", *dict.fromkeys(text for step in steps for text in step if text != END)]
        self.token_bytes = [None, *self.texts[1:]]
        self.script = steps
        self.steps = 0
        self.prompt = None

    def begin(self, tokens, _written=()):
        self.prompt = tuple(tokens)
        return self._next()

    def advance(self, _token):
        return self._next()

    def _next(self):
        step = self.script[min(self.steps, len(self.script) - 1)]
        self.steps += 1
        ranks = {self.texts.index(text): math.log(0.5 ** (rank + 1)) for rank, text in enumerate(step)}
        return Candidates(list(ranks), list(ranks.values()), ranks.get(0, -10.0))


@dataclass(frozen=True)
class Brackets:
    """Middles that close *open* (innermost last) and are balanced; other bytes are free UTF-8 text."""

    open: bytes = b""
    pending: bytes = b""

    def feed(self, data):
        stack, pending = list(self.open), self.pending
        for byte in data:
            if pending or byte >= 0x80:
                pending = unfinished(pending + bytes([byte]))
                if pending is None:
                    return None
            elif byte in CLOSER:
                stack.append(byte)
            elif byte in CLOSER.values() and (not stack or CLOSER[stack.pop()] != byte):
                return None
        return Brackets(bytes(stack), pending)

    @property
    def complete(self):
        return not self.open and not self.pending

    @property
    def shortest_completion(self):
        rest = b"\x80" * (length(self.pending) - len(self.pending)) if self.pending else b""
        return rest + bytes(CLOSER[byte] for byte in reversed(self.open))


def length(character):
    """Number of bytes of the UTF-8 character with the first byte of *character*."""
    return 2 if character[0] < 0xE0 else 3


def unfinished(character):
    """The UTF-8 *character* while bytes of it are missing, b"" once it is whole, None if it is none."""
    if not 0xC3 <= character[0] < 0xED or any(not 0x80 <= byte < 0xC0 for byte in character[1:]):
        return None
    return b"" if len(character) == length(character) else character


def completion(model, left=b"x = (a", right=b"\n", open_brackets=b"(", **limits):
    settings = DecodeSettings(**({"tokens": 24} | limits))
    (middle,) = complete_many(model, left, right, Brackets(open_brackets), settings, lambda: False)
    return middle
