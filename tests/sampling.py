"""A sample of many cases runs on each change, the others weekly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _pytest.mark.structures import ParameterSet


def sampled(cases: Iterable[object], every: int) -> list[ParameterSet]:
    """The *cases* for `parametrize`; of each *every* in turn, all but the first have the mark `slow`.

    A case is a tuple where a test has several parameters.
    """
    return [
        pytest.param(*values, marks=[pytest.mark.slow] if number % every else [])
        for number, values in enumerate(case if isinstance(case, tuple) else (case,) for case in cases)
    ]
