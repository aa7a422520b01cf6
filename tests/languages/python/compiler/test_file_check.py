"""The refusals of the compiler, case by case, compared with the compiler that runs this."""

from __future__ import annotations

import ast
import gc
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.languages.python.compiler.file_check import FileCheck
from fimlsp.languages.python.compiler.nodes import Name
from fimlsp.languages.python.language import python
from fimlsp.languages.python.versions import DEFAULT_VERSION, PYTHON_VERSIONS, PythonVersion
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.states.protocol import State

from ....quotient.corpus import compiles
from ....sampling import sampled

VERSION = sys.version_info[:2] if sys.version_info[:2] in PYTHON_VERSIONS else DEFAULT_VERSION

CASES = """
f(a=1, b=2)
f(a=1, a=2)
f(a=1, **b, a=2)
f(a=1)(a=1)
f(a=g(a=1))
class A(B, m=1, m=2): pass
def f(a, b, *c, d, **e): pass
def f(a, a): pass
def f(a, *a): pass
lambda a, *, b, **a: 0
class A:\\n def f(self, __x, _A__x): pass
class _A:\\n def f(self, __x, _A__x): pass
def f(ﬁ, fi): pass
def f(a): global a
def f():\\n a = 1\\n global a
def f():\\n print(a)\\n global a
def f():\\n import a\\n global a
def f():\\n global a\\n a: int
global a\\na: int
a = 1\\nglobal a
x = 1\\n\\nif x:\\n global x
def f():\\n def g(): a = 1\\n global a
def f():\\n [a for a in b]\\n global a
try: pass\\nexcept a: x\\nelse: global x
try: pass\\nexcept a: global x\\nelse: x
nonlocal a
def f(): nonlocal a
def f():\\n def g(): nonlocal a\\n a = 1
def f(a):\\n class A:\\n  nonlocal a
def f():\\n class A:\\n  a = 1\\n  def g(): nonlocal a
def f():\\n global a\\n def g(): nonlocal a
class A:\\n def f(self): nonlocal __class__
class A: nonlocal __class__
class A:\\n def f(self): nonlocal a
def f():\\n a = 1\\n class A: nonlocal a
def f(a):\\n lambda: [0 for a in b]\\n def g(): nonlocal a, b
def f():\\n global a\\n nonlocal a
__debug__ = 1
x.__debug__ = 1
x.__debug__ += 1
del __debug__
f(__debug__=1)
def f(__debug__): pass
import __debug__
import a as __debug__
from a import __debug__ as b
for __debug__ in x: pass
(__debug__ := 1)
print(__debug__)
print(__debug__)\\nglobal __debug__
def f():\\n f'{__debug__}'\\n global __debug__
def f():\\n x: __debug__ = (y := __debug__)\\n global __debug__
def f():\\n print(__debug__)\\n def g(): nonlocal __debug__
def f():\\n print(__debug__)\\n nonlocal __debug__
from __future__ import annotations\\ndef f():\\n def g(a: __debug__): 0\\n global __debug__
from ....sampling import sampled
def f():\\n x: f(a=1, a=1)
x: f(a=1, a=1)
from __future__ import annotations\\nx: f(a=1, a=1)
from __future__ import annotations\\nx: (yield)
from __future__ import annotations\\nx: lambda: await y
from __future__ import annotations\\nx: [await i for i in y]
from __future__ import annotations\\nx: [(i := 1) for j in y]
from __future__ import annotations\\n(x): await y
from __future__ import annotations\\nx.a: lambda: [i async for i in y]
from __future__ import annotations\\ndef f(a: [i async for i in y]): pass
from __future__ import annotations\\ndef f() -> lambda: await y: pass
def f(a: [i async for i in y]): pass
def f(a: lambda: await y): pass
def f():\\n x: await y
def f():\\n x: lambda: await y
def f():\\n x: [lambda: await i for i in y]
def f():\\n x: [[j async for j in i] for i in y]
x: lambda: await y
x: [i async for i in y]
'doc'\\nfrom __future__ import annotations
'doc'\\n'x'\\nfrom __future__ import annotations
f'doc'\\nfrom __future__ import annotations
from __future__ import division; from __future__ import annotations
import a; from __future__ import annotations
def f():\\n from __future__ import annotations
from __future__ import braces
from __future__ import nothing
from __future__ import *
from . import __future__\\nx\\nfrom .__future__ import nothing
def f():\\n from a import *
from a import *
class A:\\n from a import *
yield
(yield)
x = [(yield) for a in b]
def f(): x = [(yield) for a in b]
def f(): x = [a for a in (yield)]
def f(): x = lambda: (yield)
lambda: (yield)
class A:\\n x = (yield)
f'{(yield)}'
def f(): f'{(yield)}'
await x
def f(): await x
async def f(): await x
async def f():\\n lambda: await x
async def f(): yield from x
async def f():\\n yield\\n return 1
async def f():\\n yield\\n return
async def f():\\n return 1\\n def g(): yield
x = [await y for z in a]
x = (await y for z in a)
x = [a async for a in b]
x = (a async for a in b)
x = (a for a in b if await c for d in [await e])
x = [a for a in (await b for b in c)]
def f(): x: (await y)
def f(): x: lambda: (yield)
def f(x: (yield)): pass
def f():\\n def g(x: (yield)) -> [(yield)]: pass
async def f(): return [a async for a in b]
async def f(): return [[a async for a in b] for c in d]
def f(): return [[a async for a in b] for c in d]
def f(): return [a for a in (b async for b in c)]
async def f(x=await y): pass
async def f():\\n async def g(x=await y): pass
[(a := 1) for b in c]
[(b := 1) for b in c]
[[(b := 1) for d in e] for b in c]
[a for b[a := 1] in c]
[a for b[(lambda: (a := 1))()] in c]
[(a := 1) for b[a] in c]
def f(): return [a for b[(a := 1)] in c]
raise a from b\\nfrom __future__ import annotations
raise 'a'\\nfrom __future__ import annotations
assert 'a', 'b'\\nfrom __future__ import annotations
[a for a in (b := c)]
[a for a in c if (lambda: (b := 1))]
[a for a in (lambda: (b := 1))()]
class A: [(a := 1) for b in c]
class A:\\n def f(self): [(a := 1) for b in c]
[[a for a in b] + [(a := 1)] for c in d]
[(a := 1) + [1 for a in c][0] for d in e]
*a, b = c
*a, *b = c
*a, (*b, d) = c
*a = b
*a,
*a
print(*a)
x = *a
x = *a,
def f(): return *a
x[(*a,)]: b
x[(*a,)]: b = c
x[((*a,), b), c]: d
x[[*a]:(*b,)]: c
def f(): return *a, b
def f(): yield *a
for *a in b: pass
for *a, b in c: pass
for x in *a, b: pass
with a as *b: pass
with a as (*b, c): pass
break
if x: break
while x: break
while x:\\n def f(): break
while x: pass\\nelse: break
for x in y:\\n class A: continue
while x:\\n try: pass\\n finally: continue
return
def f():\\n class A: return
try: pass\\nexcept: pass\\nexcept A: pass
try: pass\\nexcept A: pass\\nexcept: pass
async with a: pass
async def f():\\n async with a: pass\\n async for b in c: break
async def f():\\n def g():\\n  async with a: pass
"""
SINCE_3_10 = """
match x:\\n case a: pass\\n case b: pass
match x:\\n case a if b: pass\\n case b: pass
match x:\\n case _: pass\\n case _: pass
match x:\\n case _ as a: pass
match x:\\n case a as b: pass
match x:\\n case a as a: pass
match x:\\n case [a, a]: pass
match x:\\n case [a, b.a]: pass
match x:\\n case [a, a()]: pass
match x:\\n case {1: a, **a}: pass
match x:\\n case A(a, b=a): pass
match x:\\n case A(a=1, a=2): pass
match x:\\n case a | b: pass
match x:\\n case [a] | a: pass
match x:\\n case [a] | [b]: pass
match x:\\n case [a, b] | [b, a]: pass
match x:\\n case _ | 1: pass
match x:\\n case 1 | _: pass
match x:\\n case [*a, *b]: pass
match x:\\n case [*a, [*b]]: pass
match x:\\n case {1: a, 1.0: b}: pass
match x:\\n case {'a': a, "\\\\x61": b}: pass
match x:\\n case {'a': a, b'a': b}: pass
match x:\\n case {-1: a, -1: b}: pass
match x:\\n case {None: a, True: b, 1: c}: pass
match x:\\n case f'a': pass
match x:\\n case {f'a': 1}: pass
match x:\\n case A(__debug__=1): pass
match(x)\\nmatch = {case: 1}\\ncase: int
def f():\\n match x:\\n  case a: global a
"""
SINCE_3_11 = """
try: pass\\nexcept* A: break
while x:\\n try: pass\\n except* A: break
while x:\\n try: pass\\n except* A:\\n  while y: break
def f():\\n try: pass\\n except* A: return
def f():\\n try: pass\\n except* A:\\n  while y: return
def f():\\n try: pass\\n except* A:\\n  def g(): return
def f(*a: *b): pass
x[*a]
x[*a]: b
x[*a]: b = c
async def f(): return [[a async for a in b] for c in [await d]]
x = ([await y for z in a] for b in c)
"""
SINCE_3_12 = """
class A[T]([(x := 1) for y in z]): pass
class A[T: [(x := 1) for y in z]]: pass
class A[T]: [(x := 1) for y in z]
def f[T](a: [(x := 1) for y in z]): pass
def f[T](): [(x := 1) for y in z]
type X = [(x := 1) for y in z]
type X = lambda: [(x := 1) for y in z]
"""


