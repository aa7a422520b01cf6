"""Middles in each version of Python, confirmed by its interpreter if that is installed."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from fimlsp.languages.python import python
from fimlsp.languages.python.versions import PYTHON_VERSIONS, Check, PythonVersion, version_text
from fimlsp.quotient.engine import Engine
from fimlsp.testing.checking import COMPLETE, DEAD, Case, fed, read_cases, verdict

from ...quotient.interpreters import interpreter, judged
from ...quotient.middle_support import cursor_in
from .grammar_cases import versions_in

FILES = {
    "parse": sorted((Path(__file__).parent / "cases" / "versions").glob("*.txt")),
    "compile": sorted((Path(__file__).parent / "cases" / "compiled").glob("*.txt")),
}


def cases(version: PythonVersion, check: Check) -> Iterator[Case]:
    """The cases of all files that hold for *version*."""
    for path in FILES[check]:
        _, *parts = re.split("^--- (.*) ---$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for heading, text in zip(parts[::2], parts[1::2], strict=True):
            if version in versions_in(heading):
                yield from read_cases(text)


@cache
def engine(version: PythonVersion, check: Check) -> Engine:
    return Engine(python(version, check))


OFTEN = ((3, 9), (3, 12), (3, 13), (3, 14))
"""One version of each way to read f-strings."""

VERSIONS = [
    pytest.param(version, id=version_text(version), marks=[] if version in OFTEN else pytest.mark.slow)
    for version in PYTHON_VERSIONS
]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("check", FILES)
def test_cases(version, check):
    said: dict[str, bool] = {}
    for left, middle, right, expected in cases(version, check):
        state = fed(cursor_in(engine(version, check).document(left + right), len(left)), middle)
        assert verdict(state) == expected, (left, middle, right)
        said[(left + middle + right).decode()] = expected == COMPLETE
        if state is not None and expected != DEAD:
            rest = state.shortest_completion
            assert verdict(state.feed(rest)) == COMPLETE
            said[(left + middle + rest + right).decode()] = True
    assert len(said) >= 10
    if interpreter(version) is not None:
        verdicts = judged(version, texts=list(said), compiled=check == "compile")
        assert [v.text for v in verdicts if (v.complaint is None) != said[v.text]] == []
