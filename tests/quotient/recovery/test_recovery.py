"""A file that is broken away from the cursor is read as the nearest valid one."""

import pytest

from fimlsp.quotient.recovery.repaired_text import TextRepair
from fimlsp.testing.checking import COMPLETE, fed, verdict

from ...sampling import sampled
from ..middle_support import engine

BREAKS = {
    # lines of a function that are broken; the other lines are read as without them
    "a bracket is left open": "    x = foo(a, b\n",
    "nested brackets are left open": "    x = foo(a, [b, {c: d\n",
    "a call over several lines is left open": "    x = foo(a,\n            b,\n            c\n",
    "a dict over several lines is left open": "    x = {\n        'a': 1,\n        'b': [2],\n",
    "a comma is missing in a dict": "    x = {\n        'a': 1\n        'b': 2,\n    }\n",
    "a call lacks an operand": "    x = foo(a,\n            b +,\n            c)\n",
    "a bracket is closed twice": "    x = foo(a))\n",
    "a bracket over several lines is closed twice": "    x = foo(\n        a,\n    ))\n",
    "a string is left open": "    x = 'abc\n",
    "a string in a call is left open": "    x = foo('abc, b)\n",
    "an f-string is left open": "    x = f'{a} and {b\n",
    "a field of an f-string is left open": "    x = f'{a!r and b'\n",
    "a condition lacks its colon": "    if a\n        x = 1\n",
    "a condition with a clause lacks its colon": "    if a\n        x = 1\n    else:\n        x = 2\n",
    "a loop is half-written": "    for x\n        foo(x)\n",
    "a header has no body": "    if a:\n    x = 1\n",
    "a header is gone": "        x = 1\n        y = 2\n",
    "the header before a clause is gone": "        x = 1\n    else:\n        y = 2\n",
    "else has no if": "    else:\n        y = 2\n",
    "try has no except": "    try:\n        y = 2\n    x = 1\n",
    "a decorator has no definition": "    @foo\n    x = 1\n",
    "a decorator is left open": "    @foo(a\n    def g():\n        pass\n",
    "a definition is left open": "    def g(a, b:\n        return a\n",
    "an attribute is missing": "    self.\n",
    "an operand is missing": "    x = a +\n",
    "a keyword stands alone": "    import\n",
    "words of a docstring without its beginning": '    Return the sum\n    of all things.\n    """\n',
    "the markers of a merge": "<<<<<<< HEAD\n    x = 1\n=======\n    x = 2\n>>>>>>> topic\n",
    "characters that are no lexemes": "    x = a ? b : $c\n",
    "a line that is too deep": "      x = 1\n",
    "a line that is not deep enough": "  x = 1\n",
}
LATER = """    if a:
        return x
    return y


def other():
    '''What it does.'''
    return [
        1,
    ]
"""
DISTANCES = (1, 2, 3, 5, 12)


def filler(count: int) -> str:
    return "".join(f"    v{number} = foo(a, {number})\n" for number in range(count))


def check(left: str, right: str) -> None:
    """Between *left* and *right*, after `y = `, an expression is complete, and nothing else is needed."""
    data = (left + right).encode()
    cursor = len(left.encode())
    found = engine().document(data).middle(cursor, cursor, may_escape=False, relax=True)
    assert verdict(fed(found.start, b"foo(a)[0] + 1")) == COMPLETE
    assert found.start.shortest_completion == b"0"
    assert found.relaxed


@pytest.mark.parametrize("name", BREAKS)
@pytest.mark.parametrize("distance", DISTANCES)
def test_breaks_above(name, distance):
    check(f"def f(a):\n    z = 1\n{BREAKS[name]}{filler(distance - 1)}    y = ", "\n" + LATER)


@pytest.mark.parametrize("name", BREAKS)
@pytest.mark.parametrize("distance", DISTANCES)
def test_breaks_below(name, distance):
    check("def f(a):\n    z = 1\n    y = ", "\n" + filler(distance) + BREAKS[name] + LATER)


@pytest.mark.parametrize("above", list(BREAKS)[::3])
@pytest.mark.parametrize("below", list(BREAKS)[1::3])
def test_two_breaks(above, below):
    left = f"def f(a):\n    z = 1\n{BREAKS[above]}{filler(2)}    y = "
    check(left, f"\n{filler(2)}{BREAKS[below]}{LATER}")