def cases() -> list[str]:
    """All cases that the running version can parse."""
    since = {(3, 10): SINCE_3_10, (3, 11): SINCE_3_11, (3, 12): SINCE_3_12}
    found = CASES + "".join(text for version, text in since.items() if version <= VERSION)
    return [
        line.encode().decode("unicode_escape") if line.isascii() else line
        for line in found.split("\n")
        if line
    ]


def parses(text: bytes) -> bool:
    """True if *text* is grammatical; only then are its faults exact."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(python(VERSION, "compile"))


@pytest.mark.skipif(sys.version_info[:2] != VERSION, reason="this Python is none that is completed")
@pytest.mark.parametrize("text", sampled(cases(), 3))
def test_complete_exactly_if_it_compiles(engine: Engine, text: str) -> None:
    data = f"{text}\n".encode()
    for part in range(4):
        place = len(text) * part // 3
        place = len(text[:place].encode()) + (part == 3)
        start = engine.document(data).middle(place, place, relax=False).start
        assert (start is not None and start.complete) is compiles(text)


@pytest.mark.skipif(sys.version_info[:2] != VERSION, reason="this Python is none that is completed")
@pytest.mark.parametrize("text", sampled(cases(), 2))
def test_what_compiles_can_be_written(engine: Engine, text: str) -> None:
    data = f"{text}\n".encode()
    state = engine.document(b"").middle(0, 0).start
    dead = False
    for place in range(len(data)):
        state = state and state.feed(data[place : place + 1])
        dead |= state is None
    if compiles(text):
        assert not dead
        assert state is not None
        assert state.complete
    else:
        assert state is None or not state.complete


def test_what_was_seen_before_changes_no_answer() -> None:
    old, new = FileCheck((3, 11)), FileCheck((3, 11))
    texts = [
        b"def f(a, a): pass\nx = 1\n",
        b"def f(a, b): pass\nx = 1\n",
        b"def f(a, b): pass\n\nx = f(a=1, a=2)\n",
        b"x = 1\ndef f(a, b): pass\n\nx = f(a=1, a=2)\n",
        b"'''\nx = 1\ndef f(a, b): pass\n\nx = f(a=1, a=2)\n'''\n",
        b"from __future__ import annotations\nx: f(a=1, a=2)\n",
        b"\nx: f(a=1, a=2)\n",
        b"x\nglobal x\ndef f(a, a): pass\n",
        b"f(\na=1, a=2\nx = 11111111\n",
        b"f(\na=1, a=2\nx = 11111111\n)\n",
        b"f(\na=1, a=2\n)\n",
        b"x = f \\\n (a=1)",
        b"x = f \\\n (a=1)(a=1, a=2)",
    ]
    for text in (*texts, *reversed(texts)):
        assert old.faults(text) == FileCheck((3, 11)).faults(text)
        assert old.faults(text) == new.faults(text)


METHODS = [f"    def f{number}(self, a): return a\n\n".encode() for number in range(12)]
EDITS = (
    # the text before a method, by default empty
    b"    x = f(a=1, a=2)\n",
    b"def f(a, a): pass\n",
    b"    x = '''\n",
    b"    x = (\n",
    b"else: pass\n",
    b"\\\n",
    b"    def g(self):\n",
    b"# nothing\n",
    b"    nonlocal a\n",
)


@pytest.mark.parametrize("edit", EDITS)
def test_lines_that_stay_are_read_as_in_a_new_file(edit: bytes) -> None:
    check = FileCheck((3, 11))
    for place in range(len(METHODS)):
        for changed in (METHODS, [*METHODS[:place], edit, *METHODS[place:]]):
            text = b"".join([b"class A:\n", *changed, b"y = 1\n"])
            assert check.faults(text) == FileCheck((3, 11)).faults(text)


STATEMENTS = (
    *(
        b"x = 1\n",
        b"\n",
        b"# x\n",
        b"global x\n",
        b"f(a=1, a=2)\n",
        b'"""\n',
        b"x = (\n",
        b")\n",
        b"else: pass\n",
    ),
    *(b"if x:\n    pass\n", b"class A:\n" + METHODS[0], b"def f(a, a): pass\n", b"x \\\n"),
    b"from __future__ import annotations\n",
)
EDITS_OF_STATEMENTS = st.tuples(st.integers(0, 29), st.sampled_from((*STATEMENTS, None)))


