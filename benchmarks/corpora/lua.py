"""Made-up Lua for measurements: any number of functions from a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from fimlsp.languages.lua import KEYWORDS, lua

from .corpus import Corpus, MadeUpCorpus

_NAMES = ("count", "value", "index", "result", "options", "buffer", "line", "width", "items", "handler")
_LINES = (
    "local {a} = {b}.{c} or {n}",
    "{a} = {a} + #{b} * ({c} - {n}) // 2",
    'if {a} ~= nil and {b}[{n}] == "{c}" then\n{i}  return {a}, {b}\n{i}end',
    "for {a} = 1, #{b} do\n{i}  {c}[{a}] = {b}[{a}]:upper() .. '-'\n{i}end",
    "for _, {a} in ipairs({b}) do\n{i}  if not {a}.{c} then break end\n{i}  {c}({a}, {n})\n{i}end",
    "while {a} < {n} do\n{i}  {a} = {a} + 1 -- until it is enough\n{i}end",
    "local {a} = {{ {b} = {n}, [{n}] = {c}, 'text', {{ 1, 2, 3 }} }}",
    "{a}:{b}({c}, function({a}, ...)\n{i}  return select('#', ...) > {n}\n{i}end)",
    "repeat\n{i}  local {a} <const> = {b}()\n{i}until {a} == {c}",
    "{a} = [[\nseveral lines of {b}\n]] .. {c}",
)


def functions_of_length(random: Random, length: int) -> bytes:
    """Functions of *length* bytes together, or a little more."""
    functions: list[bytes] = []
    size = 0
    while size < length:
        functions.append(_function(random))
        size += len(functions[-1])
    return b"".join(functions)


def _function(random: Random) -> bytes:
    name, parameters = random.choice(_NAMES), ", ".join(random.sample(_NAMES, random.randrange(4)))
    body = "".join(f"  {_line(random)}\n" for _ in range(random.randrange(2, 9)))
    head = f"--- What is made of {name}.\nfunction M.{name}_{random.randrange(1000)}({parameters})\n"
    return f"{head}{body}end\n\n".encode()


def _line(random: Random) -> str:
    a, b, c = random.sample(_NAMES, 3)
    return random.choice(_LINES).format(a=a, b=b, c=c, n=random.randrange(100), i="  ")


_WORD = rb"(?<![\w.:'\"<\[])(?!(?:%s)\b)[a-z_]{2,}(?![\w'\"\]>])" % "|".join(KEYWORDS).encode()

CORPORA: Mapping[str, Sequence[Corpus]] = {
    "lua": (MadeUpCorpus("Lua", lua, _WORD, functions_of_length),),
}