TABLE = "x = {\n" + "".join(f"    'k{number}': [{number}, a],\n" for number in range(45))
CALLS = "    f(\n        a, 2,\n        b=c,\n    ),\n" * 9
ROWS = "    [a, [b, c], 0,\n     1, 2.5],\n" * 24
SEEN = {
    # left<|>right: a middle that is complete there, and the offered completion
    "x = [1, 2\ny = <|>\n": (b"1", b"0"),
    "f(a b, <|>)\n": (b"c", b""),
    "class A:\n    def f(self):\n        self.\n        x = <|>\n": (b"1", b"0"),
    "x = {'a': 1 'b': <|>}\n": (b"2", b"0"),
    "def f():\n    x = <|>\n    y = 3\n    z = 4)\n": (b"1", b"0"),
    "foo(\n    a b,\n    <|>\n)\n": (b"c", b""),
    "foo(\n    a,\n    <|>\n    b c,\n)\nx\n": (b"d,", b""),
    "x = '''a\n<|>b'''\ny = )\n": (b"c", b""),
    "def f(\n    a=<|>,\n) -> int\n    return a\n": (b"1", b"0"),
    # brackets by columns
    "x = foo(\n    a,\n    bar(b,\n    c)\ny = <|>\n": (b"1", b"0"),
    "x = {\n    'a': (1, 2\n    'b': 3,\n    'c': <|>,\n}\n": (b"4", b"0"),
    "x = {\n    'a': [\n        <|>\n    ]],\n}\ny = )\n": (b"1", b""),
    "def f(a\n    x = a\n    y = <|>\n": (b"1", b"0"),
    "x = {\n    'a': 1,\n    <|>\n    'c': 2,\n}\nz = )\n": (b"'b': 3,", b""),
    "if a:\n    x = foo(<|>\n        a, b)\nz = )\n": (b"c,", b""),
    "x = {\n    'a': [\n        1,\n    ]<|>\n    'b': [2 3],\n}\n": (b",", b","),
    "def f(a, b\n    foo(bar(6, c=c),\n        <|>,\n        1)\n    foo(bar)\n": (b"1", b"0"),
    # brackets that no line opens
    "def f():\n    x =\n        'a': 1,\n        'b': <|>,\n        'c': 2,\n    }\n": (b"1", b"0"),
    "def f():\n    x =\n        a,\n        <|>,\n        b,\n    )\n    y = 2\n": (b"c", b"0"),
    "from a import\n    b,\n    c,\n    <|>\n    d,\n)\nx = 1\n": (b"e,", b""),
    "if a:\n    raise A\n        'a'\n        'b',\n        <|>,\n    )\n    y = 2\n": (b"c", b"0"),
    "from a import (\n    b,\n    <|>\n    c,\n)\n\nx: y[z]]\n": (b"d,", b""),
    # brackets that the middle opens
    "x = <|>\n    'a': [],\n    'b': ['c', 'd'\n}\nz = 1\n": (b"{", b"{"),
    "x = [\n    <|>\n        'a': 1,\n    },\n    {'b': 2 'c': 3},\n]\n": (b"{", b"{"),
    "x = [\n    {'b': 2 'c': 3},\n    <|>\n        'a': 1,\n    },\n]\n": (b"{", b"{"),
    # strings that end before their line does
    "x = {'a': 1,\n     'b: 2,\n     'c': <|>,\n}\n": (b"3", b"0"),
    "x = foo['a] = (\n    <|>,\n)\ny = 1\n": (b"b", b"0"),
    "x = [('a', b),\n     ('c, b),\n     (<|>, d)]\ny = 1\n": (b"'e'", b"0"),
    "x = [('a', b),\n     (<|>, d),\n     ('c, b),\n     ('e', f)]\n": (b"'e'", b"0"),
    "x = [\n    (b'a, 'b', c),\n    (<|>, d),\n]\ny = 1\n": (b"'e'", b"0"),
    "x = [\n    foo('a: b'),\n    foo('a: \\\\b),\n    <|>,\n]\n": (b"1", b"0"),
    # a missing end of a line, seen at the next one
    "x = {\n    'a':\n    'b': 1,\n    <|>\n}\n": (b"'c': 2,", b""),
    "x = {\n    'a': 'b'\n    'c': 1,\n    <|>\n}\n": (b"'d': 2,", b""),
    # a block, not brackets
    "def f():\n    for a in <|>:\n        b = c(d)\n        e = f(g))\n": (b"x", b"0"),
    "def f():\n    if <|> (a(b) > 0):\n        b = c\n        (d, e), f)\n": (b"not", b""),
    "class A:\n    <|>\n        a.b = c\n        d.e())\n    x = 1\n": (b"def f(self):", b"if 0:"),
    "def f(\n    from a import <|>\n\n    b = 1\n": (b"c", b"*"),
    "class A(B\n    def f(self, <|>):\n        pass\n": (b"x", b""),
    # closers of another kind
    "def f(\n    a: B[c]] = 1,\n<|> -> None:\n    pass\n": (b")", b")"),
    "def\n    a, b: c, d: e\n) -> None<|>\n    pass\n": (b":", b":"),
    # brackets closed twice, deep
    "x = [\n    <|>\n]\n\ny = {\n    'a': b.c,\n}}\n": (b"1", b""),
    (
        "class A:\n    <|>\n    x = {\n        'a': [\n            (b, c)),\n            (d, e),\n"
        "        ],\n    }\n"
    ): (
        b"y = 1",
        b"",
    ),
    "class A:\n    y = 1\n\n    <|>\n        x = a['b']\n        x.c(d('e', x.f)))\n": (
        b"def f(self):",
        b"if 0:",
    ),
    # a closing bracket is missing where one stands
    (
        "def f():\n    if (\n        a\n        and b\n    :\n        c = 1\n        if <|>\n"
        "            d\n            for e in g\n        ):\n            h\n"
    ): (
        b"any(",
        b"(",
    ),
    "x = {\n    'a': [\n        f('b'\n        g('c'),\n        h,\n    <|>\n    'd': [],\n}\n": (
        b"],",
        b"],",
    ),
    # brackets that the middle closes
    "x = {\n    'a': {\n        'b': 1,\n    <|>\n    'c': {\n        'd: 2,\n    },\n}\n": (b"},", b"},"),
    "x = [\n    (a,\n     <|>\n    (b, .c),\n]\n": (b"d),", b")"),
    (
        "class A:\n    def f(\n        self, a: b\n    <|>\n        c  [\n            d for d in e\n"
        "        ]\n        if e:\n            g\n"
    ): (
        b") -> h:",
        b"):",
    ),
    # lines of their own
    "def h(self\n    self.c.a<|>H(self.b(c)))\n": (b"(", b"("),
    "class A:\n    y = 1\n\n    def f(\n        g(h.i(j.k))\n\n    <|>\n        x = 1\n": (
        b"def g(self):",
        b"",
    ),
    (
        "class A:\n    def f(\n        self<|>\n        a: b,\n        c: d = None,\n"
        "        x = None\n        for y in z:\n            x = y\n\n    def g():\n        return )\n"
    ): (
        b",",
        b",",
    ),
    (
        "for a, b in (\n    ('c', d),\n    <|>\n    e = e % {'f': g}\n    h(e)\n\n"
        "i = ['a', 'b', 'c, 'd',\n     'e']\n"
    ): (
        b"('j', k)):",
        b"):",
    ),
    (
        "if a:\n    b(\n        c,\n    <|>\n    return d\n\n\nclass E(X):\n    def __init__\n"
        "        self,\n        f: g = h,\n    ) -> None:\n        x = 1\n"
    ): (
        b")",
        b"",
    ),
    # the cursor's line continues or starts after the cursor
    "if a:\n    x = [b]\\\n        <|> c\nelse:\n    if (d and\n        e)\n        f = 1\n": (b"+", b";"),
    "@a\n b(c):\n    with d(e(\n        f)\n    <|>:\n        g()\n": (b")", b")"),
    "a,\n    b<|>c.d(\n        e=e,\n    )\n)\n": (b".", b""),
    (
        "class A:\n    b =\n    c = None\n\n    <|>\n        # d\n        e = c\n\n        # f\n\n"
        "        g = 1\n"
    ): (
        b"def f(self):",
        b"if 0:",
    ),
    # strings
    "a = (\n    'b', 'c,', 'd',\n    'e', 'f, 'g', 'h'\n<|>\n\ni = 1\n": (b")", b")"),
    "a = (\n    b,\n    [c + 'd for e in f()],\n    <|>\n)\n": (b"g,", b""),
    "x = {\n    'A::B': [\n        1,\n    ],\n    'A::C: [\n        2,\n    ],\n    <|>\n}\n": (
        b"'d': 3,",
        b"",
    ),
    "def f():\n    return [\n>>>>>>> a\n        (b, c),\n        (d, <|>.e),\n    ]\n": (b"g", b"0 "),
    "class A:\n    def\n        <|>\n        a: b,\n    ) -> c:\n        d\n": (b"self,", b""),
    (
        "def f():\n    if a:\n        <|>\n    else:\n        # c\n         = d(e)\n        if g:\n"
        "            h\n"
    ): (
        b"b",
        b"0",
    ),
    # hopeless lines in brackets over many lines
    "x = (\n    a<|>\n    b,\n>>>>>>> c\n)\n": (b",", b","),
    "def f():\n    m = g([[1, 2],\n           [3, <|>],\n<<<<<<< a\n           [4, 5]])\n": (b"6", b""),
    # brackets over many lines
    TABLE + "    'm': f({'n': s, *[t] * 2]}),\n    'o': f({'n': [s]}),\n    <|>\n}\n": (b"'c': 2,", b""),
    (
        "x = [\n    {\n        'a': [\n            1,\n        ]],\n    },\n    <|>\n        'b': 2,\n"
        "    },\n]\n"
    ): (
        b"{",
        b"{",
    ),
    "x =\n    {\n        'a': 1,\n    }<|>\n" + "    {\n        'a': 1,\n    },\n" * 60 + "]\n": (b",", b","),
    "def f():\n    a.b\n        c='d',\n        e='f'<|>\n    )\n": (b",", b""),
    "x = (\n" + "1, 2,\n 3, 4,\n" * 6 + "5, 6\n7, 8,\n<|>\n9, 10,\n)\n": (b"11, 12,", b""),
    "x = g((\n    (\n        a,\n    )<|>\n    (\n        h(b, c=(.d(), e)),\n    ),\n))\n": (b",", b""),
    (
        "x = [\n    {\n        'n': f(\n            t=g(\n                [\n                    a,\n"
        "                <|>\n            ),\n            b=c,\n        ),\n    },\n    {\n        'n':\n"
        "            t=g(\n                [\n                    a,\n                ]\n            ),\n"
        "        ),\n    },\n]\n"
    ): (b"]", b"]"),
    # brackets that the cursor's line closes
    ("class A:\n    def f\n        self,\n        a: str,\n    <|>\n        b = 1\n        return b\n"): (
        b") -> C:",
        b"):",
    ),
    "def f():\n    g(a,\n      b,\n    <|>\n\n\ndef h():\n    return )\n": (b")", b""),
    "def f():\n    a = (b, c) if d\n\n    <|>\n": (b"e = 1", b""),
    # brackets that it opens
    "def f():\n    <|>\n" + "        'a'\n" * 9 + "        'a',\n        B\n        c=3\n    )\n": (
        b"g(",
        b"0(",
    ),
    "if a:\n    raise E<|>\n        f'{a} b\n    )\n    b = 1\n": (b"(", b"("),
    "def f():\n    if a:\n        <|> = (b.c\n             == d(e, f)\n        g(h)\n    i()\n": (
        b"x",
        b"()",
    ),
    "class A:\n    a = 1\n    <|>\n        'b '\n        'c'\n    )\n     = 'd'\n    e = 1\n": (
        b"f = (",
        b"(",
    ),
    # lines that line joiners join to it
    "def f():\n    x = <|> \\\n        b(c - d\n": (b"a *", b""),
    (
        "def f(a, b=1)\n    if a:\n        c = b\n        if d <|> '\\n'  \\\n"
        "                or (d == e and a != b):\n            c = 1\n"
    ): (b"in", b"<"),
    # headers
    "@a\ndef f(:\n    <|>\n\n\ndef g(h):\n    pass\n": (b"return b", b"0"),
    "def f(\n    a,\n    b<|> c) -> d:\n    if a is not b\n        e = 1\n    g = 2\n": (b":", b","),
    (
        "class A:\n    def f(self,\n          a=1,\n          b=2, c=3,\n          d=4,\n          e=5,\n"
        "          g=None\n\n        self.a = a\n        self.b = b\n        <|>\n        self.c = c\n"
    ): (b"self.d = d", b""),
    # a missing start of a line
    (
        "def f():\n    if a:\n        b = c(\n            d\n        )\n\n     = e(\n        d\n    )\n"
        "    <|>\n        g\n    h\n"
    ): (
        b"if e:",
        b"if 0:",
    ),
    # brackets, headers and lines after the cursor's, by columns
    ("class A:\n    b <|> {\n        C: 'd'   # e\n        D: 'f',\n        E: 'g',\n    }\n"): (b"=", b";"),
    ("from a import (b, c\n               d, <|>)\nfrom e import *\n"): (b"f", b""),
    ("x = {\n    'h': 'a',\n    <|>:\n        'b',\n    'c': 'd',\n    'e':\n    'f': 'g',\n}\n"): (
        b"'k'",
        b"0",
    ),
    (
        "x = {\n    'a': [\n        (b, (<|>, 3)),\n        (c, 2),\n    ],\n    'd': [(e, (3, 4))\n    '"
        "f': [\n        (g, 1),\n    ],\n}\n"
    ): (b"2", b"0"),
    (
        "class A:\n    def f(\n        self,\n        a: b[c, d.\n        e: f[g] | None = None,\n      "
        "  <|>: h[\n            i | j\n        ] = None,\n    ): ...\n"
    ): (b"k", b"a"),
    (
        "x(\n    (\n        (\n            a(\n                (b((c(),),),\n                d=e,\n      "
        "      ),\n            'f',\n        ),\n        (\n            a(\n                <|>),\n      "
        "          g=(\n                    h(),\n                ),\n            ),\n            'i',\n"
        "        ),\n    )\n)\n"
    ): (b"(", b"0"),
    (
        "x = f(\n    'a',{\n    'b'   : c,\n    d     : e,\n    <|>\n    g     : h,\n\n    'i'   : .j,\n   "
        " 'k'   : l,\n})\ny = 1\n"
    ): (b"'m': n,", b""),
    ("class A:\n    a =\n        'b', 'c',\n        'd', 'e',\n        'f'\n    <|>\n\n    g = 1\n"): (
        b")",
        b")",
    ),
    ("def f():\n    with <|> \\\n            a({'b': c\n        d = e()\n\n    return d\n"): (b"g,", b""),
    ("class A:\n    b = <|>\n\n     c(self) -> d:\n        e()\n"): (b"1", b"0"),
    # blocks, by columns
    "def f():\n        a\n        b\n    c\n    <|>\n\nd = )\n": (b"e", b""),
    "def f():\n    try:\n        <|>\n    a\nz = )\n": (b"x", b"0"),
    # a line that ends brackets too early, or not at all
    (
        "x = [\n    (a((\n        'b', 'c'), d = e,\n        f = g), h),\n\n    (a<|>(\n"
        "        'b', 'c'), d = e,\n        f = g), h),\n\n    (a((\n        'b'), d = e\n"
        "        f = g), h),\n]\n"
    ): (b"(", b"("),
    "x = (\n    a,\n    b,\n    ,\n    c,\n    d,\n    e<|>\n    f,\n)\n": (b",", b","),
    (
        "def f():\n    x = g.h(\n        a=b(\n            'c'\n        )),\n"
        "        d=e(1),\n        <|>=e(2),\n        i=e(3),\n    )\n    return x\n"
    ): (b"j", b"a"),
    # headers that suit the lines around them
    "class A:\n    @b.c<|>'d', [1])\n    @b.c('e', [2])\n        f = 1\n        g = 2\n": (b"(", b"("),
    (
        "def f():\n    if a:\n        b\n    else:\n            c = 1\n"
        "        except D<|>\n            raise E\n"
    ): (b":", b":"),
    # slips of one column
    "class A:\n     = [1]\n\n    <|>\n        b\n    def c(self):\n        d\n": (b"def e(self):", b"if 0:"),
    (
        "def f():\n    if a:\n        return b\n\n     (\n        c\n        + d\n    <|>\n"
        "\n\ndef g():\n    pass\n"
    ): (b")", b")"),
    "def f():\n    if a <|> 0:\n        b = 1\n\n     = b\n    if c:\n        d\n": (b"<", b"<"),
    # brackets that are as they were
    "=======\nf(a,\n  [[1, 2],\n  [3, 4]])\nf(a,\n  <|>\n  [3, 4]])\n": (b"[[1, 2],", b"["),
    (
        "if a:\n<<<<<<< b\n    c\nelse:\n    if d:\n        raise E('f'\n        'g'<|>\n"
        "    else:\n        h\n"
    ): (b")", b")"),
    # brackets around the cursor's line
    (
        "f(\n    a={\n        'b': (lambda c: c('d')),\n    }<|>\n    e={\n        'f': (\n"
        "            g\n        )),\n        'h': (lambda c: c('d')),\n    },\n)\n"
    ): (b",", b","),
    (
        "def f(a,\n        b=None,\n        <|>c=None, d=None,\n        e=None, k=None,\n"
        "    g.h(a, b=b,\n        c=c)\n    i(e=e)\n"
    ): (b"j=None,", b""),
    "x = {\n    'a': f(,\n    'b': <|>(),\n    'c': f(),\n}\n": (b"f", b""),
    (
        "x = f(\n    g(\n        <|>\n            a=h('b'),\n            c=(\n"
        "                i(1),\n            ),\n        ,\n        m.n(\n"
        "            a=h('b'),\n        ),\n    )\n)\n"
    ): (b"m.n(", b"0("),
    (
        "x = [\n    {\n        'a': 1,\n    },\n    <|>\n        'a': 2,\n        'b': 3,\n"
        "    ,\n    {\n        'a': 4,\n    },\n]\n"
    ): (b"{", b"{"),
    "def f():\n    x = ' '.join\n        [f'{a}' for <|>a, b) in c.d()]\n    )\n    e.f(x)\n": (b"(", b"("),
    (
        "def f():\n    for a in b:\n        <|>\n            c = (\n                'd'\n"
        "            )\n            e.f(\n                g(a, h('i', j(k))))\n"
        "            )\n        else:\n            l\n"
    ): (b"if m:", b"if 0:"),
    "from a import b, c, d e, f, \\\n    g, <|>, h\n\ni = ['j']\n": (b"k", b"a"),
    ("x = [\n    f(\n        a,\n        ['b', 'c']],\n        <|>,\n    ),\n    f(d, ['e']),\n]\n"): (
        b"g",
        b"0",
    ),
    (
        "def f():\n    return g(\n        a='b',\n        c=\n"
        "        d=e().d,\n        <|>\n        h=i,\n    )\n"
    ): (b"j=k,", b""),
    "def f(a):\n    <|>\n            b=['c']], d=e,\n            g=a)\n": (b"return h(i='j',", b"0("),
    "x = {\n    'A::B': 'c',\n    'A::D': 'e,\n    <|>\n    'A::F': 'g',\n}\n": (b"'A::H': 'i',", b""),
    # brackets over several lines that are closed too early, or not at all
    (
        "def f(a):\n    for b in a.c.d(\n        e(a.c.g.g)), h\n    ):\n        if b:\n            <|>\n"
        "                [\n                    k\n                ]\n            )\n"
    ): (b"i(", b"("),
    (
        "def f(a):\n    if (\n        b in a\n        and g(a<|>b], list)\n        and c\n"
        "        d\n    else:\n        e\n"
    ): (b"[", b"["),
    (
        "x = {\n    'a': {\n        'b': ['c'],\n    }},\n    'd': {\n        'b': ['e'],\n    <|>\n"
        "    'g': {\n        'b': ['h'],\n    },\n}\n"
    ): (b"},", b"},"),
    # a middle would leave the brackets or the block
    "A = (\n1,2,\n3,4,\n5,6,\n7,8,\n <|>\n9,10,\n11,12\n13,14,\n15)\n": (b"0,", b""),
    (
        "x = {\n    'a': [\n        (b, c),\n    ],\n    'd'\n        (b, c),\n"
        "        (e, f(g(h, <|>=i), j,\n                k), l),\n    ],\n"
        "    'm': [\n        (b, c),\n    ],\n}\n"
    ): (b"n", b"a"),
    (
        "g = a([b,\n       c,\n       d<|>\n       e,\n       f])\nh = a([b,\n       c,\n       d,\n"
        "       e,\n       f])\nk = a([b,\n       c,\n       d,\n       e,\n       f]))\nl = 1\n"
    ): (b",", b""),
    (
        'class A:\n    """\n    What it does.\n    """\n    def f(self<|> b=C):\n\n        self.d = b\n\n'
        '    def g(self, e)\n        """\n        Sends it\n        over.\n        """\n        return e\n'
    ): (b",", b","),
    "def f() ->\n    return a(\n        b(\n            c,\n            <|>\n        )\n\n\nx = 1\n": (
        b"d,",
        b"",
    ),
    "for a in b[c:\n    <|>\n\ndef f()\n    pass\n": (b"d", b"0"),
    (
        "class A:\n    def f(self, a<|> b):\n        return a\n\n"
        "     g(\n        self, b\n    ) -> c:\n        return b\n"
    ): (b",", b","),
    (
        "def f(self):\n    return (\n        g(<|>, B)\n        and a.b == c.b\n        and a.d == c.d\n"
        "        and a.e == c.e\n    \n\n\nx = 1\n"
    ): (b"a", b"0"),
    "def f(\n    a: b,\n    c: d[e, g\n    h: <|>,\n    i: j,\n) -> k:\n    return a\n": (b"l", b"0"),
    (
        "def f():\n    a\n=======\n    <|> def g():\n"
        "        async with h:\n            return 1\n\n    return g\n"
    ): (b"async", b"\n   "),
    # long statements with brackets whose end the next lines show
    f"x = [\n{CALLS}    f(\n        a,\n        d=(b, c, e=g,\n        <|>\n    ),\n]\n": (b"h=1,", b""),
    f"x = [\n{CALLS}    f(\n        g(\n            h(, c=d\n        ),\n        <|>\n    ),\n]\n": (
        b"b,",
        b"",
    ),
    f"x = [\n{ROWS}    [a, [b, c], 0,\n     1, 2.5]],\n    [a, [b, c], 0,\n     <|>\n{ROWS}]\n": (
        b"1, 2.5],",
        b"]",
    ),
    (
        "x = {\n    'a': {\n        'b': 1,\n    }},\n    'c': {\n        'b': 1,\n"
        "    },\n    'd': <|>\n        'b': 1,\n    },\n}\n"
    ): (
        b"{",
        b"{",
    ),
    "x = {\n    'a': {\n        'b': 1,\n    }},\n    'c': <|>\n        'b': 1,\n    },\n}\n": (b"{", b"{"),
    # missing words of a line
    "x = (\n    a.b\n    if c is None\n     lambda n: iter(d)\n<|>\nz\n": (b")", b")"),
    "x = sorted(\n    {n  n in g() if not n.a()}\n    <|>\n    | {b, c}\n)\n": (b"- {d}", b""),
    # brackets that the cursor's line opens
    "def f(a):\n    def g(h)\n        return lambda: A(<|>(\n            b,\n            c()\n        ))\n": (
        b"d",
        b"",
    ),
    (
        "x = {\n    'a': [\n        (b, c),\n        (d, f + g<|>\n         h(i.j, i.k\n"
        "        l('#'),\n    ]\n}\n"
    ): (
        b",",
        b"",
    ),
    (
        "def f():\n    x = ((0<|> 1, 2,\n        3, 4), (5, 6,\n        7,\n"
        "    y = ((0, 1),\n        (2, 3))\n"
    ): (
        b",",
        b",",
    ),
    # lines below, by their first lexemes and columns
    "def f(\n    a: b,\n    c: d[e<|>,\n -> g:\n    pass\n": (b"]", b""),
    "class A:\n    def f(self):\n        <|>\n\n     g(self, x):\n        return x\n": (
        b"return self.a",
        b"0",
    ),
    "def f():\n    for\n        g(a)\n    <|>\n        h(a)\n\n    b()\n": (b"for i in u:", b""),
    "class A:\n    b = [c]\n\n        d(\n            e=f,\n        )\n\n    <|>\n        return g\n": (
        b"def h(self):",
        b"",
    ),
    (
        "def f():\n    a(.b(\n        c=[d],\n        e=g(\n            h=i,\n        )<|>\n"
        "        j=k,\n    )\n"
    ): (b",", b","),
    (
        "class A:\n    def f(self):\n        super(.g(\n            h=['i'],\n"
        "        <|>\n\n    def j(self):\n        k\n"
    ): (
        b")",
        b")",
    ),
    "def f():\n    a =\n        N, b=q(), c=u(),\n        d=q\n        )\n\n    <|>\n    e = g\n": (
        b"h",
        b"",
    ),
    "def f():\n    g(\n        t=(\n            e=h.i(),\n            j=k,\n        )\n    <|>\n": (
        b")",
        b")",
    ),
    "r = \n    'a': 'b',\n    'c': <|>,\n    'd': 'e',\n    }\nx = 1\n": (b"'g'", b"0"),
    "def f():\n    return g(a=b, c='d'<|>\n             e=['h'\n             i=j)\n": (b",", b""),
    # clauses that have no header
    (
        "def f():\n    try:\n        a\n    except E:\n        raise S\n        b\n    elif c:\n        d\n"
        "    elif e == <|>:\n        g\n\n    h\n"
    ): (b"i", b"0"),
    "def f():\n    a\n        b\n    elif c == <|>:\n        d\n\n    e\n": (b"g", b"0"),
    # lines apart from those around them
    "def f():\n    if a:\n" + "        # b\n" * 11 + "<<<<<<< c\n        d\n        <|>\n    e\n": (
        b"g",
        b"",
    ),
    "def f():\n    assert g([1, [2, [3]], [4, 5]) == \\\n        'a'\n    <|>\n": (b"assert b", b""),
    # an opening bracket that was lost before the cursor in its line
    'x = [\n    (1, {"a": 2}),\n    (1, "a": <|>, "b": 3}),\n    (1, {"a": 4}),\n]\n': (b"10", b"0"),
    'def f():\n    g("a": <|>, "b": 3})\n    return h\n': (b"10", b"0"),
    'def f():\n    g = h, "a": <|>, "b": 3}\n    return h\n': (b"10", b"0"),
    # something missing between the words of the rest of the line
    "def f(g):\n    h = {<|>: i()  j in g}\n    return h\n": (b"u", b"0"),
    "def f(g):\n    h = k(<|>, i()  j, g)\n    return h\n": (b"u", b"0"),
    # a closing bracket too many after one that the middle writes
    "def f(g):\n    with h:\n        i(j.k(g, [(0, 1<|>])))\n\n    return g\n": (b")", b")"),
    "def f(g):\n    i([j(0, 1<|>]))\n    return g\n": (b")", b")"),
}


