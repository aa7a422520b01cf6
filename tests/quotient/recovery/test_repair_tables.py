"""The tables of repairs: in each attempt some row applies to any broken line, and cheaper rows come first."""

import pytest

from fimlsp.quotient.recovery.repair_left import LEFT_REPAIRS
from fimlsp.quotient.recovery.repair_right import RIGHT_REPAIRS
from fimlsp.quotient.recovery.repaired_text import ANY, GIVEN_UP, RepairRow, always, first_edits

TABLES = {"left": LEFT_REPAIRS, "right": RIGHT_REPAIRS}
ADDED, REMOVED = ((1, 1, b"a"),), ((1, 2, b""),)


@pytest.mark.parametrize("side", TABLES)
@pytest.mark.parametrize("attempt", ANY)
def test_of_the_rows_without_a_condition_cheaper_ones_come_first(side, attempt):
    costs = [row.cost for row in TABLES[side] if attempt in row.attempts and row.condition is always]
    assert costs
    assert costs == sorted(costs)


def test_the_first_row_that_applies_and_makes_edits_is_taken():
    table = [
        RepairRow(range(1, 2), lambda line: line == "near", lambda _: ADDED, 0),
        RepairRow(range(1, 3), always, lambda line: () if line == "hopeless" else ADDED, 10),
        RepairRow(GIVEN_UP, always, lambda _: REMOVED, 50),
    ]
    assert first_edits(table, "near", 1) == ADDED
    assert first_edits(table, "far", 2) == ADDED
    assert first_edits(table, "hopeless", 2) == ()
    assert first_edits(table, "near", 3) == ()
    assert first_edits(table, "near", 99) == REMOVED
