"""The types that an annotation in quotes may name, as texts for a model that hardly writes within strings.

Such an annotation names a class that is not defined yet, or one that is imported for type checking alone.
Counted in 1,862 of them, in packages outside of the judged ones:

| | of a method's result | of parameters and functions |
|---|---|---|
| the class around it | 49 % | 5 % |
| the last annotation in quotes | 13 % | 31 % |
| an earlier one | 8 % | 26 % |
| imported for type checking | 8 % | 20 % |
| another class of the file | 5 % | 5 % |
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fimlsp.languages.python.missing_names.import_table import imports_in
from fimlsp.languages.python.names.code_state import state_at_end
from fimlsp.languages.python.names.symbol_tables import MOST_BYTES
from fimlsp.quotient.language.editor_policy import rests_after


class Shares(NamedTuple):
    """Probabilities of the types in such an annotation; those of several types are shared by them."""

    around: float
    last: float
    earlier: float
    imported: float
    defined: float


RESULT_OF_METHOD = Shares(0.49, 0.13, 0.08, 0.08, 0.05)
ELSEWHERE = Shares(0.05, 0.31, 0.26, 0.2, 0.05)

LONGEST_LINE = 500

_BEGUN = re.compile(rb"(?P<sign>->|:)[ \t]*(?P<quote>[\"'])(?P<word>[\w\x80-\xff.]*)\Z")
_VARIABLE = re.compile(
    rb"[ \t]*(?!(?:else|try|finally|lambda)\b)(?:self\.)?[A-Za-z_\x80-\xff][\w\x80-\xff]*[ \t]*\Z"
)
_QUOTED = re.compile(rb"(?:->|[\w\x80-\xff][ \t]*:)[ \t]*([\"'])([A-Za-z_\x80-\xff][\w\x80-\xff.]*)\1")
_CLASS = re.compile(rb"^([ \t]*)class[ \t]+([\w\x80-\xff]+)", re.M)
_HEADER = re.compile(rb"^([ \t]*)(?:async[ \t]+)?def[ \t]", re.M)
_FOR_TYPES = re.compile(
    rb"^if[ \t]+(?:typing\.)?TYPE_CHECKING:[^\n]*\n((?:[ \t]+[^\n]*\n|[ \t]*\r?\n)+)", re.M
)


@dataclass(frozen=True, slots=True)
class AnnotationTexts:
    """`ExpectedTexts` in an annotation in quotes that starts with *begun*: *types* with probabilities."""

    begun: bytes
    types: Mapping[bytes, float] = field(hash=False)
    back: int = 0

    @classmethod
    def at(cls, left: bytes, right: bytes) -> AnnotationTexts | None:
        """The texts between *left* and *right*; None outside of such an annotation, and in large files.

        O(len(left) + len(right)) in one.
        """
        line = left[max(left.rfind(b"\n") + 1, len(left) - LONGEST_LINE) :]
        begun = _BEGUN.search(line)
        if begun is None or len(left) + len(right) > MOST_BYTES:
            return None
        before = state_at_end(left[: len(left) - len(begun[0])])
        is_parameter = bool(before.brackets) and before.brackets[-1].binds
        is_variable = not before.brackets and _VARIABLE.match(line, 0, begun.start()) is not None
        if before.quote or not (begun["sign"] == b"->" or is_parameter or is_variable):
            return None
        return cls(begun["word"], _types(left, right, is_result=begun["sign"] == b"->"))

    def after(self, text: bytes) -> Mapping[bytes, float]:
        """See `ExpectedTexts`."""
        return rests_after(self.types, self.begun + text)


def _types(left: bytes, right: bytes, *, is_result: bool) -> Mapping[bytes, float]:
    """The types that an annotation between *left* and *right* may name, each with its best reason."""
    around = _class_around(left)
    shares = RESULT_OF_METHOD if is_result and around else ELSEWHERE
    quoted = [found[2] for found in _QUOTED.finditer(left)][::-1]
    code = left + right
    reasons = (
        (around, shares.around),
        (quoted[:1], shares.last),
        (quoted[1:], shares.earlier),
        ((name for block in _FOR_TYPES.findall(code) for name, _ in imports_in(block)), shares.imported),
        ((found[2] for found in _CLASS.finditer(code)), shares.defined),
    )
    types = defaultdict[bytes, float](float)
    for names, share in reasons:
        new = [name for name in dict.fromkeys(names) if name not in types]
        for name in new:
            types[name] = share / len(new)
    return types


def _class_around(left: bytes) -> Iterable[bytes]:
    """The name of the class around the definition at the end of *left*, if there is one."""
    headers = [*_HEADER.finditer(left)]
    column = len(headers[-1][1]) if headers else 0
    return [*_outer_classes(left, column)][:1]


def _outer_classes(left: bytes, column: int) -> Iterator[bytes]:
    """The classes before the end of *left* that are indented by less than *column*, the last first."""
    for found in reversed([*_CLASS.finditer(left)]):
        if len(found[1]) < column:
            yield found[2]
