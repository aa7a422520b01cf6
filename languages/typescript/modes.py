"""The lexer modes of TypeScript and JavaScript: the lexeme before a byte, and the open templates.

The lexeme before a byte decides two things: the meaning of `/`, which divides or starts a regular expression,
and that of a line end. So each lexeme that the grammar sees chooses the *shape* of the next one:

| shape | directly after | `/` | line end |
|---|---|---|---|
| `line` | a line end, `;`, `,`, the start of the file | see `lexical_spec.py` | white space |
| `operand` | a name, a literal, `)`, `]`, `++` | divides | a lexeme |
| `operator` | other signs, `}`, reserved words | starts a regular expression | a lexeme |
| `dot` | `.` and `?.`, where each word is a name | starts a regular expression | a lexeme |
| `restricted` | `return` and others whose statement ends with the line | starts one | a lexeme of its own |
| `angle` | `>`, where a second `>` or a `=` belongs to the sign before it | starts one | a lexeme |
| `text` | in a template | text | text |

A line may start in code, in the shape `line`, or in the text of a template. From each of the two it has the
same lexemes in every context. Right of a cursor the stack is unknown, so a `}` may end a block, or a field
of a template (`${`). The grammar decides.

In a template the stack has an entry for each open template, each `${`, and each brace within that.
"""

from __future__ import annotations

from functools import cache

from fimlsp.lexing.nesting import ModeStack

LINE_ENDS = {"line": "NL", "restricted": "RESTRICTED_END"}
"""The kind of a line end in a shape; elsewhere it is `LINE_END`."""
COMMENT_ENDS = {"line": "COMMENT_OVER_LINES", "restricted": "RESTRICTED_COMMENT"}
"""The kind of a comment over lines in a shape; elsewhere it is `COMMENT_END`."""
LINE_END, COMMENT_END = "LINE_END", "COMMENT_END"
CODE_SHAPES = ("line", "operand", "operator", "dot", "restricted", "angle")

RESTRICTED = frozenset({"return", "break", "continue", "yield", "throw"})
CONTEXTUAL = (
    *("abstract", "accessor", "as", "asserts", "async", "declare", "from", "get", "global", "implements"),
    *("infer", "interface", "is", "keyof", "module", "namespace", "of", "out", "override"),
    *("private", "protected", "public", "readonly", "require", "satisfies", "set", "static", "type"),
    *("unique", "using"),
)
"""The words that are names as well."""

_BREAKS = frozenset({LINE_END, COMMENT_END, *LINE_ENDS.values(), *COMMENT_ENDS.values()})
_OPERANDS = frozenset(
    {
        "NAME",
        "NUMBER",
        "LEGACY_NUMBER",
        "STRING",
        "LEGACY_STRING",
        "REGEX",
        "PRIVATE",
        "TEMPLATE_END",
        ")",
        "]",
        "++",
        "--",
    }
    | {"this", "super", "null", "true", "false", *CONTEXTUAL}
)
_SHAPES = (
    dict.fromkeys(_OPERANDS, "operand")
    | dict.fromkeys(RESTRICTED, "restricted")
    | dict.fromkeys(_BREAKS, "line")
    | {";": "line", ",": "line", "HASHBANG": "line", ".": "dot", "?.": "dot"}
    | {">": "angle", "ANGLE": "angle", "QUESTION_NUMBER": "operand"}
)
MOST_OPEN = 100
"""The most entries of a stack."""
SOME_TEMPLATE = "a template"
TEMPLATE = "`"
"""The entry of an open template in a stack."""

TEXT_ALONE = frozenset({"ODD_TEXT", "${", "TEMPLATE_END"})
"""The lexemes that the grammar sees in the text of a template, and in no other shape."""

_TEXT = frozenset({"TEXT", "NL", "ODD_TEXT"})
_TEMPLATES = {TEMPLATE, SOME_TEMPLATE}
_PLACES = {"line": 0, "text": 1}
"""The number of the line start for each shape that is one."""


