"""Loads the grammar of each version of Python from one file with switches, and chooses the finer one.

`SINCE_3_10` and `UNTIL_3_9` in `grammar.lark` are switches, on from or up to the version in their names.
Other names speak of the *places* of statements, which are loops, functions and the like. Rules are copied for
these, once for each set of permissions.

The finer grammar of expressions is needed where code waits or yields within an expression, which words alone
decide quickly. There are three: for files with annotations that are evaluated, with those that are not, and
for files of which that is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files

from fimlsp.languages.python.versions import (
    DEFAULT_VERSION,
    SCOPED_ANNOTATIONS,
    Check,
    PythonVersion,
    known_version,
)
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.expansions import PlaceChange, Places
from fimlsp.quotient.grammar.lark_loader import read_grammar

START = "file"
_CHECKS: dict[str, Check] = {"PARSED": "parse", "COMPILED": "compile"}
_SPEAKS_OF_PLACES = re.compile(r"(MAY|IN)_[A-Z_]+")
_SWITCH = re.compile(r"(SINCE|UNTIL)_(\d+)_(\d+)")


def python_grammar(
    version: PythonVersion = DEFAULT_VERSION,
    check: Check = "parse",
    *,
    fine: bool = False,
    evaluated: bool | None = None,
    top_level_await: bool = False,
) -> Grammar:
    """The grammar of a version of Python; its sentences are the terminals of non-empty files. Cached.

    With *check* "compile" it leaves out the sentences that the compiler refuses, as far as a grammar can. A
    *fine* one does so within expressions as well, for files with annotations *evaluated* (see
    `finer_places`). With *top_level_await* statements outside functions may wait.

    Raises:
        UnknownVersionError: The version is not one of `PYTHON_VERSIONS`.
    """
    return _python_grammar(known_version(version), check, fine, evaluated, top_level_await)


@cache
def _python_grammar(
    version: PythonVersion, check: Check, fine: bool, evaluated: bool | None, top_level_await: bool
) -> Grammar:
    places = None
    if check == "compile":
        places = finer_places(version, evaluated=evaluated) if fine else places_of_blocks(version)
        places = replace(places, first=places.first | _WAITING) if top_level_await else places
    switches = partial(switched_on, version=version, check=check, places=places)
    return read_grammar(grammar_text(), START, switches, places, drop_useless=True)


def grammar_text() -> str:
    """The text of `grammar.lark`."""
    return files(__package__).joinpath("grammar.lark").read_text("utf-8")


def switched_on(
    name: str, version: PythonVersion | None, check: Check = "parse", places: Places | None = None
) -> bool | None:
    """True if the switch *name* is on in *version* under *check*; None if *name* is not a switch.

    A name that speaks of places is a switch that is on, unless *places* define it. Without a version all
    switches are on. That grammar describes no version, but it has the faults of all.
    """
    if name in _CHECKS:
        return version is None or _CHECKS[name] == check
    if _SPEAKS_OF_PLACES.fullmatch(name):
        speaks = places is not None and (name in places.demands or name in places.changes)
        return None if speaks else True
    match = _SWITCH.fullmatch(name)
    if match is None:
        return None
    named = int(match[2]), int(match[3])
    return version is None or (named <= version if match[1] == "SINCE" else version <= named)


_FUNCTION = frozenset({"return", "yield"})
_WAITING = frozenset({"await", "async"})
_COROUTINE = _FUNCTION | _WAITING
_LOOP = frozenset({"break"})
_ANYTHING = frozenset({"yield", "await", "async", "idle"})
_IN_FUNCTION = dict.fromkeys(_ANYTHING, "yield")
_DEMANDS = {"MAY_RETURN": "return", "MAY_YIELD": "yield", "MAY_AWAIT": "await", "MAY_BREAK": "break"}
_OF_EXPRESSIONS = {"MAY_HOLD_YIELD": "yield", "MAY_HOLD_AWAIT": "await", "MAY_HOLD_ASYNC": "async"}
_DECIDING_WORDS = frozenset({"return", "yield", "await", "async", "break", "continue"})
_LAZY_IMPORTS: PythonVersion = (3, 15)
_IN_STATEMENTS = {
    "IN_LOOP": PlaceChange(_LOOP),
    "IN_FUNCTION": PlaceChange(_FUNCTION, keeps={}),
    "IN_COROUTINE": PlaceChange(_COROUTINE, keeps={}),
    "IN_CLASS": PlaceChange(keeps={}),
    # may not be left by `break`, `continue` or `return`, except for loops and functions that begin in it
    "IN_STAR_HANDLER": PlaceChange(keeps={"yield": "yield", "await": "await", "async": "async"}),
}


def places_of_blocks(version: PythonVersion) -> Places:
    """The permissions in the blocks of a file (see the head of `grammar.lark`).

    An import is "lazy" outside of functions, classes and `try` (PEP 810).
    """
    if version < _LAZY_IMPORTS:
        return Places(frozenset(), _DEMANDS, _IN_STATEMENTS, _DECIDING_WORDS)
    demands = {**_DEMANDS, "MAY_BE_LAZY": "lazy"}
    in_try = PlaceChange(keeps={permission: permission for permission in (*_COROUTINE, *_LOOP, "idle")})
    changes = {**_IN_STATEMENTS, "IN_TRY": in_try}
    return Places(frozenset({"lazy"}), demands, changes, _DECIDING_WORDS | {"lazy"})


def finer_places(version: PythonVersion, *, evaluated: bool | None) -> Places:
    """The permissions in the blocks of a file, and in their expressions.

    "async" permits asynchronous comprehensions that are not generators. From 3.11 on they may be in each
    other; up to 3.10 the outer one has to wait by itself as well, which its end shows. "idle" marks code that
    is never evaluated, where the compiler does not require a coroutine around `await`. That is an annotation
    of a variable in a function, or any annotation if these are not *evaluated*. If *evaluated* is None it is
    unknown, and all is permitted that is permitted in one of the two cases.
    """
    idle = {"idle": "idle"}
    of_blocks = places_of_blocks(version)
    changes = dict(of_blocks.changes)
    changes["IN_LAMBDA"] = PlaceChange(frozenset({"yield"}), keeps={**idle, "await": "idle", "async": "idle"})
    changes["IN_TYPE"] = PlaceChange(keeps={})
    changes["IN_GENERATOR"] = PlaceChange(frozenset({"await", "async"}), keeps=idle)
    changes["IN_DISPLAY"] = PlaceChange(keeps={**idle, "await": "async", "async": "async"})
    changes["IN_PLACE_ANNOTATION"] = PlaceChange(keeps=_IN_FUNCTION)
    changes["IN_ANNOTATION"], changes["IN_VARIABLE_ANNOTATION"] = _in_annotations(version, evaluated)
    return replace(of_blocks, demands={**of_blocks.demands, **_OF_EXPRESSIONS}, changes=changes)


def _in_annotations(version: PythonVersion, evaluated: bool | None) -> tuple[PlaceChange, PlaceChange]:
    """The permissions in annotations of functions, and in those of variables.

    From 3.14 on each is a function of its own, which may not wait. Before, all is permitted up to 3.9 in one
    that is never evaluated. From 3.10 on, `await` is permitted there in lambdas and comprehensions.
    """
    if version >= SCOPED_ANNOTATIONS:
        return PlaceChange(keeps={}), PlaceChange(keeps={})
    if evaluated:
        return PlaceChange(), PlaceChange(keeps=_IN_FUNCTION)
    never = PlaceChange(_ANYTHING if version <= (3, 9) else frozenset({"async", "idle"}), keeps={})
    if evaluated is None:
        return replace(never, keeps=None), replace(never, keeps=_IN_FUNCTION)
    return never, never


_IDLE = rb"(?:[ \t\f\r\n;]|#[^\r\n]*(?=[\r\n]))*"
_STRING = (
    rb"[rRuU]?(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\""
    rb"|'(?:[^'\\\r\n]|\\.)+'|\"(?:[^\"\\\r\n]|\\.)+\")"
)
_END = rb"[ \t\f]*(?=[\r\n;#])"
_BEFORE_IMPORTS = re.compile(rb"(?:\xef\xbb\xbf)?%s(?:%s%s%s)?" % (_IDLE, _STRING, _END, _IDLE), re.DOTALL)
_FUTURE_IMPORT = re.compile(
    rb"from[ \t]+__future__[ \t]+import\b([\w, \t\f]*|[ \t]*\([\w,\s]*\)[ \t\f]*)(?=[\r\n;#])%s" % _IDLE
)
_MAY_BECOME_IMPORT = re.compile(rb"(?:f|fr|fro|from|from[\s\\]+\w*)\Z|from[\s\\]+__future__\b")
_MAY_BE_DOCSTRING = re.compile(rb"[(\s]*(?:[rRuU]?(?:['\"]|\Z)|[\\#])|\xef\xbb?\Z")


def are_evaluated(beginning: bytes) -> bool | None:
    """True if annotations are evaluated in files with this *beginning*; False if it imports the feature.

    None if later text may decide it, or if it is unclear.
    """
    before = _BEFORE_IMPORTS.match(beginning)
    assert before is not None
    offset = before.end()
    while (statement := _FUTURE_IMPORT.match(beginning, offset)) is not None:
        names = re.findall(rb"\w+", statement[1])
        if b"as" in names:
            return None
        if b"annotations" in names:
            return False
        offset = statement.end()
    is_open = _MAY_BECOME_IMPORT.match(beginning, offset) or _MAY_BE_DOCSTRING.match(beginning, offset)
    return None if is_open else True


_WORDS = (b"await", b"yield", b"async")
_ASYNCHRONOUS = re.compile(rb"async\s+(?:for\b|(?:fo?)?\Z)")
_STATEMENT = re.compile(rb"(?:^|[\r\n;])[ \t\f]*\Z")
_NEXT_STATEMENT = re.compile(rb"^[^\s#)\]}][^\r\n]*", re.MULTILINE)
_FUNCTION_HEADER = re.compile(rb"^([ \t]*)(?:async[ \t]+)?def\b", re.MULTILINE)
_BEFORE_WORD = 60
"""Bytes before a word in which the start of its statement is searched."""


def any_within(text: bytes) -> bool:
    """True if some code in *text* may wait or yield within an expression."""
    return _has_word(text) and any(True for _ in _offsets(text, len(text)))


def any_exposed(right: bytes) -> bool:
    """True if code in *right* may wait or yield within an expression, and text before it decides about that.

    Text before it does not if the code is in a function of *right*, or after a line outside all blocks.
    """
    if not _has_word(right):
        return False
    following = _NEXT_STATEMENT.search(right, right.find(b"\n") + 1)
    return any(
        not _is_in_function(right, offset)
        for offset in _offsets(right, following.end() if following else len(right))
    )


def _has_word(text: bytes) -> bool:
    return b"await" in text or b"yield" in text or b"async" in text


def _offsets(text: bytes, end: int) -> Iterator[int]:
    """The offsets before *end* at which code may wait or yield within an expression."""
    for word in _WORDS:
        offset = text.find(word, 0, end)
        while offset >= 0:
            if word == b"await" or _is_in_expression(text, offset, word):
                yield offset
            offset = text.find(word, offset + 1, end)


def _is_in_expression(text: bytes, offset: int, word: bytes) -> bool:
    if word == b"async":
        return _ASYNCHRONOUS.match(text, offset) is not None
    return _STATEMENT.search(text, max(0, offset - _BEFORE_WORD), offset) is None


def _is_in_function(text: bytes, offset: int) -> bool:
    """True if *offset* is in the body of the nearest function above it."""
    above = text.rfind(b"def", 0, offset)
    if above < 0:
        return False
    start = max(text.rfind(b"\n", 0, above), text.rfind(b"\r", 0, above)) + 1
    header = _FUNCTION_HEADER.match(text, start)
    if header is None or start == 0:
        return False
    lines = text[start:offset].splitlines()[1:]
    return bool(lines) and all(_is_deeper(line, len(header[1])) for line in lines)


def _is_deeper(line: bytes, column: int) -> bool:
    """True if *line* is blank, or its code starts after *column*, or it goes on within brackets."""
    code = line.lstrip(b" \t\f")
    return not code or code[:1] in b"#)]}" or len(line) - len(code) > column
