"""The mode stack of Python: brackets and the parts of f-strings that are open around a byte."""

from __future__ import annotations

from functools import cache, cached_property
from typing import NamedTuple

from fimlsp.languages.python.versions import PythonVersion
from fimlsp.lexing.nesting import CODE, ModeStack

QUOTES = ("'", '"', "'''", '"""')
F_STRING_STYLES = tuple(raw + quote for raw in ("", "r") for quote in QUOTES)
"""The styles of f-strings: the closing quotes, after an `r` if raw. Kinds and modes are named by them."""

BRACKETS = {"(": ")", "[": "]", "{": "}"}
"""The closing bracket of each opening one."""

OPENING = {closing: opening for opening, closing in BRACKETS.items()}
"""The opening bracket of each closing one."""

MAX_BRACKETS = 200
"""The most open brackets: MAXLEVEL of CPython's tokenizer."""
_MAX_STRINGS = 149  # MAXFSTRINGLEVEL of CPython's tokenizer, minus the mode of code
_NO_BYTES: frozenset[int] = frozenset()

UNDECODABLE = ":undecodable"
"""The suffix of kinds of raw strings, bytes and texts with an escape that is invalid in other strings.

In 3.12 and 3.13 the source of a field with `=` is decoded like the text of its f-string, with escapes.
"""

DEBUG_FIELD = "field="
"""The part of `ModeStack.opened` for a field that the text after the cursor ends with `=`."""

STRING_STARTS = ("FSTRING_START:", "TSTRING_START:")
"""The prefixes of the kinds of starts of f-strings and template strings; the style follows."""

_STRING_PARTS = ("FSTRING_END", "FIELD_OPEN", "FIELD_COLON", "FIELD_CLOSE", "SPEC_NL")
_TEXTS = ("text", "spec", "respec")
_SPECS = ("spec", "respec", "tail")


def changes_modes(lexeme: str) -> bool:
    """True if a lexeme of kind *lexeme* opens or closes a bracket or a part of an f-string."""
    return (
        lexeme in BRACKETS or lexeme in OPENING or lexeme in _STRING_PARTS or lexeme.startswith(STRING_STARTS)
    )


def marks_modes(lexeme: str) -> bool:
    """True if a lexeme of kind *lexeme* depends on the open f-strings, or marks them."""
    return lexeme == "FIELD_EQUAL" or lexeme.endswith(UNDECODABLE)


class FieldRules(NamedTuple):
    """The rules of a version of Python for the replacement fields of f-strings.

    Up to 3.11 fields are `sealed`: an f-string is first read as a string. So its fields cannot contain a
    backslash or its quotes at any depth, and the brackets in them are counted separately. Fields may be
    nested in format specifications up to a depth of `deepest`. If a specification `reopens`, it continues
    after a nested field as literal text of the string.
    """

    sealed: bool
    deepest: int
    reopens: bool


def field_rules(version: PythonVersion) -> FieldRules:
    """The field rules of a version of Python."""
    if version < (3, 12):
        return FieldRules(sealed=True, deepest=2, reopens=False)
    return FieldRules(sealed=False, deepest=3, reopens=version >= (3, 13))


