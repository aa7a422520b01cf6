"""The value that describes a version of Python to the engine.

The value itself is cheap: its grammar and tables are imported only when an engine needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fimlsp.languages.python.finer_grammar import any_exposed, any_within, are_evaluated
from fimlsp.languages.python.mode_stack import BRACKETS, STRING_STARTS, field_rules
from fimlsp.languages.python.versions import (
    DEFAULT_VERSION,
    SCOPED_ANNOTATIONS,
    Check,
    PythonVersion,
    known_version,
    version_text,
)
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.language.contract import Language, OpenModes, TextAfterCursor, WholeTextCheck
from fimlsp.quotient.language.editor_policy import EditorPolicy

_IN_KINDS = (*STRING_STARTS, "STRING:", "BYTES:", "FSTRING_TEXT:")
_ENCLOSURES = {
    **BRACKETS,
    "FIELD_OPEN": "FIELD_CLOSE",
    "FSTRING_START": "FSTRING_END",
    "TSTRING_START": "FSTRING_END",
}


@dataclass(frozen=True)
class Python(Language):
    """A version of Python. Valid files are those that its `ast.parse` accepts, or its `compile`.

    If it is *fine*, its grammar restricts `yield` and `await` within expressions, for files with annotations
    *evaluated*, not evaluated, or (None) either.

    With *top_level_await* statements outside functions may wait, as in the cells of notebooks.
    """

    version: PythonVersion = DEFAULT_VERSION
    check: Check = "parse"
    fine: bool = field(default=False, repr=False)
    evaluated: bool | None = field(default=None, repr=False)
    top_level_await: bool = field(default=False, repr=False)

    enclosures = _ENCLOSURES
    byte_order_mark = True

    @property
    def name(self) -> str:  # type: ignore[override]  # an attribute of languages without versions
        """For example `Python 3.11`."""
        return f"Python {version_text(self.version)}"

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`."""
        from fimlsp.languages.python.editor_policy import CELL_POLICY, PYTHON_POLICY

        return CELL_POLICY if self.top_level_await else PYTHON_POLICY

    def lexical_spec(self) -> LexicalSpec:
        """As in `Language`."""
        from fimlsp.languages.python.lexical_spec import python_lexical_spec

        return python_lexical_spec(self.version)

    def grammar(self) -> Grammar:
        """As in `Language`."""
        from fimlsp.languages.python.grammar import python_grammar

        return python_grammar(
            self.version,
            self.check,
            fine=self.fine,
            evaluated=self.evaluated,
            top_level_await=self.top_level_await,
        )

    def terminal(self, kind: str) -> str:
        """As in `Language`. Kinds that differ only in quotes or in escapes are a single terminal."""
        return kind.partition(":")[0] if kind.startswith(_IN_KINDS) else kind

    def whole_text_check(self) -> WholeTextCheck | None:
        """As in `Language`. It finds the faults of names, which a grammar cannot know."""
        if self.check == "parse":
            return None
        from fimlsp.languages.python.compiler.file_check import FileCheck

        return FileCheck(self.version, top_level_await=self.top_level_await)

    def finer(self, beginning: bytes) -> Python:
        """As in `Language`. It depends on the evaluation of annotations, as far as *beginning* shows that."""
        evaluated = are_evaluated(beginning) if self.version < SCOPED_ANNOTATIONS else None
        return replace(self, fine=True, evaluated=evaluated)

    def needs_finer_after(self, text: bytes) -> bool:
        """As in `Language`: if code waits or yields within an expression."""
        return any_within(text)

    def needs_finer_before(self, text: bytes) -> bool:
        """As in `Language`."""
        return any_exposed(text)

    def another_word(self, kind: str, number: int) -> bytes | None:
        """As in `Language`. The words are names."""
        return b"_%d" % number if kind == "NAME" else None

    def open_modes(self, text: TextAfterCursor) -> OpenModes:
        """As in `Language`. F-strings and their parts may be open."""
        from fimlsp.languages.python.open_strings import OpenStrings, styles_at

        rules = field_rules(self.version)
        return OpenStrings(text, rules, styles_at(text, rules))

    def strings_in(self, opened: Sequence[str]) -> tuple[str, ...]:
        """As in `Language`. The strings are f-strings."""
        return tuple(part for part in reversed(opened) if part.startswith("text:"))

    def kinds_of_opening(self, terminals: Sequence[str], opened: Sequence[str]) -> dict[int, str]:
        """As in `Language`. The kinds are the starts of f-strings in the right styles."""
        styles = iter([part.removeprefix("text:") for part in opened if part.startswith("text:")])
        kinds: dict[int, str] = {}
        ended = 0
        for index in reversed(range(len(terminals))):
            if terminals[index] == "FSTRING_END":
                ended += 1
            elif f"{terminals[index]}:" not in STRING_STARTS:
                continue
            elif ended:
                ended -= 1
            elif (style := next(styles, None)) is not None:
                kinds[index] = f"{terminals[index]}:{style}"
        return kinds


def python(version: PythonVersion = DEFAULT_VERSION, check: Check = "parse") -> Python:
    """The language of a version of Python; with *check* "compile" the files that it can compile.

    Raises:
        UnknownVersionError: The version is not one of `PYTHON_VERSIONS`.
    """
    return Python(known_version(version), check)
