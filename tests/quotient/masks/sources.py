"""Texts to cut holes into, and vocabularies made of pieces of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from fimlsp import Engine, json, load_grammar, python
from fimlsp.languages.go import go
from fimlsp.languages.lua import lua
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.states.protocol import State

GRAMMARS = Path(__file__).parents[2] / "languages/custom/grammars"
PYTHON = b'''import os, sys
from a.b import (c as d,
    e)

@decorated(1, x=[2, *y], **z)
class Shape(Base, metaclass=Meta):
    """Text with 'quotes' and \\N{DASH} in it."""
    sides: int = 0x1F

    async def area(self, /, a, *b, c=1_000.5e-3, **d) -> "float":
        # a remark, with (brackets
        for i, (j, k) in enumerate(self.sides):
            if i == 3 and not j or k is None:
                continue
            elif i in {1: 2, **c}:
                yield f"{i!r:>{k}} and {a['b']:%Y} {{}} {lambda_}"
            else:
                x = yield
        try:
            with open(f'{self.name}') as file, lock: return (file.read() if a else
                b"bytes" rb'\\d' for q in r if s)
        except* (A, B) as e:
            raise E from e
        finally:
            pass
        return lambda x, *y: x if y else ~-x ** 2 @ z // 3 << 1

match x:
    case [1, {"a": b, **c}, Point(x=0)] | None if y: print(x, end="");  a += 1; b: int
    case _: ...
print(u"a" "b" \\
    """c
d""", 0o17, 0b1, 1j, 1., .5, "\\x41\\n")
'''
JSON = b"""{"name": "a\\u00e9\\n\\"b",
  "numbers": [1, -2.5e+10, 0, 3E-2], "deep": {"a": [[[{}]], []], "b": null},
  "other" : [true, false, null, {"x": "y", "z": ""}],
\t"last": -0.0}
"""
LUA = b"""-- a remark
local function f(a, b, ...)
  for i = 1, #a, 2 do if a[i] ~= nil and not b then goto continue elseif a.b:c"x" then return [[long
string]] .. [==[ ]] ]==] end ::continue:: end
  while true do local x <const>, y = 0x1F // 3, 3.5e-2; repeat y = -y ^ 2 until x >= y break end
  return function(...) return {1, a = 2; ["b"] = '\\'\\65\\z  x', ...} end --[[ more
]] end
"""
GO = b"""package p // a remark

import (
\t"fmt"; . `os`
)

type T[P *[]int, Q ~int | string] struct { a, b [2]P `t`; *c.D }

/* over
lines */ func (t *T[P, Q]) f(a int, b ...string) (x, y int) {
\tfor i, c := range []int{1, 0x1F, '\\''} {
\t\tif i := g(c)[1:2]; i == 3 /* no
*/ && !t.(bool) { continue } else { defer func() { x++ }() }
\t}
\tL: switch a := b.(type) { case <-chan int: return 1e-3, .5i
\tdefault: select { case d <- 1: goto L } }
\treturn
}
"""
CALCULATOR = b"(1 + 2.5) * -3 / (4 - 5)"
PLACES = b"""for = of a<of b, of c<of d> > >> 1
* a heading, [1
a = [-1, "x {b} y {"{2}"} \\" z", c]
note = {"
set for for set
"""

SOURCES: dict[str, tuple[Language, bytes]] = {
    "python": (python(), PYTHON),
    "python 3.8": (python((3, 8)), PYTHON.replace(b"except*", b"except").partition(b"match x")[0]),
    "python 3.12": (python((3, 12)), PYTHON),
    "json": (json, JSON),
    "lua": (lua, LUA),
    "go": (go, GO),
}
OWN = {"calculator": CALCULATOR, "places": PLACES}
"""Languages of users."""
PIECES = (
    b'', b' ', b'  ', b'    ', b'\n', b'\n\n    ', b'\r', b'\t', b'\x0c', b'\\', b'\\\n', b'#',
    b'--', b"'", b'"', b'"""', b"'''", b'(', b')', b'))', b'):\n', b'[]', b'{', b'}', b'{}', b'=',
    b'==', b':', b'::', b',', b'.', b'..', b'...', b'0', b'0x', b'1e', b'12', b'0o', b"f'", b'f"{',
    b"}'", b'\\N{', b'DASH}', b'\xef', b'\xef\xbb\xbf', b'\xc3', b'\xa9', b'a', b'or', b'if ',
    b'else:', b'not', b'in', b'is', b'and', b' lambda', b'yield ', b'async', b'await', b'\nx', b';',
    b'!', b'!=', b'@', b'~', b'->', b'*', b'**', b'+', b'-', b'-----', b'end', b']]', b'[==[',
    b'true', b'null', b'nul', b'match', b'case', b"rb'", b'\x00', b'\xff',
    b'//', b'/*', b'*/', b'`', b':=', b'<-', b'++', b'func', b'{\n', b')\n', b'return\n',
)  # fmt: skip


@cache
def engine(name: str) -> Engine:
    """The engine of a language, so that its tables are made once."""
    return Engine(load_grammar(GRAMMARS / f"{name}.lark") if name in OWN else SOURCES[name][0])


def source(name: str) -> bytes:
    """The text of a language."""
    return OWN[name] if name in OWN else SOURCES[name][1]


def random_texts(random: random.Random, text: bytes, size: int) -> list[bytes]:
    """Some texts that tokens may have: pieces, and stretches of *text*, some of them changed."""
    texts = list(PIECES)
    while len(texts) < size:
        at = random.randrange(len(text))
        piece = text[at : at + random.choice((1, 2, 3, 4, 6, 9, 20))]
        texts.append(piece if random.random() < 0.7 else piece + random.choice(texts)[:6])
    return random.sample(texts, size)


def random_states(random: random.Random, name: str, texts: list[bytes], most: int) -> Iterator[State]:
    """States of middles at random cuts, along the text cut out or any *texts*."""
    text, count = source(name), 0
    while count < most:
        start = random.randrange(len(text) + 1)
        end = min(len(text), start + random.choice((0, 0, 1, 5, 30)))
        right = end if random.random() < 0.7 else len(text)
        document = engine(name).document(text[:start] + text[right:])
        state = document.middle(start, start, may_escape=random.random() < 0.7).start
        middle = text[start:end]
        while state is not None and count < most:
            yield state
            count += 1
            size = random.randrange(1, 6)
            piece = middle[:size] if middle else random.choice(texts)
            middle = middle[size:]
            following = state.feed(piece)
            state = following if following is not None else state.feed(random.choice(texts))