@given(st.lists(st.sampled_from(STATEMENTS), max_size=30), st.lists(EDITS_OF_STATEMENTS, max_size=12))
def test_edits_here_and_there_are_read_as_in_a_new_file(
    statements: list[bytes], edits: list[tuple[int, bytes | None]]
) -> None:
    check = FileCheck((3, 11))
    for place, edit in [(0, b"\n"), *edits]:
        statements[place : place + (edit is None)] = [] if edit is None else [edit]
        text = b"".join(statements)
        found = check.faults(text)
        if parses(text):
            assert found == FileCheck((3, 11)).faults(text)


WALRUS_IN = {
    # where an assignment of a comprehension may stand: the versions that take it
    "x: [(x := 1) for y in z]": {(3, 12), (3, 13), (3, 14)},
    "class A[T]([(x := 1) for y in z]): pass": set(),
    "def f[T](a: [(x := 1) for y in z]): pass": set(),
    "def f[T](): [(x := 1) for y in z]": {(3, 12), (3, 13), (3, 14)},
    "type X = [(x := 1) for y in z]": set(),
}


@pytest.mark.parametrize("text", WALRUS_IN)
@pytest.mark.parametrize("version", [(3, 12), (3, 13), (3, 14)])
def test_where_comprehensions_assign(text: str, version: PythonVersion) -> None:
    assert (FileCheck(version).faults(f"{text}\n".encode()) == []) is (version in WALRUS_IN[text])


