"""`fimlsp verify`: the engine's verdicts as JSON lines, for comparison with other parsers.

In Python, *valid* means that the whole text parses, or with `--check compile` that it compiles. Each input
line `{"id", "left", "middle", "right"}` gets one output line, in the same order. Its fields:

- `connectable`: true if some middle makes `left + middle + right` valid.
- `complete`: true if this middle does.
- `viable_bytes`: length in UTF-8 bytes of the longest prefix of the middle that some valid middle starts
  with.
- `shortest`: a nearly cheapest text that completes this prefix; null if nothing connects.
- `relaxed`: the changes that an editor's completion assumes where nothing connects, else null. Each has
  `start` and `end`, in bytes of left + right, and the `text` that is read instead.
- `ignored`: with `--check compile`, the faults of one side alone that no middle can repair. They do not
  prevent completions in an editor. Each has `start`, `end` and `message`; null if something connects.
- `setup_ms`, `feed_ms`: milliseconds for the contexts of the cut, and for feeding the middle.

If the viable bytes end inside a character, `shortest` continues the bytes before that character, because a
JSON string cannot start inside one.

With `--grammar` and `--try` whole files are read instead, to see if a grammar fits them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fimlsp.errors import explain
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.verification import verify_case

if TYPE_CHECKING:
    from fimlsp.languages.custom import LarkLanguage

log = logging.getLogger(__name__)


def answer_lines(lines: Iterable[bytes], language: Language) -> Iterator[str]:
    """The verdict in *language* on each of *lines*, as one JSON line; blank lines are skipped."""
    engine = Engine(language)
    for line in lines:
        if line.strip():
            yield json.dumps(answer(engine, line))


def try_files(grammar: LarkLanguage, files: Iterable[Path]) -> Iterator[tuple[bool, str]]:
    """For each of *files* True if *grammar* reads it, and a line that says so or names the place."""
    from fimlsp.languages.custom.trial import refusal

    for file in files:
        try:
            place = refusal(grammar, file.read_bytes())
        except OSError as error:
            yield False, f"{file}: cannot be read: {error.strerror}."
            continue
        yield place is None, f"{file}: read." if place is None else f"{file}, {place}"


def answer(engine: Engine, line: bytes) -> dict[str, object]:
    """The verdict on one JSON line, or `{"id", "error"}`; the id is null if it cannot be read."""
    case_id = None
    try:
        case = read_case(line)
        case_id = case.get("id")
        return {"id": case_id, **verify_case(engine, case)}
    except ValueError as error:
        return {"id": case_id, "error": str(error)}
    except Exception as error:  # a fault of the engine must not end the run
        return {"id": case_id, "error": explain(error, "judging the case", log)}


def read_case(line: bytes) -> Mapping[str, object]:
    """The JSON object on a line.

    Raises:
        ValueError: The line does not hold one; the message says why.
    """
    try:
        case = json.loads(line)
    except RecursionError:
        raise ValueError("the line is nested too deeply") from None
    if not isinstance(case, Mapping):
        raise ValueError("the line is not a JSON object")
    return case
