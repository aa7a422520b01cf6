"""Lark as the judge of files in a user's own grammar, and the tokens that its lexer finds.

In a language of indentation Lark is given a file as is usual there: from the first line with code on, which
must not be indented, and with a line end behind the last one. A file without code is valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from lark import Lark, Token
from lark.exceptions import LarkError, UnexpectedInput
from lark.indenter import Indenter

from fimlsp.datasets.languages.suites import NoTokensError, Span, Suite, SuiteBuilder
from fimlsp.languages.custom import LarkLanguage


def syntax_error(language: LarkLanguage, text: str) -> str | None:
    """Why Lark refuses *text*, in one line; None if it accepts it."""
    given, _ = _given(language, text)
    if language.indenter is not None:
        if not given:
            return None
        if given[0] in " \t":
            return "the first line is indented"
    try:
        _parser(language).parse(given)
    except UnexpectedInput as error:
        return f"{str(error).strip().partition(chr(10))[0]} (line {error.line})"
    except LarkError as error:
        return str(error).strip().partition("\n")[0]
    except AssertionError:
        return "a bracket is closed that was not opened"
    except RecursionError:
        return "nested too deeply for the judge"
    return None


def tokens_of(language: LarkLanguage, text: str) -> list[Span]:
    """The span of each token that the grammar does not ignore, without those of the layout.

    Raises:
        NoTokensError: Lark cannot split the text.
    """
    return [span for token, span in _tokens(language, text) if token not in _layout(language)]


def suites_of(language: LarkLanguage, text: str) -> tuple[Suite, ...]:
    """The tokens of each block and each pair of brackets, and last those of the file itself."""
    suites, waiting = SuiteBuilder(), list[str]()
    closing, layout = _closing(language), _layout(language)
    for token, span in _tokens(language, text):
        if token in closing:
            suites.enter()
            waiting.append(closing[token])
        if token not in layout:
            suites.add(span)
        if waiting and token == waiting[-1]:
            suites.leave()
            waiting.pop()
    return suites.suites()


def bodies_of(language: LarkLanguage, text: str) -> list[Span]:
    """All that stands in a block, or between two brackets, where that is anything."""
    bodies, begins = list[Span](), list[tuple[str, int]]()
    closing, layout = _closing(language), _layout(language)
    last = 0
    for token, (start, end) in _tokens(language, text):
        if begins and token == begins[-1][0]:
            _, begin = begins.pop()
            body = begin, last if token in layout else start
            if text[slice(*body)].strip():
                bodies.append(body)
        elif token in closing:
            begins.append((closing[token], end))
        if token not in layout:
            last = end
    return sorted(bodies)


def statements_of(language: LarkLanguage, text: str) -> list[Span]:
    """The tokens that begin in one line, as somebody types a line at a time."""
    units = dict[int, Span]()
    line = at = 0
    for start, end in tokens_of(language, text):
        line, at = line + text.count("\n", at, start), start
        units[line] = units.get(line, (start, end))[0], end
    return list(units.values())


def _tokens(language: LarkLanguage, text: str) -> Iterator[tuple[str, Span]]:
    """The name of each token, with where it stands; those of the layout where it was found."""
    given, offset = _given(language, text)
    try:
        for token in _parser(language).lex(given):
            assert isinstance(token, Token)
            start, end = (min(offset + (place or 0), len(text)) for place in (token.start_pos, token.end_pos))
            yield token.type, (start, end)
    except LarkError as error:
        raise NoTokensError(str(error).partition("\n")[0]) from error


def _layout(language: LarkLanguage) -> frozenset[str]:
    made = language.indenter
    return frozenset[str]() if made is None else frozenset((made.newline, made.indent, made.dedent))


def _closing(language: LarkLanguage) -> dict[str, str]:
    """What closes each token that opens something."""
    made = language.indenter
    return {**language.enclosures, **({} if made is None else {made.indent: made.dedent})}


def _given(language: LarkLanguage, text: str) -> tuple[str, int]:
    """What of *text* Lark is given, and where that begins."""
    if language.indenter is None:
        return text, 0
    start = 0
    blank = _blank(language)
    while (found := blank.match(text, start)) is not None and "\n" in found[0]:
        start = found.start() + found[0].rindex("\n") + 1
    if blank.fullmatch(text, start) or not text[start:].strip(" \t"):
        return "", start
    return text[start:] + (" \n" if text.endswith("\r") else "\n"), start


@lru_cache(8)
def _blank(language: LarkLanguage) -> re.Pattern[str]:
    assert language.indenter is not None
    line_ends = _parser(language).get_terminal(language.indenter.newline).pattern.to_regexp()
    return re.compile(rf"[ \t]*(?:{line_ends})")


@lru_cache(8)
def _parser(language: LarkLanguage) -> Lark:
    """Lark with the user's grammar, whose files it gets from memory; it builds no tree."""
    return Lark(
        language.files.text,
        parser="earley",
        lexer="basic",
        ambiguity="forest",
        start=language.start,
        source_path=language.files.name,
        import_paths=[language.files.load],
        postlex=_indenter(language),
    )


def _indenter(language: LarkLanguage) -> Indenter | None:
    """Lark's own indenter with the attributes that the grammar tells."""
    made = language.indenter
    if made is None:
        return None
    attributes = {
        "NL_type": made.newline,
        "INDENT_type": made.indent,
        "DEDENT_type": made.dedent,
        "OPEN_PAREN_types": [*made.brackets],
        "CLOSE_PAREN_types": [*made.brackets.values()],
        "tab_len": made.tab_len,
    }
    found: Indenter = type("Told", (Indenter,), attributes)()
    return found
