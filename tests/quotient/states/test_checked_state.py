"""A middle of Python that has to compile: its refusal while it is written, and its completion."""

from __future__ import annotations

import random
from itertools import product

import pytest

from fimlsp.languages.python.language import python
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.states.checked_state import CheckedState
from fimlsp.quotient.states.protocol import State, readings_of

from ..corpus import compiles


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(python((3, 11), "compile"))


def state(engine: Engine, text: str, *, stays: bool = False, relax: bool = False) -> State | None:
    """The state at the second mark of *text*, where the first one is the cursor."""
    left, middle, right = (part.encode() for part in text.split("<|>"))
    document = engine.document(left + right)
    found = document.middle(len(left), len(left), relax=relax, may_escape=not stays).start
    return found and found.feed(middle)


DEAD = (
    "def f():\n    return (<|>a for a in await <|>",
    "def f(a, <|>a,<|> b): pass\n",
    "f(a=1, <|>a=<|>2)\n",
    "f(a=1, <|>a <|>)\n",
    "f(a=1,\n  <|>a\n<|>\n",
    "<|>return <|>\n",
    "if x:\n    <|>break\n<|>    pass\n",
    "x = 1\n<|>global x\n<|>",
    "x = [<|>(yield) for <|>a in b]\n",
    "<|>await <|>x\n",
    "def f():\n    <|>await <|>x\n",
    "match x:\n    case [a, <|>a,<|> b]: pass\n",
    "<|>lambda a, a:<|> 0\n",
    "<|>import a\nfrom __future__ import annotations\n<|>",
    "x = <|>[a as<|>",
    "x = <|>[a async <|>",
    "x:<|>{await y for <|>",
    "async def f():yield fro<|>m <|>",
    "x = [<|>a async fo<|> b in c]",
    "def f(): <|>nonlocal <|>",
    "x = 1\n<|>from __future__ <|>",
    "class A:\n    def f(): <|>nonlocal a <|>",
    "<|>nonlocal <|>",
    "x = <|>[await <|>",
    "def f():\n    x = [<|>(yield) for<|>]\n",
    "<|>\n<|>\n\ny = (yield)\n",
    "async def f():\n    return [a for a in b if (<|>yield a<|>\n",
    "x = <|>[a for a in (b:<|>",
    "x = <|>[a for a in (b :<|>",
    "x = (<|>a for *b, *c<|>",
    "x = (<|>a for [*b, *c] in <|>",
    "<|>for *a, *<|>",
    "from __future__ import <|>annotb,<|>",
)


@pytest.mark.parametrize("text", DEAD)
def test_dies_once_it_is_certainly_wrong(engine: Engine, text: str) -> None:
    assert state(engine, text) is None


