"""The symbols of Python text by CPython's own `tokenize` module, in the names of our grammar.

Runs in every version of Python that has a grammar here, and imports nothing of ours.
"""

from __future__ import annotations

import io
import keyword
import re
import sys
import tokenize
import warnings
from collections.abc import Iterator

from .fstring_tokens import with_parts

SOFT_KEYWORDS = {"match": (3, 10), "case": (3, 10), "_": (3, 10), "type": (3, 12), "lazy": (3, 15)}
TEMPLATE = re.compile("t|rt|tr", re.IGNORECASE)
RUNNING = sys.version_info[:2]
LAYOUT = {tokenize.NEWLINE: "NEWLINE", tokenize.INDENT: "INDENT", tokenize.DEDENT: "DEDENT"}
SILENT = {tokenize.NL, tokenize.COMMENT, tokenize.ENCODING, tokenize.ENDMARKER}
QUOTES = ('"""', "'''", '"', "'")
CONVERSION = re.compile(r"![rsa]\s*(?=[:}])")
END_OF_BODY = re.compile(r"=\s*(?=[!:}])")


class NotPythonError(ValueError):
    """Text that has no symbols."""


def symbols(text: str, version: tuple[int, int] = RUNNING) -> list[str]:
    """The symbols of a file, as names of terminals, with the soft keywords of *version*.

    Raises:
        NotPythonError: if there is text that belongs to no symbol.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of an escape that means nothing
            found = list(_symbols(text))
    except (tokenize.TokenError, SyntaxError, IndexError, ValueError) as error:
        raise NotPythonError(str(error)) from error
    if found == ["NEWLINE"]:  # Python 3.8 ends a comment that is all there is with one
        return []
    return ["NAME" if SOFT_KEYWORDS.get(name, version) > version else name for name in found]


def _symbols(text: str) -> Iterator[str]:
    for part, token in with_parts(_with_templates(tokenize.generate_tokens(io.StringIO(text).readline))):
        if part is not None:
            yield part
        elif token.type in LAYOUT:
            yield LAYOUT[token.type]
        elif token.type == tokenize.NAME and token.string.isidentifier():
            word = token.string
            yield word if keyword.iskeyword(word) or word in SOFT_KEYWORDS else "NAME"
        elif token.type == tokenize.NUMBER:
            yield "IMAGINARY" if token.string[-1] in "jJ" else "REAL"
        elif token.type == tokenize.STRING:
            yield from _string(token.string)
        elif token.type == tokenize.OP:
            yield token.string
        elif token.type not in SILENT:
            raise NotPythonError(token.string)


def _with_templates(tokens: Iterator[tokenize.TokenInfo]) -> Iterator[tokenize.TokenInfo]:
    """The *tokens*, template strings in one also where the running version does not know them."""
    prefix = None
    for token in tokens:
        if prefix is not None and token.type == tokenize.STRING and token.start == prefix.end:
            yield token._replace(string=prefix.string + token.string, start=prefix.start)
            prefix = None
            continue
        if prefix is not None:
            yield prefix
        prefix = token if token.type == tokenize.NAME and TEMPLATE.fullmatch(token.string) else None
        if prefix is None:
            yield token


def _string(literal: str) -> Iterator[str]:
    prefix = re.split("['\"]", literal)[0].lower()
    if "f" not in prefix and "t" not in prefix:
        yield "BYTES" if "b" in prefix else "STRING"
        return
    quote = next(quote for quote in QUOTES if literal.startswith(quote, len(prefix)))
    text = literal[len(prefix) + len(quote) : -len(quote)]
    if "r" not in prefix:
        text = re.sub(r"\\N\{[^}]*\}|\\[^{}]", lambda match: "." * len(match[0]), text, flags=re.DOTALL)
    yield "FSTRING_START" if "f" in prefix else "TSTRING_START"
    position = yield from _parts(text, 0, 0)
    if position != len(text):
        raise NotPythonError(text)
    yield "FSTRING_END"


def _parts(text: str, position: int, depth: int) -> Iterator[str]:  # returns where it ends
    """Text and fields up to the end or, inside a field (*depth* 1 or more), up to its closing brace."""
    begun = position
    while position < len(text) and not (depth and text[position] == "}"):
        if text[position] in "{}" and not depth and text[position : position + 2] in ("{{", "}}"):
            position += 2
        elif text[position] == "{":
            if position > begun:
                yield "FSTRING_TEXT"
            position = begun = yield from _field(text, position + 1, depth)
        elif text[position] == "}":
            raise NotPythonError(text)
        else:
            position += 1
    if position > begun:
        yield "FSTRING_TEXT"
    return position


def _field(text: str, position: int, depth: int) -> Iterator[str]:  # returns where it ends
    yield "FIELD_OPEN"
    end = _body_end(text, position)
    body = text[position:end]
    if "\\" in body:
        raise NotPythonError(body)
    yield from list(_symbols(f"({body}\n)"))[1:-2]
    if equal := END_OF_BODY.match(text, end):
        yield "FIELD_EQUAL"
        end = equal.end()
    if conversion := CONVERSION.match(text, end):
        yield "FIELD_CONVERSION"
        end = conversion.end()
    if text[end] == ":":
        yield "FIELD_COLON"
        end = yield from _parts(text, end + 1, depth + 1)
    if text[end] != "}":
        raise NotPythonError(text)
    yield "FIELD_CLOSE"
    return end + 1


def _body_end(text: str, position: int) -> int:
    brackets: list[str] = []
    while brackets or not _ends_body(text, position):
        character = text[position]
        if character in "([{":
            brackets.append({"(": ")", "[": "]", "{": "}"}[character])
        elif character in ")]}":
            if not brackets or brackets.pop() != character:
                raise NotPythonError(text)
        elif character == "#":
            raise NotPythonError(text)
        elif character in "'\"":
            quote = next(quote for quote in QUOTES if text.startswith(quote, position))
            position = (
                text.index(quote, position + len(quote)) + len(quote) - 1 if quote in text else len(text)
            )
        elif text[position : position + 2] in ("==", "!=", "<=", ">="):
            position += 1
        position += 1
    return position


def _ends_body(text: str, position: int) -> bool:
    character, pair = text[position], text[position : position + 2]
    return character in ":}" or (character in "!=" and pair not in ("==", "!="))
