"""What a constrained model writes when it has lost its way: right, but nobody writes it.

A likely token was refused, an unlikely one came, and from then on brackets are opened within brackets, the
same operand is joined to itself again and again, or a number or a name does not end.
"""

from __future__ import annotations

import re

from fimlsp.languages.slua.incremental.expressions import AfterBracket, Operand
from fimlsp.languages.slua.incremental.machine import Machine
from fimlsp.languages.slua.incremental.tokens import TOKEN
from fimlsp.languages.slua.incremental.wanted import LEVELS
from fimlsp.languages.slua.types import STRING, Function, Table

MOST_OPERATORS = 3
"""In one expression, brackets and arguments apart."""

MOST_DIGITS, MOST_DECIMALS, LONGEST_NEW_NAME = 6, 3, 20

_AGAIN = re.compile(r"(\w{3,})\1")
_OPERATORS = frozenset(LEVELS)
_CLOSING = frozenset((";", ",", ")", ".", "(", ":"))
_BOUNDARIES = frozenset(("=", ",", ";", "{", "return", "if", "elseif", "while", "then", "do", "else", "end"))


def is_drift(machine: Machine, begun: str, before: str) -> bool:
    """Whether the lexeme that begins as *begun* at *machine* is such a one, behind the text *before*."""
    if begun[0].isdigit():
        return _is_endless(begun)
    task = machine.stack.task if machine.stack is not None else None
    expected = machine.expected()
    words = {word for word in expected.words if word.startswith(begun)}
    if begun[0].isalpha() and not words and expected.but is not None:
        return len(begun) > LONGEST_NEW_NAME or _AGAIN.search(begun) is not None
    if isinstance(task, Operand):
        if begun == "(":
            return _is_needless(machine, task)
        return words in ({"not"}, {"-"}) and _is_again([*words], before)
    return bool(words) and words <= _OPERATORS and _is_long(before)


def is_at_end(machine: Machine | None, before: str) -> bool:
    """Whether *before*, with which the script comes to *machine*, is an expression that should end now."""
    if machine is None:
        return False
    expected = machine.expected()
    words = expected.words - _CLOSING
    is_over = expected.but is None and not expected.number and not expected.string
    return is_over and words <= _OPERATORS and (not words or _is_long(before))


def _is_again(sign: list[str], before: str) -> bool:
    """Whether *before* ends with *sign*, or has it twice with nothing but opening brackets behind."""
    lexemes = TOKEN.findall(before)
    return lexemes[-1:] == sign or [each for each in lexemes if each != "("][-2:] == 2 * sign


def _is_endless(number: str) -> bool:
    whole, _, decimals = number.partition(".")
    is_padded = (len(whole) > 1 and whole[0] == "0") or decimals.endswith("00")
    return is_padded or len(whole) > MOST_DIGITS or len(decimals) > MOST_DECIMALS


def _is_needless(machine: Machine, operand: Operand) -> bool:
    """Whether a bracket changes nothing: one directly in another, or around what has no operators."""
    if operand.wanted is STRING or isinstance(operand.wanted, Function | Table):
        return True
    assert machine.stack is not None
    around = machine.stack.below
    behind = None if around is None else around.below
    return behind is not None and isinstance(behind.task, AfterBracket)


def _is_long(before: str) -> bool:
    """Whether the expression at the end has many operators, two numbers, or its last operand twice."""
    operands = _operands(before)
    numbers = [operand for operand in operands if operand[:1].isdigit()]
    return len(operands) > MOST_OPERATORS or len(numbers) > 1 or operands[-1] in operands[:-1]


def _operands(text: str) -> list[str]:
    """The operands of the expression that *text* ends with."""
    found, depth = [""], 0
    for lexeme in reversed(TOKEN.findall(text)):
        depth += (lexeme in (")", "}")) - (lexeme in ("(", "{"))
        if depth < 0 or (not depth and lexeme in _BOUNDARIES):
            break
        if not depth and lexeme in _OPERATORS:
            found.append("")
        else:
            found[-1] = lexeme + found[-1]
    return found[::-1]