@pytest.mark.parametrize("case", sampled(SEEN, 2))
def test_the_cursor_stays_where_it_is(case):
    left, right = case.encode().split(b"<|>")
    found = engine().document(left + right).middle(len(left), len(left), may_escape=False, relax=True)
    middle, offered = SEEN[case]
    assert verdict(fed(found.start, middle)) == COMPLETE
    assert found.start.shortest_completion == offered


BRACKETS_ASSUMED = (
    # a bracket assumed before the cursor is not for the middle to close
    'def f():\n    self.g(p + b"  + k + b": " <|> v)\n',
    "class A:\n    def f(self):\n        for v in h:\n            g(p + b'  + k + b': ' <|> v)\n\n"
    "    def k(self):\n        pass\n",
)


@pytest.mark.parametrize("case", BRACKETS_ASSUMED)
def test_a_middle_closes_no_bracket_that_was_assumed(case):
    left, right = case.encode().split(b"<|>")
    found = engine().document(left + right).middle(len(left), len(left), may_escape=False, relax=True)
    assert not found.start.shortest_completion.strip().startswith((b")", b"]", b"}"))


CLOSED_BY_EDITOR = {
    # left<|>right: the text that is assumed after the cursor's line
    "def main(<|>)\n": ":0",
    "def main(<|>)\n\nx = 1\n": ":0",
    "def main(<|>):\n": "0",
    "class A(<|>)\n\nx = 1\n": ":0",
    "@a.b(<|>)\n": "\ndef a():0",
    "def f(a):\n    try:\n        x = list(<|>)": "\n    except:0",
    "with open(<|>)\n": ":0",
    "for x in f([<|>])\n\ny = 2\n": ":0",
    "@a.b(<|>)\r\n\r\nx = 1\r\n": "\ndef a():0",
}


