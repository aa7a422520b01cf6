"""The lexemes of elements, and the first lexemes of generic functions, which look like tags.

An element starts with `<` and a name without a space between them, as in formatted code. A `<` alone is the
sign of code. Where an operand is expected, TypeScript looks ahead: `<T,` and `<T extends X` start the
parameters of a generic function, and so does `<T>(` in a type. The latter could be an element with text too.
So only names in the style of type parameters count, such as `T` and `TData`.
"""

from __future__ import annotations

import string
from collections.abc import Sequence

from fimlsp.lexing.automata.dfa import Rule
from fimlsp.lexing.automata.regex import (
    Regex,
    character_but,
    choice,
    many,
    maybe,
    one_of,
    sequence,
    some,
)

_MODIFIERS = (
    *("abstract", "accessor", "async", "declare", "out", "override", "private", "protected", "public"),
    *("readonly", "static"),
)
_BREAKS = "\n\r"
_SEPARATORS = "\u2028\u2029"
"""Line ends of the standard where no line is cut. Among children they are text."""
_SPACES = " \t"


def element_starts(first: Regex, part: Regex, where: str = "") -> tuple[Rule, ...]:
    """The lexemes that start an element; a name starts with *first* and goes on with *part*.

    *where* is empty in code, else `CHILD_` or `VALUE_`.
    """
    return (
        Rule(f"{where or 'TAG_'}START", sequence("<", _name_of_element(first, part))),
        Rule(f"{where}FRAGMENT", sequence("<>")),
    )


def _name_of_element(first: Regex, part: Regex) -> Regex:
    """The name of an element, such as `a-b`, `a.b` or `a:b`. No part after a `.` has hyphens."""
    member, name = sequence(first, many(part)), name_in_tag(first, part)
    return sequence(name, choice(many(".", member), sequence(":", name)))


def name_in_tag(first: Regex, part: Regex) -> Regex:
    """A name in a tag, which may have hyphens."""
    return sequence(first, many(choice(part, "-")))


def generic_starts(first: Regex, part: Regex, reserved: Regex) -> tuple[Rule, ...]:
    """The lexemes that start the parameters of a generic function where an operand is expected.

    A *reserved* word names no parameter, and a modifier none before `extends`.
    """
    name, gap = sequence(first, many(part)), many(one_of(_SPACES))
    blank, opening = some(one_of(_SPACES)), sequence("<", maybe("const", some(one_of(_SPACES))))
    extends = sequence(blank, "extends", one_of(_SPACES + _BREAKS))
    styled = choice(
        one_of(string.ascii_uppercase),
        sequence("T", one_of(string.ascii_uppercase), many(part)),
    )
    return (
        Rule("BAD", sequence(opening, reserved, choice(sequence(gap, one_of(",=")), extends))),
        Rule("BAD", sequence(opening, choice(*_MODIFIERS), extends)),
        Rule("GENERIC_LIST", sequence(opening, name, gap, ",")),
        Rule("GENERIC_EXTENDS", sequence(opening, name, extends)),
        Rule("GENERIC_EQUAL", sequence(opening, name, gap, "=")),
        Rule("GENERIC_PARENTHESIS", sequence("<", styled, ">", gap, "(")),
    )


def element_lexemes(
    shape: str, first: Regex, part: Regex, gaps: Sequence[Rule], *, types: bool
) -> tuple[Rule, ...]:
    """The lexemes of an element in a *shape* (see `jsx_modes.py`), *gaps* being those between names."""
    name = name_in_tag(first, part)
    line_end = choice("\r\n", *_BREAKS, *_SEPARATORS)
    if shape == "children":
        return (
            *element_starts(first, part, "CHILD_"),
            Rule("CLOSE_START", sequence("</", _name_of_element(first, part))),
            Rule("FRAGMENT_END", sequence("</>")),
            Rule("CHILD_BRACE", sequence("{")),
            Rule("CHILD_TEXT", choice(some(character_but("{}<>,;" + _BREAKS)), one_of(",;"))),
            Rule("NL", choice("\r\n", *_BREAKS)),
        )
    if shape == "value":
        strings = (sequence(quote, many(character_but(quote)), quote) for quote in "\"'")
        return (
            *element_starts(first, part, "VALUE_"),
            Rule("ATTRIBUTE", choice(*strings)),
            Rule("TAG_BRACE", sequence("{")),
            *(gap for gap in gaps if gap.kind != "COMMENT"),  # no line end may follow
        )
    if shape == "closing":
        return (Rule("CLOSE_END", sequence(">")), *gaps, Rule("NL", line_end))
    rest_of_tag = (
        Rule("TAG_NAME", name),
        Rule("TAG_BRACE", sequence("{")),
        Rule("TAG_END", sequence(">")),
        Rule("TAG_CLOSED", sequence("/", many(one_of(_SPACES)), ">")),
        *gaps,
    )
    if shape == "name":
        arguments = [Rule("<", sequence("<")), Rule("BAD", sequence("<<"))] if types else []
        return (*arguments, *rest_of_tag, Rule("TAG_LINE_END", line_end))
    return (
        Rule("TAG_COLON", sequence(":")),
        Rule("TAG_EQUAL", sequence("=")),
        *rest_of_tag,
        Rule("NL", line_end),
    )
