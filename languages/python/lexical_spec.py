r"""The lexical description of Python: modes, checked parts, limits and layout.

The names in `\N{...}` and the number of digits of an integer are checked apart from the DFA, which cannot do
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from fimlsp.languages.python.mode_stack import (
    BRACKETS,
    MAX_BRACKETS,
    QUOTES,
    STRING_STARTS,
    UNDECODABLE,
    changes_modes,
    field_rules,
    file_start,
    marks_modes,
    unknown_bottom,
)
from fimlsp.languages.python.terminals import python_dfa
from fimlsp.languages.python.unicode_tables import CharacterNames
from fimlsp.languages.python.versions import DEFAULT_VERSION, PythonVersion, known_version
from fimlsp.lexing.automata.dfa import Dfa
from fimlsp.lexing.lexical_spec import CountedPart, Delimiters, Family, LexicalSpec, Offside, WordPart

MOST_DIGITS = 4300
"""The most digits of a decimal integer: CPython's default limit for `int`."""
_MAX_INDENTS = 99  # MAXINDENT of CPython's tokenizer, minus the level of the file itself
_OPENING, _CLOSING = {*BRACKETS, "FIELD_OPEN"}, {*BRACKETS.values(), "FIELD_CLOSE"}
_FAMILIES: dict[str, Family] = {
    "STRING": "string",
    "BYTES": "string",
    "STRING" + UNDECODABLE: "string",
    "BYTES" + UNDECODABLE: "string",
    "COMMENT": "comment",
    "NL": "line end",
    "CONTINUATION": "line end",
}


def python_lexical_spec(version: PythonVersion = DEFAULT_VERSION) -> LexicalSpec:
    """The lexical description of a version of Python; its DFA is loaded from disk or compiled. Cached.

    Raises:
        UnknownVersionError: The version is not one of `PYTHON_VERSIONS`.
    """
    return _python_lexis(known_version(version))


@cache
def _python_lexis(version: PythonVersion) -> LexicalSpec:
    dfa = python_dfa(version)
    rules = field_rules(version)

    marks = frozenset[str]() if rules.sealed else frozenset(filter(marks_modes, dfa.kinds))

    def brackets_too_deep(lexemes: Sequence[str], open_at_end: int) -> bool:
        return too_deep(lexemes, open_at_end, sealed=rules.sealed)

    return LexicalSpec(
        dfa=dfa,
        start=file_start(rules),
        unknown=unknown_bottom(rules),
        comment="COMMENT",
        line_joiner="CONTINUATION",
        unseen=frozenset({"SPEC_NL"}).intersection(dfa.kinds),
        mode_changers=frozenset(filter(changes_modes, dfa.kinds)).union(marks),
        marks=marks,
        brackets=BRACKETS,
        most_brackets=MAX_BRACKETS,
        too_deep=brackets_too_deep,
        families=_FAMILIES,
        comment_mark=b"#",
        delimiters=Delimiters(
            span=tuple(quote.encode() for quote in QUOTES if len(quote) == 3),
            within=tuple(quote.encode() for quote in QUOTES if len(quote) == 1),
        ),
        word_part=WordPart(naming_states(dfa), CharacterNames(version), ord("{"), ord("}")),
        counted_part=CountedPart(
            counting_states(dfa), "REAL", MOST_DIGITS, frozenset(b"_"), has_too_many_digits, way_out=b"."
        ),
        # In 3.8 the code of a line starts at a backslash in its indentation.
        offside=Offside(frozenset(b" \t\f#\r\n" if version == (3, 8) else b" \t\f#\\\r\n"), _MAX_INDENTS),
    )


def naming_states(dfa: Dfa) -> frozenset[int]:
    r"""The states inside the braces of `\N{...}`."""
    openings = [(start, b"") for mode, start in dfa.starts.items() if ":" in mode]
    openings += [(dfa.starts["code"], quote.encode()) for quote in QUOTES]
    states = {dfa.run(start, quote + rb"\N{") for start, quote in openings if dfa.run(start, quote + rb"\N")}
    states.discard(0)
    waiting = list(states)
    while waiting:
        for byte, following in enumerate(dfa.rows[waiting.pop()]):
            if following and byte != ord("}") and following not in states:
                states.add(following)
                waiting.append(following)
    return frozenset(states)


def counting_states(dfa: Dfa) -> frozenset[int]:
    """The DFA states inside a decimal integer other than zero."""
    digits = [dfa.run(dfa.starts[mode], b"1") for mode in ("code", "field", "nested")]
    return frozenset((*digits, *(dfa.run(state, b"_") for state in digits)))


def has_too_many_digits(number: bytes, more: int = 0) -> bool:
    """True if *more* digits followed by *number* are a decimal integer that is too long for CPython."""
    if len(number) + more <= MOST_DIGITS or (not more and number.startswith(b"0")):
        return False
    digits = number.replace(b"_", b"")
    return digits.isdigit() and len(digits) + more > MOST_DIGITS


def too_deep(lexemes: Sequence[str], open_at_end: int, *, sealed: bool) -> bool:
    """True if brackets nest too deeply in *lexemes*, after which *open_at_end* are open.

    In the *sealed* f-strings of old versions, brackets are counted separately.
    """
    depth = open_at_end
    strings = 0
    for lexeme in reversed(lexemes):
        strings += (lexeme == "FSTRING_END") - lexeme.startswith(STRING_STARTS)
        if sealed and strings:
            continue
        depth += (lexeme in _CLOSING) - (lexeme in _OPENING)
        if depth > MAX_BRACKETS:
            return True
    return False
