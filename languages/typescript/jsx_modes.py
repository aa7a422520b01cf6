"""The lexer modes of TypeScript and JavaScript with JSX: those of code, and of elements.

An element adds five shapes to those of `modes.py`:

| shape | directly after | lexemes |
|---|---|---|
| `children` | `>` of an opening tag, a child | text, which means nothing, tags, and expressions in braces |
| `name` | the name in an opening tag | as `tag`, and in TypeScript the arguments of types |
| `tag` | an attribute, a line end | names of attributes, `=`, braces, the end of the tag |
| `value` | `=` in a tag | a string without escapes, braces, an element |
| `closing` | the name in a closing tag | `>` |

In an element each tag has an entry in the stack. So have the children between two tags, each brace, and
arguments of types in a tag. Outside of elements and templates it is empty: there the grammar alone counts
braces.

A line may start in code, in a template, among children, in an opening or in a closing tag. Right of a cursor
the stack is unknown, so the `}` of an expression and the end of an element lead to several modes. The grammar
decides among them, as hardly a lexeme occurs in two of them.
"""

from __future__ import annotations

import re
from functools import cache

from fimlsp.languages.typescript.modes import (
    CODE_SHAPES,
    MOST_OPEN,
    SOME_TEMPLATE,
    TEMPLATE,
    TEXT_ALONE,
    TemplateModes,
)

STARTING_SHAPES = frozenset({"line", "operator", "restricted", "angle"})
"""The shapes of code in which an element may start."""
ELEMENT_SHAPES = ("children", "name", "tag", "value", "closing")
ELEMENT_KINDS = (
    *("TAG_START", "CHILD_START", "VALUE_START", "FRAGMENT", "CHILD_FRAGMENT", "VALUE_FRAGMENT"),
    *("TAG_COLON", "TAG_NAME", "TAG_EQUAL", "ATTRIBUTE", "TAG_LINE_END", "TAG_BRACE", "CHILD_BRACE"),
    *("TAG_END", "TAG_CLOSED", "CLOSE_START", "CLOSE_END", "FRAGMENT_END"),
)
"""The kinds of lexemes of elements. They differ by shape, so the grammar knows in which one each was read."""

_OPEN, _CHILDREN, _CLOSE, _TYPES = "<a", "<a>", "</a", "<"
_SOME_OPEN, _SOME_CHILDREN, _SOME_CLOSE, _SOME_TYPES = "a tag", "children", "a closing tag", "types"
_TAGS, _CHILDREN_OF, _TYPES_OF = {_OPEN, _SOME_OPEN}, {_CHILDREN, _SOME_CHILDREN}, {_TYPES, _SOME_TYPES}
_BOTTOMS = {_SOME_OPEN, _SOME_CHILDREN, _SOME_CLOSE}

_IN_TAG = {
    "name": {"TAG_NAME": "tag", "TAG_LINE_END": "tag"},
    "tag": {"TAG_COLON": "tag", "TAG_NAME": "tag", "TAG_EQUAL": "value"},
    "value": {"ATTRIBUTE": "tag"},
    "closing": {},
    "children": {},
}
"""For each shape the next one after a lexeme that leaves the stack as it is."""
_STARTS_IN = {
    "children": {
        "CHILD_START": ("name", _OPEN),
        "CHILD_FRAGMENT": ("children", _CHILDREN),
        "CHILD_BRACE": ("operator", "{"),
    },
    "name": {"TAG_BRACE": ("operator", "{")},
    "tag": {"TAG_BRACE": ("operator", "{")},
    "value": {
        "VALUE_START": ("name", _OPEN),
        "VALUE_FRAGMENT": ("children", _CHILDREN),
        "TAG_BRACE": ("operator", "{"),
    },
    "closing": {},
}
_STARTS_IN_CODE = {"TAG_START": ("name", _OPEN), "FRAGMENT": ("children", _CHILDREN)}
"""The shape after a lexeme that opens something, with its entry, for each shape of elements and for code."""
_ENDS_IN = {
    "children": ("CLOSE_START", "FRAGMENT_END"),
    "name": ("TAG_END", "TAG_CLOSED"),
    "tag": ("TAG_END", "TAG_CLOSED"),
    "value": (),
    "closing": ("CLOSE_END",),
}
_ENDS = frozenset({"TAG_CLOSED", "CLOSE_END", "FRAGMENT_END"})
_OPENING_TYPES = frozenset({"<", "GENERIC_LIST", "GENERIC_EXTENDS", "GENERIC_EQUAL"})
_NOT_IN_TYPES = frozenset(
    {"break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else"}
    | {
        "enum",
        "export",
        "finally",
        "for",
        "function",
        "if",
        "instanceof",
        "return",
        "super",
        "switch",
        "throw",
    }
    | {
        "try",
        "var",
        "while",
        "with",
        "yield",
        "TAG_START",
        "FRAGMENT",
        "LEGACY_STRING",
        "LEGACY_NUMBER",
        "REGEX",
    }
)
"""Lexemes that never stand in the arguments of types. They soon show that a text is no such list."""