@pytest.mark.parametrize("case", CLOSED_BY_EDITOR)
def test_a_bracket_that_the_editor_closed(case):
    left, right = case.encode().split(b"<|>")
    document = engine().document(left + right)
    found = document.middle(len(left), len(left), may_escape=False, relax=True)
    assert verdict(fed(found.start, b"a")) == COMPLETE
    line_end = len(left) + len(right.partition(b"\n")[0].rstrip())
    assert found.relaxed == (TextRepair(line_end, line_end, CLOSED_BY_EDITOR[case].encode()),)
    assert not document.middle(len(left), len(left), may_escape=True, relax=True).relaxed


QUOTES_CLOSED_BY_EDITOR = {
    # left<|>right, in a string: the text that is assumed after the cursor's line
    'def f() -> "<|>"\n': ":0",
    "class A:\n    def f(self) -> '<|>'\n\n    def g(self): pass\n": ":0",
    'def f(a: "<|>")\n': ":0",
    'def f(a: "<|>"):\n': "0",
    'if a == "b<|>"\n\nx = 1\n': ":0",
    'for x in ["<|>"]\n': ":0",
    'try:\n    x = f("<|>")\n': "\nexcept:0",
}


@pytest.mark.parametrize("case", QUOTES_CLOSED_BY_EDITOR)
def test_a_string_that_the_editor_closed(case):
    left, right = case.encode().split(b"<|>")
    found = engine().document(left + right).middle(len(left), len(left), relax=True, may_escape=False)
    assert verdict(fed(found.start, b"a")) == COMPLETE
    assert fed(found.start, right[:1] + b":") is None
    line_end = len(left) + len(right.partition(b"\n")[0].rstrip())
    assert found.relaxed == (TextRepair(line_end, line_end, QUOTES_CLOSED_BY_EDITOR[case].encode()),)