class PythonModes(ModeStack):
    """A stack of open brackets and f-string parts.

    `shape` is `"code"` at the bottom. Else it is an opening bracket, or a part of an f-string: `text:Q`,
    `field:Q`, `spec:Q`, or one that `lexical_spec.py` explains. Q is its style: its quotes, after `r` if
    it is raw. `brackets` counts the open brackets as CPython does, `strings` the open f-strings, and `fields`
    the open fields of the innermost f-string. A stack in an f-string is `undecodable` after an undecodable
    escape. An unknown bottom `is_debug` if it is a field that ends with `=`.
    """

    __slots__ = (
        "__dict__",
        "_children",
        "brackets",
        "fields",
        "is_debug",
        "rules",
        "strings",
        "undecodable",
    )

    def __init__(
        self,
        rules: FieldRules,
        shape: str = CODE,
        parent: PythonModes | None = None,
        known: bool = True,
        counts: tuple[int, int, int] = (0, 0, 0),
        marks: tuple[bool, bool] = (False, False),
    ) -> None:
        super().__init__(shape, parent, known=known)
        self.parent: PythonModes | None = parent
        self.rules = rules
        self.brackets, self.strings, self.fields = counts
        self.undecodable, self.is_debug = marks
        self._children: dict[tuple[str, bool], PythonModes | None] = {}

    def __repr__(self) -> str:
        marks = f"{' undecodable' * self.undecodable}{' is_debug' * self.is_debug}"
        return f"{super().__repr__()}{marks}"

    def push(self, shape: str, *, undecodable: bool = False) -> PythonModes | None:
        """This stack with *shape* on top; None if CPython would reject the depth."""
        try:
            return self._children[shape, undecodable]
        except KeyError:
            counts = self._counts_inside(shape.partition(":")[0])
            child = None
            if counts[0] <= MAX_BRACKETS and counts[1] <= _MAX_STRINGS and counts[2] <= self.rules.deepest:
                child = PythonModes(self.rules, shape, self, counts=counts, marks=(undecodable, False))
            self._children[shape, undecodable] = child
            return child

    @cached_property
    def after_undecodable(self) -> PythonModes:
        """This stack after an undecodable escape, which marks all f-strings around it."""
        if self.in_code or self.undecodable or self.is_debug:
            return self
        if self.parent is None:
            return unknown_bottom(self.rules, self.shape, undecodable=True, is_debug=self.is_debug)
        marked = self.parent.after_undecodable.push(self.shape, undecodable=True)
        assert marked is not None
        return marked

    def _after_equal(self) -> PythonModes | None:
        """The stack after the `=` at the end of a field, the source of which is then decoded."""
        if self.parent is None:
            return unknown_bottom(self.rules, self.shape, undecodable=self.undecodable, is_debug=True)
        return None if self.undecodable and self.parent.decodes else self

    @property
    def decodes(self) -> bool:
        """True if this is text whose escapes are decoded."""
        return self.shape.startswith("text:") and not self.shape.startswith("text:r")

    def _counts_inside(self, part: str) -> tuple[int, int, int]:
        """The numbers of brackets, strings and fields that are open inside *part*."""
        sealed = self.rules.sealed
        if part == "text":
            return self.brackets, 0 if sealed else self.strings + 1, 0
        if part == "field":
            return 1 if sealed else self.brackets + 1, self.strings, self.fields + 1
        return self.brackets + (part not in _SPECS), self.strings, self.fields

    def after(self, lexeme: str) -> PythonModes | None:
        """The stack after a lexeme of kind *lexeme*; None if it closes nothing open or nests too deeply."""
        if lexeme in BRACKETS:
            return self.push(lexeme)
        if lexeme in OPENING:
            if self.shape == OPENING[lexeme]:
                return self.parent
            return self if self.parent is None and self.shape == "code" and not self.known else None
        if lexeme.startswith(STRING_STARTS):
            return self.push("text:" + lexeme.partition(":")[2])
        if lexeme.endswith(UNDECODABLE):
            return self.after_undecodable
        if lexeme == "FIELD_EQUAL":
            return self._after_equal()
        return self._after_string_part(lexeme)

    def _after_string_part(self, lexeme: str) -> PythonModes | None:
        part, _, style = self.shape.partition(":")
        if lexeme == "FIELD_OPEN":
            return self.push(f"{'plain' if part == 'tail' else 'field'}:{style}")
        if lexeme == "FIELD_COLON":
            return self.push(f"{'tail' if part == 'plain' else 'spec'}:{style}")
        if lexeme == "SPEC_NL":
            return self.parent and self.parent.push(f"tail:{style}")
        if lexeme == "FSTRING_END":
            return self.parent
        assert lexeme == "FIELD_CLOSE"
        field = self.parent if part in _SPECS else self
        return field and field.parent and field.parent._after_field()

    def _after_field(self) -> PythonModes | None:
        """The stack after a nested field in this text or format specification."""
        part, _, style = self.shape.partition(":")
        if part == "spec" and self.rules.reopens:
            shape = f"respec:{style}"
            return self.parent.push(shape) if self.parent else unknown_bottom(self.rules, shape)
        return self

    @cached_property
    def mode(self) -> str:
        """The mode in which the next lexeme is read, a key of `Dfa.starts`."""
        part = self.shape.partition(":")[0]
        if part in _TEXTS:
            return self.shape
        if part in ("field", "plain", "tail"):
            return part
        if self.parent is None:
            return "code" if self.shape == "code" else "nested"
        return "code" if self.parent.mode == "code" else "nested"

    @cached_property
    def in_code(self) -> bool:
        """True if no f-string is open, so that this is ordinary code."""
        return self.mode == "code"

    @cached_property
    def opened(self) -> tuple[str, ...]:
        """The open parts between here and ordinary code, innermost first.

        Stacks with equal values close alike.
        """
        if self.in_code:
            return ()
        part = self.shape.partition(":")[0]
        return (self.shape if part == "text" else part, *(self.parent._opened_outside if self.parent else ()))

    def closes_as(self, opened: tuple[str, ...]) -> bool:
        """As in `ModeStack`. A field that ends with `=` must not have an undecodable escape."""
        if self.opened == opened:
            return True
        if DEBUG_FIELD not in opened or self.opened != tuple(
            "field" if part == DEBUG_FIELD else part for part in opened
        ):
            return False
        here: PythonModes | None = self
        for part in opened:
            assert here is not None
            outer = here.parent
            if part == DEBUG_FIELD and here.undecodable and outer is not None and outer.decodes:
                return False
            here = outer
        return True

    @cached_property
    def _opened_outside(self) -> tuple[str, ...]:
        if self.in_code:
            return ()
        part = outer_part(self.shape)
        return (part, *(self.parent._opened_outside if self.parent else ()))

    @cached_property
    def forbidden(self) -> frozenset[int]:
        """Bytes that the enclosing f-strings forbid here."""
        return self._sealed[0]

    @cached_property
    def forbidden_thrice(self) -> frozenset[int]:
        """Quote bytes that may not occur three times in a row here: that would end an enclosing f-string."""
        return self._sealed[1]

    @cached_property
    def _sealed(self) -> tuple[frozenset[int], frozenset[int]]:
        if not self.rules.sealed or self.in_code:
            return _NO_BYTES, _NO_BYTES
        part, _, style = self.shape.partition(":")
        outer = self.parent
        if part in _SPECS and outer is not None:
            outer = outer.parent  # a specification is string text again, so its own field seals nothing here
        bytes_, triples = outer._sealed if outer else (_NO_BYTES, _NO_BYTES)
        if part != "field":
            return bytes_, triples
        own, own_triples = sealed_by(style)
        return bytes_ | own, triples | own_triples

    @cached_property
    def restricted(self) -> bool:
        """True if an enclosing f-string forbids any bytes here."""
        return bool(self.forbidden or self.forbidden_thrice)


def outer_part(shape: str) -> str:
    """The form of *shape* in `ModeStack.opened` if another part is open inside it."""
    part = shape.partition(":")[0]
    if part == "text":
        return shape
    return {"respec": "spec", "plain": "field"}.get(part, part)


def sealed_by(style: str) -> tuple[frozenset[int], frozenset[int]]:
    """The bytes that a sealed field must not contain, and those that it must not contain thrice in a row."""
    quote = style.removeprefix("r")
    if len(quote) == 1:
        return frozenset(f"\\{quote}\r\n".encode()), _NO_BYTES
    return frozenset(b"\\"), frozenset(quote[:1].encode())


@cache
def file_start(rules: FieldRules) -> PythonModes:
    """The stack at the start of a file, which is known to its bottom."""
    return PythonModes(rules)


@cache
def unknown_bottom(
    rules: FieldRules, shape: str = "code", *, undecodable: bool = False, is_debug: bool = False
) -> PythonModes:
    """A stack of *shape* alone, with unknown parts outside it."""
    return PythonModes(rules, shape, known=False, marks=(undecodable, is_debug))


SOME_BRACKET = "?"
"""The shape of an unknown bottom that is a bracket of any kind inside a replacement field."""