WAITING = {
    # asynchronous comprehensions in each other: True if they compile up to 3.10, and later
    "lambda: ({a: await a for a in b} async for b in c)": (True, True),
    "lambda: ({a: await a for a in b} for b in c)": (False, True),
    "lambda: (({a: await a for a in b}, await c) for b in d)": (True, True),
    "({a async for a in b} for b in c if await d)": (True, True),
    "(0 for b in {a async for a in b} if await c)": (False, False),
    "(({a async for a in b} for b in c) async for d in e)": (False, True),
    "((lambda: {a async for a in b}) async for d in e)": (False, False),
    "async def f(): [[await a for a in b] async for c in d]": (True, True),
    "async def f(): [[await a for a in b] for c in d]": (False, True),
    "async def f(): [([await a for a in b], await c) for d in e]": (True, True),
}


@pytest.mark.parametrize("text", WAITING)
@pytest.mark.parametrize("version", [(3, 8), (3, 10), (3, 11), (3, 13)])
def test_comprehensions_that_wait_in_each_other(text: str, version: PythonVersion) -> None:
    state = written(version, text.encode())
    assert (state is not None and state.complete) is WAITING[text][version >= (3, 11)]


def written(version: PythonVersion, text: bytes, left: bytes = b"") -> State | None:
    """The state after *left* and *text*."""
    document = Engine(python(version, "compile")).document(left)
    start = document.middle(len(left), len(left), relax=False).start
    return start and start.feed(text)


DEBUG = {
    # where `__debug__` is read or deleted: the versions in which its declaration may follow
    "print(__debug__)": PYTHON_VERSIONS,
    "print((a := __debug__))": [version for version in PYTHON_VERSIONS if version >= (3, 10)],
    "def g(a: __debug__): 0": PYTHON_VERSIONS,
    "a[__debug__], __debug__.b = c": PYTHON_VERSIONS,
    "del __debug__": [(3, 8)],
}


@pytest.mark.parametrize("text", DEBUG)
@pytest.mark.parametrize("version", PYTHON_VERSIONS)
def test_debug_is_a_constant_before_names_are_looked_at(text: str, version: PythonVersion) -> None:
    data = f"def f():\n {text}\n global __debug__\n".encode()
    assert (FileCheck(version).faults(data) == []) is (version in DEBUG[text])


@pytest.mark.parametrize("version", PYTHON_VERSIONS)
def test_debug_in_annotations_that_stay_unevaluated(version: PythonVersion) -> None:
    data = b"from __future__ import annotations\ndef f():\n def g() -> __debug__: 0\n global __debug__\n"
    assert (FileCheck(version).faults(data) == []) is (version != (3, 9))


def test_only_a_generator_of_its_own_may_wait_in_an_annotation() -> None:
    assert written((3, 8), b"def f(a: await ") is None
    state = written((3, 8), b"def f(a: (await b for b in c)): 0")
    assert state is not None
    assert state.complete


def test_what_may_wait_only_in_a_generator_that_waits_is_completed_so() -> None:
    for text in (b"({await a f", b"def f(): (b := [a as"):
        state = written((3, 9), text)
        assert state is not None
        completed = written((3, 9), text + state.shortest_completion)
        assert completed is not None
        assert completed.complete
    assert written((3, 9), b"t ", left=b"def f(): [awai") is None


