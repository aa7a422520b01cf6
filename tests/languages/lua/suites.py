"""The test suites of Lua: alphabets, contexts, pieces, and the suites made of them."""

from __future__ import annotations

import itertools

from fimlsp.languages.lua import lua
from fimlsp.testing.checking import Judged
from fimlsp.testing.suites import endless

from .judge import is_lua
from .programs import program

ALPHABETS: tuple[tuple[bytes, ...], ...] = (
    (b"a", b"=", b"1", b",", b"(", b")", b" ", b"\n"),
    (b"a", b".", b":", b"[", b"]", b"(", b")", b'"s"', b"{}", b"=", b"1"),
    (b"do ", b"end ", b"break ", b"while ", b"1 ", b"return ", b";", b"repeat ", b"until "),
    (b"if ", b"then ", b"else ", b"elseif ", b"end ", b"1 ", b"a()", b"return "),
    (b"for ", b"a ", b"= ", b"1,", b"in ", b"do ", b"end ", b"2 "),
    (b"function ", b"a", b"(", b")", b"...", b",", b" end ", b"return ", b"local ", b".b", b":c"),
    (b"local ", b"a", b"<", b">", b"const", b"close", b",", b"=", b"1", b" "),
    (b"goto ", b"::", b"a", b" ", b"break", b"=", b"1"),
    (b"a=", b"f", b"(g)", b".x", b"=", b"1", b" ", b"local ", b"()", b";"),
    (b"a=", b"-", b"not ", b"#", b"~", b"1", b"..", b".", b"//", b"=", b"<", b" "),
    (b"a={", b"}", b"[", b"]", b"=", b"1", b",", b";", b"b", b"..."),
    (b"a=", b"0", b"1", b"x", b"e", b"p", b".", b"+", b"F", b"g", b" "),
    (b'a="', b'"', b"\\", b"n", b"x", b"4", b"2", b"u{", b"}", b"z", b"\n", b"\r", b" "),
    (b"a='", b"'", b"\\", b"1", b"2", b"5", b"6", b"9", b"\xc3", b"\xa9", b"\x00"),
    (b"a=", b"[", b"=", b"]", b"x", b"\n", b" "),
    (b"--", b"[", b"=", b"]", b"\n", b"a=1", b" ", b"\xe9", b"\xc3\xa9"),
)
PIECES = tuple(
    itertools.chain(*ALPHABETS, (b"]]", b"[[", b"--[[", b"end", b"\r\n", b"\n\r", b"\t", b"!", b"@"))
)
CONTEXTS = ((b"", b""), (b"a=1 ", b" b=2"), (b"while 1 do ", b" end"), (b"f(", b")"), (b"return {", b"}"))
LUA = Judged(lua, is_lua, PIECES)
SUITES = endless(LUA, ALPHABETS, CONTEXTS, program)
