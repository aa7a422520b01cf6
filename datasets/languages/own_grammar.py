"""A user's own grammar as a language to replay, with Lark as the reference parser.

The places for holes are the tokens of Lark's lexer. In a language of indentation Lark reads a file from the
first line with code on, as is usual there. That line must not be indented, and a line end follows the last
one. A file without code is valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from lark import Lark, Token
from lark.exceptions import LarkError, UnexpectedInput
from lark.indenter import Indenter

from fimlsp.datasets.languages.replay_language import NoTokensError, ReplayLanguage, Span, Suite, SuiteBuilder
from fimlsp.languages.custom import LarkLanguage
from fimlsp.languages.custom.grammar_files import BASIC, CONTEXTUAL, DYNAMIC, GrammarFiles

_PARSER = {BASIC: "earley", CONTEXTUAL: "lalr", DYNAMIC: "earley"}
"""Lark's parser for each lexer."""


def syntax_error(language: LarkLanguage, text: str) -> str | None:
    """Lark's error in *text*, in one line; None if it accepts the text."""
    code, _ = _code_of(language, text)
    if language.indenter is not None:
        if not code:
            return None
        if code[0] in " \t":
            return "the first line is indented"
    try:
        _parser(language).parse(code)
    except UnexpectedInput as error:
        return f"{str(error).strip().partition(chr(10))[0]} (line {error.line})"
    except LarkError as error:
        return str(error).strip().partition("\n")[0]
    except AssertionError:
        return "a bracket is closed that was not opened"
    except RecursionError:
        return "nested too deeply for the reference parser"
    return None


def tokens_of(language: LarkLanguage, text: str) -> list[Span]:
    """The span of each token that the grammar does not ignore, without those of the layout.

    Raises:
        NoTokensError: Lark cannot split the text.
    """
    return [span for token, span in _tokens(language, text) if token not in _layout(language)]


def suites_of(language: LarkLanguage, text: str) -> tuple[Suite, ...]:
    """The tokens of each block and each pair of brackets, and last those of the file itself."""
    suites, awaited = SuiteBuilder(), list[str]()
    closing, layout = _closing(language), _layout(language)
    for token, span in _tokens(language, text):
        if token in closing:
            suites.enter()
            awaited.append(closing[token])
        if token not in layout:
            suites.add(span)
        if awaited and token == awaited[-1]:
            suites.leave()
            awaited.pop()
    return suites.suites()


def bodies_of(language: LarkLanguage, text: str) -> list[Span]:
    """The content of each block and pair of brackets, if it is not blank."""
    bodies, starts = list[Span](), list[tuple[str, int]]()
    closing, layout = _closing(language), _layout(language)
    last_end = 0
    for token, (start, end) in _tokens(language, text):
        if starts and token == starts[-1][0]:
            _, body_start = starts.pop()
            body = body_start, last_end if token in layout else start
            if text[slice(*body)].strip():
                bodies.append(body)
        elif token in closing:
            starts.append((closing[token], end))
        if token not in layout:
            last_end = end
    return sorted(bodies)


def statements_of(language: LarkLanguage, text: str) -> list[Span]:
    """The tokens that start in one line, since users type a line at a time."""
    units = dict[int, Span]()
    line = position = 0
    for start, end in tokens_of(language, text):
        line, position = line + text.count("\n", position, start), start
        units[line] = units.get(line, (start, end))[0], end
    return list(units.values())


def _tokens(language: LarkLanguage, text: str) -> Iterator[tuple[str, Span]]:
    """The name and span of each token; a token of the layout has the position at which it was noticed."""
    code, offset = _code_of(language, text)
    try:
        parser = _parser(language)
        for token in (
            parser.parse_interactive(code).iter_parse()
            if language.lexer_in_force == CONTEXTUAL
            else parser.lex(code)
        ):
            assert isinstance(token, Token)
            ends = (token.start_pos or 0, token.end_pos or 0)
            start, end = (min(offset + position, len(text)) for position in ends)
            yield token.type, (start, end)
    except LarkError as error:
        raise NoTokensError(str(error).partition("\n")[0]) from error


def _layout(language: LarkLanguage) -> frozenset[str]:
    indenter = language.indenter
    if indenter is None:
        return frozenset()
    return frozenset((indenter.newline, indenter.indent, indenter.dedent))


def _closing(language: LarkLanguage) -> dict[str, str]:
    """The closing token of each opening token."""
    indenter = language.indenter
    return {**language.enclosures, **({} if indenter is None else {indenter.indent: indenter.dedent})}


def _code_of(language: LarkLanguage, text: str) -> tuple[str, int]:
    """The part of *text* that Lark reads, and its start."""
    if language.indenter is None:
        return text, 0
    start = 0
    blank = _blank(language)
    while (blank_line := blank.match(text, start)) is not None and "\n" in blank_line[0]:
        start = blank_line.start() + blank_line[0].rindex("\n") + 1
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
    """Lark with the user's grammar, whose files it reads from memory."""
    lexer = language.lexer_in_force
    options: dict[str, Any] = {"parser": _PARSER[lexer], "lexer": lexer}
    if options["parser"] == "earley":
        options["ambiguity"] = "forest"  # which builds no tree
    return Lark(
        language.files.text,
        **options,
        start=language.start,
        source_path=language.files.name,
        import_paths=[language.files.load],
        postlex=_indenter(language),
    )


def _indenter(language: LarkLanguage) -> Indenter | None:
    """Lark's own indenter with the attributes that the grammar declares."""
    declared = language.indenter
    if declared is None:
        return None
    attributes = {
        "NL_type": declared.newline,
        "INDENT_type": declared.indent,
        "DEDENT_type": declared.dedent,
        "OPEN_PAREN_types": [*declared.brackets],
        "CLOSE_PAREN_types": [*declared.brackets.values()],
        "tab_len": declared.tab_len,
    }
    indenter: Indenter = type("DeclaredIndenter", (Indenter,), attributes)()
    return indenter


@dataclass(frozen=True, slots=True)
class OwnGrammar:
    """A grammar, and the globs for the names of its files."""

    language: LarkLanguage
    patterns: tuple[str, ...]

    @property
    def replay_language(self) -> ReplayLanguage:
        """The language of the files."""
        lexer = self.language.lexer_in_force
        return ReplayLanguage(
            name=self.language.name,
            patterns=self.patterns,
            grammar=self.language,
            reference_parser=f'Lark (parser="{_PARSER[lexer]}", lexer="{lexer}")',
            syntax_error=partial(syntax_error, self.language),
            compiler=None,
            suites=partial(suites_of, self.language),
            bodies=partial(bodies_of, self.language),
            statements=partial(statements_of, self.language),
        )

    def to_json(self) -> dict[str, Any]:
        """All of the value, so that a run can be read without the grammar's file."""
        return {
            "files": [list(file) for file in self.language.files.texts],
            "start": self.language.start,
            "lexer": self.language.lexer,
            "patterns": list(self.patterns),
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> OwnGrammar:
        """The value that `to_json` wrote."""
        files = GrammarFiles(tuple((str(name), str(text)) for name, text in row["files"]))
        lexer = row.get("lexer")
        return cls(
            LarkLanguage(files, str(row["start"]), lexer and str(lexer)), tuple(map(str, row["patterns"]))
        )