MENDS = {
    # left<|>right: the repairs
    "x = [1, 2\ny = <|>\n": [TextRepair(9, 9, b" ]")],
    "y = <|>\nx = 'a\n": [TextRepair(11, 11, b"'")],
    "if a\n    y = <|>\n": [TextRepair(4, 4, b" :")],
    "<<<<<<< HEAD\ny = <|>\n": [TextRepair(0, 12, b"")],
    (
        'def f():\n    Find all the files, and\n    what they are.\n    """\n    c = <|>\n    d = 1\n\n\n'
        'def g():\n    """What it does."""\n'
    ): [TextRepair(13, 13, b'"""')],
    "y = <|>\nx = a))\nz = ?\n": [
        TextRepair(10, 12, b""),
        TextRepair(16, 16, b" a"),
        TextRepair(17, 18, b""),
    ],
    (
        "x = <|>\n\n\nclass B(C):\n        self.a = a\n\n"
        "    def g(\n        self,\n        b: d,\n    ) -> e:\n        return b\n"
    ): [TextRepair(19, 19, b"    if a :\n")],
    (
        'class A:\n    x = <|>\n    def f(self):\n        """\n        Returns it.\n        """\n'
        "            return a\n        else:\n            raise E\n"
    ): [TextRepair(79, 79, b"        if a :\n")],
    (
        'x = <|>\nsuper(A).()\n\n\ndef g(self,\n      b="<c>"):\n    """\n    Parameters\n    ----------\n'
        '    d : e\n        What it is.\n    """\n    return a\n'
    ): [TextRepair(14, 14, b" a ")],
}


