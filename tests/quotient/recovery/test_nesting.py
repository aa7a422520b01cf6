"""Additions where columns show that something ends or starts, in languages without an offside layout."""

import re

import pytest

from fimlsp.languages.go import go
from fimlsp.languages.json import json
from fimlsp.languages.lua import lua
from fimlsp.languages.typescript import tsx, typescript
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.recovery.nesting import Nesting

ENGINES = {
    "go": Engine(go),
    "json": Engine(json),
    "lua": Engine(lua),
    "typescript": Engine(typescript),
    "tsx": Engine(tsx),
}

# a text with its cursor, and additions marked with «»
ADDED = {
    "lua": [
        "if a then\n  b()\n<|>\nc()\n",
        "function f()\n  if a then\n    b()« end»\n  c()\n  <|>\nend\nfunction g()\nend\n",
        "function f()\n  <|>\n  if a then\n    b()« end end»\nfunction g()\n  c()\nend\n",
        "<|>\nfor i = 1, 2« do»\n  a()\nend\n",
        "<|>\nif a« then»\n  b()\nelse\n  c()\nend\n",
        "<|>\nx = {\n  a = 1,« }»\ny = 2\n",
        "<|>\nfoo(function()\n  a()\nend)\nb()\n",
        "<|>\nif a\n   and b then\n  c()\nend\n",
        "function f(\n  a,\n  b\n)\n  <|>\nend\n",
        "<|>\nx = [[\n  (\n]]\nif a then\n  b()« end»\n",
        "while a do\n  b()\n  <|>\n«end\n»",
        "f(<|>\n  a,\n  b\n)\nc()\n",
        "<|>\nf(1, g(2)« )»\nc()\n",
        "<|>\nif a then\n  b()\n  <<<<<<< HEAD\n  c()\nend\n",
    ],
    "go": [
        "package p\n\nfunc f() {\n\tif a {\n\t\tb()« }»\n\tc()\n\t<|>\n}\n\nfunc g() {\n}\n",
        "package p\n\nfunc f() {\n\t<|>\n\ta()« }»\n\nfunc g() {\n\tb()\n}\n",
        "package p\n\n<|>\nfunc f() {\n\tif a« {»\n\t\tb()\n\t}\n}\n",
        'package p\n\nimport (\n\t"a" // remark\n\t<|>\n\t"b"« )»\n\ntype T struct{}\n',
        "package p\n\nfunc f() {\n\tswitch a {\n\tcase 1:\n\t\tb()\n\t<|>\n\tdefault:\n\t\tc()\n\t}\n}\n",
        "package p\n\nfunc f() {\nL:\n\tfor {\n\t\tif a &&\n\t\t\tb {\n\t\t\tc()\n\t\t}\n\t}\n\t<|>\n}\n",
        "package p\n\nfunc f(\n\ta int,\n\tb int) (c error) {\n\td()\n\t<|>\n}\n",
        "package p\n\nvar x = `{\n(\n`\n\nfunc f() {\n\t<|>\n}\n",
        "package p\n\nfunc f() {\n\tg(T{\n\t\ta,\n\t\t<|>\n\t\tb,« }»\n\t)\n\th()\n}\n",
    ],
    "json": [
        '{\n  "a": [\n    1,\n    2« ]»\n  ,\n  <|>\n}\n',
        '{\n  <|>,\n  "a": {\n    "b": 1« }»\n}\n',
        '[\n  <|>,\n  {"a": 1},\n  {"b": [1, 2]}\n]\n',
        "",
    ],
    "typescript": [
        "function f() {\n  try {\n    a()« }»\n   finally {\n    <|>\n  }\n}\n",
        "import {\n  a,\n  <|>\n  b,« }»\n from 'c'\n",
        "function f() {\n try {\n  a()\n  <|>\n }\n b()\n}\n",
        "export interface A\n  extends B,\n    C,\n    D,\n    E,\n    F,\n    G {\n  <|>\n  a: b\n}\n",
        "function f() {\n  if (a) {\n    b()« }»\n  c()\n  <|>\n}\nfunction g() {\n}\n",
        "function f() {\n  <|>\n  if (a) {\n    b(« )»\n    return\n  }\n  c()\n}\n",
        "<|>\nif (a && b« ) {»\n  c()\n}\nd()\n",
        "<|>\nif (a &&\n    b) {\n  c()\n}\nd()\n",
        "f(a => {\n  <|>\n  b()« } )»\nfunction g() {\n}\n",
        "switch (a) {\n  case 1:« {»\n    b()\n  }\n  <|>\n}\n",
        "f(\n  a,\n  b) + {\n  c: <|>\n}\n",
        "f({\n  a,\n  <|>\n  b« }»\n)\ng()\n",
        "if (a« ) » {\n  <|>\n}\nb()\n",
        "<|>\nlet f = (a: b, c: d« ) »: e => {\n  g()\n}\n",
        "f(a, function () {\n  <|>\n}\n)\n",
        "f(a => {\n  <|>\n}\ng()\n",
        "f(a,« {»\n  b: 1,\n})\nif (c) {\n  <|>\n}\n",
        "f(a, [b,« {»\n  c: 1,\n}])\n<|>\n",
        "function f() {\n  <|>\n«}\n»\nfunction g() {\n}\n",
        "if (a) {\n  b()\n} else {\n  <|>\n«}\n»",
        "if (a && b« ) » {\n  c()\n} else {\n  <|>\n}\n",
        "if« ( » a && b) {\n  <|>\n}\n",
        "a()\nlet x = f(b« )»\nif (c) {\n  <|>\n}\n",
        "let f = function (a, b« ) {»\n  if (a) {\n    <|>\n  }\n}\n",
        "f() {\n  <|>\n}\n",
    ],
    "tsx": [
        "let y = <|>\nlet x = (\n  <a\n    b={c}\n  >\n    {f.map((g) => {\n      if (g) {\n        h()« }»\n"
        "      return g\n    })}\n  </a>\n)\n",
        "let x = `${a}b`\nfunction f() {\n  <|>\n}\n",
        "let x = (\n  <a>\n    <b>c« </b>»\n    <d <|>/>\n  </a>\n)\n",
        "let x = (\n  <a>\n    <b>c« </b>»\n    <d <|>/>\n  </a>\n)\nfunction e() {\n  f()\n}\n",
        "let x = (\n  <a\n    b={c« }»\n    d={<|>}\n  />\n)\n",
        "let x = (\n  <a>\n    <b>c« </b>»\n    <d />\n    {<|>}\n  </a>\n)\n",
        "let x = (\n  <a>\n    {<|>}\n    <b.c\n      d={e}>\n      {f}« </b.c>»\n  </a>\n)\n",
        "let x = (\n  <a>\n    {b.map((c) => (\n      <d />« ) ) }»\n  </a>\n)\nf(<|>)\n",
        "let x = (\n  <a>\n    <b>c</b>\n    d\n    <e\n      f\n    >\n      g\n    </e>\n  </a>\n)\n<|>\n",
        "let x = (\n  <li« >»\n    <Link a={b}>\n      c\n    </Link>\n  </li>\n)\n<|>\n",
        "let x = (\n  <ul>\n    <li className={row« } />»\n    <b>{<|>}</b>\n  </ul>\n)\n",
        "let x = (\n  <ul>\n    <li className={row« } >»\n      <b>{<|>}</b>\n    </li>\n  </ul>\n)\n",
        'let x = (\n  <ul>\n    {<|>}\n    {a && <B c={d}« /> }»\n    <e f=« "" />»\n  </ul>\n)\n',
        "let x = (\n  <a\n    b={f({\n      c,\n    })« } >»\n    <d>{<|>}</d>\n  </a>\n)\n",
        'let x = (\n  <a b="c«"»>\n    <d e="f">{<|>}</d>\n  </a>\n)\n',
        'let x = (\n  <a\n    b="c«"»\n    d="e">\n    {<|>}\n  </a>\n)\n',
        'let x = (\n  <a\n    b={<|>\n    c="d"\n  >\n    <e />\n  </a>\n)\n',
        "let x = (\n  <a>\n    <b>\n      {« }»\n    </b>\n    {<|>}\n  </a>\n)\n",
        "let x = (\n  <ul>\n    <li>{<|>}</li>\n    <b c={d« } />»\n  </ul>\n)\n",
        'let x = (\n  <a\n    b="c\n      d" e={f(\n        g\n      )}\n    {...h}\n    {/* i */}\n  >\n'
        "    <|>\n  </a>\n)\n",
    ],
}
CASES = [(name, marked) for name, texts in ADDED.items() for marked in texts if marked]


