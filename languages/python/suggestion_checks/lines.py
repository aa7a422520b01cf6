"""Checks of the lines of a suggestion: repeated ones, those of another block, imports, definitions, keywords.

Small models like to repeat a neighbouring line or definition. They also go on with the next function when the
one at the cursor is finished.

Counted in 2,818 files of 74 packages:

| | of | share |
|---|---|---|
| parameters with the name of an import or a class of the file | 62,810 | 0.1 % |
| functions and classes at the top level with that of an import | 9,533 | 0 |
| bodies of `pass` alone: of exceptions | 399 | 29 % |
| of handlers | 2,214 | 10 % |
| of other classes | 4,937 | 1.5 % |
| of functions, `with` and `while` | 24,333 | 0.7 % |
| of conditions and `for` | 33,992 | 0.1 % |
| statements of a function's own body that only call something: the function itself | 33,522 | 0 |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fimlsp.languages.python.names.code_state import CodeState, state_at_end
from fimlsp.languages.suggested_lines import FAR, HAS_WORD, NEAR, Line, column_of, suggested_lines

_DEFINITION = re.compile(rb"(?:async\s+)?(?:def|class)\s+(\w+)")
_NAMED = re.compile(_DEFINITION.pattern + rb"\W")
_IMPORT = re.compile(rb"(?:from\s+\S+\s+)?import\s")
_CONTINUES = re.compile(rb"(?:else|elif|except|finally|case)\b")
_MAY_DEFINE_AGAIN = re.compile(rb"@(?:.*\.(?:setter|getter|deleter|register)\b|.*\boverload\b)")
_COMMON = frozenset(
    [b"pass", b"else:", b"try:", b"finally:", b"return", b"continue", b"break", b"raise", b"yield", b"..."]
)
_FROM = re.compile(rb"(?:lazy[ \t]+)?from[ \t]+([\w.]+)[ \t]+import[ \t](?:[ \t]*\()?")
_CLAUSE = re.compile(rb"[^#)]*")
_TOP_IMPORT = re.compile(rb"^(?:lazy[ \t]+)?(?:import|from[ \t]+[\w.]+[ \t]+import)[ \t]+([^\n(#]+)", re.M)
_BOUND = re.compile(rb"([\w.]+)(?:[ \t]+as[ \t]+(\w+))?")
_ALWAYS_ON = frozenset(
    b"nested_scopes generators division absolute_import with_statement print_function unicode_literals "
    b"generator_stop".split()
)
"""The features of `__future__` that every supported version has without an import."""

_HAS_PARAMETERS = re.compile(rb"\bdef\b")
_PARAMETER = re.compile(rb"[\w\x80-\xff]+")
_BEFORE_PARAMETER = (b"(", b",", b"*", b"**")
_BEGUN_WORD = re.compile(rb"(?<![\w\x80-\xff])[\w\x80-\xff]*\Z")
_DEFINED_CLASS = re.compile(rb"^class[ \t]+(\w+)", re.M)
_PLACEHOLDER = b"pass"
_HEADER = re.compile(rb"(?:async[ \t]+)?(?:class|def|elif|else|for|if|try|while|with)\b.*:\s*(?:#.*)?\Z")
HEADER_OF_FUNCTION = re.compile(rb"[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)\b.*:\s*(?:#.*)?\Z")
_CALL_ALONE = re.compile(rb"(?:await[ \t]+)?(self\.)?(\w+)\([^\n]*\)\Z")
_IS_EXCEPTION = re.compile(rb"class\b.*(?:Error|Exception|Warning|Exit|Interrupt)\b")

LONGEST_WORD = 200
"""Bytes of a word that are read."""

_KEYWORD = re.compile(rb"(?<![\w.])(?:(await\b|async\s+(?:for|with)\b)|return\b|yield\b)")
_SCOPE = re.compile(rb"\s*(?:((async\s+)?def)|class)\b")
_LEAVES = re.compile(rb"(?:return|raise|continue|break)\b|(?:sys\.exit|os\._exit|os\.abort|exit|quit)\(")
"""Matches a statement after which its block does not go on."""

_UNCLEAR = re.compile(rb"\b(?:def|lambda)\b|[\"'#]")


def first_unwanted_line(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* after which it should not be shown; None if all may.

    Further comments after a comment are unwanted, too.
    O(len(text)), and O(len(left) + len(right)) where it defines or imports something.
    """
    context = suggested_lines(left, text, right)
    head, lines = context.head, context.lines
    if text[:1] in (b" ", b"\t") and head and not head.strip() and lines:
        return 0
    written = list[bytes]()
    for number, line in enumerate(lines):
        is_begun = number == 0 and bool(head.strip())
        before = [*context.above, *written][-NEAR:]
        if _is_distinctive(line.code) and line.code in [*before, *context.below]:
            return len(text.partition(b"\n")[0].rstrip()) - 1 if is_begun else line.offset
        if number and _leaves_block(line, lines[0], head):
            return line.offset
        if not is_begun and line.code.startswith(b"#") and before[-1:] and before[-1].startswith(b"#"):
            return line.offset
        if _exists(line, head if is_begun else b"", left, right, before[-1:]):
            return line.offset
        written.append(line.code)
    return None


