"""Checks of suggestions: names, repeated lines, elements and keys, definitions, brackets, idle ends.

Cases are `left<|text|>right`. The issue starts at `¦`, which is not part of the text.
"""

from __future__ import annotations

import pytest

from fimlsp.languages.python.editor_policy import PYTHON_POLICY
from fimlsp.languages.python.names.symbol_tables import MOST_BYTES
from fimlsp.languages.python.suggestion_checks.brackets import (
    first_closed_twice,
    first_own_argument,
    first_repeated_element,
    first_repeated_key,
)
from fimlsp.languages.python.suggestion_checks.checks import first_idle_name, stops_idly
from fimlsp.languages.python.suggestion_checks.comparisons import (
    first_empty_loop,
    first_repeated_condition,
    first_self_comparison,
)
from fimlsp.languages.python.suggestion_checks.guesses import (
    first_class_for_variable,
    first_copied_body,
    first_longer_number,
    first_made_bool,
)
from fimlsp.languages.python.suggestion_checks.lines import (
    first_endless_call,
    first_imported_parameter,
    first_misplaced_keyword,
    first_needless_import,
    first_placeholder,
    first_unreachable,
    first_unwanted_line,
)
from fimlsp.languages.python.suggestion_checks.unknown_names import first_unknown_name

MARK = "¦".encode()


def split(marked):
    """Left, text, right, and the offset of the issue in the text; None if there is none."""
    left, rest = marked.encode().split(b"<|")
    text, right = rest.split(b"|>")
    issue = text.find(MARK)
    return left, text.replace(MARK, b""), right, None if issue < 0 else issue


NAMES = [
    "def f(a):\n    return <|a + ¦b|>\n",
    "def f(a):\n    return <|a.b + a['c']|>\n",
    "def f(a):\n    <|b = a\n    return b|>\n",
    "def f(a):\n    return <|¦c|>\n    c = 1\n",
    "def f(a):\n    <|c = 2|>\n    c = 1\n",
    "def f():\n    g<|()|>\ndef g(): pass\n",
    "def f(x):\n    or<|der = x\n    print(¦oder)|>\n",
    "def f():\n    return g<|¦amma|>\n",
    "from x import *\n<|y(z)|>\nz(y)\n",
    "exec('a')\n<|y(z)|>\ny, z\n",
    "from x import *\ndef f(a):\n    y(<|z, ¦self|>)\nz\n",
    "exec('a')\ndef f(self):\n    y(<|self|>)\n",
    "exec('a')\nclass A:\n    @classmethod\n    def f(cls):\n        y(<|cls, ¦self|>)\n",
    "from __future__ import annotations\ndef f(a: <|¦Any|>): pass\n",
    "from __future__ import annotations\nfrom x import Any\ndef f(a: <|Any|>): pass\n",
    "from __future__ import annotations\ndef f(a: <|A|>): pass\nclass A: pass\n",
    "from __future__ import annotations\nclass A:\n    def f(self) -> <|A|>: pass\n",
    "from __future__ import (\n    annotations\n)\nx = <|¦Any|>\n",
    "'a'\nfrom __future__ import generators, annotations  # b\nx: <|¦Any|> = 1\n",
    "locals(); vars(a)\na = <|¦b|>\n",
    "vars()['b'] = 1\na = <|b, ¦c|>\n",
    "globals()['b'] = 1\na = <|b, ¦c|>\n",
    "def f():\n    a = g(<|¦a|>)\ndef g(): pass\n",
    "def f(a):\n    a = g(<|a|>)\ndef g(): pass\n",
    "def f():\n    a = 1\n    a = g(<|a|>)\ndef g(): pass\n",
    "def f():\n    <|¦a = g(a)|>\ndef g(): pass\n",
    "def f():\n    <|a = g(a=1)\n    return a|>\ndef g(): pass\n",
    "def f():\n    <|a = [a for a in ()]|>\n",
    "def f():\n    <|a = b = 1\n    b = a + b|>\n",
    "def f():\n    print(<|'no a'|>)\n    a = 1\n    a()\n",
    "def f():\n    print(<|b'no a', ¦a, ''|>)\n    a = 1\n    a()\n",
    "def f():\n    print(<|f'no {¦a}'|>)\n    a = 1\n    a()\n",
    "def f():\n    print(f<|'no {¦a}'|>)\n    a = 1\n    a()\n",
    "def f():\n    to<|tal = 1|>\n    return total\n",
    "def f():\n    to<|¦tal = total + 1|>\n    return total\n",
    "def f(a):\n    return [a(<|b|>) for b in a]\n",
    "def f(a):\n    return [a(<|b, ¦c|>) for b in a]\n",
    "def f(a):\n    return a(<|¦b|>), [b for b in a]\n",
    "def f(a):\n    return {\n        a(<|b|>): c\n        for b, c in a\n    }\n",
    "def f(a):\n    a(<|¦b|>)\n    for b in a: b\n",
    "x = <|[a for a in range(3)]|>\n",
    "def f():\n    b = 1\n    return b\ndef g():\n    return <|¦b|>\n    b = 1\n",
    "def f():\n    def g():\n        return 1\n    return <|¦b|>\n    b = 1\n",
    "def f(a=lambda: 1,\n      c=<|¦b|>):\n    return a\n",
    "def f():\n    return g(lambda: 1,\n             <|¦b|>)\n    b = 1\ndef g(): pass\n",
    "x = <|lambda k: k + ¦m|>\n",
    "class A:\n    b = 1\n    def f(self):\n        return <|¦b|>\n",
    "class A:\n    b = 1\n    c = <|b|>\n",
    "def f():\n    global g\n    g = 1\ndef h():\n    return <|g|>\n",
    "def f():\n    <|import os; os.x()|>\n",
    "def f():\n    <|with open('x') as y: y()|>\n",
    "def f():\n    <|for y in []: print(y)|>\n",
    "def f():\n    <|if (y := 1): print(y)|>\n",
    "def f(xs):\n    for <|x|> in xs:\n        print(x)\n",
    "def f(xs):\n    for <|x, y|> in xs:\n        print(x, y)\n",
    "def f(xs):\n    for x in <|¦ys|>:\n        ys = x\n",
    "def f():\n    with g as <|x|>:\n        x()\ndef g(): pass\n",
    "def f():\n    from os import <|path|>\n    return path\n",
    "def f():\n    import <|os|>\n    return os\n",
    "def f():\n    return [x for <|x|> in y]\ny = 1\n",
    "print(<|__file__, __name__, self_|>)\nself_ = 1\n",
    "f(<|key=1|>)\ndef f(key): pass\n",
    "import os.path\n<|os.path|>\n",
    "x = <|unknown(|>\nunknown\n",
    "x = '<|unknown|>'\n",
    "x = 1  # <|unknown|>\n",
    "a = 1\nb = <|f'{a} {¦c}'|>\n",
]


