"""Changes of a text that the parser mostly takes and the compiler may not."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from .mutations import mutant

_NAME = re.compile(rb"\b[a-zA-Z_]\w*\b")
_OPERAND = re.compile(rb"\b(?!(?:if|in|is|or|and|not|for|else|def|class|import|from|return|as)\b)\w+\b")
_LINE_START = re.compile(rb"^[ \t]*(?=\w)", re.MULTILINE)
_STATEMENTS = (
    *(b"return\n", b"return a\n", b"yield\n", b"x = yield a\n", b"await a\n", b"break\n", b"continue\n"),
    *(b"global a\n", b"nonlocal a\n", b"global a, b\n", b"a = 1\n", b"import a\n", b"del a\n", b"a: b\n"),
    *(b"from a import *\n", b"from __future__ import annotations\n", b"async with a: pass\n", b"*a, b = c\n"),
    *(b"async for a in b: pass\n", b"[a async for a in b]\n", b"f(a=1, b=2)\n", b"[(a := b) for c in d]\n"),
    *(b"def f(a, b): pass\n", b"lambda a, b: (yield)\n", b"x = [await a for a in b]\n", b"__debug__ = 1\n"),
    *(b"def g(): nonlocal a\n", b"class a: pass\n", b"for a in b: pass\n", b"with a as b: pass\n"),
    *(b"try: pass\nexcept: pass\n", b"del __debug__\n", b"a: b = (yield)\n", b"*a\n", b"*a, = b\n"),
    *(b"type a[b: c, *b] = d\n", b"def f[a, a](): pass\n", b"class f[a](b := 1): pass\n", b"yield from a\n"),
    *(
        b"return *a, b\n",
        b"for a in *b, c: pass\n",
        b"(a): b\n",
        b"(a).c: b\n",
        b"a.c: (yield)\n",
        b"a, b += c\n",
    ),
)
_EXPRESSIONS = (
    *(b"(yield)", b"(yield a)", b"(yield from a)", b"await a", b"(await a)", b"lambda a, b: a", b"__debug__"),
    *(
        b"lambda a, a: 0",
        b"lambda: (yield)",
        b"lambda: await a",
        b"(lambda a=(yield): 0)",
        b"lambda *a, a: 0",
    ),
    *(b"[a for a in b]", b"[a async for a in b]", b"(a async for a in b)", b"[await a for b in c]"),
    *(b"(await a for b in c)", b"[(yield) for a in b]", b"[a for a in (yield)]", b"(a for a in await b)"),
    *(b"[[a async for a in b] for c in d]", b"[a for b in c if await a]", b"{a: await a for a in b}"),
    *(b"(a := 1)", b"[(a := 1) for b in c]", b"[(b := 1) for b in c]", b"[a for a in (b := c)]"),
    *(b"[[(a := 1) for b in c] for a in d]", b"[lambda: (b := 1) for b in c]", b"(__debug__ := 1)"),
    *(b"f(a=1, b=2)", b"f(a=1, a=2)", b"f(**a, b=1)", b"f(a, *b, c=1)", b"f(__debug__=1)", b"a.__debug__"),
    *(b"*a", b"(*a, *b)", b"[*a]", b"{*a, b}", b"{**a}", b"a[*b]", b"a[b := 1]", b"a[*b, 1:2]", b"super()"),
    *(
        b"f'{(yield)}'",
        b"f'{a!r:{await b}}'",
        b"f\"{f'{(a := 1)}'}\"",
        b"f'{a:{b:{c}}}'",
        b"f'{lambda a: 1}'",
    ),
    *(b"f'{*a, b}'", b"f'{yield a}'", b"f'{a=}'", b"f'{(lambda: (yield))}'", b"f'{[(a := 1) for b in c]}'"),
)
_HEADS = (
    *(b"def f(a):\n", b"async def f(a, b):\n", b"class A:\n", b"for a in b:\n", b"while a:\n", b"if a:\n"),
    *(b"def f():\n", b"async def f():\n", b"try:\n", b"with a as b:\n", b"match a:\n case b:\n"),
    *(
        b"try: pass\nexcept* a:\n",
        b"try: pass\nexcept a as b:\n",
        b"try: pass\nfinally:\n",
        b"def f[a](b):\n",
    ),
)


def colliding(text: bytes, start: int, end: int, rng: random.Random) -> bytes:
    """A name between *start* and *end* of *text* changed into another one of the text."""
    places = list(_NAME.finditer(text, start, end))
    names = _NAME.findall(text)
    if not places or len(names) < 2:
        return expressing(text, start, end, rng)
    place = rng.choice(places)
    return text[start : place.start()] + rng.choice(names) + text[place.end() : end]


def misplaced(text: bytes, start: int, end: int, rng: random.Random) -> bytes:
    """A statement that needs its position, before one of the lines that start there."""
    places = [match.end() for match in _LINE_START.finditer(text) if start <= match.end() <= end]
    if not places:
        return expressing(text, start, end, rng)
    place = rng.choice(places)
    column = place - (text.rfind(b"\n", 0, place) + 1)
    margin = text[place - column : place]
    lines = rng.choice(_STATEMENTS).splitlines(keepends=True)
    return text[start:place] + b"".join(line + margin for line in lines) + text[place:end]


def expressing(text: bytes, start: int, end: int, rng: random.Random) -> bytes:
    """An operand exchanged for an expression about which the compiler has rules of its own."""
    places = [match.span() for match in _OPERAND.finditer(text, start, end)]
    first, last = rng.choice(places) if places else (rng.randint(start, end),) * 2
    return text[start:first] + rng.choice(_EXPRESSIONS) + text[last:end]


def disturbed(text: bytes, start: int, end: int, rng: random.Random) -> bytes:
    """Any small change."""
    return mutant(text[start:end], rng)[1]


Change = Callable[[bytes, int, int, random.Random], bytes]

AIMED: dict[str, Change] = {
    "names": colliding,
    "words": misplaced,
    "expressions": expressing,
    "other": disturbed,
}
"""Changes of a part of a text; each gives that part."""


def enclosed(text: bytes, rng: random.Random) -> bytes:
    """*text* as the body of another block."""
    head = rng.choice(_HEADS)
    margin = b"  " if head.startswith(b"match") else b" "
    tail = b"except a: pass\n" if head == b"try:\n" else b""
    lines = text.splitlines(keepends=True)
    ended = b"" if text.endswith((b"\n", b"\r")) else b"\n"
    return head + b"".join(margin + line for line in lines) + ended + tail