def _is_distinctive(code: bytes) -> bool:
    return code not in _COMMON and HAS_WORD.search(code) is not None


def _leaves_block(line: Line, first: Line, head: bytes) -> bool:
    """True if *line* comes after the end of the block whose first line is *first*."""
    column = column_of(head)
    if head.strip() and first.offset == 0 and _opens_block(head, first):
        return (
            line.column <= column
            and not _CONTINUES.match(line.code)
            and HAS_WORD.match(line.code) is not None
        )
    return line.column < column


def _opens_block(head: bytes, first: Line) -> bool:
    header = first.text if first.text.startswith(head) else head
    return header.rstrip().endswith(b":") or head.rstrip().endswith(b":")


def _exists(line: Line, begun: bytes, left: bytes, right: bytes, before: list[bytes]) -> bool:
    """True if the file already has the definition, the import or the decorator with arguments of *line*.

    A definition is intended if *begun*, the part before the cursor, has its whole name. None at the top level
    has the name of an import: of 9,533 functions and classes in 74 packages none had.
    """
    code = line.code
    if _IMPORT.match(code) or (code.startswith(b"@") and (b'"' in code or b"'" in code)):
        same = re.compile(rb"^%b%b\s*$" % (b"" if _IMPORT.match(code) else rb"[ \t]*", re.escape(code)), re.M)
        return any(same.search(side) is not None for side in (left, right)) or _is_in_function(line, left)
    definition = _DEFINITION.match(code)
    is_intended = _NAMED.match(begun.lstrip()) is not None or any(map(_MAY_DEFINE_AGAIN.match, before))
    if definition is None or is_intended:
        return False
    above, below = left.rpartition(b"\n")[0], right.partition(b"\n")[2]
    names = {
        *_defined_names(reversed(above.split(b"\n")), line.column),
        *_defined_names(below.split(b"\n"), line.column),
        *(() if line.column else (*_imported_names(above), *_imported_names(below))),
    }
    return definition[1] in names


def _is_in_function(line: Line, left: bytes) -> bool:
    """True if the function around the indented *line* already has such a line above."""
    for above in reversed(left.split(b"\n")[:-1]) if line.column else ():
        if above.strip() == line.code:
            return True
        if column_of(above) < line.column and _DEFINITION.match(above.lstrip()):
            return False
    return False


def _defined_names(lines: Iterable[bytes], column: int) -> Iterator[bytes]:
    """The names that *lines* define at *column*, up to the end of the block."""
    for line in lines:
        if not line.strip():
            continue
        if column_of(line) < column:
            return
        definition = _DEFINITION.match(line, column) if column_of(line) == column else None
        if definition is not None:
            yield definition[1]


