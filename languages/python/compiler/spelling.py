"""Names that nobody chooses: those of features, and the one that a method may declare `nonlocal`."""

from __future__ import annotations

import re
from collections.abc import Iterator

FEATURES = frozenset(
    {
        "nested_scopes",
        "generators",
        "division",
        "absolute_import",
        "with_statement",
        "print_function",
        "unicode_literals",
        "barry_as_FLUFL",
        "generator_stop",
        "annotations",
    }
)
SPELT_BEHIND = (b"__future__", b"nonlocal")
CLASS = "__class__"
_FEATURE = re.compile(rb"\b__future__\s*import(?:\b[^;]*[\s,(])?(\w*)\Z")
_NONLOCAL = re.compile(rb"\bnonlocal(?:\b[^;]*[\s,])?(\w*)\Z")


def feature_like(name: str) -> tuple[int, bytes]:
    """How many bytes of *name* begin the name of a feature, and the rest of that feature.

    If none does, a whole name with a space before it.
    """
    for size in range(len(name), 0, -1):
        feature = min((feature for feature in FEATURES if feature.startswith(name[:size])), default="")
        if feature:
            return size, feature[size:].encode()
    return 0, b" annotations"


def common_with_class(name: str) -> int:
    """How many bytes of *name* begin `__class__`."""
    return next(size for size in range(len(name), -1, -1) if CLASS.startswith(name[:size]))


def spelt(statement: bytes) -> Iterator[bytes]:
    """What may go on behind *statement* if it ends in such a name, or before one."""
    names = [name.encode() for name in sorted(FEATURES)]
    found = _FEATURE.search(statement)
    if found is None:
        names = [CLASS.encode()]
        found = _NONLOCAL.search(statement)
    if found is None:
        return
    space = b" " if statement.endswith((b"import", b"nonlocal")) else b""
    rests = [space + name[len(found[1]) :] for name in names if name.startswith(found[1])]
    yield from rests
    yield from (b"%s,%s" % (rest, name) for rest in rests[:1] for name in names if len(names) > 1)
