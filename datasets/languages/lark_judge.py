"""Lark as the judge of files in a user's own grammar, and the tokens that its lexer finds."""

from __future__ import annotations

from functools import lru_cache

from fimlsp.datasets.languages.suites import NoTokensError, Span, Suite, SuiteBuilder
from fimlsp.languages.custom import LarkLanguage
from lark import Lark, Token
from lark.exceptions import LarkError, UnexpectedInput


def syntax_error(language: LarkLanguage, text: str) -> str | None:
    """Why Lark refuses *text*, in one line; None if it accepts it."""
    try:
        _parser(language).parse(text)
    except UnexpectedInput as error:
        return f"{str(error).strip().partition(chr(10))[0]} (line {error.line})"
    except LarkError as error:
        return str(error).strip().partition("\n")[0]
    except RecursionError:
        return "nested too deeply for the judge"
    return None


def tokens_of(language: LarkLanguage, text: str) -> list[Span]:
    """The span of each token that the grammar does not ignore.

    Raises:
        NoTokensError: Lark cannot split the text.
    """
    return [(token.start_pos or 0, token.end_pos or 0) for token in _tokens(language, text)]


def suites_of(language: LarkLanguage, text: str) -> tuple[Suite, ...]:
    """The tokens of each pair of brackets, both included, and last those of the file itself."""
    suites, waiting = SuiteBuilder(), list[str]()
    for token, span in zip(_tokens(language, text), tokens_of(language, text), strict=True):
        if token.type in language.enclosures:
            suites.enter()
            waiting.append(language.enclosures[token.type])
        suites.add(span)
        if waiting and token.type == waiting[-1]:
            suites.leave()
            waiting.pop()
    return suites.suites()


def bodies_of(language: LarkLanguage, text: str) -> list[Span]:
    """All that stands between two brackets, where that is anything."""
    bodies, begins = list[Span](), list[tuple[str, int]]()
    for token, (start, end) in zip(_tokens(language, text), tokens_of(language, text), strict=True):
        if begins and token.type == begins[-1][0]:
            _, begin = begins.pop()
            if text[begin:start].strip():
                bodies.append((begin, start))
        elif token.type in language.enclosures:
            begins.append((language.enclosures[token.type], end))
    return sorted(bodies)


def statements_of(language: LarkLanguage, text: str) -> list[Span]:
    """The tokens that begin in one line, as somebody types a line at a time."""
    units = dict[int, Span]()
    line = at = 0
    for start, end in tokens_of(language, text):
        line, at = line + text.count("\n", at, start), start
        units[line] = units.get(line, (start, end))[0], end
    return list(units.values())


def _tokens(language: LarkLanguage, text: str) -> list[Token]:
    try:
        return list(_parser(language).lex(text))
    except LarkError as error:
        raise NoTokensError(str(error).partition("\n")[0]) from error


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
    )