@pytest.mark.parametrize("marked", NAMES)
def test_the_first_name_that_nothing_binds(marked):
    left, text, right, issue = split(marked)
    assert first_unknown_name(left, text, right) == issue


NEW_NAMES = [
    "return <|¦b|>",
    "return a<|¦b|>",
    "return b<|¦c|>",
    "return b<|¦a|>",
    "return a + <|a.b + len(str)|>",
    "return f(<|a, ¦b, c|>)",
    "return f(<|a, b=¦c|>)",
    "return f(<|b=1), ¦b|>",
    "return f(b=<|a, c=¦d|>)",
    "return <|[b for b in a]|>",
    "return <|{b: c for b, c in a.b()}|>",
    "return <|[a for b in ¦c]|>",
    "return <|lambda b: b + ¦c|>",
    "return <|(b := 1) + b|>",
    "<|b = 1\n    return b|>",
    "<|b, c = a\n    return b|>",
    "<|b: int = a\n    return b|>",
    "<|¦b += 1|>",
    "<|¦b.c = a|>",
    "<|for b in a:\n        print(b)|>",
    "<|with a as b:\n        b.c(¦d)|>",
    "<|import b\n    b.c()|>",
    "<|from b import c as d\n    d(¦b)|>",
    "<|global b|>",
    "<|def b(c):\n        return c + ¦d|>",
    "return <|'b'|>",
    "return '<|b|>'",
    "return '<|b' + ¦c|>",
    "return <|f'b {¦c}'|>",
    "return <|rb'b' + ¦c|>",
    "return <|a  # b|>",
    "return <|a.b.c|>",
    "return <|3e5 + 0x1f|>",
    "return é<|¦x|>",
]
"""Texts in a function of `a`; the names that they do not bind are new."""

