"""The official test suite of JSON Schema: `python -m tests.languages.custom.schema_suite FOLDER`.

FOLDER holds its files of one draft, such as `tests/draft2020-12` of the repository JSON-Schema-Test-Suite, or
`json/tests/draft2020-12` of the source distribution of the package `jsonschema`. A schema is refused with a
reason, or its tests are judged. A valid instance has to be read byte by byte, in one of the orders of its
properties and spellings of its numbers. All spellings of others have to be refused. At each prefix that is
read, the shortest completion has to be valid for the package `jsonschema`.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice, permutations, product
from pathlib import Path

import regex
from jsonschema import FormatChecker
from rich.console import Console
from rich.table import Table

from fimlsp import Engine, json_schema
from fimlsp.quotient.grammar.cfg import GrammarError
from tests.languages.custom.test_json_schema import AsInEcma

MOST_SPELLINGS = 2_000
JUDGED = ("valid, read", "valid, refused", "invalid, refused", "invalid, read")
COMPLETED = ("completions", "invalid completions")
COUNTED = ("schemas", "refused", *JUDGED, *COMPLETED)

FORMATS = FormatChecker(FormatChecker.checkers.keys() - {"time", "date-time"})  # these refuse a small z


def spellings(value: object) -> Iterator[str]:
    """The texts of *value*: its properties in each order, whole numbers with and without a fraction."""
    if isinstance(value, dict):
        for items in permutations(value.items()):
            for texts in product(*(list(islice(spellings(of), 6)) for _, of in items)):
                pairs = zip(items, texts, strict=True)
                yield "{" + ",".join(f"{json.dumps(name)}:{text}" for (name, _), text in pairs) + "}"
    elif isinstance(value, list):
        for texts in product(*(list(islice(spellings(one), 6)) for one in value)):
            yield f"[{','.join(texts)}]"
    else:
        yield json.dumps(value)
        if isinstance(value, float) and value.is_integer():
            yield str(int(value))


def reads(engine: Engine, text: str) -> bool:
    """True if *engine* reads *text*, byte by byte."""
    state = engine.document(b"").middle(0, 0).start
    for byte in text.encode():
        state = state and state.feed(bytes((byte,)))
    return state is not None and state.complete


def completions(engine: Engine, text: str) -> Iterator[bytes]:
    """Each prefix of *text* that *engine* reads, completed."""
    state = engine.document(b"").middle(0, 0).start
    for place, byte in enumerate(text.encode()):
        if state is None:
            return
        yield text.encode()[:place] + state.shortest_completion
        state = state.feed(bytes((byte,)))


def judged(file: Path) -> tuple[Counter[str], list[str]]:
    """The verdicts on the tests of *file*, and those that are wrong."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for group in json.loads(file.read_text()):
        counts["schemas"] += 1
        try:
            engine = Engine(json_schema(group["schema"]))
        except GrammarError as error:
            counts["refused"] += 1
            has_valid = any(test["valid"] for test in group["tests"])
            if "has no instances" in str(error) and has_valid:
                wrong.append(f"{file.stem}: {group['description']}: {error}")
            continue
        validator = AsInEcma(group["schema"], format_checker=FORMATS)
        for test in group["tests"]:
            for text in completions(engine, next(spellings(test["data"]))):
                try:
                    is_valid = validator.is_valid(json.loads(text))
                except (re.error, regex.error):  # a pattern of ECMA-262 that Python has not
                    break
                counts[COMPLETED[not is_valid]] += 1
                if not is_valid:
                    wrong.append(f"{file.stem}: {group['description']}: completed as {text!r}")
            is_read = any(reads(engine, text) for text in islice(spellings(test["data"]), MOST_SPELLINGS))
            verdict = JUDGED[2 * (not test["valid"]) + (is_read != test["valid"])]
            counts[verdict] += 1
            if is_read != test["valid"]:
                wrong.append(f"{file.stem}: {group['description']}: {test['description']}: {verdict}")
    return counts, wrong


def main() -> None:
    """Print the verdicts on the files of a folder; the exit status is 1 if an invalid instance is read."""
    table = Table("file", *COUNTED)
    faults: list[str] = []
    total: Counter[str] = Counter()
    for file in sorted(Path(sys.argv[1]).rglob("*.json")):
        counts, wrong = judged(file)
        total += counts
        faults += wrong
        table.add_row(file.stem, *(str(counts[name]) for name in COUNTED))
    table.add_row("all", *(str(total[name]) for name in COUNTED))
    console = Console(width=150)
    console.print(table)
    for fault in faults:
        console.print(fault, markup=False)
    sys.exit(bool(total["invalid, read"]))


if __name__ == "__main__":
    main()
