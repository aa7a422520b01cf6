"""The test suites of Go: alphabets, contexts, pieces, and the suites made of them."""

from __future__ import annotations

import itertools

from fimlsp.languages.go import go
from fimlsp.testing.checking import Judged
from fimlsp.testing.suites import endless

from .judge import is_go
from .programs import program

F = b"package p;func f(){"
ALPHABETS: tuple[tuple[bytes, ...], ...] = (
    (b"a", b"=", b"1", b",", b"(", b")", b" ", b"\n", b";", b":="),
    (b"a", b".", b":", b"[", b"]", b"(", b")", b'"s"', b"{}", b"=", b"1", b"type"),
    (b"if ", b"a", b"{", b"}", b"else ", b";", b":=", b"\n", b"b()", b"T{}"),
    (b"for ", b"a", b"{", b"}", b"range ", b";", b":=", b"\n", b",b", b"++", b"[]T"),
    (b"switch ", b"a", b"{", b"}", b"case ", b"default", b":", b";", b"\n", b"x:=", b".(type)", b"a:"),
    (b"select ", b"{", b"}", b"case ", b"default", b":", b"a", b"<-", b"c", b"=", b":=", b",b", b"\n"),
    (b"func", b"(", b")", b"a", b" T", b"*", b"[", b"]", b"{", b"}", b"...", b",", b" "),
    (b"type ", b"T", b"[", b"]", b"P", b" *", b"C", b",", b"|", b"~", b"int", b" any", b"=", b"("),
    (b"type T[P ", b"]", b"*", b"C", b",", b"|", b"[]", b"(", b")", b"int", b"interface{}", b"+", b"Q "),
    (b"type T struct{", b"}", b"a", b" b", b",", b".", b"*", b"[", b"]", b'"t"', b"\n", b";", b"1", b"("),
    (b"type T interface{", b"}", b"a", b"(", b")", b"|", b"~", b"[", b"]", b"\n", b";", b".b", b"[]", b"int"),
    (b"a:=", b"chan ", b"<-", b"int", b"(", b")", b"func", b"*", b"a", b"[", b"]", b"{}"),
    (b"if ", b"chan ", b"[]", b"func", b"()", b"int", b"{}", b"(", b")", b"struct{}", b"a", b"==", b"{"),
    (b"go ", b"defer ", b"a", b"()", b"(", b")", b".b", b"func(){}", b"-", b"[1]", b"\n"),
    (
        b"return ",
        b"break ",
        b"goto ",
        b"continue ",
        b"fallthrough ",
        b"a",
        b"\n",
        b"/*\n*/",
        b"//\n",
        b":",
        b"1,",
    ),
    (b"var ", b"const ", b"a", b"=", b"1", b" int", b",", b"(", b")", b"\n", b";", b"iota"),
    (b"a=", b"0", b"1", b"x", b"e", b"p", b".", b"+", b"F", b"_", b"8", b"i", b"b", b"o"),
    (b"a=0x", b"e", b"E", b"p", b"f", b".", b"+1", b"-a", b"_", b"8", b"i"),
    (b'a="', b'"', b"\\", b"n", b"x", b"4", b"u", b"U", b"0", b"D", b"8", b"\n", b"'"),
    (b"a='", b"'", b"\\", b"1", b"2", b"7", b"4", b"\xc3", b"\xa9", b"\x00", b'"', b"u", b"0"),
    (b"a", b"/", b"*", b"\n", b" ", b"\r", b"=", b"`", b"1"),
    (b"a=b", b"-", b"!", b"&", b"^", b"<", b">", b"=", b"+", b"*", b"~", b"|", b"1", b"a"),
    (b"a{", b"}", b":", b",", b"1", b"b", b"{", b"\n", b"[]T", b"[...]int", b"map[a]b"),
    (b"a[", b"]", b":", b",", b"1", b"b", b"\n", b"()", b"...", b"f("),
)
OUTER: tuple[tuple[bytes, ...], ...] = (
    (b"package ", b"p", b"\n", b";", b"import ", b'"a"', b"(", b")", b". ", b"var a int", b"// b\n"),
    (b"package p;", b"func ", b"f", b"()", b"{}", b"(a T)", b"[P any]", b"[P C]", b"\n", b" T", b";", b"*T"),
    (b"\xef\xbb\xbf", b"package p", b"\n", b"\xef", b"\xbb", b"\xbf", b"//", b"\xc3\xa9", b"\x00"),
    (
        b"package p;func ",
        b"(",
        b")",
        b"f",
        b"[",
        b"]",
        b"P",
        b" ~",
        b"int",
        b"|",
        b",",
        b" T",
        b"...",
        b"*",
        b"[]",
    ),
)
PIECES = tuple(
    itertools.chain(*ALPHABETS, *OUTER, (b"//", b"/*", b"*/", b"`", b"\r\n", b"\t", b"#", b"@", b"?", b"\v"))
)
CONTEXTS = (
    (F, b"}"),
    (F, b"}\n"),
    (F + b"a", b"b}"),
    (F + b"x(", b")}"),
    (F + b"if ", b"{}}"),
    (F + b"x\n", b"\ny\n}"),
    (F + b"switch{case a:", b"\ndefault:\n}}"),
    (b"package p\ntype T", b"\n"),
    (b"package p\nfunc f", b"{}"),
    (b"package p\n", b"\nvar x int"),
    (b"package p\nvar x = ", b""),
)
GO = Judged(go, is_go, PIECES)
SUITES = endless(GO, ALPHABETS, CONTEXTS, program, OUTER)
