"""The unmatched closers of a text, and the constructs that they may close."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fimlsp.languages.slua.incremental.expressions import Entries, EntryName
from fimlsp.languages.slua.incremental.goals import LEVELS
from fimlsp.languages.slua.incremental.machine import LeaveScope, Outline, Sign, Stack
from fimlsp.languages.slua.incremental.statements import Block, Branch
from fimlsp.languages.slua.incremental.type_expressions import (
    AfterParameter,
    NamedParameterType,
    ParameterTypes,
)
from fimlsp.languages.slua.lexemes import is_name
from fimlsp.languages.slua.types import VOID, Function, Table, Type

_OPENED = {"(": (")",), "{": ("}",), "function": ("end",), "if": ("then", "end")}
_OPENED |= {"while": ("do", "end"), "for": ("do", "end"), "elseif": ("then",)}
_CLOSING = frozenset((")", "}", "then", "do", "end"))
_STATEMENT_KEYWORDS = frozenset(("break", "end", "for", "if", "interface", "local", "return", "while"))
_BEFORE_STATEMENT = frozenset(("", ";", ")", "do", "then", "else"))
_MOST_SCANS = 8
LONGEST_PART = 12

OpenerKind = Literal["function", "type", "other", "any"]
"""A function or its head, the parameters in a type, neither of these, or any construct."""


@dataclass(frozen=True, slots=True)
class Closer:
    """A closing sign or keyword, and the text since the closer before it.

    Attributes:
        sign: its text.
        opener_kind: the construct that it may close.
        parts: the first lexemes after each comma of that text.
        keys: the table fields that the text defines.
        returned: the values that it returns, each as its lexemes.
        is_joined: True if an operator follows, so that a value is closed.
        is_branch: True if another branch starts there, so that `if` is closed.
    """

    sign: str
    opener_kind: OpenerKind = "any"
    parts: tuple[tuple[str, ...], ...] = ()
    keys: frozenset[str] = frozenset()
    returned: frozenset[tuple[str, ...]] = frozenset()
    is_joined: bool = False
    is_branch: bool = False


Closers = tuple[Closer, ...]
"""All unmatched closers of a text, in its order."""


def outline_of(closers: Closers) -> Outline:
    """The signs and keywords of *closers*."""
    return tuple(closer.sign for closer in closers)


def unmatched_closers(texts: Sequence[str]) -> list[Closers]:
    """The unmatched closers of the lexemes *texts*.

    There are several results if a `do` is ambiguous: it may open a block or the body of a loop.
    """
    scans = [_BracketScan()]
    for number in range(len(texts)):
        scans = [following for scan in scans for following in scan.after(texts, number)][:_MOST_SCANS]
    return [scan.closed for scan in scans if not scan.expected]


@dataclass(frozen=True, slots=True)
class _BracketScan:
    """One reading of a text up to a lexeme.

    Attributes:
        closed: the unmatched closers so far.
        expected: the closers of everything opened, the innermost first.
        since: the text after the last unmatched closer, as part of the next one.
    """

    closed: Closers = ()
    expected: tuple[str, ...] = ()
    since: Closer = Closer("")

    def after(self, texts: Sequence[str], number: int) -> Iterator[_BracketScan]:
        """The readings after the lexeme *number* of *texts*."""
        text, before, after = texts[number], *_around(texts, number)
        if text in _OPENED:
            is_branch = text == "elseif" and not self.expected
            scan = replace(self, since=replace(self.since, is_branch=True)) if is_branch else self
            yield replace(scan, expected=(*_OPENED[text], *self.expected))
        elif text == "do" and self.expected[:1] != ("do",):
            if not self.expected and before not in _BEFORE_STATEMENT - {")", ""}:
                yield self._with_closer("do", "any", after)
            if before in _BEFORE_STATEMENT:
                yield replace(self, expected=("end", *self.expected))
        elif text not in _CLOSING:
            yield self if self.expected else replace(self, since=self._since(texts, number))
        elif not self.expected:
            yield self._with_closer(text, opener_kind(text, after), after)
        elif self.expected[0] == text:
            yield replace(self, expected=self.expected[1:])

    def _with_closer(self, sign: str, opened_by: OpenerKind, after: str) -> _BracketScan:
        """After *sign*, which closes something that the text does not open."""
        closer = replace(self.since, sign=sign, opener_kind=opened_by, is_joined=after in LEVELS)
        return _BracketScan((*self.closed, closer))

    def _since(self, texts: Sequence[str], number: int) -> Closer:
        """The text after the last closer, with the lexeme *number* of *texts*; nothing is open there."""
        since, text, (before, after) = self.since, texts[number], _around(texts, number)
        if text == ",":
            return replace(since, parts=(*since.parts, _part(texts, number + 1)))
        if text == "else":
            return replace(since, is_branch=True)
        if text == "return":
            end = next((at for at in range(number, len(texts)) if texts[at] == ";"), len(texts))
            return replace(since, returned=since.returned | {tuple(texts[number + 1 : end])})
        is_key = before == "," and after == "=" and is_name(text)
        return replace(since, keys=since.keys | {text}) if is_key else since


def _part(texts: Sequence[str], start: int) -> tuple[str, ...]:
    """The first lexemes of *texts* from *start* on, up to the end of the part that starts there."""
    depth, end = 0, start
    while end < min(len(texts), start + LONGEST_PART):
        text = texts[end]
        depth += (text in _OPENED) - (text in _CLOSING)
        if depth < 0 or (not depth and text == ","):
            break
        end += 1
    return tuple(texts[start:end])


def _around(texts: Sequence[str], number: int) -> tuple[str, str]:
    """The lexemes before and after one of *texts*, empty at the ends."""
    return texts[number - 1] if number else "", texts[number + 1] if number + 1 < len(texts) else ""


def opener_kind(closer: str, after: str) -> OpenerKind:
    """The construct that *closer* may close if the lexeme *after* follows."""
    if closer == "end":
        return "function" if after in (")", "}", ",") else "any"
    if closer != ")" or after == "do":
        return "any"
    if after == "->":
        return "type"
    return "function" if is_name(after) or after in _STATEMENT_KEYWORDS else "other"


OpenersNeeded = frozenset[Closers]
"""The unmatched closers of the right text without those whose openers are open already."""


def may_close(closer: Closer, stack: Stack | None) -> bool:
    """True if *closer*, whose sign is that of the innermost open level, may close that level."""
    commas = 0
    while stack is not None:
        task, stack = stack.task, stack.below
        if isinstance(task, Entries | EntryName):
            return closer.keys <= task.table.fields.keys() - task.given
        if isinstance(task, ParameterTypes | AfterParameter | NamedParameterType):
            return closer.opener_kind in ("type", "any")
        if isinstance(task, Branch):
            return closer.opener_kind == "any"
        if isinstance(task, Sign) and task.text == ")":
            kind: OpenerKind = "function" if stack and isinstance(stack.task, Block) else "other"
            return closer.opener_kind in (kind, "any") and len(closer.parts) <= commas
        if isinstance(task, Sign) and task.text == "end":
            return closer.opener_kind == "any" or not _is_statement(stack)
        commas += isinstance(task, Sign) and task.text == ","
    return True


def _is_statement(below: Stack | None) -> bool:
    """True if a statement ends before *below*."""
    while below is not None and isinstance(below.task, LeaveScope):
        below = below.below
    return below is not None and isinstance(below.task, Sign) and below.task.text == ";"


def closers_to_open(needed: OpenersNeeded, sign: str) -> list[Closer]:
    """The closers to open next that are *sign* and may close something other than a function."""
    last = (closers[-1] for closers in needed)
    return [closer for closer in last if closer.sign == sign and closer.opener_kind in ("other", "any")]


def block_keywords(needed: OpenersNeeded, result: Type | None) -> set[str]:
    """The keywords of a block to open next, in a function that returns *result*."""
    keywords = set[str]()
    for closers in needed:
        header = closers[-2].sign if len(closers) > 1 else ""
        is_any = (closers[-1].sign, closers[-1].opener_kind) == ("end", "any") and not _is_head(closers)
        if not is_any or not all(_may_return(value, result) for value in closers[-1].returned):
            continue
        if closers[-1].is_branch or header == "then":
            keywords |= {"if"}
        elif header == "do":
            keywords |= {"for"} if closers[-2].parts else {"for", "while"}
        else:
            keywords |= {"do", "if", "while", "for"}
    return keywords


def _may_return(value: tuple[str, ...], result: Type | None) -> bool:
    """True if *value* may be returned from a function that returns *result*."""
    return result is not None and (result is VOID) is not bool(value)


def values_returned(needed: OpenersNeeded) -> list[tuple[str, ...]]:
    """The values returned by a function without parameters that is to be opened next."""
    bodies = [t for t in needed if (t[-1].sign, t[-1].opener_kind) == ("end", "any") and not t[-1].is_branch]
    return sorted({value for closers in bodies for closer in closers for value in closer.returned})


def is_function_head(needed: OpenersNeeded) -> bool:
    """True if the right text continues in the head of a function that is to be opened next."""
    return bool(needed) and all(map(_is_head, needed))


def _is_head(closers: Closers) -> bool:
    return len(closers) > 1 and (closers[-2].sign, closers[-2].opener_kind) == (")", "function")


def may_be_function(target: object, needed: OpenersNeeded) -> bool:
    """True if the right text may continue in a function, or in its head, where *target* is expected."""
    if not isinstance(target, Function):
        return False
    bodies = [closers for closers in needed if closers[-1].sign == "end"]
    heads = [closers[-2] for closers in bodies if len(closers) > 1 and closers[-2].sign == ")"]
    if len(heads) < len(bodies):
        return True
    return any(
        head.opener_kind != "function" or len(head.parts) < max(1, len(target.parameters)) for head in heads
    )


def may_be_statement(needed: OpenersNeeded) -> bool:
    """True if a bracket to open next may belong to a call that is a statement."""
    return any(not closer.is_joined for closer in closers_to_open(needed, ")"))


def may_be_interface(needed: OpenersNeeded) -> bool:
    """True if the right text may continue in the declaration of a table."""
    return not needed or any(not closer.parts for closer in closers_to_open(needed, "}"))


def may_be_table(target: object, needed: OpenersNeeded) -> bool:
    """True if the right text may continue in a table constructor, where *target* is expected."""
    if not isinstance(target, Table):
        return False
    return any(closer.keys <= target.fields.keys() for closer in closers_to_open(needed, "}"))
