"""Arguments and statements that the file makes likely, as texts for a model that hardly sees why.

A call mostly gets the variables that have the names of the parameters. `__init__` keeps its parameters as
attributes. A module with a function `main` ends with a call of it.

All depends on the text at the moment, so `LikelyTexts` reads it anew after each token. It knows no more of
the code than `code_state.py`, so it works in broken files as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import NamedTuple

from fimlsp.languages.python.missing_names.import_table import imports_in
from fimlsp.languages.python.missing_names.signatures import (
    INITIALIZER,
    Required,
    end_of_bracket,
    positional_parameters,
    required_parameters,
)
from fimlsp.languages.python.names.code_state import CodeState, NameRole, state_at_end
from fimlsp.languages.python.names.functions import header_around, names_above
from fimlsp.languages.python.names.symbol_tables import MOST_BYTES


class ArgumentShares(NamedTuple):
    """Probabilities of the arguments of a call, counted in 12 packages.

    Attributes:
        all: they are the required parameters, by the number of these, if all are bound above.
        first: the first one is the first parameter, if not all are bound.
    """

    all: Sequence[float]
    first: float


OWN_METHOD = ArgumentShares((0.88, 0.86, 0.78), 0.77)
FUNCTION = ArgumentShares((0.79, 0.68, 0.55), 0.77)
ELSEWHERE = ArgumentShares((0.75, 0.6, 0.5), 0.55)
"""Calls of functions that other files define, and of methods of other objects."""


class StatementShares(NamedTuple):
    """Probabilities of statements, counted in 12 packages; the last two in 159 files with `main`.

    Attributes:
        first_attribute: `__init__` starts with an attribute for its first parameter.
        attribute_after_call: the same after a call in a base class.
        next_attribute: an attribute for the next parameter follows an attribute for the one before.
        guard: a definition of `main` that needs no arguments is followed by a check of the module's name.
        call: such a check holds the call of `main` alone.
    """

    first_attribute: float = 0.31
    attribute_after_call: float = 0.5
    next_attribute: float = 0.54
    guard: float = 0.77
    call: float = 0.79


STATEMENTS = StatementShares()

Signatures = Callable[[bytes], Sequence[Required]]

LONGEST_FUNCTION = 20_000
"""Bytes before the cursor in which the function around it is searched."""

LONGEST_CALL = 400
"""Bytes of a call before the cursor."""

_ATTRIBUTE = re.compile(rb"(\w+)\.(\w+)(?::[^=\n]*)? = (\w+)\Z")
_BASE_CALL = re.compile(rb"super\(\)|[\w.]+\.__init__\(")
_MAIN = re.compile(rb"^def main\(", re.M)
_STEPS = {**dict.fromkeys(b"([{", 1), **dict.fromkeys(b")]}", -1)}


@dataclass(frozen=True)
class LikelyTexts:
    """`ExpectedTexts` that are likely after *left*, which ends with *state*, before *right*.

    *elsewhere* is as in `at`.
    """

    left: bytes
    right: bytes
    state: CodeState
    elsewhere: Signatures
    back: int = 0
    _known: dict[bytes, tuple[Required, ArgumentShares]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def at(cls, left: bytes, right: bytes, elsewhere: Signatures = lambda _: ()) -> LikelyTexts | None:
        """The texts between *left* and *right*; None in large files.

        *elsewhere* returns the required parameters of all definitions of a name in other files.
        """
        is_small = len(left) + len(right) <= MOST_BYTES
        return cls(left, right, state_at_end(left), elsewhere) if is_small else None

    def after(self, text: bytes) -> Mapping[bytes, float]:
        """See `ExpectedTexts`. O(len(text)), and O(file) once for each function that is called."""
        state = self.state.feed(text)
        if state.quote or (state.brackets and state.role is not NameRole.ARGUMENT):
            return {}
        code = self.left[-LONGEST_FUNCTION:] + text
        line_start = code.rfind(b"\n") + 1
        above, typed = code[:line_start], code[line_start:].lstrip()
        column = len(code) - line_start - len(typed)
        if state.brackets:
            return self._arguments(state.callee, code[-LONGEST_CALL:], names_above(above, column))
        return {
            whole[len(typed) :]: share
            for whole, share in _statements(above, column, self._below).items()
            if whole.startswith(typed) and whole != typed
        }

    @cached_property
    def _below(self) -> bytes:
        """The code below, as far as the statements here depend on it."""
        return self.right[:LONGEST_CALL] if self.right.strip() else b""

    def _arguments(self, callee: bytes, code: bytes, bound: frozenset[bytes]) -> Mapping[bytes, float]:
        """The rest of the arguments in a call of *callee* at the end of *code*; the names *bound* exist."""
        start = _opened(code)
        if not callee or start is None:
            return {}
        if callee not in self._known:
            self._known[callee] = self._required(callee)
        required, shares = self._known[callee]
        known, given = [*takewhile(bound.__contains__, required)], code[start:]
        is_all = len(known) == len(required)
        whole = b", ".join(known if is_all else known[:1])
        if not whole.startswith(given) or given == whole:
            return {}
        share = shares.all[min(len(required), len(shares.all)) - 1] if is_all else shares.first
        return {whole[len(given) :]: share}

    def _required(self, callee: bytes) -> tuple[Required, ArgumentShares]:
        """The required parameters of *callee*, defined here or in another file, and the shares of a call."""
        owner, _, name = callee.rpartition(b".")
        is_own = owner in (b"self", b"cls")
        key = b"." * bool(owner) + name
        here = required_parameters(self.left + self.right, key)
        if here is not None and (is_own or not owner):
            return here, OWN_METHOD if owner else FUNCTION
        there = set(self.elsewhere(key)) | ({here} if here is not None else set())
        is_visible = bool(owner) or any(name == imported for imported, _ in imports_in(self.left))
        return (there.pop() if len(there) == 1 and is_visible else ()), ELSEWHERE


@lru_cache(maxsize=8)
def _statements(above: bytes, column: int, below: bytes) -> Mapping[bytes, float]:
    """The statements that may stand between *above* and *below*, in a line that is indented by *column*.

    Cached, as all steps in a line have the same.
    """
    if column == 0:
        return {} if below or b"__name__" in above or not _has_main(above) else _main_guard(above)
    previous = above.rstrip().rpartition(b"\n")[2]
    if previous.startswith(b"if __name__ ==") and _has_main(above):
        return {b"main()": STATEMENTS.call}
    header = header_around(above, column)
    if header is None or header["name"] != INITIALIZER:
        return {}
    return _attributes(above[header.start() :], previous.strip(), below)


def _main_guard(code: bytes) -> Mapping[bytes, float]:
    """The check of the module's name, with the quotes of *code*."""
    quote = b"'" if code.count(b"'") > code.count(b'"') else b'"'
    return {b"if __name__ == %b__main__%b:\n" % (quote, quote): STATEMENTS.guard}


