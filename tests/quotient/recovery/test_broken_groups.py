"""Groups of lines with a fault are left out, where the cursor is in the same block or element."""

import pytest

from fimlsp.languages.go import go
from fimlsp.languages.lua import lua
from fimlsp.languages.typescript import javascript, tsx, typescript
from fimlsp.quotient.engine import Engine

ENGINES = {
    "typescript": Engine(typescript),
    "javascript": Engine(javascript),
    "tsx": Engine(tsx),
    "go": Engine(go),
    "lua": Engine(lua),
}
MEMBERS = "".join(f"  a{number}() {{\n    if (b) {{\n      c();\n    }}\n  }}\n\n" for number in range(40))
FUNCTIONS = MEMBERS.replace("  a", "  function a")
LEFT_OUT = (
    # language; text with the cursor <|>, ⟦the part that is left out⟧; a middle that completes it
    ("typescript", "function a() {\n⟦  const b = c ? d\n⟧  return (\n    <|>\n  )\n}\n", "e"),
    ("typescript", "function a() {\n  <|>\n⟦  const b = c ? d\n⟧  return e\n}\n", "f()"),
    ("typescript", "function a() {\n  if (b) {\n⟦    c d\n⟧  }\n  <|>\n}\n", "e()"),
    (
        "javascript",
        "(function () {\n⟦  function a() {\n    if (b) {\n  }\n\n⟧" + FUNCTIONS + "  <|>\n})()\n",
        "b()",
    ),
    (
        "javascript",
        "class a {\n⟦  b() {\n    if (b) {\n  }\n\n⟧" + MEMBERS + "  d() {\n    <|>\n  }\n}\n",
        "e()",
    ),
    ("go", "package a\n\nfunc b() {\n⟦\tc := d(e) +\n⟧\tif f {\n\t\t<|>\n\t}\n}\n", "g()"),
    ("lua", "local function a()\n⟦  local b = c +\n⟧  if d then\n    <|>\n  end\nend\n", "e()"),
)
KEPT = (
    # the fault is in a group with the cursor
    ("typescript", "function a() {\n  if (b c) {\n    <|>\n  }\n}\n", "d()"),
    ("tsx", "let a = (\n  <b c={\n    d\n  } e={f g}>\n    {<|>}\n  </b>\n)\n", "h"),
)


@pytest.mark.parametrize(("language", "case", "middle"), LEFT_OUT)
def test_broken_groups_are_left_out(language, case, middle):
    marked = case.replace("<|>", "")
    begin, end = marked.index("⟦"), marked.index("⟧") - 1
    left, right = case.replace("⟦", "").replace("⟧", "").encode().split(b"<|>")
    constraint = ENGINES[language].document(left + right).middle_at_bytes(len(left), len(left), relax=True)
    assert [(repair.start, repair.end, repair.replacement) for repair in constraint.relaxed] == [
        (begin, end, b"")
    ]
    state = constraint.start and constraint.start.feed(middle.encode())
    assert state is not None
    assert state.complete


@pytest.mark.parametrize(("language", "case", "middle"), KEPT)
def test_groups_with_the_cursor_are_kept(language, case, middle):
    left, right = case.encode().split(b"<|>")
    constraint = ENGINES[language].document(left + right).middle_at_bytes(len(left), len(left), relax=True)
    assert not any(b"\n" in (left + right)[repair.start : repair.end] for repair in constraint.relaxed)
    state = constraint.start and constraint.start.feed(middle.encode())
    assert state is not None
    assert state.complete