def first_unreachable(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset of the first statement in *text* that cannot run; None if there is none.

    It stands directly below a statement of its block that leaves the block. After that, `yield` still makes
    a generator.
    """
    context = suggested_lines(left, text, right)
    for number, line in enumerate(context.lines):
        is_first = number == 0 and b"\n" not in text[: line.offset + 1]
        if (is_first and context.head.strip()) or line.code.startswith((b"#", b"yield")):
            continue
        before = text[: 0 if is_first else line.offset + 1]
        code = left[: len(left) - len(context.head)] if is_first else left + before
        if _LEAVES.match(_statement_above(code, line.column)) and state_at_end(code) == CodeState():
            return line.offset
    return None


def _statement_above(code: bytes, column: int) -> bytes:
    """The first line of the statement at *column* right above the end of *code*; empty if it is a header."""
    for line in reversed(code[-FAR:].split(b"\n")):
        stripped = line.strip()
        if not stripped or stripped.startswith(b"#") or column_of(line) > column:
            continue
        if column_of(line) < column:
            return b""
        if HAS_WORD.search(stripped) is not None or stripped.startswith((b'"', b"'")):
            return stripped
    return b""


def first_needless_import(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset of the first name in *text* that is imported twice, or a feature that is always on.

    None if there is none. Only lines without indentation count: a function may import what its file imports.
    O(len(left) + len(right)) where there is such a line, else O(len(text)).
    """
    line_start = left.rfind(b"\n") + 1
    lines = (left[line_start:] + text).split(b"\n")
    if not any(map(_FROM.match, lines)):
        return None
    imported = {*_imported_names(left[:line_start]), *_imported_names(right)}
    start = line_start - len(left)
    for line in lines:
        for offset, name, is_always_on in _imports_from(line):
            end = start + offset + len(name)
            if end > 0 and (is_always_on or name in imported):
                return max(0, start + offset)
            imported.add(name)
        start += len(line) + 1
    return None


def _imports_from(line: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """The names that *line* imports from a module: offset, bound name, and if it is a feature always on."""
    statement = _FROM.match(line)
    if statement is None:
        return
    clause = _CLAUSE.match(line, statement.end())
    assert clause is not None
    for offset, name in _bound_names(clause[0]):
        is_always_on = statement[1] == b"__future__" and name in _ALWAYS_ON
        yield statement.end() + offset, name, is_always_on


def _imported_names(code: bytes) -> Iterator[bytes]:
    """The names that imports at the top level of *code* bind. O(len(code))."""
    return (name for statement in _TOP_IMPORT.finditer(code) for _, name in _bound_names(statement[1]))


def _bound_names(clause: bytes) -> Iterator[tuple[int, bytes]]:
    """The names that *clause*, the part of an import after `import`, binds, with their offsets."""
    return ((item.start(), item[2] or item[1]) for item in _BOUND.finditer(clause))


def first_imported_parameter(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset of the first parameter in *text* that has the name of an import or a class of the file.

    None if there is none. O(len(left) + len(right)) where *text* has parameters.
    """
    parameters = [*_parameters(left, text)]
    if not parameters:
        return None
    taken = {*_imported_names(left), *_DEFINED_CLASS.findall(left), *_imported_names(right)}
    return next((offset for offset, name in parameters if name in taken), None)


def _parameters(left: bytes, text: bytes) -> Iterator[tuple[int, bytes]]:
    """The parameters in *text* after *left*, with their offsets; one that is begun in *left* has 0."""
    state = state_at_end(left)
    if not (state.brackets and state.brackets[-1].binds) and not _HAS_PARAMETERS.search(text):
        return
    begun = _BEGUN_WORD.search(left[-LONGEST_WORD:])
    assert begun is not None
    before = len(begun[0])
    state, read, code = state_at_end(left[: len(left) - before]), 0, begun[0] + text
    for word in _PARAMETER.finditer(code):
        state, read = state.feed(code[read : word.start()]), word.start()
        is_in_header = bool(state.brackets) and state.brackets[-1].binds and not state.quote
        if word.end() > before and is_in_header and state.last in _BEFORE_PARAMETER and not state.chain:
            yield max(0, word.start() - before), word[0]


def first_placeholder(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset of the first `pass` in *text* that is all of a body; None if there is none.

    It may be that of an exception or of a handler. Where it stands just above, more of them are written.
    O(len(text)).
    """
    context = suggested_lines(left, text, right)
    if _PLACEHOLDER in context.above:
        return None
    above = context.above[-1] if context.above else b""
    if context.head.strip() and not text.partition(b"\n")[0].strip():
        above = context.head.strip()
    for line in context.lines:
        if line.code == _PLACEHOLDER and _wants_body(above) and _is_code(left, text, line.offset):
            return line.offset
        above = line.code
    return None


def _wants_body(line: bytes) -> bool:
    """True if *line* is the header of a block that nobody leaves empty."""
    return _HEADER.match(line) is not None and _IS_EXCEPTION.match(line) is None


def first_endless_call(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset of the first line in *text* in which a function does nothing but call itself; or None."""
    context = suggested_lines(left, text, right)
    for line in context.lines:
        call = _CALL_ALONE.match(line.code)
        code = left + text[: line.offset + 1] if line.offset else left[: len(left) - len(context.head)]
        above = reversed(code[-FAR:].split(b"\n")) if call else ()
        header = next((row for row in above if is_outside(row, line.column)), b"")
        definition = HEADER_OF_FUNCTION.match(header)
        if call and definition and definition[1] == call[2] and bool(call[1]) == (column_of(header) > 0):
            return line.offset
    return None


def is_outside(line: bytes, column: int) -> bool:
    """True if *line* is indented by less than *column*."""
    return bool(line.strip()) and column_of(line) < column


def _is_code(left: bytes, text: bytes, offset: int) -> bool:
    """True if the line that *text* starts, or goes on with, at *offset* is a statement."""
    is_new = text[offset : offset + 1] == b"\n"
    above = left + text[:offset] + b"\n" if is_new else left[: left.rfind(b"\n") + 1]
    return state_at_end(above) == CodeState()


def first_misplaced_keyword(
    left: bytes, text: bytes, right: bytes, *, top_level_await: bool = False
) -> int | None:
    """The offset of the first `return`, `await` or the like in *text* that the compiler would refuse.

    These need a function around them, or an `async` one; with *top_level_await* these words need none. The
    grammar accepts them anywhere.
    None if there is none, or where a string, a comment or an inner function makes it unclear.
    O(len(left)) if *text* has such a keyword.
    """
    del right
    keywords = [*_KEYWORD.finditer(text)]
    if not keywords:
        return None
    line, scope = left[left.rfind(b"\n") + 1 :], enclosing_scope(left)
    if scope is None and line[:1] in (b" ", b"\t"):  # a string of several lines hides it
        return None
    for keyword in keywords:
        if _UNCLEAR.search(line + text[: keyword.start()]):
            return None
        if scope is None and keyword[1] and top_level_await:
            continue
        if scope is None or not scope[1] or (keyword[1] and not scope[2]):
            return keyword.start()
    return None


def enclosing_scope(left: bytes) -> re.Match[bytes] | None:
    """The header of the innermost function or class around the end of *left*, by indentation."""
    *lines, last = left.split(b"\n")
    column = column_of(last)
    for line in reversed(lines):
        indentation = column_of(line)
        if line.strip() and indentation < column:
            column = indentation + line.lstrip().startswith((b")", b"]", b"}"))
            scope = _SCOPE.match(line)
            if scope is not None:
                return scope
    return None