COMPLETED = {
    # middles whose fault a completion mends before a right side
    (b"def s():", b"\n def g():nonlocal a\n", b")"): (b" a=0(",),
    (b"def e():\n    def f():()", b"\n    def g():nonlocal a\n  ", b")"): (b"  a=0(",),
    (b"def e():\n    def f():s\n", b"    def g():nonlocal a\n", b")"): (b"    a=0(",),
    (b"async def e():\n whil", b"e[[a async for a in b]f", b""): (b"or()in 0 async for _ in _]:0",),
    (b"", b"from __future__ i", b""): (b"mport annotations",),
    (b"", b"from __future__ import annota", b""): (b"tions",),
}


@pytest.mark.parametrize("sides", COMPLETED)
def test_what_mends_it_is_written(sides: tuple[bytes, bytes, bytes]) -> None:
    left, text, right = sides
    document = Engine(python((3, 10), "compile")).document(left + right)
    start = document.middle(len(left), len(left), relax=False).start
    state = start and start.feed(text)
    assert state is not None
    assert state.shortest_completion in COMPLETED[sides]


@pytest.mark.parametrize("left", [b"await f(a,\n", b"x = [await f(a,\n"])
def test_nothing_mends_what_waits_outside_a_coroutine(left: bytes) -> None:
    assert written((3, 10), b"b)", left) is None
    assert written((3, 10), b"", left) is None
    inside = written((3, 10), b"b)", b"async def g():\n    " + left.replace(b"[", b""))
    assert inside is not None
    assert inside.complete


def test_a_field_of_an_fstring_is_no_lone_star() -> None:
    state = written((3, 8), b"f'{*a")
    assert state is not None
    assert state.shortest_completion == b",}'"


PLACES_OF_STARS = {
    # starred targets in parentheses, which only 3.8 accepts
    "(*a), b = c": True,
    "[((*a)), b] = c": True,
    "(*a) = b": False,
    "*(*a), = b": False,
    "for ((*a)) in b: 0": False,
    "for (*a), b in c: 0": True,
    "with a as (*b): 0": False,
    "with a as ((*b), c): 0": True,
    "[0 for (*a) in b]": False,
    "del a, (*b)": False,
    "x = ((*a)), b": True,
    "x = (*a)": False,
    "x += (*a), b": True,
    "for x in (*a),: 0": True,
    "f((*a), b=1)": True,
    "f(*(*a))": False,
    "x[(*a)]": False,
    "x[(*a), b]": True,
    "x[(*a), 1:2]": False,
    "x[(*a), b]: c": True,
    "{**(*a)}": False,
    "f'{(*a), b}'": True,
    "f'{(*a)}'": False,
}


@pytest.mark.parametrize("text", PLACES_OF_STARS)
@pytest.mark.parametrize("version", [(3, 8), (3, 9)])
def test_stars_in_parentheses(text: str, version: PythonVersion) -> None:
    state = written(version, text.encode())
    assert (state is not None and state.complete) is (PLACES_OF_STARS[text] and version == (3, 8))


