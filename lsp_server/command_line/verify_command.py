"""`fimlsp verify`: the engine's verdicts as JSON lines, so that others can compare it with their oracles.

In Python *valid* means that the whole parses, or with `--check compile` that it compiles.

For each line `{"id", "left", "middle", "right"}` one line comes back, in the same order. Fields:
`connectable`: some middle makes `left + middle + right` valid; `complete`: this one does; `viable_bytes`: how
many of its UTF-8 bytes, from the first, some valid middle begins with; `shortest`: about the cheapest text
that, appended to these bytes, completes them, null when nothing connects; `relaxed`: what an editor's
completion assumes where nothing connects, a list of objects (`start` and `end` in bytes of left + right, and
the `text` that is read instead), else null; `ignored`: with `--check compile` what is wrong with one side
alone, whatever the middle, and does not keep an editor from completing (`start`, `end`, `message`), null
when something connects;
`setup_ms` and `feed_ms`: milliseconds for the contexts of the cut and for feeding the middle.

When the viable bytes end inside a character, `shortest` belongs to the bytes before that character, as a
JSON string cannot begin in the middle of one.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping

from fimlsp.errors import explain
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.verification import verify_case

log = logging.getLogger(__name__)


def answer_lines(lines: Iterable[bytes], language: Language) -> Iterator[str]:
    """One JSON line for each of *lines*, the verdict in *language*; blank lines are passed over."""
    engine = Engine(language)
    for line in lines:
        if line.strip():
            yield json.dumps(answer(engine, line))


def answer(engine: Engine, line: bytes) -> dict[str, object]:
    """The verdict on one JSON line, or `{"id", "error"}`; the id is null when none can be read."""
    case_id = None
    try:
        case = read_case(line)
        case_id = case.get("id")
        return {"id": case_id, **verify_case(engine, case)}
    except ValueError as error:
        return {"id": case_id, "error": str(error)}
    except Exception as error:  # a fault of the engine must not end the run of those who look for it
        return {"id": case_id, "error": explain(error, "judging the case", log)}


def read_case(line: bytes) -> Mapping[str, object]:
    """The JSON object on a line.

    Raises:
        ValueError: There is none; the message says why.
    """
    try:
        case = json.loads(line)
    except RecursionError:
        raise ValueError("the line is nested too deeply") from None
    if not isinstance(case, Mapping):
        raise ValueError("the line is not a JSON object")
    return case
