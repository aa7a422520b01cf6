"""Refuses degenerate text: valid continuations that people do not write.

A constrained model can drift. A likely token is refused and an unlikely one is drawn. Soon the text
repeats itself, brackets are nested for nothing, or an expression runs over many lines. The paper reports
this as the main remaining failure, and proposes to allow no line end inside an expression.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from fimlsp.languages.slua.incremental.expressions import AfterBracket, Entries, EntryName, Operand
from fimlsp.languages.slua.incremental.goals import LEVELS
from fimlsp.languages.slua.incremental.machine import Machine
from fimlsp.languages.slua.incremental.statements import Block, Branch, LocalName, ScriptState
from fimlsp.languages.slua.incremental.type_expressions import FieldDeclarations
from fimlsp.languages.slua.lexemes import KEYWORDS, TOKEN, WHITESPACE, first_token, needs_space
from fimlsp.languages.slua.middles.middle import MiddleState
from fimlsp.languages.slua.types import STRING, Function, Table

if TYPE_CHECKING:  # imported lazily: only masks need NumPy
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary

MOST_LINE_ENDS = 2
"""In a row."""

DEEPER = 4
"""Number of spaces by which a line may be indented more than the line before it."""

SHORTEST_PIECE, LONGEST_PIECE = 8, 200
"""Bytes of a piece that counts as repeated."""

MOST_OPERATORS = 3
"""In one expression, not counting brackets and arguments."""

MOST_DIGITS, MOST_DECIMALS, LONGEST_NEW_NAME = 6, 3, 20

_LINE_ENDS = b"\r\n"
_WAITS_FOR_SPACE = re.compile(rb"(?:,|[ \t](?:[+*/%^<>=]|[<>=~]=|\.\.|and|or))\Z")
_DECLARED = re.compile(rb"\s*(?:local|interface) (\w+)")
_SPACES = bytes(sorted(WHITESPACE))
_KEPT = 2 * LONGEST_PIECE
_AGAIN = re.compile(rf"(\w{{3,{LONGEST_NEW_NAME // 2}}})\1")
_OPERATORS = frozenset(LEVELS)
_CLOSING = frozenset((";", ",", ")", ".", "(", ":"))
_BOUNDARIES = frozenset(("=", ",", ";", "{", "return", "if", "elseif", "while", "then", "do", "else", "end"))
_TIGHT_BEFORE = frozenset((",", ";", ")", ".", ":"))
_TIGHT_AFTER = frozenset(("(", "{", "."))
_BEFORE_OPERAND = KEYWORDS - {"end", "true", "false", "function"}


def spaced(text: bytes, before: bytes) -> bytes:
    """*text*, whole lexemes after *before*, with spaces between them as people write them."""
    lexemes = TOKEN.findall(before.decode("utf-8", "replace"))
    last, earlier = (["", "", *lexemes])[:-3:-1]
    is_joined = not before or before[-1:].isspace()
    written = ""
    for lexeme in TOKEN.findall(text.decode("utf-8")):
        needs = last and not is_joined and _has_space(earlier, last, lexeme)
        written += f" {lexeme}" if needs else lexeme
        earlier, last, is_joined = last, lexeme, False
    return written.encode("utf-8")


def _has_space(earlier: str, last: str, lexeme: str) -> bool:
    """True if a space belongs between *last*, which follows *earlier*, and *lexeme*."""
    if lexeme in _TIGHT_BEFORE or last in _TIGHT_AFTER or lexeme == "}" or (last, lexeme) == ("{", "}"):
        return needs_space(last, lexeme)
    if lexeme == "(":
        is_call = last == "function" or last == ")" or _is_name(last)
        return not is_call
    if last == "-" and (not earlier or earlier in _BEFORE_OPERAND or not _ends_operand(earlier)):
        return needs_space(last, lexeme)
    return True


def _is_name(lexeme: str) -> bool:
    return lexeme[0].isalpha() and lexeme not in KEYWORDS


def _ends_operand(lexeme: str) -> bool:
    return lexeme[0].isalnum() or lexeme[0] == '"' or lexeme in (")", "}")


def is_degenerate(machine: Machine, partial: str, before: str) -> bool:
    """True if the lexeme *partial*, which is read at *machine* after the text *before*, is degenerate."""
    if partial[0].isdigit():
        return _is_endless(partial)
    task = machine.task
    expected = machine.expected()
    words = {word for word in expected.words if word.startswith(partial)}
    if partial[0].isalpha() and not words and expected.taken_names is not None:
        return len(partial) > LONGEST_NEW_NAME or _AGAIN.search(partial) is not None
    if isinstance(task, Operand):
        if partial == "(":
            return _is_needless(machine, task)
        return words in ({"not"}, {"-"}) and _is_again([*words], before)
    return bool(words) and words <= _OPERATORS and _is_long(before)


def should_end(machine: Machine | None, before: str) -> bool:
    """True if *before*, after which the state is *machine*, ends with an expression that should end."""
    if machine is None:
        return False
    expected = machine.expected()
    words = expected.words - _CLOSING
    is_over = expected.taken_names is None and not expected.number and not expected.string
    return is_over and words <= _OPERATORS and (not words or _is_long(before))


def _is_again(sign: list[str], before: str) -> bool:
    """True if *before* ends with *sign*, or has it twice with only opening brackets after it."""
    lexemes = TOKEN.findall(before)
    return lexemes[-1:] == sign or [lexeme for lexeme in lexemes if lexeme != "("][-2:] == 2 * sign


def _is_endless(number: str) -> bool:
    whole, _, decimals = number.partition(".")
    is_padded = (len(whole) > 1 and whole[0] == "0") or decimals.endswith("00")
    return is_padded or len(whole) > MOST_DIGITS or len(decimals) > MOST_DECIMALS


def _is_needless(machine: Machine, operand: Operand) -> bool:
    """True for a bracket directly within another one, or around an operand without operators."""
    if operand.target is STRING or isinstance(operand.target, Function | Table):
        return True
    assert machine.stack is not None
    around = machine.stack.below
    below = None if around is None else around.below
    return below is not None and isinstance(below.task, AfterBracket)


def _is_long(before: str) -> bool:
    """True if the last expression has many operators, two numbers, or its last operand twice."""
    operands = _operands(before)
    numbers = [operand for operand in operands if operand[:1].isdigit()]
    return len(operands) > MOST_OPERATORS or len(numbers) > 1 or operands[-1] in operands[:-1]


def _operands(text: str) -> list[str]:
    """The operands of the expression at the end of *text*."""
    operands, depth = [""], 0
    for lexeme in reversed(TOKEN.findall(text)):
        depth += (lexeme in (")", "}")) - (lexeme in ("(", "{"))
        if depth < 0 or (not depth and lexeme in _BOUNDARIES):
            break
        if not depth and lexeme in _OPERATORS:
            operands.append("")
        else:
            operands[-1] = lexeme + operands[-1]
    return operands[::-1]


@dataclass(frozen=True)
class Tidy:
    """A state without line ends inside expressions, long runs of spaces, degenerate text, and repetition.

    A piece that came twice in a row may not come a third time. It is refused at the byte after which only
    the cheapest completion would finish it. The bytes of that completion are always accepted, so this is
    never a dead end.

    Attributes:
        state: the state of the script, or of a middle in it.
        written: its last bytes.
        pieces: pieces that came twice before the last bytes, and may not come again.
        since: the bytes after them.
        is_first: True if nothing is written yet.
    """

    state: ScriptState | MiddleState
    written: bytes = b""
    pieces: tuple[bytes, ...] = ()
    since: bytes = b""
    is_first: bool = False

    @staticmethod
    def after(state: ScriptState | MiddleState, text: bytes) -> Tidy:
        """*state*, which follows *text*."""
        return Tidy(state, text[-_KEPT:], is_first=True)

    def feed(self, data: bytes) -> Tidy | None:
        """The state after *data*; None if no script starts so, or no tidy one. O(len(data))."""
        state = self
        for number in range(len(data)):
            following = state._after_byte(data[number : number + 1])
            if following is None:
                return None
            state = following
        return state

    def _after_byte(self, byte: bytes) -> Tidy | None:
        script = _script(self.state).feed(byte)
        if script is None:
            return None
        is_space = not byte.strip(_SPACES)
        is_refused = not self._may_have_space(byte) if is_space else self._is_untidy(byte, script)
        if is_refused and not self.shortest_completion.startswith(byte):
            return None
        following = script if isinstance(self.state, ScriptState) else self.state.feed(byte)
        if following is None:
            return None
        since = self.since + byte
        pieces = tuple(piece for piece in self.pieces if piece.startswith(since) and piece != since)
        if pieces and not self.shortest_completion.startswith(byte):
            whole = since + following.shortest_completion
            if whole in pieces:
                return None
        state = Tidy(following, (self.written + byte)[-_KEPT:], pieces, since if pieces else b"")
        return state._with_pieces() if byte == b";" else state

    def _is_untidy(self, byte: bytes, script: ScriptState) -> bool:
        """True if people do not write *byte* here; *script* is the state after it."""
        partial = script.partial
        if partial == byte and _WAITS_FOR_SPACE.search(self.written):
            return True
        if not partial or partial.startswith(b'"'):
            return False
        before = self.written[: len(self.written) + 1 - len(partial)].decode("utf-8", "replace")
        return is_degenerate(script.machine, partial.decode("ascii"), before) or self._defers(script)

    def _defers(self, script: ScriptState) -> bool:
        """True if *script* does something else although it could declare a name that the rest lacks."""
        task = script.machine.task
        if isinstance(self.state, ScriptState) or not isinstance(task, Block | LocalName):
            return False
        completion = self.state.shortest_completion
        if isinstance(task, LocalName):
            completion = b"local " + (script.partial[:-1] + completion).lstrip()
        declared = _DECLARED.match(completion)
        lacking = self.state.right.text.used_names
        return declared is not None and declared[1].decode("ascii") in lacking

    def _may_have_space(self, byte: bytes) -> bool:
        """True if white space may come: one space between lexemes, some at the start of a line."""
        script = _script(self.state)
        if script.partial.startswith(b'"'):
            return True
        before = self.written.rstrip(_SPACES)
        spaces = self.written[len(before) :]
        if self.is_first and not (before and len(before) == len(self.written)):
            return False
        if byte in _LINE_ENDS:
            return spaces.count(b"\n") < MOST_LINE_ENDS and _may_end_line(script.machine_at_end)
        if before and b"\n" not in spaces:
            return not spaces and not should_end(script.machine_at_end, before.decode("utf-8", "replace"))
        line = before[before.rfind(b"\n") + 1 :]
        return len(spaces[spaces.rfind(b"\n") + 1 :]) < len(line) - len(line.lstrip(b" \t")) + DEEPER

    def _with_pieces(self) -> Tidy:
        """With the pieces that the text ends with twice."""
        written = self.written
        sizes = range(SHORTEST_PIECE, len(written) // 2 + 1)
        pieces = tuple(written[-size:] for size in sizes if written[-2 * size : -size] == written[-size:])
        return replace(self, pieces=pieces, since=b"") if pieces else self

    @property
    def complete(self) -> bool:
        """True if the script may end here."""
        return self.state.complete

    @cached_property
    def shortest_completion(self) -> bytes:
        """A text with spaces, near the shortest, that completes the script; empty if it is complete."""
        completion, partial = self.state.shortest_completion, _script(self.state).partial
        if not completion:
            return completion
        first = first_token((partial + completion).decode("utf-8")).encode()
        rest = len(first) - len(partial) if partial else 0
        return completion[:rest] + spaced(completion[rest:], self.written + completion[:rest])

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `fimlsp.quotient.states.protocol.State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `fimlsp.quotient.states.protocol.State`, computed by feeding every text."""
        from fimlsp.quotient.masks.vocabulary import allowed_by_feeding

        return allowed_by_feeding(vocabulary, self, Tidy.feed)


def _script(state: ScriptState | MiddleState) -> ScriptState:
    return state if isinstance(state, ScriptState) else state.script


def _may_end_line(machine: Machine | None) -> bool:
    """True if a line may end at *machine*: between statements, fields, and the entries of a table."""
    return machine is not None and (
        machine.stack is None
        or isinstance(machine.stack.task, Block | Branch | FieldDeclarations | Entries | EntryName)
    )
