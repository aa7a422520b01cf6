"""Loads the grammar of each version of Python from one file with switches.

`SINCE_3_10` and `UNTIL_3_9` in `grammar.lark` are switches, which are on from or up to the version in their
names, inclusive.
"""

from __future__ import annotations

import re
from functools import cache, partial
from importlib.resources import files

from fimlsp.languages.python.checks import Check, finer_places, places_of_blocks
from fimlsp.languages.python.versions import DEFAULT_VERSION, PythonVersion, known_version
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.grammar.places import Places

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
) -> Grammar:
    """The grammar of a version of Python; its sentences are the terminals of non-empty files. Cached.

    With *check* "compile" it leaves out what the compiler refuses, as far as a grammar can tell; if it is
    *fine*, also within expressions, for files whose annotations are *evaluated* or not (see `finer_places`).

    Raises:
        UnknownVersionError: The version is none of `PYTHON_VERSIONS`.
    """
    return _python_grammar(known_version(version), check, fine, evaluated)


@cache
def _python_grammar(version: PythonVersion, check: Check, fine: bool, evaluated: bool | None) -> Grammar:
    places = None
    if check == "compile":
        places = finer_places(version, evaluated=evaluated) if fine else places_of_blocks(version)
    switches = partial(switched_on, version=version, check=check, places=places)
    return read_grammar(grammar_text(), START, switches, places, drop_useless=True)


def grammar_text() -> str:
    """The text of `grammar.lark`."""
    return files(__package__).joinpath("grammar.lark").read_text("utf-8")


def switched_on(
    name: str, version: PythonVersion | None, check: Check = "parse", places: Places | None = None
) -> bool | None:
    """Whether the switch called *name* is on in *version* under *check*; None if *name* is no switch.

    What speaks of places is one, and on, unless it means something for *places*.
    Without a version all switches are on. That grammar describes no version, but it has the faults of every
    one.
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
