"""Random programs of a few names in blocks within blocks, which mostly parse and often do not compile."""

from __future__ import annotations

import random
from itertools import islice

_NAMES = ("a", "a", "b", "b", "c", "_", "__a", "_A__a", "A", "__debug__", "__class__", "annotations")
_EXPRESSIONS = (
    *("$", "$", "$", "1", "'s'", "$.$", "$($)", "$($=1, $=2)", "$($=%, **$)", "[$ for $ in $]", "($ := %)"),
    *(
        "[$ for $ in % if %]",
        "[% for $ in $ for $ in %]",
        "{$: % for $, $ in %}",
        "(% for $ in %)",
        "lambda: %",
    ),
    *("lambda $, $=%: %", "lambda *$, $: %", "[% async for $ in $]", "(% async for $ in $)", "(await %)"),
    *("(yield)", "(yield %)", "(yield from %)", "f'{$}{$!r}'", "f'{(%)}'", "[*$, %]", "$[%:$]", "$[%, $]"),
    *("% if % else %", "not %", "(%, %)", "{**$, $: %}", "super()", "super().$", "(lambda $: (%))($)"),
)
_SIMPLE = (
    *(
        "$ = %",
        "$ = %",
        "$, $ = %",
        "*$, $ = %",
        "$.$ = %",
        "$[%] = %",
        "$ += %",
        "$: %",
        "$: % = %",
        "($): %",
    ),
    *(
        "global $",
        "global $, $",
        "nonlocal $",
        "nonlocal $",
        "nonlocal $, $",
        "del $",
        "del $, $.$",
        "%",
        "%",
    ),
    *("import $", "import $.$ as $", "from $ import $, $ as $", "from $ import *", "return", "return %"),
    *(
        "yield",
        "yield %",
        "$ = yield %",
        "await %",
        "raise % from %",
        "assert %, %",
        "break",
        "continue",
        "pass",
    ),
    *(
        "from __future__ import annotations",
        "$ = $ = %",
        "type $ = %",
        "type $[$] = %",
        "type $[$: %, *$] = %",
    ),
)
_HEADS = (
    *("def $($):", "def $($, $=%):", "def $($: %, *$, $) -> %:", "async def $($, *, $=%):", "def $():"),
    *("async def $():", "class $:", "class $($, $=%):", "if %:", "while %:", "for $ in %:", "for $, $ in %:"),
    *("async for $ in %:", "with % as $:", "with %, % as $:", "async with % as $:", "def $[$]($):"),
    *("def $[$: %, **$]($: $) -> $:", "class $[$]($):", "class $[$, *$]:", "class A:", "def a(b):"),
)
_PATTERNS = (
    *(
        "$",
        "_",
        "1",
        "$.$",
        "[@, @]",
        "[@, *$]",
        "[*$, @, *_]",
        "@ | @",
        "(@ as $)",
        "{1: @, **$}",
        "{'a': @, 'a': @}",
    ),
    *("$(@, $=@)", "$($=@, $=@)", "None", "-1 + 2j", "(@)", "[1, $] | [$, 2]"),
)
_MOST_NESTED = 5


def program(rng: random.Random) -> bytes:
    """One program."""
    return "".join(_block(rng, "", rng.randint(1, 5))).encode()


def _block(rng: random.Random, margin: str, size: int) -> list[str]:
    lines: list[str] = []
    if not margin and rng.random() < 0.1:
        lines.append("from __future__ import annotations\n")
    for _ in range(size):
        if len(margin) < _MOST_NESTED and rng.random() < 0.5:
            lines += _compound(rng, margin)
        else:
            lines.append(f"{margin}{'; '.join(_simple(rng) for _ in range(rng.choice((1, 1, 1, 2))))}\n")
    return lines


def _compound(rng: random.Random, margin: str) -> list[str]:
    kind = rng.random()
    if kind < 0.12:
        headers = ["try:", *rng.choice((["except:"], ["except $:", "else:"], ["finally:"], ["except* %:"]))]
        headers += ["finally:"] * (headers[-1] != "finally:" and rng.random() < 0.3)
        return [part for header in headers for part in _headed(rng, margin, header)]
    if kind < 0.2:
        lines = [margin + _filled(rng, "match %:") + "\n"]
        for _ in range(rng.randint(1, 3)):
            guard = rng.choice(("", "", " if %"))
            lines += _headed(rng, margin + " ", f"case {_pattern(rng)}{guard}:")
        return lines
    lines = _headed(rng, margin, rng.choice(_HEADS))
    if lines[0].lstrip().startswith(("if", "while", "for")) and rng.random() < 0.3:
        lines += _headed(rng, margin, "else:")
    if rng.random() < 0.05:
        lines.insert(0, f"{margin}@{_filled(rng, '%')}\n")
    return lines


def _headed(rng: random.Random, margin: str, header: str) -> list[str]:
    line = margin + _filled(rng, header)
    if rng.random() < 0.3:
        return [f"{line} {_simple(rng)}\n"]
    return [line + "\n", *_block(rng, margin + " ", rng.randint(1, 3))]


def _simple(rng: random.Random) -> str:
    return _filled(rng, rng.choice(_SIMPLE))


def _pattern(rng: random.Random) -> str:
    pattern = "@"
    for choice in islice(iter(lambda: rng.choice(_PATTERNS), None), 6):
        pattern = pattern.replace("@", choice, 1)
    return _filled(rng, pattern.replace("@", "_"))


def _filled(rng: random.Random, template: str) -> str:
    """*template* with names for `$` and expressions for `%`."""
    for depth in range(3):
        parts = template.split("%")
        template = parts[0]
        for part in parts[1:]:
            template += (rng.choice(_EXPRESSIONS) if depth < 2 else "$") + part
    while "$" in template:
        template = template.replace("$", rng.choice(_NAMES), 1)
    return template.replace("%", "1")