@pytest.mark.parametrize(("name", "marked"), CASES)
def test_additions(name, marked):
    text = "".join(part.split("»")[-1] for part in marked.split("«"))
    left, right = text.encode().split(b"<|>")
    document = ENGINES[name].document(left + right)
    shown = left + right
    for start, end, new in sorted(Nesting(document, len(left), len(left)).edits(), reverse=True):
        shown = shown[:start] + "«".encode() + new + "»".encode() + shown[end:]
    assert shown.decode() == marked.replace("<|>", "")


WHOLE = """\
function F({a}: P) {
  const b = useMemo(() => ({a}), [a]);
  return (
    <>
      <ul className="c" {...a}>
        {b.map((d, i) => (
          <Li
            key={i}
            onError={(e) =>
              new Error(
                `at ${i}:
see ${JSON.stringify(d)}`,
                {cause: e},
              )
            }>
            <D {...d} />
            {d.e && (
              <g>
                text
                {d.e}
              </g>
            )}
          </Li>
        ))}
      </ul>
      <p
        title={
          <b>h</b>
        }
      >
        {cond ? <i /> : null}
      </p>
    </>
  );
}
"""


@pytest.mark.parametrize(
    "match", [*re.finditer(r"\w+|[^\s\w]+", WHOLE)], ids=lambda match: f"{match.start()}"
)
def test_whole_file_without_a_lexeme_needs_nothing(match):
    left, right = WHOLE[: match.start()].encode(), WHOLE[match.end() :].encode()
    document = ENGINES["tsx"].document(left + right)
    assert Nesting(document, len(left), len(left)).edits() == ()


