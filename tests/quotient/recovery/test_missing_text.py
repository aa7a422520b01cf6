"""Text that another line lacks is found as a middle of its own."""

import re

import pytest

from fimlsp.languages.go import go
from fimlsp.languages.typescript import javascript, tsx, typescript
from fimlsp.quotient.engine import Engine

ENGINES = {
    "typescript": Engine(typescript),
    "javascript": Engine(javascript),
    "tsx": Engine(tsx),
    "go": Engine(go),
}
ASSUMED = (
    # language; text with the cursor <|>, and «the text that is assumed»; a middle that completes it
    ("typescript", "for (const«a;;){»\n  if (b) {\n    c()\n  }\n}\n<|>\nd()\n", "e()"),
    ("typescript", "export function« a(){»\n  const b = c\n  d(b)\n  <|>\n  e()\n}\n", "f()"),
    ("typescript", "export class A extends B<«0>{»\n  c = 1\n\n  <|>\n  d = 2\n}\n", "e() {}"),
    ("typescript", "interface A extends« a{»\n  <|>\n  b?: C\n  d: E\n}\n", "f: G"),
    (
        "typescript",
        "const a = {\n  b«:{»\n    0: {\n      c: d,\n    },\n    1: {\n      <|>\n    },\n  },\n}\n",
        "e: f,",
    ),
    ("typescript", "a('b', (c)« => {»\n  let d: E\n  <|>\n  f()\n})\n", "g()"),
    ("typescript", "export« type»  A = {\n  b?: C;\n  <|>\n  d?: E;\n};\n", "f: G;"),
    ("typescript", "import {\n  a,\n  <|>\n}«from\"\"»\n\nimport { b } from 'c'\n", "d,"),
    ("javascript", "a(b, (c)« => {»\n  const d = e\n  <|>\n})\n\nf()\n", "g(d)"),
    ("go", "package a\n\nfunc b()« {»\n	switch c {\n	case d:\n		e()\n	<|>\n}\n", "}"),
)
LEFT_ALONE = (
    # language; text with the cursor <|>, ⟦the part that is left out⟧; a middle that completes it
    ("typescript", "⟦<<<<<<< HEAD⟧\nconst a = {\n  b: <|>,\n  d: e,\n}\n", "c"),
    ("typescript", "function a() {\n  if (b )⟦)⟧ {\n    c()\n  }\n  d(<|> })\n}\n", "{ e: f"),
)


@pytest.mark.parametrize(("language", "case", "middle"), ASSUMED)
def test_missing_text_is_assumed(language, case, middle):
    marked = case.replace("<|>", "").replace("«", "\0").replace("»", "\0")
    before, assumed, _ = marked.split("\0")
    left, right = "".join(case.replace("»", "«").split("«")[::2]).encode().split(b"<|>")
    constraint = ENGINES[language].document(left + right).middle_at_bytes(len(left), len(left), relax=True)
    place = len(before.encode())
    assert [(repair.start, repair.end, repair.replacement.decode()) for repair in constraint.relaxed] == [
        (place, place, assumed)
    ]
    state = constraint.start and constraint.start.feed(middle.encode())
    assert state is not None
    assert state.complete


@pytest.mark.parametrize(("language", "case", "middle"), LEFT_ALONE)
def test_nothing_is_assumed_where_all_lines_can_be_read(language, case, middle):
    before, left_out, _ = re.split("[⟦⟧]", case.replace("<|>", ""))
    left, right = re.sub("[⟦⟧]", "", case).encode().split(b"<|>")
    constraint = ENGINES[language].document(left + right).middle_at_bytes(len(left), len(left), relax=True)
    place = len(before)
    assert [(repair.start, repair.end, repair.replacement) for repair in constraint.relaxed] == [
        (place, place + len(left_out), b"")
    ]
    state = constraint.start and constraint.start.feed(middle.encode())
    assert state is not None
    assert state.complete
