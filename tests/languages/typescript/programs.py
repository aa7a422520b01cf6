"""Random programs: derivations of the grammar, written with random white space and comments."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

from fimlsp.languages.typescript import TypeScript
from fimlsp.languages.typescript.jsx_modes import jsx_modes
from fimlsp.languages.typescript.modes import RESTRICTED
from fimlsp.testing.suites import lexemes

WORDS = {
    "NAME": (b"a", b"b", b"T", b"x1", b"$", b"_", b"\xc3\xa9", b"name", b"constructor"),
    "NUMBER": (b"1", b"0", b"0x1F", b"3.14", b".5", b"1e-3", b"1_000", b"0b1n", b"5."),
    "LEGACY_NUMBER": (b"010", b"09.5"),
    "QUESTION_NUMBER": (b"?.5",),
    "STRING": (b'"a"', b"'\\n\\x41'", b"''", b'"\\u{1F600}"'),
    "LEGACY_STRING": (b"'\\01'",),
    "REGEX": (b"(/a/)",),
    "/": (b"%",),
    "/=": (b"%=",),
    "TEXT": (b"t", b"c\nd", b"$", b"{", b"\\`"),
    "ODD_TEXT": (b"\\u12 ", b"\\x "),
    "PRIVATE": (b"#p",),
    "TEMPLATE_START": (b"`",),
    "TEMPLATE_END": (b"`",),
    "ANGLE": (b">",),
    "ANGLE_EQUAL": (b"=",),
    "HASHBANG": (b"#!node\n",),
    "HASHBANG_ALONE": (b"#!node",),
    "LINE_END": (b"\n", b"\n\n  ", b" // remark\n", b"\r\n", b" /* over\nlines */ "),
}
GAPS_BEFORE_VALUES = (b" ", b"\t", b" /* remark */ ")
ELEMENTS = {
    **dict.fromkeys(
        ("TAG_START", "CHILD_START", "VALUE_START"),
        (b"<a", b"<b", b"<Ab-c", b"<if", b"<this.b", b"<a:b", b"<a.b.if"),
    ),
    **dict.fromkeys(("FRAGMENT", "CHILD_FRAGMENT", "VALUE_FRAGMENT"), (b"<>",)),
    "FRAGMENT_END": (b"</>",),
    "TAG_NAME": (b"b", b"aria-label", b"if"),
    "TAG_COLON": (b":",),
    "TAG_EQUAL": (b"=",),
    "ATTRIBUTE": (b'"a"', b"'\\'", b"'it\n;'", b'"&amp;"'),
    **dict.fromkeys(("TAG_BRACE", "CHILD_BRACE"), (b"{",)),
    "TAG_END": (b">",),
    "TAG_CLOSED": (b"/>", b"/ >"),
    "CLOSE_END": (b">",),
    "GENERIC_LIST": (b"<T,", b"<const T ,"),
    "GENERIC_EXTENDS": (b"<T extends ",),
    "GENERIC_EQUAL": (b"<T =",),
    "GENERIC_PARENTHESIS": (b"<T>(", b"<TData> ("),
}
CHILD_TEXTS = (b"", b"", b" ", b"it's; `", b"\n  ", b" // a, /* \n", b"\xc3\xa9")
GAPS_IN_TAGS = (*GAPS_BEFORE_VALUES, b"\n", b" // remark\n", b" /* over\nlines */ ")
GAPS = (b" ", b" ", b" ", b"\t", b" /* remark */ ", b"\xc2\xa0")


def program_of(language: TypeScript) -> Callable[[random.Random, int], bytes]:
    """The function that makes a program of *language*, of about so many lexemes or more."""

    def program(rng: random.Random, size: int) -> bytes:
        while True:
            names = [lexeme.decode() for lexeme in lexemes(language, {}, rng, size)]
            if not any(a in RESTRICTED and b == "LINE_END" for a, b in pairwise(names)):
                text = _written_with_elements(names, rng) if language.jsx else _written(names, rng)
                if text is not None:
                    return text

    return program


def _written(names: Sequence[str], rng: random.Random) -> bytes:
    """The text of terminals with random gaps between them."""
    text = b""
    fields: list[int] = []  # of the open templates, the braces in the current field; -1 in text
    before = ""
    for name in names:
        if not (fields and fields[-1] < 0) and not name.startswith("ANGLE") and text:
            text += rng.choice(GAPS) if not text.endswith(b"\n") or rng.random() < 0.5 else b""
        if name == "RESTRICTED_END":
            text += b"\n" if before in RESTRICTED else b";\n"
        else:
            text += rng.choice(WORDS[name]) if name in WORDS else name.encode()
        if name == "TEMPLATE_START":
            fields.append(-1)
        elif name == "TEMPLATE_END":
            fields.pop()
        elif name == "${":
            fields[-1] = 0
        elif fields and name in ("{", "}"):
            fields[-1] += 1 if name == "{" else -1
        before = name
    return text + rng.choice((b"", b"\n"))


def _written_with_elements(names: Sequence[str], rng: random.Random) -> bytes | None:
    """As `_written`, for terminals of which some are of elements; None if the lexer reads no such text."""
    modes, text, before, opened = jsx_modes("line"), b"", "", list[bytes]()
    for name in names:
        text += _gap(modes.shape, name, text, rng)
        if name == "CLOSE_START":
            text += b"</" + opened.pop()
        elif name == "RESTRICTED_END":
            text += b"\n" if before in RESTRICTED else b";\n"
        elif name in ELEMENTS:
            word = rng.choice(ELEMENTS[name])
            text += word
            if name.endswith("_START"):
                opened.append(word[1:])
            elif name == "TAG_CLOSED":
                opened.pop()
        else:
            text += rng.choice(WORDS[name]) if name in WORDS else name.encode()
        before = name
        following = modes.after(name)
        if following is None:
            return None
        modes = following
    return text + rng.choice((b"", b"\n"))


def _gap(shape: str, name: str, text: bytes, rng: random.Random) -> bytes:
    """A gap before *name* in a *shape* of the lexer (see `jsx_modes.py`)."""
    if shape == "text" or name.startswith("ANGLE") or not text:
        return b""
    if shape == "children":
        return rng.choice(CHILD_TEXTS)
    if shape in ("name", "tag") and name != "TAG_EQUAL" and not (shape == "name" and name == "<"):
        return rng.choice(GAPS_IN_TAGS)
    if shape in ("value", "closing", "tag"):
        return rng.choice(GAPS_BEFORE_VALUES)
    return rng.choice(GAPS) if not text.endswith(b"\n") or rng.random() < 0.5 else b""