LATEST = PYTHON_VERSIONS[-1]
COMPILED_IN = {
    # the first and the last version that compile it, if any does
    "import __debug__.a": ((3, 8), (3, 8)),
    "import b, __debug__ .a.c": ((3, 8), (3, 8)),
    "import __debug__.a as b": ((3, 8), LATEST),
    "import __debug__": None,
    "def f():\n a: await((yield))\n return": ((3, 8), (3, 13)),
    "def f():\n a: await((yield))\n return 1": None,
    "def f():\n return 1\n a: await((yield))": None,
    "def f():\n a: (yield)\n return 1": ((3, 8), (3, 13)),
    "def f():\n a: lambda: await b\n yield\n return 1": ((3, 8), (3, 13)),
    "async def f():\n a: (yield)\n return 1": None,
    "from __future__ import annotations\nA: {(lambda __debug__: ())()}": ((3, 9), (3, 13)),
    "from __future__ import annotations\nclass A:\n b: f(__debug__=1)": ((3, 9), (3, 13)),
    "e[*h]: lambda: 0": None,
    "e[*h]: lambda: 0 = 1": ((3, 11), LATEST),
    "e[*h]: 0 = 1": ((3, 11), LATEST),
    "for {}.__debug__ [s] in a: 0": ((3, 8), LATEST),
    "for {}.__debug__ in a: 0": None,
    "with a as (*b, *c): 0": None,
    "with a as (*b, *c)[0]: 0": ((3, 8), LATEST),
    "class A[b=c, d\n=e]: 0": ((3, 13), LATEST),
    "class A[b=c, d\n]: 0": None,
    "class A[b=c, *d]: 0": None,
    "x; type a[b, c] = d": ((3, 12), LATEST),
    "x; type a[b, b] = d": None,
    "match a:\n case f'': 0": None,
    "match a:\n case {f'': 0}: 0": None,
    "match a:\n case ['' 'a' | False, b'' b'']: 0": ((3, 10), LATEST),
    "match a:\n case [False | m()]: 0": ((3, 10), LATEST),
    "match a:\n case [m | [m]]: 0": None,
    "match a:\n case [[m] | [n, m]]: 0": None,
    "def f(a: (yield)): 0": None,
    "def f(a: (b := 1)): 0": ((3, 8), (3, 13)),
    "a: (b := 1)": ((3, 8), (3, 13)),
    "a: [b := 1 for c in d]": ((3, 8), LATEST),
    "a: lambda: (yield)": ((3, 8), LATEST),
    "a.b: (yield)": None,
    "async def f():\n a: await b": ((3, 8), (3, 13)),
    "async def f():\n a: [b async for b in c]": ((3, 8), (3, 13)),
    "async def f():\n def g(a: [b async for b in c]): 0": ((3, 8), (3, 13)),
    "def f():\n a: b\n global b": ((3, 14), LATEST),
    "def f():\n a: b(__debug__=1)": ((3, 9), (3, 13)),
    "def f():\n a: b(c=1, c=2)": ((3, 9), LATEST),
    "def f():\n a: [0 for *b, *c in d]": ((3, 8), LATEST),
    f"def f():\n a: (0{' async for b in c' * 22})": ((3, 8), LATEST),
    "(__debug__): a": ((3, 14), LATEST),
    "class A: ((__debug__)): __debug__": ((3, 14), LATEST),
    "def f():\n global __debug__\n (__debug__): a": ((3, 14), LATEST),
    "(__debug__): a = 1": None,
    "__debug__: a": None,
    "a.__debug__: b": None,
    "[0 for *b in c]": None,
    "def f():\n a: [0 for *b in c]\n [0 for *b in c]": None,
    "def f():\n yield *b": None,
    "def f():\n yield *b,": ((3, 8), LATEST),
    "a: [0 for *b, *c in d]": None,
    "a.__debug__ += 1": ((3, 9), (3, 13)),
    "del a.__debug__": ((3, 8), (3, 13)),
    "del a.__debug__.b": ((3, 8), LATEST),
    "try: 0\nexcept a, b: 0": ((3, 14), LATEST),
    "try: 0\nexcept* a, b,: 0\nexcept* c: 0": ((3, 14), LATEST),
    "try: 0\nexcept a, b as c: 0": None,
    "t'{a}' t'{b!r:>{c}}'": ((3, 14), LATEST),
    "t'{a}' 'b'": None,
    "t'{yield}'": None,
    "match a:\n case t'': 0": None,
    "[*a for a in b]; {*a for a in b}; {**a for a in b}": ((3, 15), LATEST),
    "f(*a or b for a in c)(*(d for d in e))": ((3, 15), LATEST),
    "(*(yield) for a in b)": None,
    "lazy import a; lazy from b import c as d": ((3, 15), LATEST),
    "if a:\n with b:\n  while c: lazy import d": ((3, 15), LATEST),
    "lazy from a import *": None,
    "lazy from __future__ import division": None,
    "lazy from __future__.a import division": ((3, 15), LATEST),
    "def f(): lazy import a": None,
    "class A:\n lazy import a": None,
    "try: lazy import a\nfinally: 0": None,
    "try: 0\nexcept a:\n if b:\n  lazy import c": None,
    "try: 0\nexcept* a: 0\nelse: lazy import c": None,
    "try: 0\nfinally: lazy import a": None,
    "lazy: lazy = lazy\nimport lazy": ((3, 8), LATEST),
}


@pytest.mark.parametrize("text", sampled(COMPILED_IN, 2))
@pytest.mark.parametrize("version", PYTHON_VERSIONS)
def test_versions_that_compile_it(text: str, version: PythonVersion) -> None:
    versions = COMPILED_IN[text]
    compiled = versions is not None and versions[0] <= version <= versions[1]
    data = f"{text}\n".encode()
    state = written(version, b"")
    for place in range(len(data)):
        state = state and state.feed(data[place : place + 1])
    assert (state is not None and state.complete) is compiled
    at_once = written(version, data)
    assert (at_once is not None and at_once.complete) is compiled