VIABLE = (
    "def f(a, <|>a<|>): pass\n",
    "f(a=1, <|>a<|>)\n",
    "f(<|>a=<|>, a=2)\n",
    "<|>def f(): <|>return 1\n",
    "<|><|>    return 1\n",
    "<|>class A:\n    <|>    yield 1\n",
    "for x in y:\n    <|>br<|>\n",
    "if x:\n    <|>br<|>\n",
    "def f(a, <|>*<|>): pass\n",
    "def f(a, <|>b, c<|>, d=0, *, e): pass\n",
    "<|>*a<|> = b\n",
    "match x:\n    case <|>_<|>: pass\n",
    "def f():\n    <|>x<|>\n    global x\n",
    "async def f():\n    yield\n    <|>return<|>\n",
    "try: pass\nexcept<|><|>: pass\nexcept A: pass\n",
    "<|>(await <|>",
    "(x<|>(a=1,a<|>n",
    "x = (<|>a async fo<|> b in c)",
    "def f():<|>from <|>",
    "def f(): from . <|><|>; return 1\n",
    "def f():\n    <|><|>\n    nonlocal x\n",
    "def f():\n <|><|>\n nonlocal x, y\n",
    "<|><|>\nnonlocal x\n",
    "class A:\n    <|><|>\n    nonlocal x\n    y = x\n",
    "def f():\n\tdef g():\n\t\t<|><|>\n\t\tnonlocal x\n",
    "def f():\n    def g():\n        <|>nonlocal x<|>",
    "def f():\n    def g():\n        <|>nonlocal x<|>\n        pass\n",
    "def f():\n\tif x:\n\t\tdef g():\n\t\t\t<|>nonlocal <|>",
    "x =<|><|>\ny = (yield)\n",
    "<|><|>    x = [await y for z in a]\n",
    "def f():\n    <|>x = (await y<|>)\n",
    "async def f():\n    x = [<|>a as<|>]\n",
    "x = [a for a in (<|>lambda b:<|>",
    "x:<|>(await <|>",
    "x:<|>([await <|>",
    "<|>from __future__ import annota<|>",
    "def f():\n from r impo<|>rt<|>",
    "<|>f(*a, *<|>",
    "x = (a for <|>[*b, *c][<|>",
    "def f():\n async def n():\n  while 1:<|>nonlocal <|>:global m",
    "def f():\n    print(<|><|>)\n    nonlocal x\n",
    "def f():\n    print([a, {<|><|>}])\n    nonlocal x, y\n",
    "class A:\n    def f():\n        a(b + <|><|>)\n        nonlocal x\n",
    "def f():\n    print('<|><|>')\n    nonlocal x\n",
    "def f():\n    '''<|><|>'''\n    nonlocal x\n",
    "def f():\n    print(f'{<|><|>}')\n    nonlocal x\n",
    "def f():\n    print(f'{a}<|><|>')\n    nonlocal x\n",
    "def f():\n    print(f'<|><|>{a}')\n    nonlocal x\n",
    "def f():\n    print(f'{a!r:x<|><|>}')\n    nonlocal x\n",
    "def f():\n    print(f'''{a:{(<|><|>)}}''')\n    nonlocal x\n",
    "def f():\n    print(f'{g([<|><|>])}')\n    nonlocal x, y\n",
    "f<|><|>\nfrom __future__ import annotations\n",
    "from<|><|>\nfrom __future__ import annotations\n",
    "from <|><|>\nfrom __future__ import division\n",
    "from __fu<|><|>\nfrom __future__ import annotations\n",
    "from __future__ imp<|><|>\nfrom __future__ import annotations\n",
    "# a\n'b'\nfrom  __future__<|><|>\nfrom __future__ import annotations\n",
    "<|>a<|>)\nx = 1\n",
)


@pytest.mark.parametrize("text", VIABLE)
def test_the_completion_compiles(engine: Engine, text: str) -> None:
    reached = state(engine, text)
    assert reached is not None
    left, middle, right = text.split("<|>")
    assert compiles(left + middle + reached.shortest_completion.decode() + right)
    after = reached.feed(reached.shortest_completion)
    assert after is not None
    assert after.complete


NEVER = (
    # left<|>right, and True if only a middle that stays in its brackets, blocks and string never compiles
    ("print(<|>)\nnonlocal x\n", False),
    ("print('<|>')\nnonlocal x\n", False),
    ("x = 1\n<|>\nfrom __future__ import annotations\n", False),
    ("x(<|>)\nfrom __future__ import annotations\n", False),
    ("x<|>\nfrom __future__ import annotations\n", False),
    ("rx<|>\nfrom __future__ import annotations\n", False),
    ("1<|>\nfrom __future__ import annotations\n", False),
    ("import<|>\nfrom __future__ import annotations\n", False),
    ("from a<|>\nfrom __future__ import annotations\n", False),
    ("from .<|>\nfrom __future__ import annotations\n", False),
    ("if x:\n  y\n<|>y\nfrom __future__ import annotations\n", False),
    ("def f():\n    print(<|>)\n    nonlocal x\n", True),
    ("def f():\n    print('<|>')\n    nonlocal x\n", True),
)


@pytest.mark.parametrize(("text", "stays_only"), NEVER)
def test_nothing_connects_where_no_middle_compiles(engine: Engine, text: str, stays_only: bool) -> None:
    assert state(engine, f"{text.replace('<|>', '<|><|>')}", stays=True) is None
    assert (state(engine, f"{text.replace('<|>', '<|><|>')}") is not None) is stays_only
    assert state(engine, f"{text.replace('<|>', '<|><|>')}", stays=True, relax=True) is not None