# a text with its cursor, and removals marked with «»
REMOVED = [
    ("typescript", "f(() => {\n  a()«)»\n  b()\n  <|>\n})\n"),
    ("typescript", "function f() {\n  let x = {\n    a: 1,\n  } «}»;\n  <|>\n}\n"),
    ("typescript", "f(() => {\n  <|>\n  if (a) {\n    b()\n  } «}»\n})\n"),
    ("typescript", "f(() => {\n«<<<<<<< HEAD»\n  a()\n«=======»\n  b()\n«>>>>>>> topic»\n  <|>\n})\n"),
    ("typescript", "f(\n  a,\n  b)\n<|>\n"),
    ("go", "package p\n\nfunc f() {\n\ta()«)»\n\tb()\n\t<|>\n}\n"),
    ("lua", "«||||||| base»\nf(<|>)\n"),
    ("tsx", "let x = (\n  <a>\n    {b}\n    <c d={e} />\n    <|>\n  </a>\n)\n"),
]


@pytest.mark.parametrize(("name", "marked"), REMOVED)
def test_removals(name, marked):
    left, right = marked.replace("«", "").replace("»", "").encode().split(b"<|>")
    text = left + right
    edits = Nesting(ENGINES[name].document(text), len(left), len(left)).edits()
    for start, end, new in sorted(edits, reverse=True):
        assert new == b""
        text = text[:start] + "«".encode() + text[start:end] + "»".encode() + text[end:]
    assert text.decode() == marked.replace("<|>", "")


@pytest.mark.parametrize("name", ENGINES)
def test_texts_of_any_shape_are_read(name):
    texts = (b"", b"\n\n", b")\n", b"\t}\n  {\n", b"\r\n{", b"\xff\n(\n", b"]\n]\n", b"if\n\tend\n")
    for text in texts:
        for cursor in range(len(text) + 1):
            edits = sorted(Nesting(ENGINES[name].document(text), cursor, cursor).edits())
            places = [place for start, end, _ in edits for place in (start, end)]
            assert places == sorted(places), "edits do not overlap"
            assert all(0 <= place <= len(text) for place in places)
            assert not any(b"\n" in text[start:end] for start, end, _ in edits), "lines stay apart"


ELEMENTS = b"""const x = (
  <a b={c(d)}>
    <e f="g" h={i}
      j={(k) => l(k)} />
    {m ? (
      <n o={false} />
    ) : (
      <p>{q}</p>
    )}
    text
  </a>
)
"""


@pytest.mark.parametrize("size", [1, 4, 11])
def test_elements_that_lack_a_part_are_read(size):
    document = ENGINES["tsx"].document(b"")
    for start in range(0, len(ELEMENTS) - size, 3):
        document.edit(0, len(document.data), ELEMENTS[:start] + ELEMENTS[start + size :])
        for cursor in (0, start, len(document.data) // 2, len(document.data)):
            edits = sorted(Nesting(document, cursor, cursor).edits())
            ends = [0, *(end for _, end, _ in edits)]
            starts = [*(start for start, _, _ in edits), len(document.data)]
            assert all(end <= start for end, start in zip(ends, starts, strict=True))  # they are apart
            assert all(start <= end for start, end, _ in edits)


OPENED = {
    # a text with its cursor, and a middle that opens a bracket for the rest of the line
    "json": ('{"a": <|>, 2], "b": 3}\n', b"[1"),
    "go": ("package p\n\nfunc f() {\n\ta := <|>b, c)\n\td()\n}\n", b"g("),
    "lua": ("x = <|>a, b}\ny = 1\n", b"{"),
    "typescript": ("const a = <|>b, c];\nd();\n", b"["),
    "tsx": ("const a = <|>b, c];\nd();\n", b"["),
}


@pytest.mark.parametrize("name", OPENED)
def test_a_middle_may_open_a_bracket_for_the_rest_of_its_line(name):
    text, middle = OPENED[name]
    left, right = text.encode().split(b"<|>")
    start = ENGINES[name].document(left + right).middle(len(left), len(left), relax=True).start
    assert start.feed(start.shortest_completion).complete
    assert start.feed(middle).complete
