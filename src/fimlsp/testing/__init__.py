"""A language held against its own parser: the harness with which all languages of fimlsp are tested.

`Judged` has a language and its reference parser. `endless` makes the suites: short middles, cut programs and
their mutants, completions, two unrelated sides. `command` runs as many cases as time allows.
"""

from fimlsp.quotient.verification import Refusal, first_refusal
from fimlsp.testing.checking import (
    COMPLETE,
    DEAD,
    VIABLE,
    Case,
    Fault,
    Judged,
    Tally,
    cases,
    fed,
    read_cases,
    total,
    verdict,
)
from fimlsp.testing.edited import grows, type_a_line
from fimlsp.testing.suites import command, endless, lexemes

__all__ = [
    "COMPLETE",
    "DEAD",
    "VIABLE",
    "Case",
    "Fault",
    "Judged",
    "Refusal",
    "Tally",
    "cases",
    "command",
    "endless",
    "fed",
    "first_refusal",
    "grows",
    "lexemes",
    "read_cases",
    "total",
    "type_a_line",
    "verdict",
]
