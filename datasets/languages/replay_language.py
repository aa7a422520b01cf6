"""A language to replay: its files, its reference parser, and the places where holes can be cut.

Tokens are grouped by the suite they are in, as the boundary cuts of Melcer et al. 2024 choose them. A
*suite* is a nested part of a file: the body of a compound statement in Python, an object or array in JSON.
The file is the outermost suite. A *stretch* is the tokens of a suite between two nested suites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from fimlsp.errors import UserError
from fimlsp.quotient.language.contract import Language

Span = tuple[int, int]
"""Start and end, in characters."""

Stretch = tuple[Span, ...]
Suite = tuple[Stretch, ...]

_OPENING, _CLOSING = frozenset(("(", "[", "{", "${")), frozenset(")]}")
_LINE_ENDS = frozenset("\n\r")


class NoTokensError(Exception):
    """The reference parser accepts the file, but it cannot be split into tokens."""


class MissingParserError(UserError, RuntimeError):
    """A reference parser is not installed; the message has the command that installs it."""


@dataclass(frozen=True, slots=True)
class ReplayLanguage:
    """The files of a language, its grammar, its reference parser, and its places for holes.

    The functions that find places may assume that `syntax_error` accepts the text. They raise `NoTokensError`
    if they cannot split it into tokens all the same. Offsets count characters.

    Attributes:
        name: the language's name in data sets, options and fenced code, in lower case.
        patterns: globs for the names of its files.
        grammar: the language as given to the engine.
        reference_parser: the name of the parser in `syntax_error`, for reports. It is never one of ours.
        syntax_error: the parser's error in a file, in one line; None if it accepts the file.
        compiler: the compiler's error in a file that parses, without the names in it; None if it accepts the
            file. The attribute is None for a language without checks beyond its syntax.
        suites: the tokens of a file by the suite they are in, for `boundary` cuts.
        bodies: the contents of each nested suite, for `block` cuts.
        statements: the parts that a user types as one unit, for `user` cuts.
    """

    name: str
    patterns: tuple[str, ...]
    grammar: Language
    reference_parser: str
    syntax_error: Callable[[str], str | None]
    compiler: Callable[[str], str | None] | None
    suites: Callable[[str], tuple[Suite, ...]]
    bodies: Callable[[str], list[Span]]
    statements: Callable[[str], list[Span]]

    def has_file(self, name: str) -> bool:
        """True if a file of this name is written in the language."""
        return any(fnmatchcase(name, pattern) for pattern in self.patterns)

    def compile_error(self, text: str) -> str | None:
        """The compiler's error in *text*; None if there is no error, or no compiler."""
        return None if self.compiler is None else self.compiler(text)

    def accepts(self, left: str, middle: bytes, right: str) -> bool:
        """True if the file with *middle* in the hole is valid; bytes that are not UTF-8 never are."""
        try:
            return self.syntax_error(left + middle.decode() + right) is None
        except UnicodeDecodeError:
            return False


@dataclass(slots=True)
class SuiteBuilder:
    """Collects the suites of a file from its tokens in their order."""

    _finished: list[Suite] = field(default_factory=list)
    _open: list[list[list[Span]]] = field(default_factory=lambda: [[[]]])

    def add(self, token: Span) -> None:
        """Add a token to the innermost open suite."""
        self._open[-1][-1].append(token)

    def enter(self) -> None:
        """Open a suite within the innermost open one."""
        self._open[-1].append([])
        self._open.append([[]])

    def leave(self) -> None:
        """Close the innermost open suite."""
        self._finished.append(_without_empty_stretches(self._open.pop()))

    def suites(self) -> tuple[Suite, ...]:
        """All suites in the order in which they end, those still open last."""
        return (*self._finished, *map(_without_empty_stretches, reversed(self._open)))


@dataclass(frozen=True, slots=True)
class BracketPlaces:
    """The places for holes in a language whose blocks are pairs of brackets.

    Attributes:
        tokens_of: the span of each token of a valid text, without comments and line ends.
        blocks: each opening bracket of a block, with the closing one.
    """

    tokens_of: Callable[[str], list[Span]]
    blocks: Mapping[str, str]

    def suites_of(self, text: str) -> tuple[Suite, ...]:
        """The tokens of each pair of brackets, these included, and last those of the file itself."""
        suites = SuiteBuilder()
        for start, end in self.tokens_of(text):
            token = text[start:end]
            if token in _OPENING:
                suites.enter()
            suites.add((start, end))
            if token in _CLOSING:
                suites.leave()
        return suites.suites()

    def bodies_of(self, text: str) -> list[Span]:
        """The content of each block, if it is not blank."""
        bodies, starts = list[Span](), list[int]()
        closing = frozenset(self.blocks.values())
        for start, end in self.tokens_of(text):
            token = text[start:end]
            if token in self.blocks:
                starts.append(end)
            elif token in closing:
                body = starts.pop(), start
                if text[slice(*body)].strip():
                    bodies.append(body)
        return sorted(bodies)

    def statements_of(self, text: str) -> list[Span]:
        """The tokens of each line, which a user types as one unit."""
        return units_by_line(text, self.tokens_of(text))


def units_by_line(text: str, tokens: Iterable[Span]) -> list[Span]:
    """A unit for each line of *text* on which a token starts and none of the line before goes on."""
    units = list[Span]()
    for start, end in tokens:
        if units and _LINE_ENDS.isdisjoint(text[units[-1][1] : start]):
            units[-1] = units[-1][0], end
        else:
            units.append((start, end))
    return units


def _without_empty_stretches(stretches: list[list[Span]]) -> Suite:
    return tuple(tuple(stretch) for stretch in stretches if stretch)
