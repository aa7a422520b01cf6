"""Cells of notebooks, whose statements may wait outside functions, compared with the compiler."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

import pytest

from fimlsp.languages.python.language import Python
from fimlsp.quotient.engine import Engine

from .test_file_check import VERSION, cases

CASES = r"""
await x
x = await f(a)
x = 1 if await a else 2
print(await a, *await b)
if a: await b
for a in await b: await c
with a: await b
async with a as b: pass
async for a in b: pass
async with a:\n async for b in c: pass
try: await a\nfinally: await b
[await a for b in c]
[a async for b in c]
{a async for b in c}
{a: await b for c in d}
[[a async for b in c] for d in e]
(a async for b in c)
lambda: await x
lambda: [a async for b in c]
f'{await x}'
def f(a=await b): pass
def f(a: await b): pass
@(await a)\ndef f(): pass
def f(): await x
def f(): return [a async for b in c]
def f():\n async with a: pass
async def f():\n def g(): await x
async def f(): await x
def f(): pass\nawait f()
class A: x = await y
class A: x = [a async for b in c]
class A:\n async for a in b: pass
class A(await x): pass
await x; return
return await x
yield await x
yield from await x
x = yield
await
async
"""

STRICTER = "x: await y = 1", "x: [i async for i in y]"
"""Annotations of variables that the compiler accepts outside functions."""


def cells() -> list[str]:
    own = [text.replace("\\n", "\n") for text in CASES.strip().splitlines()]
    return own + [text for text in cases() if re.search("await|async|yield|return", text)]


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(Python(VERSION, "compile", top_level_await=True))


def compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError:
        return False
    return True


def verdicts(engine: Engine, text: str) -> Iterator[bool]:
    """The verdicts on *text*, read from several places, and byte by byte."""
    data = f"{text}\n".encode()
    for place in (0, len(data) // 2, len(data) - 1):
        start = engine.document(data).middle(place, place, relax=False).start
        yield start is not None and start.complete
    state = engine.document(b"").middle(0, 0).start
    for place in range(len(data)):
        state = state and state.feed(data[place : place + 1])
    yield state is not None and state.complete


@pytest.mark.parametrize("text", [text for text in cells() if text not in STRICTER])
def test_complete_exactly_if_the_cell_compiles(engine: Engine, text: str) -> None:
    assert set(verdicts(engine, text)) == {compiles(text)}


@pytest.mark.parametrize("text", STRICTER)
def test_where_a_cell_may_wait_but_is_refused(engine: Engine, text: str) -> None:
    assert compiles(text)
    assert False in verdicts(engine, text)