_SHAPES_AFTER = {
    **dict.fromkeys(("TAG_START", "CHILD_START", "VALUE_START"), ("name", "tag")),
    **dict.fromkeys(("TAG_NAME", "TAG_COLON"), ("tag",)),
    "CLOSE_START": ("closing",),
    "TAG_EQUAL": ("value",),
    "ATTRIBUTE": ("tag",),
    **dict.fromkeys(("TAG_END", "FRAGMENT", "CHILD_FRAGMENT", "VALUE_FRAGMENT"), ("children",)),
    **dict.fromkeys(("TAG_CLOSED", "CLOSE_END", "FRAGMENT_END"), ("operand", "children", "tag")),
    **dict.fromkeys(("TAG_BRACE", "CHILD_BRACE"), ("operator",)),
    "}": ("operator", "children", "tag", "text"),
    **dict.fromkeys((">", "ANGLE"), ("angle", "operator", "tag")),
}
"""The shapes that may come directly after a lexeme, or after a blank or a line end that follows it."""
_MOST_IN_TYPES = 2_000
"""The most bytes from a cursor in arguments of types to their end."""
_UP_TO_ANGLE = re.compile(rb"(?:[^=>]|=>|=)*?>")
_STATEMENT = re.compile(
    rb"\b(?:break|case|catch|const|continue|else|export|finally|for|if|return|switch|throw|try|var|while)\b[^:?]"
)
_PLACES = {"line": 0, "text": 1, "children": 2, "tag": 3, "closing": 4}


class JsxModes(TemplateModes):
    """The `shape` before a byte, and the templates, elements and braces around it, outermost first.

    An unknown bottom is code, text, children or a tag, each with unknown surroundings.
    """

    __slots__ = ("_starts_line",)

    def __init__(self, shape: str, around: tuple[str, ...], *, known: bool) -> None:
        super().__init__(shape, around, known=known)
        is_joined = not _TYPES_OF.isdisjoint(around)  # lines start inside everything else
        self.depth = len(around) if is_joined else 0
        self._starts_line = None if is_joined else _PLACES.get(shape)
        if is_joined:
            self._opened = (*(self._opened or ("line",)), _TYPES)

    def after(self, lexeme: str) -> JsxModes | None:
        """As in `ModeStack`."""
        if self.shape in _IN_TAG:
            return self._after_part_of_element(lexeme)
        if self.shape == "text":
            following = super().after(lexeme)
            assert following is None or isinstance(following, JsxModes)
            return following
        if lexeme in _STARTS_IN_CODE:
            return None if self._in_types else self._inside(*_STARTS_IN_CODE[lexeme])
        if lexeme in ELEMENT_KINDS or lexeme in TEXT_ALONE:
            return None
        if lexeme == "TEMPLATE_START":
            return self._inside("text", TEMPLATE)
        if self._in_types:
            return self._after_part_of_types(lexeme)
        if lexeme == "{" and (self.around or not self.known):
            return self._inside("operator", "{")
        if lexeme == "}" and (self.around or not self.known):
            return self._after_brace()
        return self._with(self._shape_after(lexeme), self.around)

    @property
    def _in_types(self) -> bool:
        return bool(self.around) and self.around[-1] in _TYPES_OF

    def _after_part_of_element(self, lexeme: str) -> JsxModes | None:
        shape, around = self.shape, self.around
        if lexeme in _IN_TAG[shape]:
            return self._with(_IN_TAG[shape][lexeme], around)
        if lexeme in _STARTS_IN[shape]:
            return self._inside(*_STARTS_IN[shape][lexeme])
        if shape == "name" and lexeme == "<":
            return self._inside("operator", _TYPES)
        if lexeme not in _ENDS_IN[shape]:
            return None
        if lexeme in _ENDS:
            return None if around[-1] in _BOTTOMS else self._outside(around[:-1])
        is_bottom = around[-1] in _BOTTOMS
        if lexeme == "TAG_END":
            return self._with("children", (*around[:-1], _SOME_CHILDREN if is_bottom else _CHILDREN))
        return self._with("closing", (*around[:-1], _SOME_CLOSE if is_bottom else _CLOSE))

    def _after_part_of_types(self, lexeme: str) -> JsxModes | None:
        around = self.around
        if lexeme in _NOT_IN_TYPES:
            return None
        if lexeme == "{" or lexeme in _OPENING_TYPES:
            return self._inside("operator", "{" if lexeme == "{" else _TYPES)
        if lexeme == "<<":
            return self._with("operator", (*around, _TYPES))._inside("operator", _TYPES)
        if lexeme in (">", "ANGLE"):
            if around[-1] == _SOME_TYPES:
                return None
            return self._with("angle" if around[-2] in _TYPES_OF else "tag", around[:-1])
        if lexeme == "}" and around[-1] == _TYPES:
            return None
        return self._with(self._shape_after(lexeme), around)

    def _after_brace(self) -> JsxModes | None:
        around = self.around
        if not around:
            return None
        if around[-1] == "${":
            return self._with("text", around[:-1])
        return self._outside(around[:-1], "operator")

    def _outside(self, around: tuple[str, ...], code: str = "operand") -> JsxModes:
        """The modes after an element or a brace within *around*, of the shape *code* if that is code."""
        top = around[-1] if around else ""
        return self._with("children" if top in _CHILDREN_OF else "tag" if top in _TAGS else code, around)

    def _with(self, shape: str, around: tuple[str, ...]) -> JsxModes:
        return jsx_modes(shape, around, known=self.known)

    def _inside(self, shape: str, entry: str) -> JsxModes | None:
        return self._with(shape, (*self.around, entry)) if len(self.around) < MOST_OPEN else None

    def beyond(self, lexeme: str) -> tuple[tuple[tuple[str, ...], JsxModes], ...]:
        """As in `ModeStack`. The grammar knows the templates around, so none is mentioned."""
        children, tag = self._with("children", (_SOME_CHILDREN,)), self._with("tag", (_SOME_OPEN,))
        operand = self._with("operand", ())
        if lexeme == "TEMPLATE_END":
            return (((), operand),)
        if lexeme in (">", "ANGLE") and self.around[-1:] == (_SOME_TYPES,):
            return ((), self._with("angle", self.around)), ((), tag)
        if lexeme in _ENDS:
            return ((), operand), ((), children), ((), tag)
        if lexeme != "}" or self._in_types:
            return ()
        code, text = self._with("operator", ()), self._with("text", (SOME_TEMPLATE,))
        return ((), code), ((), text), ((), children), ((), tag)

    @property
    def starts_line(self) -> int | None:
        """As in `ModeStack`."""
        return self._starts_line

    def at_line_start(self, number: int) -> JsxModes | None:
        """As in `ModeStack`."""
        shape = self.shape
        own = "line" if shape in CODE_SHAPES else "tag" if shape in ("name", "value") else shape
        return self._with(own, self.around) if _PLACES.get(own) == number else None

    @property
    def in_code(self) -> bool:
        """As in `ModeStack`."""
        return self.shape in CODE_SHAPES and not self.depth

    @property
    def line_end(self) -> str | None:
        """As in `ModeStack`."""
        return None if self.shape in _IN_TAG else super().line_end

    def may_follow(self, lexeme: str) -> bool:
        """As in `ModeStack`."""
        if self.around and self.shape not in _IN_TAG:
            return True
        shapes = _SHAPES_AFTER.get(lexeme)
        return super().may_follow(lexeme) if shapes is None else self.shape in shapes

    @property
    def opened(self) -> tuple[str, ...]:
        """As in `ModeStack`: the shape, an entry in any template, and one in arguments of types."""
        return self._opened

    def closes_as(self, opened: tuple[str, ...]) -> bool:
        """As in `ModeStack`."""
        in_types = self._opened[-1:] == (_TYPES,)
        return super().closes_as(opened) and (opened[-1:] == (_TYPES,)) == in_types


