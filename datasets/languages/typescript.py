"""TypeScript and JavaScript: the parsers of TypeScript and acorn as references, and the places for holes.

Both run in a small program for Node.js, `typescript_parser.mjs`.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from fimlsp.datasets.languages.replay_language import BracketPlaces, MissingParserError, ReplayLanguage, Span
from fimlsp.languages.typescript import TypeScript, javascript, jsx, tsx, typescript
from fimlsp.lexing.automata.cached_files import cache_folder
from fimlsp.lexing.lexer_tables import LexerTables, longest_match

PACKAGES = ("typescript@6.0.3", "acorn@8.19.0", "acorn-jsx@5.3.2")
_FOLDER_VARIABLE = "FIMLSP_NODE_PACKAGES"
_CODE = re.compile(
    r"""(?P<skipped>\ufeff|//[^\n]*|/\*.*?(?:\*/|\Z)|\s+)
    |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'
    |\.?\d(?:[eE][+-]|[\w.])*|[#]?[\w$\\]+
    |\.\.\.|>>>=|<<=|>>=|\*\*=|&&=|\|\|=|\?\?=|===|!==|>>>|=>|\?\.|\+\+|--|&&|\|\||\?\?|\*\*|<<|>>|[-+*/%&|^=!<>]=|.""",
    re.DOTALL | re.VERBOSE,
)
_TEMPLATE_TEXT = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))+|\$\{|`", re.DOTALL)
_REGULAR_EXPRESSION = re.compile(r"/(?![*/])(?:[^\\/\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[\w$]*")
_BRACKETS = frozenset("()[]{}")
"""Signs that are no tokens where they are all of a template's text."""
_OPERANDS = re.compile(r"[\w$)\]\"'`#]")
_NO_OPERANDS = frozenset(
    (
        "await",
        "case",
        "delete",
        "do",
        "else",
        "in",
        "instanceof",
        "new",
        "of",
        "return",
        "throw",
        "typeof",
        "void",
        "yield",
    )
)


class Refusal(NamedTuple):
    """An error in one line; `later` if only a check after the parser finds it."""

    error: str
    later: bool


def refusal(parser: str, text: bytes) -> Refusal | None:
    """The error of `parser` in *text*; None if it accepts the text.

    The parsers are `typescript` and `javascript`, or `tsx` and `jsx`, and others that `typescript_parser.mjs`
    describes.

    Raises:
        MissingParserError: Node.js or one of the packages is missing.
    """
    program = _program()
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write(b"%s %d\n" % (parser.encode(), len(text)) + text)
    program.stdin.flush()
    answer = json.loads(program.stdout.readline())
    return None if answer is None else Refusal(*answer)


def syntax_error(parser: str, text: str) -> str | None:
    """As `refusal`, in words."""
    found = refusal(parser, text.encode())
    return None if found is None else found.error


@cache
def _program() -> subprocess.Popen[bytes]:
    node = shutil.which("node")
    if node is None:
        raise MissingParserError("Cannot check TypeScript: Node.js is missing. Install it.")
    folder = packages_folder()
    source = files(__package__).joinpath("typescript_parser.mjs")
    program = subprocess.Popen(
        [node, str(source), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(program.communicate)
    return program


def packages_folder() -> Path:
    """The folder with the parsers' packages in `node_modules`.

    Raises:
        MissingParserError: one of them is missing; the message has the command that installs them.
    """
    folder = node_packages().parent
    if not all((folder / "node_modules" / package.partition("@")[0]).is_dir() for package in PACKAGES):
        command = f"npm install --prefix {folder} {' '.join(PACKAGES)}"
        raise MissingParserError(f"Cannot check TypeScript: its parser is missing. Run: {command}")
    return folder


def node_packages() -> Path:
    """The folder of the packages for Node.js; it need not exist."""
    return Path(os.environ.get(_FOLDER_VARIABLE) or cache_folder() / "node") / "node_modules"


def tokens_of(text: str) -> list[Span]:
    """The span of each token of a valid text, without comments and line ends; fields split templates."""
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[Span]:
    position, before, fields = 0, "", list[int]()  # the braces open in each field
    in_text = False
    while position < len(text):
        if in_text:
            found = _TEMPLATE_TEXT.match(text, position)
        else:
            starts = not (before and _OPERANDS.match(before[-1]) and before not in _NO_OPERANDS)
            found = (_REGULAR_EXPRESSION.match(text, position) if starts else None) or _CODE.match(
                text, position
            )
        assert found is not None
        token, position = found.group(), found.end()
        if found.re is _CODE and found["skipped"] is not None:
            continue
        if not in_text or token not in _BRACKETS:
            yield found.span()
        before = token
        if token == "`" and found.re is not _REGULAR_EXPRESSION:
            in_text = not in_text
        elif in_text and token == "${":
            in_text = False
            fields.append(0)
        elif not in_text and fields and token in "{}":
            fields[-1] += 1 if token == "{" else -1
            if fields[-1] < 0:
                fields.pop()
                in_text = True


def tokens_with_elements(language: TypeScript, text: str) -> list[Span]:
    """As `tokens_of`, for a *language* with JSX. Text between tags is no token."""
    lexical, data = _lexical(language), text.encode()
    modes, position, tokens = lexical.start, 0, list[Span]()
    before, characters = 0, 0
    while position < len(data):
        start = position
        found = longest_match(lexical, lexical.dfa.starts[modes.mode], data, position)
        assert found is not None
        kind, position = found
        characters += len(data[before:start].decode())
        before = start
        is_token = (
            kind not in lexical.skipped and lexical.spec.families.get(lexical.kinds[kind]) != "line end"
        )
        if is_token and lexical.spec.families.get(lexical.kinds[kind]) != "comment":
            tokens.append((characters, characters + len(data[start:position].decode())))
        if kind in lexical.mode_changers:
            following = modes.after(lexical.kinds[kind])
            assert following is not None
            modes = following
    return tokens


@cache
def _lexical(language: TypeScript) -> LexerTables:
    return LexerTables(language.lexical_spec())


PLACES = BracketPlaces(tokens_of, {"{": "}", "${": "}"})
TYPESCRIPT, TSX, JAVASCRIPT, JSX = (
    ReplayLanguage(
        name=name,
        patterns=patterns,
        grammar=grammar,
        reference_parser=reference,
        syntax_error=partial(syntax_error, name),
        compiler=None,
        suites=places.suites_of,
        bodies=places.bodies_of,
        statements=places.statements_of,
    )
    for name, patterns, grammar, reference in (
        ("typescript", ("*.ts", "*.mts", "*.cts"), typescript, "TypeScript"),
        ("tsx", ("*.tsx",), tsx, "TypeScript"),
        ("javascript", ("*.js", "*.mjs", "*.cjs"), javascript, "acorn"),
        ("jsx", ("*.jsx",), jsx, "acorn with acorn-jsx"),
    )
    for places in (
        replace(PLACES, tokens_of=partial(tokens_with_elements, grammar)) if grammar.jsx else PLACES,
    )
)