NOT_YET_WRONG = {
    # middles with a fault that only the right side or later text shows: a completion avoids it
    (b"import __de", b"bug__ ", b"\n"): (3, 11),
    (b"from a import __debug__", b" ", b"\n"): (3, 10),
    (b"a.__de", b"bug__ ", b" 1\n"): (3, 10),
    (b"", b"for {}.__debug__ ", b" in a: 0\n"): (3, 8),
    (b"", b"with a as(*b,*", b""): (3, 8),
    (b"", b"with a as(*b,*c", b""): (3, 13),
    (b"for (*b,", b"*c)", b" in d: 0\n"): (3, 12),
    (b"", b"e[*h]:lambda:", b""): (3, 11),
    (b"", b"a[b,*c]:d", b""): (3, 13),
    (b"match a:\n case[", b"False|m", b"]: 0\n"): (3, 10),
    (b"class A[b=c, d", b"", b"\n0]: 0\n"): (3, 13),
    (b"x; type a[b,b", b"", b"]=c\n"): (3, 12),
    (b"def f()->''|(*", b"", b""): (3, 8),
    (b"from __future__ import ", b"anno", b"ions\n"): (3, 10),
    (b"from __future__ imp", b"ort annot", b"ations\nA: f(__debug__=1)\n"): (3, 12),
    (b"de", b"", b" f():\n x: lambda __debug__: 0\n"): (3, 13),
    (b"from __future__ import annotati", b"on", b"sion\na: b\n"): (3, 13),
    (b"from __future__ import", b" d", b"ision\n"): (3, 13),
    (b"from __future__ ", b"import (annotat", b"ion)\n"): (3, 13),
    (b"class A:\n def f(self):\n  nonlocal __cla", b"s", b"_\n"): (3, 8),
    (b"class A:\n def f(self):\n  non", b"local ", b"ss__\n"): (3, 13),
    (b"match a:\n case [a, *b] | ", b"{1:", b"0\n"): (3, 13),
    (b"match a:\n case b(e)|", b"t", b""): (3, 11),
    (b"match a:\n case b(e,f)|", b"t", b""): (3, 12),
    (b"match a:\n case b(e)|", b"t.a", b""): (3, 10),
    (b"match a:\n case b(e)|", b"_", b""): (3, 13),
    (b"match a:\n case [b(e)|", b"{1:a", b""): (3, 13),
    (b"match a:\n case b(e)|", b"t(a", b""): (3, 12),
    (b"def f()", b"", b"\n def g():\n  nonlocal a\n"): (3, 13),
    (b"def f():\n def e():\n  def g(): nonlocal a\n", b"  global ", b""): (3, 10),
    (b"def f():\n if a: global b\n", b" def g(): nonlocal ", b""): (3, 13),
    (b"def f():\n def g(): nonlocal a\n", b" (", b")"): (3, 10),
    (b"def f():\n with ():\n", b"  def g(): nonlocal\\", b""): (3, 11),
    (b"def f():\n def g():\n", b"  nonlocal a\n  (", b'"'): (3, 8),
    (b"def f():\n def g():\n", b"  nonlocal a\n  [(b, {", b"'"): (3, 13),
    (b"with(", b"[a as", b"a:=1))as t:s"): (3, 10),
    (b"class A:\n (x:=''", b"f", b""): (3, 10),
    (b"class A:\n (x:=a", b" a", b""): (3, 10),
    (b"class A:\n [x:=0", b"", b" for a in b]\n"): (3, 13),
    (b"f(", b"[a as", b"b:=1))\n"): (3, 10),
    (b"class A:\n x = (", b"[a for b in c if d ", b"b:=1))\n"): (3, 12),
    (b"", b"(__debug__):", b"=1\n"): (3, 15),
    (b"x = [a fo", b"r ", b"*b in c]\n"): (3, 11),
    (b"x = [a for", b"", b" *b in c]\n"): (3, 13),
    (b"def f[a]():\n def g():nonlocal a\n for j in _:", b"a=()", b""): (3, 12),
    (b"def f[a]():\n def g():nonlocal a\n", b" b", b""): (3, 13),
    (b"class f[a]:\n def g():nonlocal a\n", b" b", b""): (3, 12),
    (b"async def a():\n yield\n return ", b"", b"j\n"): (3, 10),
    (b"async def a():\n yield\n ret", b"urn\\", b"j\n"): (3, 13),
    (b"def f[a]():\n class r():\n  a=b\n  def g():nonlocal a\n ", b"c", b""): (3, 13),
    (b"", b"([[a async for a in b]f", b""): (3, 8),
    (b"(", b"[[a async for a in b]f", b""): (3, 10),
    (b"", b"[a", b"\nglobal a\n"): (3, 11),
    (b"", b"(a) ", b"\nglobal a\n"): (3, 11),
    (b"", b"a=1", b"\nglobal a # '\n"): (3, 11),
    (b"", b"a=1", b"\nglobal a\n'''\n"): (3, 11),
    (b"", b"a=1\n", b"global a\n"): (3, 11),
    (b"if x:\n ", b"a=1\n ", b"y\n global a\n"): (3, 11),
    (b"def f():\n a", b"=1", b"\n global a\n"): (3, 11),
}


