"""Stock of a small shop: read a list of deliveries, add them up, and say what has to be ordered."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Item:
    """One kind of thing on the shelf."""

    name: str
    price: float
    quantity: int = 0
    tags: list[str] = field(default_factory=list)

    def value(self) -> float:
        """What all of it would sell for."""
        return self.price * self.quantity

    def is_scarce(self, limit: int = 5) -> bool:
        """Whether fewer than *limit* are left."""
        return self.quantity < limit


class Inventory:
    """The items on the shelf, by name."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self.items = {item.name: item for item in items}

    def add(self, name: str, quantity: int) -> None:
        """Put something on the shelf; KeyError if it is not known there."""
        if name not in self.items:
            raise KeyError(f"unknown item: {name}")
        self.items[name].quantity += quantity

    def remove(self, name: str, quantity: int) -> None:
        """Take something from the shelf; KeyError if it is not known there."""
        if name not in self.items:
            raise
        self.items[name].quantity -= min(quantity, self.items[name].quantity)

    def total(self) -> float:
        """What everything would sell for."""
        return sum(item.value() for item in self.items.values())

    def to_order(self, limit: int = 5) -> dict[str, list[str]]:
        """Names of the scarce items, by tag."""
        names = defaultdict(list)
        for item in self.items.values():
            if item.is_scarce(limit):
                for tag in item.tags:
                    names[tag].append(item.name)
        return dict(names)


def read_deliveries(path: str) -> Iterator[tuple[str, int]]:
    """Pairs of name and quantity from a file of comma-separated values."""
    with Path(path).open(newline="") as lines:
        for row in csv.DictReader(lines):
            yield row["name"], int(row["quantity"])


def main() -> None:
    """Take today's deliveries in and print what is scarce."""
    inventory = Inventory([Item("apple", 0.5, 3, ["fruit"]), Item("pear", 0.75, 12, ["fruit"])])
    for name, quantity in read_deliveries("deliveries.csv"):
        inventory.add(name, quantity)
    print(f"worth {inventory.total():.2f}, to order: {inventory.to_order()}")


if __name__ == "__main__":
    main()
