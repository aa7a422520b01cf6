"""Whether what is open at a place may be what the right text closes."""

from __future__ import annotations

from fimlsp.languages.slua.both_sides.closings import Closing, Opener, Target
from fimlsp.languages.slua.incremental.expressions import Entries, EntryName
from fimlsp.languages.slua.incremental.machine import Restore, Sign, Stack
from fimlsp.languages.slua.incremental.statements import Block, Branch
from fimlsp.languages.slua.incremental.written_types import (
    AfterParameter,
    NamedParameterType,
    ParameterTypes,
)
from fimlsp.languages.slua.types import VOID, Function, Table, Type

Needed = frozenset[Target]
"""What is to be opened: what the right text closes, but for what is open already."""


def may_close(closing: Closing, stack: Stack | None) -> bool:
    """Whether *closing*, whose sign is that of the innermost open level, may close that one."""
    commas = 0
    while stack is not None:
        task, stack = stack.task, stack.below
        if isinstance(task, Entries | EntryName):
            return closing.keys <= task.table.fields.keys() - task.given
        if isinstance(task, ParameterTypes | AfterParameter | NamedParameterType):
            return closing.opener in ("type", "any")
        if isinstance(task, Branch):
            return closing.opener == "any"
        if isinstance(task, Sign) and task.text == ")":
            opener: Opener = "function" if stack and isinstance(stack.task, Block) else "other"
            return closing.opener in (opener, "any") and len(closing.parts) <= commas
        if isinstance(task, Sign) and task.text == "end":
            return closing.opener == "any" or not _is_statement(stack)
        commas += isinstance(task, Sign) and task.text == ","
    return True


def _is_statement(behind: Stack | None) -> bool:
    """Whether a statement ends where *behind* is still to be read."""
    while behind is not None and isinstance(behind.task, Restore):
        behind = behind.below
    return behind is not None and isinstance(behind.task, Sign) and behind.task.text == ";"


def to_open(needed: Needed, sign: str) -> list[Closing]:
    """Those closings that are to be opened next that are *sign*, and may close something but a function."""
    found = (target[-1] for target in needed)
    return [closing for closing in found if closing.sign == sign and closing.opener in ("other", "any")]


def blocks_to_open(needed: Needed, result: Type | None) -> set[str]:
    """What may begin a block that is to be opened next, in a function that gives *result*."""
    found = set[str]()
    for target in needed:
        header = target[-2].sign if len(target) > 1 else ""
        is_any = (target[-1].sign, target[-1].opener) == ("end", "any") and not _is_head(target)
        if not is_any or not all(_may_return(value, result) for value in target[-1].returned):
            continue
        if target[-1].is_branch or header == "then":
            found |= {"if"}
        elif header == "do":
            found |= {"for"} if target[-2].parts else {"for", "while"}
        else:
            found |= {"do", "if", "while", "for"}
    return found


def _may_return(value: tuple[str, ...], result: Type | None) -> bool:
    """Whether *value* may be returned from a function that gives *result*."""
    return result is not None and (result is VOID) is not bool(value)


def values_returned(needed: Needed) -> list[tuple[str, ...]]:
    """The values that a function without parameters would return if it is to be opened next."""
    bodies = [t for t in needed if (t[-1].sign, t[-1].opener) == ("end", "any") and not t[-1].is_branch]
    return sorted({value for target in bodies for closing in target for value in closing.returned})


def is_function_head(needed: Needed) -> bool:
    """Whether the right text goes on in the head of a function that is to be opened next."""
    return bool(needed) and all(map(_is_head, needed))


def _is_head(target: Target) -> bool:
    return len(target) > 1 and (target[-2].sign, target[-2].opener) == (")", "function")


def may_be_function(wanted: object, needed: Needed) -> bool:
    """Whether the right text may go on in a function, or in its head, where *wanted* is."""
    if not isinstance(wanted, Function):
        return False
    bodies = [target for target in needed if target[-1].sign == "end"]
    heads = [target[-2] for target in bodies if len(target) > 1 and target[-2].sign == ")"]
    if len(heads) < len(bodies):
        return True
    return any(
        head.opener != "function" or len(head.parts) < max(1, len(wanted.parameters)) for head in heads
    )


def may_be_statement(needed: Needed) -> bool:
    """Whether a bracket that is to be opened next may be that of a call which is a statement."""
    return any(not closing.is_joined for closing in to_open(needed, ")"))


def may_be_interface(needed: Needed) -> bool:
    """Whether the right text may go on in the declaration of a table."""
    return not needed or any(not closing.parts for closing in to_open(needed, "}"))


def may_be_table(wanted: object, needed: Needed) -> bool:
    """Whether the right text may go on in a table, where *wanted* is."""
    if not isinstance(wanted, Table):
        return False
    return any(closing.keys <= wanted.fields.keys() for closing in to_open(needed, "}"))
