"""Regular expressions as the standard has them (ECMA-262, section "Patterns" with annex B.1.2).

The names of properties of characters, and sets of the flag `v`, are not checked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

FLAGS = "dgimsuvy"
_QUANTIFIER = re.compile(r"(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??")
_GROUP = re.compile(
    r"\((?:\?(?:(?P<look>=|!)|(?P<behind><=|<!)|<(?P<name>[\w$\x80-\uffff\\{}]+)>|(?P<set>[ims]*(?:-[ims]*)?):))?"
)
_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
_ESCAPE = re.compile(
    r"\\(?:(?P<digits>[1-9]\d*)|(?P<zero>0(?!\d))|(?P<control>c[A-Za-z])|x(?P<hex>[0-9A-Fa-f]{2})|u(?P<unit>[0-9A-Fa-f]{4})"
    r"|u\{(?P<point>[0-9A-Fa-f]+)\}|(?P<set>[dDsSwW])|(?P<property>[pP]\{[\w=]+\})|k<(?P<name>[^>]*)>|(?P<letter>[bBfnrtv])"
    r"|(?P<other>.))",
    re.DOTALL,
)
_NO_GROUP = re.compile(r"\\.|\[(?:\\.|[^\]\\])*(?:\]|\\?\Z)", re.DOTALL)
_NAMED = re.compile(r"\(\?<[^=!]")
_POINTS = {"b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_LAST = 0x10FFFF


class InvalidError(ValueError):
    """A regular expression that the standard refuses."""


def is_regular_expression(pattern: str, flags: str) -> bool:
    """False if the standard certainly refuses this *pattern* with these *flags*. O(len(pattern))."""
    if len(set(flags)) < len(flags) or not set(flags) <= set(FLAGS) or {"u", "v"} <= set(flags):
        return False
    try:
        _Pattern(pattern, unicode=not {"u", "v"}.isdisjoint(flags), sets="v" in flags).check()
    except InvalidError:
        return False
    return True


@dataclass
class _Pattern:
    """A pattern that is read from the left; `at` is the place."""

    text: str
    unicode: bool
    sets: bool
    at: int = 0
    groups: int = 0
    names: set[str] = field(default_factory=set)
    references: list[str] = field(default_factory=list)
    highest: int = 0
    has_names: bool = False

    def check(self) -> None:
        """Read all of it.

        Raises:
            InvalidError: the pattern is refused.
        """
        self.has_names = _NAMED.search(_NO_GROUP.sub("", self.text)) is not None
        open_groups = list[str | None]()  # None: nothing, else the kind of the group
        can_repeat = False
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign == "(":
                open_groups.append(self._group())
                can_repeat = False
            elif sign == ")":
                self._require(bool(open_groups))
                kind = open_groups.pop()
                can_repeat = kind == "group" or (kind == "look" and not self.unicode)
                self.at += 1
            else:
                can_repeat = self._term(sign, can_repeat=can_repeat)
        self._require(not open_groups)
        names_are_there = all(name in self.names for name in self.references)
        self._require(names_are_there and not (self.unicode and self.highest > self.groups))

    def _require(self, condition: bool) -> None:
        if not condition:
            raise InvalidError

    def _group(self) -> str:
        """The kind of the group that starts here: one to repeat, or one that looks ahead or back."""
        found = _GROUP.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        self._require(self.text[self.at : self.at + 1] != "?")
        if found["set"]:
            letters = found["set"].replace("-", "")
            self._require(len(set(letters)) == len(letters) and found["set"] != "-")
        if found.group() == "(" or found["name"]:
            self.groups += 1
        if found["name"]:
            self.names.add(found["name"])
        return "look" if found["look"] else "behind" if found["behind"] else "group"

    def _term(self, sign: str, *, can_repeat: bool) -> bool:
        """Read one atom, assertion, quantifier or `|`; True if a quantifier may follow it."""
        quantifier = _QUANTIFIER.match(self.text, self.at)
        if quantifier is not None:
            low, high = quantifier[1], quantifier[2]
            self._require(can_repeat and not (low and high and int(low) > int(high)))
            self.at = quantifier.end()
            return False
        if sign == "[":
            self._class()
        elif sign == "\\":
            return self._escape() not in ("b", "B")
        else:
            self._require(not (self.unicode and sign in "{}]"))
            self.at += 1
        return sign not in "|^$"

    def _escape(self, *, in_class: bool = False) -> str | int:
        """Read an escape; the number of its character, or else its letter or kind."""
        found = _ESCAPE.match(self.text, self.at)
        self._require(found is not None)
        assert found is not None
        self.at = found.end()
        kind, value = found.lastgroup, found.group()[1:]
        if kind == "digits":
            self._require(not (in_class and self.unicode))
            self.highest = max(self.highest, 0 if in_class else int(value[:9]))
        elif kind == "name":
            self._require(not in_class or not self.unicode)
            if not in_class and (self.unicode or self.has_names):
                self.references.append(found["name"])
        elif kind in ("hex", "unit"):
            return int(found[kind], 16)
        elif kind == "point" and self.unicode:
            self._require(int(found[kind], 16) <= _LAST)
            return int(found[kind], 16)
        elif kind == "point":
            self.at = found.start() + 2
        elif kind == "letter":
            self._require(not (value == "B" and in_class and self.unicode))
            return _POINTS.get(value, value) if in_class else value
        elif kind == "other":
            return self._other(value, in_class=in_class)
        return kind or ""

    def _other(self, value: str, *, in_class: bool) -> str | int:
        """An escape of a character without a meaning of its own."""
        is_plain = value in _SYNTAX or (in_class and value == "-")
        self._require(is_plain or not self.unicode)
        self._require(value != "k" or in_class or not self.has_names)
        return ord(value) if value not in "cu0123456789x" else "other"

    def _class(self) -> None:
        """Read a class of characters."""
        if self.sets:
            self._nested_class()
            return
        self.at += 1 + self.text.startswith("^", self.at + 1)
        before: str | int | None = None
        while not self.text.startswith("]", self.at):
            self._require(self.at < len(self.text))
            is_range = before is not None and self.text.startswith("-", self.at)
            if is_range and self.text[self.at + 1 : self.at + 2] not in ("", "]"):
                self.at += 1
                last = self._member()
                has_numbers = isinstance(before, int) and isinstance(last, int)
                self._require(has_numbers or not self.unicode or _KNOWN.isdisjoint((before, last)))
                if isinstance(before, int) and isinstance(last, int):
                    self._require(before <= last)
                before = None
            else:
                before = self._member()
        self.at += 1

    def _nested_class(self) -> None:
        """Pass over a class of the flag `v`."""
        depth = 0
        while depth or self.text.startswith("[", self.at):
            self._require(self.at < len(self.text))
            depth += {"[": 1, "]": -1}.get(self.text[self.at], 0)
            self.at += 1 + (self.text[self.at] == "\\")
            if not depth:
                return

    def _member(self) -> str | int:
        """Read one character of a class; its number, or a text if it is a set or not known."""
        if self.text[self.at] == "\\":
            return self._escape(in_class=True)
        self.at += 1
        return ord(self.text[self.at - 1]) if ord(self.text[self.at - 1]) < _FIRST_PAIR else "other"


_KNOWN = frozenset(("set", "property"))
_FIRST_PAIR = 0xD800
"""Without the flag `u`, characters beyond consist of two units."""
