"""Dicts that evict entries."""

from fimlsp.lexing.bounded_dict import HeldDict, forget_all


class Node:
    """A value that may hold an earlier one."""

    def __init__(self, before=None):
        self.before = before


def filled(held, count):
    """Add *count* values to *held* that nothing else holds."""
    for number in range(count):
        held[object(), number] = Node()


def test_a_held_value_stays():
    held = HeldDict()
    kept = held["kept"] = Node()
    filled(held, 5_000)
    assert held["kept"] is kept


def test_values_that_nothing_holds_are_evicted():
    held = HeldDict()
    filled(held, 5_000)
    assert len(held) <= 1_000


def test_values_that_an_evicted_one_held_are_evicted_with_it():
    held, last = HeldDict(), None
    for number in range(500):
        last = held[number] = Node(last)
    held.clear()
    assert len(held) == 500
    del last
    held.clear()
    assert len(held) == 0


def test_a_dict_of_held_values_may_grow_by_a_fourth_between_evictions():
    held = HeldDict()
    kept = [held.setdefault(number, Node()) for number in range(4_000)]
    held.clear()
    filled(held, 999)
    assert len(held) == 4_999
    filled(held, 2)
    assert len(held) < 4_999
    assert len(kept) == 4_000


def test_values_are_forgotten_after_the_dicts_that_hold_them():
    held = HeldDict()
    filled(held, 10)
    kept = held["kept"] = Node()
    forget_all()
    assert dict(held) == {"kept": kept}