MAY = (
    '"a"\n<|><|>\nfrom __future__ import annotations\n',
    "(<|><|>)\nfrom __future__ import annotations\n",
    "r<|><|>\nfrom __future__ import annotations\n",
    "<|><|>\nnonlocal x\n",
    "def f():<|><|>; \\\nnonlocal x\n",
)


@pytest.mark.parametrize("text", MAY)
def test_lines_that_a_middle_makes_valid_connect(engine: Engine, text: str) -> None:
    reached = state(engine, text)
    assert reached is not None
    assert compiles(text.replace("<|><|>", reached.shortest_completion.decode()))


WRITTEN = (
    "def f(<|>ab: <|>c, ab=0): pass\n",
    "[f(<|>y:<|>=1) for y in z]\n",
    "f(a=1, <|>b, 'c', 1<|>)\n",
    "f(a=1, <|>b (1), [2]<|>a=2)\n",
    "x = [<|>a, 1, (2, 'b')<|> for a in b]\n",
    "f(<|>a, '', 1<|>if b else c, a=1)\n",
)


@pytest.mark.parametrize("text", WRITTEN)
def test_each_complete_text_on_the_way_compiles(engine: Engine, text: str) -> None:
    left, middle, right = text.split("<|>")
    found: State | None = state(engine, f"{left}<|><|>{right}")
    for end in range(len(middle)):
        found = found and found.feed(middle[end].encode())
        assert (found is not None and found.complete) is compiles(left + middle[: end + 1] + right)


def test_a_middle_that_stays_repeats_nothing_that_follows(engine: Engine) -> None:
    assert state(engine, "f(<|>a=<|>, a=2)\n", stays=True) is None
    assert state(engine, "f(<|>b=<|>, a=2)\n", stays=True) is not None


def test_a_middle_that_stays_does_not_wait_to_be_mended(engine: Engine) -> None:
    for text in ("print(<|>await x<|>)\n", "def f():\n def g():\n  <|>nonlocal x\n<|>  pass\n"):
        assert state(engine, text, stays=True) is None
        assert state(engine, text) is not None
    assert state(engine, "print(<|>await x for x in y<|>)\n") is not None


def test_what_is_wrong_elsewhere_connects_only_where_that_does_not_count(engine: Engine) -> None:
    for text in ("def f(a, a): pass\n<|>x<|>\n", "<|>x<|>\ndef f(a, a): pass\n"):
        assert state(engine, text) is None
        lenient = state(engine, text, relax=True)
        assert lenient is not None
        assert lenient.complete
        assert lenient.shortest_completion == b""


def as_it_stands(engine: Engine, text: str) -> State:
    """The state of *text* as it stands, without readings in which text elsewhere is repaired."""
    found = state(engine, text, relax=True)
    assert found is not None
    return next(reading for reading in readings_of(found) if isinstance(reading, CheckedState))


BOUND_LATER = "= 0\n    def g():\n        nonlocal b\n        b = 1\n"
MENDED = (
    f"def f():\n    <|><|>{BOUND_LATER}",
    f"def f():\n    a = {{'x': <|><|>{BOUND_LATER}",
    f"def f():\n    a = {{\n        'x'<|>: '1<|>{BOUND_LATER}",
    f"def f():\n    a = {{'x': <|><|>{BOUND_LATER}\n    def h():\n        nonlocal c\n",
)


@pytest.mark.parametrize("text", MENDED)
def test_what_a_line_here_mends_counts(engine: Engine, text: str) -> None:
    found = as_it_stands(engine, text)
    left, middle, right = text.split("<|>")
    assert compiles(left + middle + found.shortest_completion.decode() + right)


def test_a_binding_that_is_waited_for_is_a_line_of_its_own(engine: Engine) -> None:
    waiting = "\n    def g():\n        nonlocal done\n        done = 1\n"
    for text in (
        f"def f():\n    a = {{\n        'x': <|><|>\n{waiting}",
        f"def f():\n    a = b(c, <|><|>{waiting}",
    ):
        found = as_it_stands(engine, text)
        assert b"\n    done=0" in found.shortest_completion


def test_what_is_ignored_is_told_once_it_is_met(engine: Engine) -> None:
    text = "def f(a, a): pass\n<|>\nglobal b; x = 1\ndef g(b, b): pass\n"
    left, right = (part.encode() for part in text.split("<|>"))
    found = engine.document(left + right).middle(len(left), len(left), relax=True)
    assert found.ignored == ()
    assert found.start is not None
    assert found.start.complete
    places = [(left + right)[fault.spans[0][0] :][:4] for fault in found.ignored]
    assert places == [b"a, a", b"b, b"]


