"""Loads the grammar of each version of Python from one file with switches.

`SINCE_3_10` and `UNTIL_3_9` in `grammar.lark` are switches, on from or up to the version in their names.
Other names speak of the *places* of statements, which are loops, functions and the like. Rules are copied for
these, once for each set of permissions.
"""

from __future__ import annotations

import re
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
from fimlsp.quotient.grammar.lark_loader import PlaceChange, Places, read_grammar

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
_OF_EXPRESSIONS = {
    "MAY_HOLD_YIELD": "yield",
    "MAY_HOLD_AWAIT": "await",
    "MAY_HOLD_ASYNC": "async",
    "MAY_HOLD_STAR": "idle",
}
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
    is never compiled: an annotation of a variable in a function, or any annotation if these are not
    *evaluated*. Lone stars are permitted there, and up to 3.13 `await` without a coroutine around it. If
    *evaluated* is None it is unknown, and all is permitted that is permitted in one of the two cases.
    """
    idle = {"idle": "idle"}
    waiting = {} if version >= SCOPED_ANNOTATIONS else {"await": "idle", "async": "idle"}
    of_blocks = places_of_blocks(version)
    changes = dict(of_blocks.changes)
    changes["IN_LAMBDA"] = PlaceChange(frozenset({"yield"}), keeps={**idle, **waiting})
    changes["IN_TYPE"] = PlaceChange(keeps={})
    changes["IN_GENERATOR"] = PlaceChange(frozenset({"await", "async"}), keeps=idle)
    changes["IN_DISPLAY"] = PlaceChange(keeps={**idle, "await": "async", "async": "async"})
    changes["IN_PLACE_ANNOTATION"] = PlaceChange(keeps=_IN_FUNCTION)
    changes["IN_ANNOTATION"], changes["IN_VARIABLE_ANNOTATION"] = _in_annotations(version, evaluated)
    demands, words = {**of_blocks.demands, **_OF_EXPRESSIONS}, of_blocks.words | {"*"}
    return replace(of_blocks, demands=demands, changes=changes, words=words)


def _in_annotations(version: PythonVersion, evaluated: bool | None) -> tuple[PlaceChange, PlaceChange]:
    """The permissions in annotations of functions, and in those of variables.

    From 3.14 on each is a function of its own, which may not wait. Before, all is permitted up to 3.9 in one
    that is never evaluated. From 3.10 on, `await` is permitted there in lambdas and comprehensions.
    """
    if version >= SCOPED_ANNOTATIONS:
        never = PlaceChange(frozenset({"idle"}), keeps={})
        return (PlaceChange(keeps={}), PlaceChange(keeps={"idle": "yield"})) if evaluated else (never, never)
    if evaluated:
        return PlaceChange(), PlaceChange(keeps=_IN_FUNCTION)
    never = PlaceChange(_ANYTHING if version <= (3, 9) else frozenset({"async", "idle"}), keeps={})
    if evaluated is None:
        return replace(never, keeps=None), replace(never, keeps=_IN_FUNCTION)
    return never, never
