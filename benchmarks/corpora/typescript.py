"""Made-up TypeScript and JavaScript for measurements: any number of declarations from a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from textwrap import indent

from fimlsp.languages.typescript import javascript, typescript
from fimlsp.languages.typescript.lexical_spec import KEYWORDS
from fimlsp.languages.typescript.modes import CONTEXTUAL

from .corpus import Corpus, MadeUpCorpus

_NAMES = ("count", "value", "index", "result", "options", "buffer", "line", "width", "items", "handler")
_LINES = (
    "const {a} = await {b}.{c}({n});",
    "{a} = {a} + {b}.length * ({c} - {n}) / 2",
    'if ({a} !== null && {b}[{n}] === "{c}") {{\n    return {{ {a}, {b} }};\n  }}',
    "for (let {a} = 0; {a} < {b}.length; {a}++) {{\n    {c}[{a}] = `${{{b}[{a}]}} of {n}`;\n  }}",
    "for (const {a} of {b}) {{\n    if (!{a}.{c}) break\n    {c}({a}, {n})\n  }}",
    "const {a} = {{ {b}: [{n}, 2, 3], {c}, ...{b} }};",
    "{a}.{b}(({c}) => {c}.{a} > {n}).map({c} => ({{ {b}: {c} }}))",
    "switch ({a}) {{\n    case {n}:\n      {c}({a});\n      break;\n    default:\n      throw {b};\n  }}",
    "try {{\n    {a}?.{b}({n});\n  }} catch (error) {{\n    {c}(error); // not serious\n  }}",
    "const [{a}, {b} = {n}] = {c} ?? [];",
    "if (/^{a}[0-9]+$/i.test({b})) {c}.push({b} as {a});",
)
_UNTYPED = tuple(line.replace(" as {a}", "") for line in _LINES)


def declarations_of_length(random: Random, length: int, *, types: bool) -> bytes:
    """Declarations of *length* bytes together, or a little more."""
    declarations: list[bytes] = []
    size = 0
    while size < length:
        make = random.choice((_interface, _function, _class)) if types else random.choice((_function, _class))
        declarations.append(make(random, types).encode())
        size += len(declarations[-1])
    return b"".join(declarations)


def _typed(type_: str, types: bool) -> str:
    return f": {type_}" if types else ""


def _function(random: Random, types: bool) -> str:
    name, parameters = random.choice(_NAMES), random.sample(_NAMES, random.randrange(1, 4))
    listed = ", ".join(parameter + _typed("Map<string, number[]>", types) for parameter in parameters)
    head = f"export async function {name}{random.randrange(1000)}{'<T>' * types}({listed})"
    comment = f"/** {name} comes from {parameters[0]}. */\n"
    return f"{comment}{head}{_typed('Promise<T>', types)} {{\n{_body(random, types)}}}\n\n"


def _class(random: Random, types: bool) -> str:
    methods = "".join(
        f"  async {name}({other}{_typed('string', types)}) {{\n{indent(_body(random, types), '  ')}  }}\n\n"
        for name, other in zip(random.sample(_NAMES, 2), random.sample(_NAMES, 2), strict=True)
    )
    name, type_ = random.choice(_NAMES), _typed("number | undefined", types)
    field = f"  {'readonly ' * types}{name}{type_} = {random.randrange(9)};\n\n"
    return f"export class Made{random.randrange(1000)} extends Base {{\n{field}{methods}}}\n\n"


def _interface(random: Random, types: bool) -> str:
    del types
    fields = "".join(f"  {name}?: Record<string, {name}[]>;\n" for name in random.sample(_NAMES, 3))
    return f"export interface Made{random.randrange(1000)} {{\n{fields}}}\n\n"


def _body(random: Random, types: bool) -> str:
    return "".join(f"  {_line(random, types)}\n" for _ in range(random.randrange(2, 9)))


def _line(random: Random, types: bool) -> str:
    a, b, c = random.sample(_NAMES, 3)
    return random.choice(_LINES if types else _UNTYPED).format(a=a, b=b, c=c, n=random.randrange(100))


_WORD = rb"(?<![\w'\"`$])(?!(?:%s)\b)[a-z_]{2,}(?![\w'\"`])" % "|".join((*KEYWORDS, *CONTEXTUAL)).encode()


def _corpus(name: str, types: bool) -> Corpus:
    made: Callable[[Random, int], bytes] = partial(declarations_of_length, types=types)
    return MadeUpCorpus(name, typescript if types else javascript, _WORD, made)


CORPORA: Mapping[str, Sequence[Corpus]] = {
    "typescript": (_corpus("TypeScript", types=True),),
    "javascript": (_corpus("JavaScript", types=False),),
}