class TemplateModes(ModeStack):
    """The `shape` before a byte, and the templates, fields and braces around it, outermost first.

    An unknown bottom is code or the text of a template, each with unknown surroundings.
    """

    __slots__ = ("_opened", "around")

    terminated = True

    def __init__(self, shape: str, around: tuple[str, ...], *, known: bool) -> None:
        super().__init__(shape, known=known)
        self.around = around
        in_template = (TEMPLATE,) * (not _TEMPLATES.isdisjoint(around))
        self._opened = (shape, *in_template) if shape != "line" or in_template else ()

    def __repr__(self) -> str:
        return f"{super().__repr__()} in {self.around}"

    def after(self, lexeme: str) -> TemplateModes | None:
        """As in `ModeStack`."""
        around = self.around
        if self.shape == "text":
            if lexeme == "${":
                return self._inside("operator", "${")
            if lexeme != "TEMPLATE_END":
                return self if lexeme in _TEXT else None
            return None if around[-1] == SOME_TEMPLATE else self._with("operand", around[:-1])
        if lexeme in TEXT_ALONE:
            return None
        if lexeme == "TEMPLATE_START":
            return self._inside("text", TEMPLATE)
        if lexeme == "{" and (around or not self.known):
            return self._inside("operator", "{")
        if lexeme == "}" and (around or not self.known):
            if not around:
                return None
            return self._with("text" if around[-1] == "${" else "operator", around[:-1])
        return self._with(self._shape_after(lexeme), around)

    def _shape_after(self, lexeme: str) -> str:
        if lexeme == "!" and self.shape == "operand":
            return "operand"
        return _SHAPES.get(lexeme, "operator")

    def _with(self, shape: str, around: tuple[str, ...]) -> TemplateModes:
        return template_modes(shape, around, known=self.known)

    def _inside(self, shape: str, entry: str) -> TemplateModes | None:
        return self._with(shape, (*self.around, entry)) if len(self.around) < MOST_OPEN else None

    def beyond(self, lexeme: str) -> tuple[tuple[tuple[str, ...], TemplateModes], ...]:
        """As in `ModeStack`."""
        code = self._with("operand" if lexeme == "TEMPLATE_END" else "operator", ())
        text = self._with("text", (SOME_TEMPLATE,))
        return (((), code),) if lexeme == "TEMPLATE_END" else (((), code), ((), text))

    @property
    def starts_line(self) -> int | None:
        """As in `ModeStack`."""
        return _PLACES.get(self.shape)

    def at_line_start(self, number: int) -> TemplateModes | None:
        """As in `ModeStack`."""
        own = "line" if self.shape in CODE_SHAPES else self.shape
        return self._with(own, self.around) if _PLACES.get(own) == number else None

    @property
    def mode(self) -> str:
        """As in `ModeStack`."""
        return self.shape

    @property
    def in_code(self) -> bool:
        """As in `ModeStack`."""
        return self.shape in CODE_SHAPES

    @property
    def line_end(self) -> str | None:
        """As in `ModeStack`."""
        return None if self.shape in ("line", "text") else LINE_ENDS.get(self.shape, LINE_END)

    def may_follow(self, lexeme: str) -> bool:
        """As in `ModeStack`."""
        if self.around or (lexeme == "!" and self.shape == "operand"):
            return True
        shape = _SHAPES.get(lexeme, "operator")
        return shape == self.shape or (shape, self.shape) == ("angle", "operator")  # a blank is between them

    @property
    def opened(self) -> tuple[str, ...]:
        """As in `ModeStack`: the shape, as the next lexemes depend on it, and an entry in any template."""
        return self._opened

    def closes_as(self, opened: tuple[str, ...]) -> bool:
        """As in `ModeStack`: the shape decides, as the grammar knows the templates around."""
        return (opened[0] if opened else "line") == self.shape


@cache
def template_modes(shape: str, around: tuple[str, ...] = (), *, known: bool = True) -> TemplateModes:
    """The modes of a *shape* inside *around*, one object for equal arguments."""
    return TemplateModes(shape, around, known=known)


LINE_STARTS = (
    template_modes("line", known=False),
    template_modes("text", (SOME_TEMPLATE,), known=False),
)
"""The modes that a line may start in, with unknown surroundings; the first is that of code."""


def modes_at_cursor(*, in_template: bool) -> tuple[TemplateModes, ...]:
    """The modes that a middle may end in apart from the start of a line of code.

    That in the text of a template only if *in_template*.
    """
    code = tuple(template_modes(shape, known=False) for shape in CODE_SHAPES if shape != "line")
    return (*code, LINE_STARTS[1]) if in_template else code