def _has_main(code: bytes) -> bool:
    """True if *code* defines a function `main` that needs no arguments."""
    return _MAIN.search(code) is not None and required_parameters(code, b"main") == ()


def _attributes(function: bytes, previous: bytes, below: bytes) -> Mapping[bytes, float]:
    """An attribute for the first parameter that *function*, which ends with *previous*, and *below* lack."""
    end = end_of_bracket(function, function.index(b"(") + 1)
    receiver, *names = [parameter.name for parameter in positional_parameters(function)] or [b""]
    around = function[end:], below
    name = next((name for name in names if not any(_has_word(part, name) for part in around)), b"")
    last = _ATTRIBUTE.match(previous)
    if not name:
        return {}
    if last is not None and last[1] == receiver and last[2].lstrip(b"_") == last[3]:
        marks = last[2].removesuffix(last[3])
        return {b"%b.%b%b = %b\n" % (receiver, marks, name, name): STATEMENTS.next_attribute}
    is_after_call = _BASE_CALL.match(previous) is not None
    if not is_after_call and not previous.endswith((b":", b'"""')):
        return {}
    share = STATEMENTS.attribute_after_call if is_after_call else STATEMENTS.first_attribute
    return {b"%b.%b = %b\n" % (receiver, name, name): share}


def _opened(text: bytes) -> int | None:
    """The offset after the bracket that is open at the end of *text*; None if there is none, or a string."""
    depth = 0
    for offset in range(len(text) - 1, -1, -1):
        depth -= _STEPS.get(text[offset], 0)
        if text[offset] in b"\"'#":
            return None
        if depth < 0:
            return offset + 1
    return None


def _has_word(text: bytes, word: bytes) -> bool:
    return re.search(rb"(?<![\w\x80-\xff])%b(?![\w\x80-\xff])" % re.escape(word), text) is not None