def test_at_the_start_of_a_file(engine: Engine) -> None:
    reached = state(engine, "<|>f(a=1, b<|>")
    assert reached is not None
    assert not reached.complete
    assert state(engine, "<|>f(a=1, a=<|>") is None


def test_names_are_not_compared_where_the_file_is_broken(engine: Engine) -> None:
    broken = "f(a=1,\nx = 1\ny = g(<|>a=2<|>)\n"
    assert state(engine, broken, relax=True) is not None


IN_BRACKETS = (
    "x = f(a=1, <|>)\n",
    "x = f(<|>, a)\n",
    "f(**a, <|>b=2)\n",
    "def f(a, b=<|>): pass\n",
    "def f(a: (b, <|>), c): return (a)\n",
    "x = [a for a in (<|>) if b]\n",
    "x = (a, <|>) = 1\n",
    "x = {1: a, <|>}\n",
    "match x:\n    case {1: a, <|>}: pass\n",
    "match x:\n    case (<|>): pass\n    case _: pass\n",
    "print(*a, <|>)\n",
    "with (a as b, <|>c): pass\n",
    "for (a, <|>) in b: pass\n",
    "x[<|>]: int = 1\n",
    "def f():\n    global a\n    x = (<|>, a)\n",
    "async def f(): return [(await a, <|>)]\n",
    "f(a<|>)\n",
    "f(b'1' <|>)\n",
)
PIECES = (
    *("0", "1", ",", "(", ")", "[", "]", "{", "}", ":", "-", "+", ".", "2j", "'a'", '"b"', "\n"),
    *("(1,2),", ",(3,[4])", "'a':1,", ",1", "(0).x"),
)


@pytest.mark.parametrize("text", IN_BRACKETS)
def test_what_constants_add_in_brackets_is_judged_as_the_whole_text(engine: Engine, text: str) -> None:
    left, right = text.split("<|>")
    rng = random.Random(text)
    for _ in range(25):
        reached, middle = state(engine, f"{left}<|><|>{right}"), ""
        while reached is not None and len(middle) < 20:
            told = reached.complete
            fresh = state(engine, f"{left}<|>{middle}<|>{right}")
            assert fresh is not None
            assert told == fresh.complete, middle
            piece = rng.choice(PIECES)
            reached, middle = reached.feed(piece.encode()), middle + piece


ASYNC_OUTSIDE = (
    "[x async for x in y]",
    "z = {a async for a in b if c}\n",
    "f(a async for a in b)\n",
    "[async]",
)


@pytest.mark.parametrize("version", [(3, 8), (3, 11), (3, 13)])
@pytest.mark.parametrize("text", ASYNC_OUTSIDE)
def test_no_state_refuses_the_empty_text(version: tuple[int, int], text: str) -> None:
    """Outside async functions, at each cut and with a part of the word that must become `async` left out."""
    engine = Engine(python(version, "compile"))
    begin = text.index("async")
    for left, right in product(range(begin, begin + 6), range(begin, len(text))):
        document = engine.document(f"{text[:left]}{text[max(left, right) :]}".encode())
        found = document.middle(left, left, relax=False).start
        if found is not None:
            assert found.feed(b"") is not None
            assert found.feed(found.shortest_completion) is not None


SPELT = ("from __future__ import x\n", "from __future__ import print_functions\n", "nonlocal x\n")


@pytest.mark.parametrize("text", SPELT)
def test_words_cut_by_the_cursor_are_read_whole(engine: Engine, text: str) -> None:
    """A middle fed byte by byte is refused as it is at once, wherever the cursor cuts the statement."""
    data = text.rstrip().encode()
    for cut in range(len(data) - 1):
        document = engine.document(data[:cut] + b"\n")
        for relax in (False, True):
            start = document.middle(cut, cut, relax=relax).start
            at_once, bytewise = start and start.feed(data[cut:]), start
            for byte in data[cut:]:
                bytewise = bytewise and bytewise.feed(bytes((byte,)))
            assert (at_once is None) is (bytewise is None), (cut, relax)
