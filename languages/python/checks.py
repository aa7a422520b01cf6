"""How much of CPython a text has to pass: its parser alone, or its compiler as well."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from fimlsp.languages.python.versions import PythonVersion
from fimlsp.quotient.grammar.places import Change, Places

Check = Literal["parse", "compile"]

_FUNCTION = frozenset({"return", "yield"})
_COROUTINE = _FUNCTION | {"await", "async"}
_LOOP = frozenset({"break"})
_ANYTHING = frozenset({"yield", "await", "async", "idle"})
_IN_FUNCTION = dict.fromkeys(_ANYTHING, "yield")
_DEMANDS = {"MAY_RETURN": "return", "MAY_YIELD": "yield", "MAY_AWAIT": "await", "MAY_BREAK": "break"}
_OF_EXPRESSIONS = {"MAY_HOLD_YIELD": "yield", "MAY_HOLD_AWAIT": "await", "MAY_HOLD_ASYNC": "async"}
_WORDS = frozenset({"return", "yield", "await", "async", "break", "continue"})
SCOPED_ANNOTATIONS: PythonVersion = (3, 14)
_LAZY_IMPORTS: PythonVersion = (3, 15)
_IN_STATEMENTS = {
    "IN_LOOP": Change(_LOOP),
    "IN_FUNCTION": Change(_FUNCTION, keeps={}),
    "IN_COROUTINE": Change(_COROUTINE, keeps={}),
    "IN_CLASS": Change(keeps={}),
    # may not be left by `break`, `continue` or `return`, except for loops and functions that begin in it
    "IN_STAR_HANDLER": Change(keeps={"yield": "yield", "await": "await", "async": "async"}),
}


def places_of_blocks(version: PythonVersion) -> Places:
    """What is permitted in the blocks of a file (see the head of `grammar.lark`).

    An import is "lazy" outside of functions, classes and `try` (PEP 810).
    """
    if version < _LAZY_IMPORTS:
        return Places(frozenset(), _DEMANDS, _IN_STATEMENTS, _WORDS)
    demands = {**_DEMANDS, "MAY_BE_LAZY": "lazy"}
    in_try = Change(keeps={each: each for each in (*_COROUTINE, *_LOOP, "idle")})
    changes = {**_IN_STATEMENTS, "IN_TRY": in_try}
    return Places(frozenset({"lazy"}), demands, changes, _WORDS | {"lazy"})


def finer_places(version: PythonVersion, *, evaluated: bool | None) -> Places:
    """What is permitted in its blocks and in their expressions.

    "async" are comprehensions that wait and are no generators. From 3.11 on they may stand in each other, up
    to 3.10 only in one that waits by itself as well, which shows at its end.
    What is never evaluated is "idle": there the compiler does not look whether a function may wait. Such are
    the annotations of variables of functions, and all unless annotations are *evaluated*. That is None where
    it is not known, and anything is permitted that is in one of the two cases.
    """
    idle = {"idle": "idle"}
    of_blocks = places_of_blocks(version)
    changes = dict(of_blocks.changes)
    changes["IN_LAMBDA"] = Change(frozenset({"yield"}), keeps={**idle, "await": "idle", "async": "idle"})
    changes["IN_TYPE"] = Change(keeps={})
    changes["IN_GENERATOR"] = Change(frozenset({"await", "async"}), keeps=idle)
    changes["IN_DISPLAY"] = Change(keeps={**idle, "await": "async", "async": "async"})
    changes["IN_PLACE_ANNOTATION"] = Change(keeps=_IN_FUNCTION)
    changes["IN_ANNOTATION"], changes["IN_VARIABLE_ANNOTATION"] = _in_annotations(version, evaluated)
    return replace(of_blocks, demands={**of_blocks.demands, **_OF_EXPRESSIONS}, changes=changes)


def _in_annotations(version: PythonVersion, evaluated: bool | None) -> tuple[Change, Change]:
    """What is permitted in annotations of functions, and in those of variables.

    From 3.14 on each is a function of its own, which may not wait. Before, one that is never evaluated may
    hold anything up to 3.9, and later what waits within lambdas and comprehensions.
    """
    if version >= SCOPED_ANNOTATIONS:
        return Change(keeps={}), Change(keeps={})
    if evaluated:
        return Change(), Change(keeps=_IN_FUNCTION)
    never = Change(_ANYTHING if version <= (3, 9) else frozenset({"async", "idle"}), keeps={})
    if evaluated is None:
        return replace(never, keeps=None), replace(never, keeps=_IN_FUNCTION)
    return never, never
