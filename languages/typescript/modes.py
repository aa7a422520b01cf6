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

Every line starts in the shape `line`, so it has the same lexemes in every context. In a template the stack
has an entry for each open template, each `${`, and each brace within that.
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
    *("infer", "interface", "is", "keyof", "let", "module", "namespace", "of", "out", "override"),
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
SOME_FIELD, SOME_TEMPLATE = "a field", "a template"
TEMPLATE = "`"
"""The entry of an open template in a stack."""


class TemplateModes(ModeStack):
    """The `shape` before a byte, and the templates, fields and braces around it, outermost first.

    An unknown bottom is ordinary code, a template with unknown surroundings, or a field (`${`) in which an
    unknown number of braces is open.
    """

    __slots__ = ("around",)

    terminated = True

    def __init__(self, shape: str, around: tuple[str, ...], *, known: bool) -> None:
        super().__init__(shape, known=known)
        self.around = around
        self.depth = len(around)

    def __repr__(self) -> str:
        return f"{super().__repr__()} in {self.around}"

    def after(self, lexeme: str) -> TemplateModes | None:
        """As in `ModeStack`."""
        around = self.around
        if lexeme == "TEMPLATE_START":
            return self._inside("text", TEMPLATE)
        if self.shape == "text":
            if lexeme == "${":
                return self._inside("operator", "${")
            if lexeme != "TEMPLATE_END":
                return self
            return None if around[-1] == SOME_TEMPLATE else self._with("operand", around[:-1])
        if around and lexeme == "{":
            return self._inside("operator", "{")
        if around and lexeme == "}":
            if around[-1] == SOME_FIELD:
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
        return self._with(shape, (*self.around, entry)) if self.depth < MOST_OPEN else None

    def beyond(self, lexeme: str) -> tuple[tuple[tuple[str, ...], TemplateModes], ...]:
        """As in `ModeStack`."""
        if lexeme == "TEMPLATE_END":
            return ((), self._with("operand", ())), ((), self._with("operand", (SOME_FIELD,)))
        return (
            (("{",), self._with("operator", (SOME_FIELD,))),
            (("${", TEMPLATE), self._with("text", (SOME_TEMPLATE,))),
        )

    @property
    def mode(self) -> str:
        """As in `ModeStack`."""
        return self.shape

    @property
    def in_code(self) -> bool:
        """As in `ModeStack`."""
        return not self.around

    @property
    def line_end(self) -> str | None:
        """As in `ModeStack`."""
        return None if self.shape in ("line", "text") else LINE_ENDS.get(self.shape, LINE_END)

    def may_follow(self, lexeme: str) -> bool:
        """As in `ModeStack`."""
        if self.around or (lexeme == "!" and self.shape == "operand"):
            return True
        return _SHAPES.get(lexeme, "operator") == self.shape

    @property
    def opened(self) -> tuple[str, ...]:
        """As in `ModeStack`: the shape, as the next lexemes depend on it, and the entries around it."""
        if self.shape == "line" and not self.around:
            return ()
        entries = (
            TEMPLATE if entry == SOME_TEMPLATE else entry
            for entry in reversed(self.around)
            if entry != SOME_FIELD
        )
        return (self.shape, *entries)


@cache
def template_modes(shape: str, around: tuple[str, ...] = (), *, known: bool = True) -> TemplateModes:
    """The modes of a *shape* inside *around*, one object for equal arguments."""
    return TemplateModes(shape, around, known=known)


def modes_at_cursor(*, in_template: bool) -> tuple[TemplateModes, ...]:
    """The modes that a middle may end in apart from code, those in a template only if *in_template*."""
    bottoms: list[tuple[str, tuple[str, ...]]] = [(shape, ()) for shape in CODE_SHAPES if shape != "line"]
    if in_template:
        bottoms += [("text", (SOME_TEMPLATE,)), *((shape, (SOME_FIELD,)) for shape in CODE_SHAPES)]
    return tuple(template_modes(shape, around, known=False) for shape, around in bottoms)
