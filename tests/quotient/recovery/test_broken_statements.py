"""Broken statements that the cursor is not in are left out; the others keep their contexts."""

import pytest

from fimlsp.languages.go import go
from fimlsp.languages.lua import lua
from fimlsp.languages.typescript import javascript, typescript
from fimlsp.quotient.engine import Engine

ENGINES = {
    "typescript": Engine(typescript),
    "javascript": Engine(javascript),
    "go": Engine(go),
    "lua": Engine(lua),
}
LEFT_OUT = (
    # language; text with the cursor <|>, ⟦the part that is left out⟧; a middle that completes it
    ("typescript", "a;\n⟦function b() {\n  c(d;\n}\n\n⟧function e() {\n  <|>\n}\n", "f();"),
    ("typescript", "a;\n⟦function b() {\n  if (c) {\n}\n\n⟧function e() {\n  <|>\n}\n", "f();"),
    ("lua", "⟦if a then\n  b()\n⟧c()\n⟦do\n  d()\n⟧function e()\n  <|>\nend\n", "f()"),
    (
        "typescript",
        "function e() {\n  <|>\n}\n⟦function b() {\n  c(d;\n}\n⟧function g() {\n  h;\n}\n",
        "f();",
    ),
    ("typescript", "function e() {\n  <|>\n}\n⟦const b = {\n  c: [d,\n};\n⟧type g = h;\n", "if (f) g;"),
    ("typescript", "function e() {\n  <|>\n}\na;\n⟦class b {\n  c( {\n  }\n}\n⟧", "f();"),
    ("typescript", "⟦let a = {\n  b: (\n};\n⟧let c = <|>;\n⟦class d {\n  e() {\n}\n⟧f;\n", "[g]"),
    ("typescript", "⟦class a {\n  b {\n    c\n  }\n}\nclass d {\n  e(\n}\n⟧class f {\n  <|>\n}\n", "g() {}"),
    ("javascript", "⟦function a() {\n  await b;\n}\n⟧async function c() {\n  <|>\n}\n", "await d;"),
    ("go", "package a\n\n⟦func b() {\n\tc(d\n}\n\n⟧func e() {\n\t<|>\n}\n", "f()"),
    ("go", "package a\n\nfunc e() {\n\t<|>\n}\n\n⟦func b() {\n\tif c {\n\td()\n}\n\n⟧var g = 1\n", "f()"),
    ("lua", "local a\n⟦function b()\n  c(d\nend\n⟧function e()\n  <|>\nend\n", "f()"),
    ("lua", "function e()\n  <|>\nend\n⟦function b()\n  c = {d\nend\n⟧return e\n", "f()"),
)
KEPT = (
    # the fault is in the cursor's statement, or in a statement of one line, or the margin is within a lexeme
    ("typescript", "function a() {\n  b(c;\n  <|>\n}\n", "d();"),
    ("javascript", "'a'\nb = {\n  c: 1,\n||||||| d\n  e: <|>,\n}\n", "f"),
    ("javascript", "'a'\nb = {\n>>>>>>> d\n  c: 1,\n  e: <|>,\n}\n", "f"),
    ("typescript", "let a = ;\nfunction b() {\n  <|>\n}\n", "c();"),
    ("typescript", "function a() {\n  <|>\n}\nlet b = ;\nc;\n", "d();"),
    ("typescript", "function a() {\n  b(c;\n  d(`\ntype e\n${<|>}`);\n}\n", "f"),
    ("go", "package a\n\nfunc b() {\n\tc(d;\n\te(`\nvar f\n`, <|>)\n}\n", "g"),
    ("lua", "function a()\n  b(c\n  d = [[\nlocal e\n]]\n  <|>\nend\n", "f()"),
)


def check(language: str, case: str, middle: str) -> None:
    """The repairs for *case* are the removals that it marks, and *middle* is complete then."""
    removed: list[tuple[int, int]] = []
    text, cursor, begin = b"", 0, 0
    for part in case.replace("⟦", "\0⟦").replace("⟧", "\0⟧").replace("<|>", "\0|").split("\0"):
        if part.startswith("⟦"):
            begin = len(text)
        elif part.startswith("⟧"):
            removed.append((begin, len(text)))
        elif part.startswith("|"):
            cursor = len(text)
        text += part.removeprefix("⟦").removeprefix("⟧").removeprefix("|").encode()
    constraint = ENGINES[language].document(text).middle_at_bytes(cursor, cursor, relax=True)
    assert [(repair.start, repair.end) for repair in constraint.relaxed if not repair.replacement] == removed
    assert len(constraint.relaxed) == len(removed)
    state = constraint.start and constraint.start.feed(middle.encode())
    assert state is not None
    assert state.complete


@pytest.mark.parametrize(("language", "case", "middle"), LEFT_OUT)
def test_broken_statements_are_left_out(language, case, middle):
    check(language, case, middle)


@pytest.mark.parametrize(("language", "case", "middle"), KEPT)
def test_other_statements_are_repaired(language, case, middle):
    """Nothing that starts at the margin is left out as a whole."""
    left, right = case.split("<|>")
    data, cursor = (left + right).encode(), len(left.encode())
    constraint = ENGINES[language].document(data).middle_at_bytes(cursor, cursor, relax=True)
    assert not any(b"\n" in data[repair.start : repair.end].strip() for repair in constraint.relaxed)
    state = constraint.start and constraint.start.feed(middle.encode())
    assert state is not None
    assert state.complete