@cache
def jsx_modes(shape: str, around: tuple[str, ...] = (), *, known: bool = True) -> JsxModes:
    """The modes of a *shape* inside *around*, one object for equal arguments."""
    return JsxModes(shape, around, known=known)


JSX_LINE_STARTS = (
    jsx_modes("line", known=False),
    jsx_modes("text", (SOME_TEMPLATE,), known=False),
    jsx_modes("children", (_SOME_CHILDREN,), known=False),
    jsx_modes("tag", (_SOME_OPEN,), known=False),
    jsx_modes("closing", (_SOME_CLOSE,), known=False),
)
"""The modes that a line may start in, with unknown surroundings; the first is that of code."""


def jsx_modes_at_cursor(*, in_template: bool, types: bool) -> tuple[JsxModes, ...]:
    """The modes that a middle may end in apart from the start of a line of code.

    Those in a template only if *in_template*, and those in arguments of types only with *types*.
    """
    stacks: list[tuple[str, tuple[str, ...]]] = [(shape, ()) for shape in CODE_SHAPES if shape != "line"]
    stacks += [(shape, (bottom,)) for shape, bottom in _ELEMENTS]
    stacks += [(shape, (_SOME_OPEN, _SOME_TYPES)) for shape in CODE_SHAPES if types]
    if in_template:
        stacks.append(("text", (SOME_TEMPLATE,)))
    return tuple(jsx_modes(shape, around, known=False) for shape, around in stacks)


def may_close_types(data: bytes, cursor: int) -> bool:
    """True if the text from *cursor* on may close arguments of types. Statements never stand in these."""
    closing = _UP_TO_ANGLE.match(data, cursor, cursor + _MOST_IN_TYPES)
    return closing is not None and _STATEMENT.search(data, cursor, closing.end()) is None


_ELEMENTS = (
    ("children", _SOME_CHILDREN),
    *((shape, _SOME_OPEN) for shape in ("name", "tag", "value")),
    ("closing", _SOME_CLOSE),
)