def between(left: bytes, text: bytes, right: bytes, version: PythonVersion) -> State | None:
    """The state after *text* between two sides that are read without repair; None if it is refused."""
    start = Engine(python(version, "compile")).document(left + right)
    state = start.middle(len(left), len(left), relax=False).start
    assert state is not None
    return state.feed(text)


@pytest.mark.parametrize("sides", NOT_YET_WRONG)
def test_what_is_not_yet_wrong_is_completed(sides: tuple[bytes, bytes, bytes]) -> None:
    left, text, right = sides
    version = NOT_YET_WRONG[sides]
    state = between(*sides, version)
    assert state is not None
    assert FileCheck(version).faults(left + text + state.shortest_completion + right) == []


WRONG = {
    # middles that are refused at once, as no later text can mend them
    (b"from __future__ import divisio", b"a", b"n\n"): (3, 10),
    (b"", b"from __future__ import annotationsx", b""): (3, 12),
    (b"", b"for *a, *b", b""): (3, 9),
    (b"class A:(x:=()", b" f", b""): (3, 9),
    (b"class A:\n [x:=0", b" fo", b""): (3, 13),
    (b"class A:\n f(x:=0", b" as", b""): (3, 11),
    (b"class A:\n {x:=0", b" for", b""): (3, 14),
    (b"", b"e[*h]:lambda:0\n", b""): (3, 11),
    (b"", b"x;type a[b,b]", b""): (3, 12),
    (b"", b'match a:\n case f"', b""): (3, 10),
    (b"", b"match a:\n case [[m]|[n,", b""): (3, 10),
    (b"match a:\n case b(e)|", b"c()", b""): (3, 12),
    (b"def f():\n", b" def g(): nonlocal a\n'", b""): (3, 9),
    (b"def f():\n", b" def g(): nonlocal a\nx", b""): (3, 13),
    (b"match a:\n case b(e)|", b"[]", b""): (3, 12),
    (b"def f():\n def g():\n  nonlocal ", b"__debug__\n", b""): (3, 10),
    (b"a", b"=1", b"\nglobal a\n"): (3, 11),
    (b"class A:\n def f(self):\n  ", b"nonlocal __cla_", b"ss__\n"): (3, 12),
    (b"", b"(a);", b"\nglobal a\n"): (3, 11),
    (b"", b"for a in b: 0", b"\nx = ''\nglobal a\n"): (3, 11),
}


@pytest.mark.parametrize("sides", WRONG)
def test_what_nothing_mends_is_refused(sides: tuple[bytes, bytes, bytes]) -> None:
    assert between(*sides, WRONG[sides]) is None


def test_a_binding_that_a_declaration_lacks_may_come_in_the_middle() -> None:
    state = written((3, 11), b" a = b\nwith c: 0", left=b"def f():\n def g(): nonlocal a\n")
    assert state is not None
    assert state.complete


@pytest.mark.parametrize(("version", "most"), {(3, 9): 30, (3, 10): 20, (3, 12): 20, (3, 13): 21}.items())
def test_so_many_clauses_may_be_asynchronous(version: PythonVersion, most: int) -> None:
    for number in range(18, 24):
        text = b"(0" + b" async for a in b" * number + b")\n"
        assert (FileCheck(version).faults(text) == []) is (number <= most)


def test_typing_in_a_long_line_keeps_few_of_its_versions() -> None:
    check = FileCheck(DEFAULT_VERSION)
    before = sum(type(each) is Name for each in gc.get_objects())
    for count in range(60):
        check.faults(b"x = [" + b"a, " * 1000 + b"b" * count + b"]\n")
    assert sum(type(each) is Name for each in gc.get_objects()) - before < 20_000


def test_what_a_target_only_reads_is_iterated_up_to_3_11() -> None:
    for text in (b"[(a := 1) for b[a] in c]\n", b"[0 for a.b in c if (a := 1)]\n"):
        assert len(FileCheck((3, 11)).faults(text)) == 1
        assert FileCheck((3, 12)).faults(text) == []
    assert len(FileCheck((3, 12)).faults(b"[(a := 1) for a in c]\n")) == 1


def test_what_is_no_python_has_no_faults() -> None:
    for text in (b"f(a=1, a=1", b"'", b"x = )", b"case 1:", b"f'{'", b"\xff", b"if", b"match x:\n 1\n"):
        assert FileCheck((3, 12)).faults(text) == []