@pytest.mark.parametrize("case", MENDS)
def test_repairs_are_reported(case):
    left, right = case.encode().split(b"<|>")
    found = engine().document(left + right).middle(len(left), len(left), relax=True)
    assert list(found.relaxed) == MENDS[case]


def test_typing_in_a_broken_file_answers_as_a_new_document():
    data = b"def f(a):\n    x = foo(a\n    \n    z = 1)\n    return x\n"
    document = engine().document(data)
    cursor = data.index(b"    \n") + 4
    for byte in b"y = a(b, 'c":
        document.edit(cursor, cursor, bytes((byte,)))
        cursor += 1
        found = document.middle(cursor, cursor, relax=True)
        fresh = engine().document(document.data).middle(cursor, cursor, relax=True)
        assert found.relaxed == fresh.relaxed
        assert found.start.shortest_completion == fresh.start.shortest_completion


@pytest.mark.parametrize(
    "text",
    [
        # the middle could close a bracket, and more of the rest of the line would be wrong then
        "a.b(<|>.c, d.e, **d.f\ng()\n",
        "def f(a):\n    if not g(a, <|>.b)\n        return a\n",
        "a = P(<|>._b(c d))\n",
        "a(b, <|>.c() if\n\ng()\n",
        "def f():\n    a(\n        <|>(b\n    c = d\n",
    ],
)
def test_no_closing_bracket_is_offered_where_an_operand_is_enough(text):
    left, right = text.split("<|>")
    start = (
        engine()
        .document((left + right).encode())
        .middle(len(left), len(left), relax=True, may_escape=False)
        .start
    )
    assert not start.shortest_completion.startswith((b")", b"]", b"}"))
    assert verdict(fed(start, b"a")) == COMPLETE