NO_TABLE = [
    "import math\nfrom x import *\ndef f(a):\n    {}\n",
    "exec('')\ndef f(a):\n    {}\n",
    "def g(:\n    pass\ndef f(a):\n    {}\n",
    "def f(a):\n    {}\nx = (((\n",
    "def f(a):\n    {}\n" + "#\n" * (MOST_BYTES // 2),
]


@pytest.mark.parametrize("around", NO_TABLE)
@pytest.mark.parametrize("marked", NEW_NAMES)
def test_names_that_occur_nowhere_in_a_file_without_a_table_of_names(marked, around):
    left, text, right, issue = split(around.replace("{}", marked))
    assert first_unknown_name(left, text, right) == issue
    assert first_unknown_name(left, text, right, lambda _: True) is None


def test_very_large_files_have_no_table_of_names():
    assert first_unknown_name(b"", b"x = y", b"\n") == 4
    assert first_unknown_name(b"", b"x = y", b"y()" + b"\n" * MOST_BYTES) is None


LINES = [
    "self.x = 1\n<|¦self.x = 1|>\n",
    "self.x = 1\n<|self.y = 1¦\nself.x = 1|>\n",
    "self.x = 1\n\n\nself.<|x = ¦1|>\n",
    "<|x = 1¦\ny = 2|>\n\ny = 2\n",
    "x = 1\n1\n2\n3\n4\n5\n<|x = 1|>\n",
    "if a:\n    pass\nelse:\n    <|pass|>\n",
    "f(\n)\ng(\n<|)|>\n",
    "# a\n<|¦# b|>\n",
    "# a\n#<| b|>\n",
    "<|# a\nx = 1|>\n",
    "<|# a¦\n# b\nx = 1|>\n",
    "def f():\n    <|return 1\n¦\ndef g():\n    pass|>\n",
    "def f():<|\n    return 1\n¦\ndef g():\n    pass|>\n",
    "if a:<|\n    x = 1\nelse:\n    x = 2¦\ny = 3|>\n",
    "def f():\n    <|if a:\n        b()\n    else:\n        c()\n    d()|>\n",
    "def f(): pass\n<|¦def f(): return 1|>\n",
    "class A:\n    def f(self): pass\n\n    <|¦def f(self, x): pass|>\n",
    "class A:\n    def f(self): pass\n\nclass B:\n    <|def f(self, x): pass|>\n",
    "class A:\n    <|¦def f(self, x): pass|>\n\n    def f(self): pass\n",
    "class A:\n    @property\n    def f(self): pass\n\n    <|@f.setter\n    def f(self, x): pass|>\n",
    "def f(): pass\n\ndef f(<|x): pass|>\n",
    "import os\n1\n2\n3\n4\n5\n<|¦import os|>\n",
    "def f():\n if a:\n  import os\n  1\n  2\n  3\n  4\n  5\n <|¦import os|>\n",
    "def f():\n    import os\n\ndef g():\n    1\n    2\n    3\n    4\n    5\n    <|import os|>\n",
    "from a import (\n    b\n)\n1\n2\n3\n4\n5\n<|from c import d|>\n",
    "@app.get('/a')\ndef a(): pass\n1\n2\n3\n4\n<|¦@app.get('/a')\ndef b(): pass|>\n",
    "@app.get('/a')\ndef a(): pass\n1\n2\n3\n4\n<|@app.get('/b')\ndef b(): pass|>\n",
    "def f():\n    <|¦    x = 1|>\n",
    "if a: <|  x = 1|>\n",
    "def f():\n<|    x = 1|>\n",
    "from a import B\n\n\n<|¦class B:\n    pass|>\n",
    "import a\n\n\n<|¦def a(): pass|>\n",
    "import a as b\n\n\n<|def a(): pass|>\n",
    "<|x = 1¦\ndef a(): pass|>\n\nfrom b import a\n",
    "from a import b\nclass C:\n    <|def b(self): return 1|>\n",
    "from a import B\n\n\nclass B(<|C): pass|>\n",
    "<||>\n",
]


@pytest.mark.parametrize("marked", LINES)
def test_the_first_line_that_should_not_be_written(marked):
    left, text, right, issue = split(marked)
    assert first_unwanted_line(left, text, right) == issue


PARAMETERS = [
    "from a import b\n\ndef f(<|¦b|>):\n",
    "from a import b\n\ndef f(<|self, ¦b|>):\n",
    "from a import b\n\ndef f(self<|, ¦b|>):\n",
    "from a import big\n\ndef f(self, b<|¦ig|>):\n",
    "from a import big\n\ndef f(self, b<|igger|>):\n",
    "from a import b\n\n<|def f(a, *, ¦b=1): return b|>\n",
    "from a import b\n\ndef f(*<|¦b|>):\n",
    "from a import b\n\ndef f(a: <|b|>):\n",
    "from a import b\n\ndef f(a=<|b|>):\n",
    "from a import b\n\ndef f(a: c[<|b|>]):\n",
    "from a import b\n\ndef f(a) -> <|b|>:\n",
    "from a import b\n\ndef f(a):\n    g(<|b|>)\n",
    "from a import b\n\n@g(<|b|>)\ndef f(a):\n",
    "from a import b\n\nclass C(<|b|>):\n",
    "from a import b\n\nx = 'def f(<|b|>'\n",
    "from a import b\n\n# def f(<|b|>\n",
    "from a import b\n\ndef f(a,  # see\n      <|¦b|>):\n",
    "class A: pass\n\ndef f(<|¦A|>):\n",
    "def a(): pass\n\ndef f(<|a|>):\n",
    "def f(<|¦b|>): pass\nfrom a import b\n",
    "def f():\n    import b\n\ndef g(<|b|>):\n",
]


@pytest.mark.parametrize("marked", PARAMETERS)
def test_the_first_parameter_with_the_name_of_an_import(marked):
    left, text, right, issue = split(marked)
    assert first_imported_parameter(left, text, right) == issue


PLACEHOLDERS = [
    "if a:\n    <|¦pass|>\n",
    "if a<|:¦\n    pass|>\n",
    "if a:<|¦\n    pass|>\n",
    "if a:\n    p<|¦ass|>\n",
    "if a:\n    b()\n<|else:¦\n    pass|>\n",
    "<|for a in b:¦\n    pass|>\n",
    "<|async with a:  # c¦\n    pass|>\n",
    "<|def f():\n    return 1¦\n\ndef g():\n    pass|>\n".replace("1¦", "1").replace("g():", "g():¦"),
    "class A(B):\n    <|¦pass|>\n",
    "class A(Exception):\n    <|pass|>\n",
    "class KeyWarning(A):<|\n    pass|>\n",
    "<|except KeyError:\n    pass|>\n",
    "if a:\n    b()\n    <|pass|>\n",
    "if a:\n    <|passed = 1|>\n",
    "def f(\n    a,\n):\n    <|pass|>\n",
    "def f(a):\n    pass\n\ndef g(a):<|\n    pass|>\n",
    "def f(a):\n    pass\n\ndef g(a):\n    b()\n    c()\n    d()\n\ndef h(a):<|¦\n    pass|>\n",
    'def f():\n    """\n    if a:\n        <|pass|>\n    """\n',
    "match a:\n    case b:\n        <|pass|>\n",
]


@pytest.mark.parametrize("marked", PLACEHOLDERS)
def test_the_first_body_that_is_a_placeholder(marked):
    left, text, right, issue = split(marked)
    assert first_placeholder(left, text, right) == issue


READ = "class A:\n    def is_read(self) -> bool:\n        return self.read_on is not None\n\n    "
COPIED = [
    READ + "def to_row(self)<| -> bool:¦\n        return self.read_on is not None|>\n",
    READ + "def to_row(self):<|¦\n        return self.read_on is not None|>\n",
    READ + "def to_row(self):\n        <|¦return self.read_on is not None|>\n",
    READ + "def to_row(self):\n        return self.<|¦read_on is not None|>\n",
    READ + "<|def to_row(self):¦\n        return self.read_on is not None\n\n    def x(self): ...|>\n",
    READ + "<|def to_row(self):\n        return self.read_on is not None and self.row|>\n",
    READ + "<|def to_row(self):\n        self.row = 1\n        return self.read_on is not None|>\n",
    READ + "def is_read(self):\n        <|return self.read_on is not None|>\n",
    READ + "\n\nclass B:\n    def to_row(self):\n        <|return self.read_on is not None|>\n",
    READ + "\n\nasync def is_read(self):\n    <|return self.read_on is not None|>\n",
    READ + "if self:\n        <|return self.read_on is not None|>\n",
    "def f(a):\n    return True\n\ndef g(a):\n    <|return True|>\n",
    "def f(a):\n    raise NotImplementedError\n\ndef g(a):\n    <|raise NotImplementedError|>\n",
    "def f(a):\n    b(a)\n    c(a)\n\ndef g(a):\n    <|b(a)|>\n",
    "def f(a):\n    b(a)\n    c(a)\n\ndef g(a):\n    <|¦b(a)\n    c(a)|>\n",
    'def f(a):\n    """F."""\n    b(a)\n\ndef g(a):\n    <|¦b(a)|>\n',
    "def g(a):\n    <|¦b(a)|>\n\n\ndef f(a):\n    b(a)\n",
    "def g(a):\n    <|b(a)|>\n    c(a)\n\n\ndef f(a):\n    b(a)\n",
    "def f(a):\n    return ...\n\ndef g(a):\n    <|return ...|>\n",
    # with the names of its own parameters
    "def f(a, b):\n    return a.b(b)\n\ndef g(c, d):\n    <|¦return c.b(d)|>\n",
    "def f(a, b):\n    return a.b(b)\n\ndef g(c, d):\n    <|return d.b(c)|>\n",
    "def f(a):\n    b(a)\n    c(a)\n\ndef g(x: int = 3):\n    <|¦b(x)\n    c(x)|>\n",
    "def f(a, k):\n    return a.k(k.a)\n\ndef g(c):\n    <|return c.k(k.a)|>\n",
    # a return within another function
    "def f(a):\n    if a:\n        return a.b(1)\n    return a.c()\n\ndef g(a):\n    <|¦return a.c()|>\n",
    "def f(a):\n    if a:\n        return a.b(1)\n    return a.c()\n\ndef g(a):\n    <|¦return a.b(1)|>\n",
    "def f(a):\n    x = a.b()\n    return a.c(x)\n\ndef g(a):\n    <|x = a.b()|>\n",
    "def f(a):\n    x = a.b()\n    return x\n\ndef g(a):\n    <|return x|>\n",
]


@pytest.mark.parametrize("marked", COPIED)
def test_the_first_body_that_is_a_copy(marked):
    left, text, right, issue = split(marked)
    assert first_copied_body(left, text, right) == issue


EMPTY = [
    "for a in <|¦defaultdict()|>\n",
    "x = sum(a for <|a in ¦dict()|>)\n",
    "for a in di<|¦ct()|>:\n",
    "<|b = 1\nfor a in ¦[]:\n    c(a)|>\n",
    "for a in <|list(b)|>\n",
    "for a in <|dict|>\n",
    "x = a in <|()|>\n",
    "x.for_each(a in <|[]|>)\n",
    "x = 'one <|for a in []|>'\n",
    "for a in []: <|b(a)|>\n",
]


@pytest.mark.parametrize("marked", EMPTY)
def test_the_first_loop_over_nothing(marked):
    left, text, right, issue = split(marked)
    assert first_empty_loop(left, text, right) == issue


CLASSES = [
    # arguments
    "def f(rows):\n    for row in rows:\n        entry = Entry(row)\n        rows.append(<|¦Entry)|>\n",
    "def f(rows):\n    entry = rows[0]\n    rows.append(En<|¦try|>)\n",
    "def f(rows):\n    entry = rows[0]\n    rows.append(<|¦Entry|>)\n",
    "def f(entry, x):\n    g(<|x, ¦Entry, 3)|>\n",
    "def f(book_shelf):\n    <|return g(¦BookShelf)|>\n",
    "class A:\n    def f(self, entry):\n        self.put(<|¦Entry)|>\n",
    "def f(entry):\n    g(<|e=¦Entry)|>\n",
    # classes that are assigned or returned
    "class A:\n    def __init__(self, parser):\n        self.own = <|¦Parser|>\n",
    "class A:\n    def __init__(self):\n        self.parser = <|¦Parser|>\n",
    "class A:\n    def __init__(self):\n        self._http_client = <|¦HTTPClient\n        self.x = 1|>\n",
    "def f():\n    parser = <|¦Parser|>\n",
    "def f(rows):\n    entry = Entry(rows)\n    return <|¦Entry|>\n",
    # where a class is meant
    "def f(entry):\n    if isinstance(entry, <|Entry):|>\n",
    "def f(entry):\n    x = <|Entry(entry)|>\n",
    "def f(entry):\n    x = g(<|Entry.name, Entry[0])|>\n",
    "def f(rows):\n    rows.append(<|Entry)|>\n",
    "def f(entry: <|Entry, x=Entry):|>\n",
    "def f(entry):\n    try:\n        g()\n    except <|Entry:|>\n",
    "def f(entry):\n    g(<|'Entry', (Entry, x))|>\n",
    "def f(entry):\n    self.entry_class = <|Entry|>\n",
    "def f(entry):\n    g(<|cls=Entry)|>\n",
    "class A:\n    parser = <|Parser|>\n",
    "def g(entry):\n    pass\n\n\ndef f(rows):\n    rows.append(<|Entry)|>\n",
    "def f(entry):\n    g(ENTRY, <|ENTRY, E)|>\n",
    "def f(entry):\n    g(Entry<|)|>\n",
    "def f(entry):\n    x: Entry = <|entry|>\n",
]


@pytest.mark.parametrize("marked", CLASSES)
def test_no_class_stands_for_a_variable_of_its_name(marked):
    *around, issue = split(marked)
    assert first_class_for_variable(*around) == issue


MADE_BOOL = [
    "class A:\n    def to_row(self) -> <|¦bool:\n        return self.b|>\n",
    "class A:\n    async def _find(self, a: int) -><| ¦bool|>:\n",
    "def copy() <|-> ¦bool:|>\n    ...\n",
    "def copy() -> bo<|ol:|>\n    ...\n",
    "def to_row(self) -> <|bool | None:|>\n    ...\n",
    "def to_row(self) -> <|Boolean:|>\n    ...\n",
    "def is_new(self) -> <|bool:|>\n    ...\n",
    "def total(self) -> <|bool:|>\n    ...\n",
    "def is_new(a) -> <|bool:\n    return a¦\ndef make(a) -> bool:\n    return a|>\n",
    "to_row = <|bool|>\n",
]


@pytest.mark.parametrize("marked", MADE_BOOL)
def test_no_function_that_makes_something_returns_bool(marked):
    *around, issue = split(marked)
    assert first_made_bool(*around) == issue


NUMBERS = [
    "end = 2<|¦56|>\n",
    "end = 1.5<|¦0|>\n",
    "end = 0x1<|¦f, 2|>\n",
    "f(a, 10<|¦0)|>\n",
    "end = 2<| + 56|>\n",
    "end = 2<|\nstart = 56|>\n",
    "end = 1.<|50|>\n",
    "end2<|56 = 1|>\n",
    "end = <|256|>\n",
    "<|256|>\n",
]


@pytest.mark.parametrize("marked", NUMBERS)
def test_no_number_gets_more_digits(marked):
    *around, issue = split(marked)
    assert first_longer_number(*around) == issue


ENDLESS = [
    "def missing():\n    miss<|¦ing()|>\n",
    "def f(a):\n    <|¦f(a)|>\n",
    "def f(a):\n    b(a)<|¦\n    f(a)|>\n",
    "<|async def f(a):¦\n    await f(a)|>\n",
    "class A:\n    def f(self):\n        <|¦self.f()|>\n",
    "class A:\n    def f(self):\n        <|f()|>\n",
    "class A:\n    def f(self):\n        <|self.g()|>\n",
    "def f(self):\n    <|self.f()|>\n",
    "def f(a):\n    if a:\n        <|f(a)|>\n",
    "def f(a):\n    <|return f(a)|>\n",
    "def f(a):\n    <|x = f(a)|>\n",
    "def g(a):\n    <|f(a)|>\n",
    "def f(a):\n    b(a)\n\n\n<|f(a)|>\n",
]


@pytest.mark.parametrize("marked", ENDLESS)
def test_the_first_call_of_a_function_by_itself(marked):
    left, text, right, issue = split(marked)
    assert first_endless_call(left, text, right) == issue


CLOSED_TWICE = [
    'def f(a) -> "<|Entry¦":|>"\n',
    'def f(a) -> "<|Entry|>"\n',
    'print("<|a¦" % b|>")\n',
    'print("<|a" + "b|>")\n',
    'print("<|a", "b", c¦|>")\n'.replace('a"', 'a¦"').replace("c¦", "c"),
    'print("<|a\\"b|>")\n',
    "print('<|a\"b|>')\n",
    'print("<|a")|>\n',
    "print(\"<|a\"|>'b')\n",
    'x = """<|a¦"""|>"""\n',
    'x = """<|a "b" c|>"""\n',
    'x = <|"a|>"\n',
    "# it's <|a' b|>'\n",
]


@pytest.mark.parametrize("marked", CLOSED_TWICE)
def test_the_first_quote_that_is_closed_twice(marked):
    left, text, right, issue = split(marked)
    assert first_closed_twice(left, text, right) == issue


UNREACHABLE = [
    "def f():\n    return 1\n    <|¦x = 1|>\n",
    "def f():\n    return 1\n\n    # one\n    <|¦x = 1|>\n",
    "def f():\n    raise KeyError\n    x<| = 1|>\n",
    "def f():\n    return 1<|¦\n    x = 1|>\n",
    "def f():\n    <|return 1¦\n    x = 1|>\n",
    "def f():\n    <|x = 1\n    return x|>\n",
    "def f():\n    <|if x:\n        return 1\n    return 2|>\n",
    "def f():\n    <|if x:\n        return 1¦\n        y()\n    return 2|>\n",
    "def f():\n    return (\n        1\n    )\n    <|¦x = 1|>\n",
    "def f():\n    return (\n    <|a|>\n    )\n",
    "def f():\n    return (\n    1,\n    <|a|>\n    )\n",
    "def f():\n    return \\\n    <|a|>\n",
    "def f():\n    return\n<|x = 1|>\n",
    "for a in b:\n    continue\n    <|¦x = 1|>\n",
    "for a in b:\n    break\n    <|¦x = 1|>\n",
    "for a in b:\n    if a: break\n    <|x = 1|>\n",
    "sys.exit(1)\n<|¦x = 1|>\n",
    "sys.exit\n<|x = 1|>\n",
    "returned = 1\n<|x = 1|>\n",
    "def f():\n    raise KeyError\n    <|yield|>\n",
    "def f():\n    return\n    <|# one|>\n",
    'def f():\n    """\n    return 1\n    """\n    <|x = 1|>\n',
    'def f():\n    """\n    return 1\n    <|and 2|>\n    """\n',
    "try:\n    return 1\n<|except KeyError:\n    pass|>\n",
    "def f():\r\n    return 1\r\n    <|¦x = 1|>\r\n",
]


@pytest.mark.parametrize("marked", UNREACHABLE)
def test_the_first_statement_that_cannot_run(marked):
    left, text, right, issue = split(marked)
    assert first_unreachable(left, text, right) == issue


KEYWORDS = [
    "def f():\n    <|¦await g()|>",
    "async def f():\n    <|await g()|>",
    "async def f():\n    if a:\n        x = <|await g()|>",
    "def f():\n    x = 1\n    <|¦async with a: pass|>",
    "def f():\n    <|return 1|>",
    "def f():\n    <|return ¦await g()|>",
    "<|¦return 1|>",
    "def f(): pass\nx = (<|¦yield|>",
    "class A:\n    <|¦return 1|>",
    "class A:\n    def f(self):\n        for a in b:\n            <|return 1|>",
    "def f():\n    x = '<|return|>",
    "<|def f(): return 1|>",
    "<|a.return_value|>",
    "def f(\n    a,\n) -> B:\n    <|return 1|>",
    "def f(\n    a,\n) -> B:\n    <|¦await a|>",
    'def f():\n    x = """\na\n"""\n    <|return 1|>',
]


@pytest.mark.parametrize("marked", KEYWORDS)
def test_the_first_keyword_that_the_compiler_would_refuse(marked):
    left, text, right, issue = split(marked)
    assert first_misplaced_keyword(left, text, right) == issue


IN_CELLS = [
    "<|await g()|>",
    "if a:\n    <|async with a: pass|>",
    "x = <|await g(); ¦return 1|>",
    "<|¦return 1|>",
    "def f():\n    <|return ¦await g()|>",
    "class A:\n    <|¦await g()|>",
]


@pytest.mark.parametrize("marked", IN_CELLS)
def test_the_first_keyword_that_the_compiler_would_refuse_in_a_cell(marked):
    left, text, right, issue = split(marked)
    assert first_misplaced_keyword(left, text, right, top_level_await=True) == issue


@pytest.mark.parametrize(
    ("text", "swaps"),
    [
        ("a) + g(b", True),
        ("a):\n    g(", True),
        ("1], [2", True),
        ("a)", False),
        ("(a", False),
        ("f(a)", False),
        ("')(' + \")(\"", False),
        ("'''\n)(\n'''", False),
        ("a  # )(\n", False),
        ("'\\')('", False),
    ],
)
def test_a_bracket_is_closed_and_another_opened(text, swaps):
    assert PYTHON_POLICY.swaps_brackets(text.encode()) is swaps


KEYS = [
    "f(a=1, <|¦a=2|>)\n",
    "f(a=1, <|b=2|>)\n",
    "f(<|¦a=2|>, a=3)\n",
    "f(<|a=2, ¦a=3|>)\n",
    "f(a=1, g(<|a=2|>))\n",
    "f(a == 1, <|a=2|>)\n",
    "f(a=1); f(<|a=2|>)\n",
    "x = f(a=1)\ny = <|f(a=1)|>\n",
    "x = {'a': 1, <|'b': 2, ¦'a': 3|>}\n",
    "x = {\n  'a': g(b=1),  # it's\n<|  'b': g(b=1)|>\n}\n",
    "x = {'a': 1, <|'b': {'a': 1}|>}\n",
    "x = {1: 1, <|¦1: 2|>}\n",
    "x[a:b, <|a:b|>]\n",
    "def f(a=1, <|¦a=2|>): pass\n",
    "x = [{'a': 1}, {<|'a': 1|>}]\n",
]


@pytest.mark.parametrize("marked", KEYS)
def test_the_first_key_that_is_there_twice(marked):
    left, text, right, issue = split(marked)
    assert first_repeated_key(left, text, right) == issue


ELEMENTS = [
    "try: pass\nexcept KeyError, <|¦KeyError, KeyError|>:\n    pass\n",
    "try: pass\nexcept (KeyError, <|ValueError, ¦KeyError|>):\n    pass\n",
    "try: pass\nexcept <|KeyError|>:\n    pass\nexcept KeyError:\n    pass\n",
    "try: pass\nexcept a.B as e:\n    x = (<|e, e|>)\n",
    "x = ['ab', 'cd', <|¦'ab'|>]\n",
    "x = {<|'ab'|>, 'cd', 'ab'}\n",
    "__all__ = ['ab', '<|¦ab|>']\n",
    "__all__ = ['ab', '<|cd|>']\n",
    "__all__ = ['ab', 'a<|¦b|>']\n",
    "__all__ = ['ab', <|¦'ab'|>]\n",
    "x = {'ab', \"a<|¦b\"|>, 'cd'}\n".replace('"', "'"),
    "x = ['ab', 'ab'<|, 'cd'|>]\n",
    "x = [f(g(a)), <|f(b)|>]\n",
    "x = {'ab': 'a', <|'cd': 'a'|>}\n",
    "print('--', x, <|'--'|>)\n",
    "pad = (width, <|width|>)\n",
    "f(a.b, <|a.b, ¦a.b, a.b|>)\n",
    "x = [0, 0, <|0, 0|>]\n",
    "x = g(a), <|g(a), g(a)|>\n",
    "x: tuple[int, <|int, int|>]\n",
    "x = (None, <|None, None|>)\n",
    "x = 'a', <|'a', ¦'a'|>\n",
    "x = g(a), <|g(b), g(c)|>\n",
    "for a in b: f(a, <|a|>)\nf(a, a)\n",
    "x = (a, <|b),\ny = (a, b)|>\n",
]


@pytest.mark.parametrize("marked", ELEMENTS)
def test_the_first_element_that_is_listed_too_often(marked):
    left, text, right, issue = split(marked)
    assert first_repeated_element(left, text, right) == issue


CONDITIONS = [
    "if a in b.c() or a<|¦ in b.c()|>:\n",
    "if a in b or <|¦a in b|>:\n",
    "x = a and b and <|¦a|>\n",
    "x = a and b or <|a and c|>\n",
    "x = a and b or <|¦a and b|>\n",
    "x = a or <|a and b|>\n",
    "x = a or <|not a|>\n",
    "x = a or b, <|a or c|>\n",
    "x = (a or b) and <|¦(a or b)|>\n",
    "x = (a or b) and <|(a or c)|>\n",
    "x = f(a) or <|f(b)|>\n",
    "x = f(\n    a\n    or <|¦a|>\n)\n",
    "f(a or b, c=<|a or b|>)\n",
    "x = a if b or <|¦b|> else c\n",
    "x = a or \\\n    <|¦a|>\n",
    "x = 'a or <|a|>'\n",
    "# a or <|a|>\n",
    "if a or b:\n    <|a = b or c\nx = a or b|>\n",
    "x = a or <|¦a or b|>\n",
    "x = a or <|a.b|>\n",
    "x = a or a<|[0]|>\n",
    "x = a or <|¦a|>  # b\n",
    "x = [a for a in b if a and <|¦a|>]\n",
    "x = '' or <|''|>\n".replace("<|", "<|¦"),
]


@pytest.mark.parametrize("marked", CONDITIONS)
def test_the_first_condition_that_is_joined_with_itself(marked):
    left, text, right, issue = split(marked)
    assert first_repeated_condition(left, text, right) == issue


IDLE = [
    "def f(a):\n    return <|¦isinstance|>\n",
    "def f(a):\n    return <|isinstance(a, b)|>\n",
    "def f(a):\n    return <|isinstance|>(a, b)\n",
    "for a in <|¦range|>:\n    pass\n",
    "map(<|print|>, a)\n",
    "key=<|len|>\n",
    "def f(a):\n    <|¦a.b|>\n",
    "def f(a):\n    a<|¦.b|>\n",
    "def f(a):\n    <|a.b|> = 1\n",
    "def f(a):\n    <|¦a['b']|>\n",
    "def f(a):\n    a<|¦.b[0][c.d]|>\n",
    "def f(a):\n    <|a['b']|> = 1\n",
    "def f(a):\n    <|a['b']()|>\n",
    "def f(a):\n    <|a[f(b)]|>\n",
    "def f(a):\n    <|pass|>\n",
    "def f(a):\n    <|return|>\n",
    "def f(a):\n    <|...|>\n",
    "def f(a):\n    <|a = 1¦\n    a|>\n",
    "f(\n    <|a|>\n)\n",
    "x = [\n    a,\n    <|b|>\n]\n",
    'def f():\n    """A\n    <|word|>\n    """\n',
]


@pytest.mark.parametrize("marked", IDLE)
def test_the_name_at_the_end_that_does_nothing(marked):
    left, text, right, issue = split(marked)
    assert first_idle_name(left, text, right) == issue


STOPS = [
    ("return ", "str(query),", "\n", " values", True),
    ("return ", "str(query),", "\n", "", True),
    ("f(", "a,", ")", " b", True),
    ("f(\n    ", "a,", "\n)", "", False),
    ("f(\n    ", "a,", "\n)", "\n    b,", False),
    ("f(", "type", ")", "='bool'", True),
    ("x = f(", "a", ")", " == b", False),
    ("x = f(", "a", ")", "==b", False),
    ("", "a.b", "\n", ".c()", True),
    ("", "a.b", "\n", " = c", True),
    ("", "a.b = c", "\n", ".d", True),
    ("", "a = b", "\n", "[c]", True),
    ("", "a.b =c", "\n", "[0]", True),
    ("", "a: list", "\n", "[b] = c", False),
    ("def f() -> ", "list", ":\n", "[a]", False),
    ("if a == ", "b", ":\n", "[c]", False),
    ("", "raise a", "\n", ".B()", True),
    ("x = ", '"a"', "\n", ".join(b)", True),
    ("x = f(", "a", ")", ".b", True),
    ("x = ", "f(a", "\n", ".b)", False),
    ("x = ", "a", ".b\n", ".b", False),
    ("x = ", "a", "[b]\n", "[b]", False),
    ("", "# see a", "\n", ". Then b", False),
    ('def f():\n    """', "Return a", '\n    """\n', ".", False),
    ("x = '", "a", "'\n", ".b", False),
    ("x = '", "a = b", "'\n", "[c]", False),
    ("f(", "isinstance", ")", ".a", True),
    ("x = ", "f(a)", "\n", ".b", True),
    ("x = ", "a[0]", "\n", ".b", True),
    ("x = ", "1", "\n", ".5", True),
    ("x = a ", "+ b", "\n", " .c", False),
    ("x = ", "a.b", "\n", " + c", False),
    ("", "return", "\n", " a", True),
    ("", "return", "\n", "", False),
    ("", "return", "\n", "\na", False),
    ("", "return", "\n", "  # a", False),
    ("", "return", "\n", "; a", False),
    ("", "return", "\n", "(a)", True),
    ("ra", "ise", "\n", " A()", True),
    ("x = ", "returned", "\n", " - a", False),
    ("x = ", "yield", "\n", " a", True),
    ("f((", "yield", "))\n", ")", False),
    ("", "x = a\nreturn", "\n", " a", True),
    ("return ", "super()", "\n", ".a()", True),
    ("a(", "super()", ")\n", "", False),
    ("return ", "a.super()", "\n", ".a()", True),
]


@pytest.mark.parametrize(("left", "text", "right", "following", "is_idle"), STOPS)
def test_where_a_text_is_not_cut(left, text, right, following, is_idle):
    whole = (text + following).encode()
    assert stops_idly(left.encode(), text.encode(), right.encode(), whole) == is_idle


IMPORTS = [
    "import json\nfrom pathlib import <|¦json|>\n",
    "lazy import json\nfrom pathlib import <|¦json|>\n",
    "import json\nfrom pathlib import j<|¦son|>\n",
    "from typing import Any, Literal,<| ¦Any, Optional|>\n",
    "from typing import Any, <|Optional, ¦Any|>\n",
    "from typing import <|Any, Optional, ¦Any|>\n",
    "from typing import Any, <|AnyStr|>\n",
    "from typing import Any as A, <|Any|>\n",
    "from typing import (Any, <|¦Any)|>\n",
    "import json\nfrom pathlib import <|Path, ¦json|>\n",
    "import json\nfrom pathlib import <|¦Path as json|>\n",
    "import json\nfrom pathlib import <|json as Path|>\n",
    "import os.path\nfrom pathlib import <|Path|>\n",
    "from a import b, c\nfrom d import (<|¦c|>\n)",
    "from a import <|¦b|>\nfrom c import b\n",
    "from a import b as c\nfrom d import <|b|>\n",
    "def f():\n    import json\nfrom a import <|json|>\n",
    "import json\ndef f():\n    from a import <|json|>\n",
    "x = <|json|>\nimport json\n",
    "<|from a import ¦b|>\nfrom a import b\n",
    "<|from a import b, ¦c|>\nfrom a import c\n",
    "from a import b\n<|from c import d\nfrom e import ¦b|>\n",
    "from a import b\n<|from c import d  # as b|>\n",
    "from a <|import ¦json|>\nimport json\n",
    "from __future__ import <|¦absolute_import|>\n",
    "from __future__ <|import annotations, ¦division|>\n",
    "<|from __future__ import annotations|>\n",
    "from a import <|division|>\n",
    "from __future__ import division<|, annotations|>\n",
]


@pytest.mark.parametrize("marked", IMPORTS)
def test_the_first_name_whose_import_is_needless(marked):
    left, text, right, issue = split(marked)
    assert first_needless_import(left, text, right) == issue


RECEIVERS = [
    "x = self.day.strftime(<|¦self.day.strftime(self)|>)\n",
    "x = <|self.day.strftime(¦self.day.strftime|>(y))\n".replace("strftime|>(y)", "strftime(y)|>"),
    "x = self.f(<|1 + self.f(2)|>)\n",
    "x = self.f(<|self.g(self.f(2))|>)\n",
    "x = self.f(<|self.f.g(2)|>)\n",
    "x = self.f(<|y, self.f(2)|>)\n",
    "x = dirname(<|dirname(x)|>)\n",
    "x = os.path.dirname(<|os.path.dirname(x)|>)\n",
    "conn.ping(<|¦conn|>)\n",
    "conn.ping(<|conn.a|>)\n",
    "conn.ping(<|conn|>.a)\n",
    "a.b.f(<|¦a.b|>)\n",
    "a.b.f(<|a|>)\n",
    "x = [self.f(<|a, ¦self)]|>\n",
    "self.f(<|a=self, *self, [self], (self)|>)\n",
    "self.f(g(<|self|>))\n",
    "if key.m<|atch(¦key):|>\n",
    "x.f(  # a\n    <|¦x,\n    b|>\n)\n",
    "super().__init__(<|¦self, a|>)\n",
    "super(A, self).__init__(<|¦self|>)\n",
    "super(<|A, self).__init__(a)|>\n",
    "cls.__new__(<|cls|>)\n",
    "f(a).g(<|(b), f(a)|>)\n",
    "a.f(a)\n<|a.g(b)|>\n",
    "x = f(<|¦f|>)\n",
    "return (await f(<|¦f|>))[a]\n",
    "a.b(c, <|¦a.b|>)\n",
    "f(g(<|f, ¦g|>))\n",
    "f(f<|(a)|>)\n",
    "f(<|f.a, f(), f + 1, *f|>)\n",
    "isinstance(a, type(<|type|>))\n",
    "def f(<|f|>):\n    pass\n",
    "class A(<|A|>):\n    pass\n",
    "x = (<|x, y|>)\n",
    "for x in (<|x, y|>):\n    pass\n",
]


@pytest.mark.parametrize("marked", RECEIVERS)
def test_the_first_argument_that_is_the_object_of_its_call(marked):
    left, text, right, issue = split(marked)
    assert first_own_argument(left, text, right) == issue


SELF_COMPARISONS = [
    "if <|a == ¦a|>:\n",
    "if a == <|¦a|>:\n",
    "if a <|¦==|> a:\n",
    "if <|¦a|> == a:\n",
    "if a == a<|:|>\n",
    "if <|a == b|>:\n",
    "if width == wi<|¦dth|>:\n",
    "if a == a<|b|>:\n",
    "if <|a == a|>.b:\n",
    "if <|a == a|> + b:\n",
    "if <|a == a|>[0]:\n",
    "if b + <|a == a|>:\n",
    "x = <|a is ¦a|>\n",
    "x = <|a is not ¦a|>\n",
    "x = <|a is not None|>\n",
    "x = a != <|a|>\n",
    "x = a !<|= a|>\n",
    "x = <|a < ¦a|>\n",
    "x = <|a >= ¦a|>\n",
    "x = <|a in a|>\n",
    "for a in <|a|>: pass\n",
    "x = <|not a == ¦a|>\n",
    "x = <|b and a == ¦a or c|>\n",
    "x = <|a and a == b|>\n",
    "x = <|b < a == ¦a|>\n",
    "x = <|a == b == a|>\n",
    "x = <|self.a == ¦self.a|>\n",
    "x = <|a[0] == ¦a[0]|>\n",
    "x = <|a[0] == a[1]|>\n",
    "x = <|(a + 1) == ¦(a + 1)|>\n",
    "x = <|1 == ¦1|>\n",
    "x = <|-a == a|>\n",
    "x = <|a==-a|>\n",
    "x = <|'a b' == ¦'a b'|>\n",
    "x = <|'a == a'|>  # a == a\n",
    "x = <|f'{a}' == ¦f'{a}'|>\n",
    "x = <|f'{a()}' == f'{a()}'|>\n",
    "x = <|a() == a()|>\n",
    "x = <|a[b()] == a[b()]|>\n",
    "x = <|await a == await a|>\n",
    "f(<|a == ¦a|>)\n",
    "f(a, <|a=a|>)\n",
    "f(<|a == ¦a, b|>)\n",
    "f(\n    a  # b\n    == <|¦a|>\n)\n",
    "x = a == b\n<|b == c|>\n",
    "x = a == \\\n    <|¦a|>\n",
    "x = a == (<|b == ¦b|>)\n",
    "x: a = <|a|>\n",
    "a = <|a|>\n",
    "x = <|a == ¦a|> if b else c\n",
    "x = [b for b in c if <|b == ¦b|>]\n",
    "match <|a == ¦a|>:\n",
    "x = [a, <|b]|> == [a, c]\n",
    "<||>\n",
]


@pytest.mark.parametrize("marked", SELF_COMPARISONS)
def test_the_first_comparison_of_something_with_itself(marked):
    left, text, right, issue = split(marked)
    assert first_self_comparison(left, text, right) == issue
