"""Made-up Go for measurements: any number of functions and types from a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from fimlsp.languages.go import KEYWORDS, go

from .corpus import Corpus, MadeUpCorpus

_NAMES = ("count", "value", "index", "result", "options", "buffer", "line", "width", "items", "handler")
PACKAGE = b'package made\n\nimport (\n\t"fmt"\n\t"os"\n)\n\n'
_LINES = (
    "{a}, err := {b}.{c}({n})",
    "{a} = {a} + len({b})*({c}-{n})/2",
    'if {a} != nil && {b}[{n}] == "{c}" {{\n\t\treturn {a}, {b}\n\t}}',
    "for {a} := 0; {a} < len({b}); {a}++ {{\n\t\t{c}[{a}] = {b}[{a}].Upper() + `-`\n\t}}",
    "for _, {a} := range {b} {{\n\t\tif !{a}.{c} {{\n\t\t\tbreak\n\t\t}}\n\t\t{c}({a}, {n})\n\t}}",
    "for {a} < {n} {{\n\t\t{a}++ // until it is enough\n\t}}",
    "{a} := map[string][]int{{\n\t\t`{b}`: {{{n}, 2, 3}},\n\t\t'{c[0]}': nil,\n\t}}",
    "{a}.{b}({c}, func({a} int, rest ...string) bool {{\n\t\treturn len(rest) > {n}\n\t}})",
    "switch {a} := {b}.(type) {{\n\tcase int, *string:\n\t\t{c}({a})\n\tdefault:\n\t\tpanic({n})\n\t}}",
    "select {{\n\tcase {a} := <-{b}:\n\t\tfmt.Println({a})\n\tcase {c} <- {n}:\n\t}}",
    "defer os.Remove({a}[{n}:])",
    "{a} = &options{{{b}: {n}, {c}: []byte(`text`)}}",
)


def declarations_of_length(random: Random, length: int) -> bytes:
    """Declarations of *length* bytes together, or a little more."""
    declarations: list[bytes] = []
    size = 0
    while size < length:
        declarations.append(_type(random) if random.random() < 0.2 else _function(random))
        size += len(declarations[-1])
    return b"".join(declarations)


def _function(random: Random) -> bytes:
    name, parameters = random.choice(_NAMES), ", ".join(random.sample(_NAMES, random.randrange(1, 4)))
    receiver = random.choice(("", f"(m *{random.choice(_NAMES)}) ", ""))
    types = random.choice(("", "[T any]")) if not receiver else ""
    body = "".join(f"\t{_line(random)}\n" for _ in range(random.randrange(2, 9)))
    head = f"func {receiver}{name}{random.randrange(1000)}{types}({parameters} int) (int, error) {{\n"
    return f"// {name} is what is made of {parameters}.\n{head}{body}\treturn 0, nil\n}}\n\n".encode()


def _type(random: Random) -> bytes:
    fields = "".join(f"\t{name} map[string]*{random.choice(_NAMES)}\n" for name in random.sample(_NAMES, 3))
    return f"type {random.choice(_NAMES)}{random.randrange(1000)} struct {{\n{fields}}}\n\n".encode()


def _line(random: Random) -> str:
    a, b, c = random.sample(_NAMES, 3)
    return random.choice(_LINES).format(a=a, b=b, c=c, n=random.randrange(100))


_WORD = rb"(?<![\w'\"`])(?!(?:%s)\b)[a-z_]{2,}(?![\w'\"`])" % "|".join(KEYWORDS).encode()

CORPORA: Mapping[str, Sequence[Corpus]] = {
    "go": (MadeUpCorpus("Go", go, _WORD, declarations_of_length, PACKAGE),),
}
