"""Editors at work in a project: each writes lines of its file again, and judges every answer.

A line loses its end, which is then typed. Texts connect with the file, or with its nearest valid reading,
which the engine names and Python's own parser takes. The last function of the file gets new names all the
time. A suggestion with a name that is no longer there is wrong. By hand, though, a text with such a name may
come after all others, and its rest stays while one types along.
"""

from __future__ import annotations

import ast
import asyncio
import itertools
import re
import socket
import struct
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from itertools import count

from fimlsp.languages.python import python
from fimlsp.quotient.engine import Engine

from ..wire import did_change, did_open, inline, message

EDITS_BEFORE_REOPENING = 150
KEY_S = 0.1, 0.4
TOGETHER = 0.3
"""The share of keys for which the editor does not wait for the answer."""

BY_HAND, WHILE_TYPING = 1, 2
"""The kinds of requests of the protocol."""

RENAMED = 0.4
"""The share of steps that give the last function a new name."""

LAST_FUNCTION = """

def newest({0}):
    if {0} is None:
        return 0
    total = {0} + 1
    print({0}, total)
    return {0}
"""
THINGS = ["tree", "lamp", "river", "stone", "cloud", "paper", "wheel", "glass", "horse", "garden", "window"]
COLOURS = ["amber", "brown", "crimson", "dusty", "early", "frozen", "golden", "hollow", "ivory", "jolly"]
NAMES = [f"{colour}_{thing}" for thing, colour in itertools.product(THINGS, COLOURS)]
_NAME = re.compile(r"[a-z]+_[a-z]+")


@cache
def engine():
    """The engine, for the repairs of files that are broken elsewhere."""
    return Engine(python())


def is_valid(text):
    """True if Python's own parser takes *text*."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            return False
    return True


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: the text on both sides of its position, and the *name* in the last function.

    *rest* is the end of the line that is still to be typed, such as the end of an open string. *by_hand* is
    the user's request, which may get any text that connects.
    """

    left: str
    rest: str
    right: str
    line: int
    character: int
    name: str
    by_hand: bool

    def judge(self, item, others=(), seen_by_hand=frozenset()):
        """What is wrong with a suggestion; None if nothing is.

        *others* come after it. The lines *seen_by_hand* had such a name on request; the rest of one stays.
        """
        here = {"line": self.line, "character": self.character}
        if item["range"] != {"start": here, "end": here}:
            return "stands elsewhere"
        is_last = self.by_hand and all(map(self.is_older, others))
        if self.is_older(item) and not (is_last or self.line_with(item) in seen_by_hand):
            return "has a name of an older text"
        return None if self.connects(item["insertText"]) else "does not connect"

    def is_older(self, item):
        """True if a suggestion has a name that the last function no longer has."""
        return any(name != self.name for name in self.names_in(item))

    def line_with(self, item):
        """The line of the position with a suggestion."""
        return self.left.rpartition("\n")[2] + item["insertText"]

    def connects(self, text):
        """True if *text* makes a valid file, perhaps with a body, the line's rest or the engine's repairs."""
        written = self.left + text
        is_header = written.endswith(":") and is_valid(written + " ..." + self.right)
        if is_header or is_valid(written + self.right) or is_valid(written + self.rest + self.right):
            return True
        left, right = self.left.encode(), self.right.encode()
        mends = engine().document(left + right).middle(len(left), len(left), relax=True).relaxed
        for mend in reversed(mends):
            if mend.start >= len(left):
                start, end = mend.start - len(left), mend.end - len(left)
                right = right[:start] + mend.replacement + right[end:]
            else:
                left = left[: mend.start] + mend.replacement + left[mend.end :]
        return bool(mends) and is_valid((left + text.encode() + right).decode())

    def names_in(self, item):
        """The names of last functions that a suggestion completes or has."""
        typed = self.left.rpartition("\n")[2]
        return {*NAMES}.intersection(_NAME.findall(typed + item["insertText"])) - {*_NAME.findall(typed)}


@dataclass(eq=False)
class Editor:
    """One client with one document at *uri*: *text* and the last function."""

    wire: object
    uri: str
    text: str
    rng: object
    name: str = NAMES[0]
    ids: count = field(default_factory=lambda: count(1))
    version: int = 0
    reopened_at: int = 0
    asked: dict[str, Asked] = field(default_factory=dict)
    seen: Counter = field(default_factory=Counter)
    seen_by_hand: set[str] = field(default_factory=set)
    faults: list = field(default_factory=list)

    @property
    def whole(self):
        return self.text + LAST_FUNCTION.format(self.name)

    def open(self):
        """Open the document, again if it was open: one that a worker did not survive is read again then."""
        if self.version:
            self.wire.send(message("textDocument/didClose", {"textDocument": {"uri": self.uri}}))
        self.version += 1
        self.wire.send(did_open(self.uri, self.whole, self.version))

    def change(self, line, start, end, text):
        self.version += 1
        self.wire.send(did_change(self.uri, self.version, (line, start), (line, end), text))

    def ask(self, lines, line, column, kind):
        request = f"{self.uri} {next(self.ids)}"
        left = "\n".join([*lines[:line], lines[line][:column]])
        right = "\n".join(["", *lines[line + 1 :]])
        rest, by_hand = lines[line][column:], kind == BY_HAND
        self.asked[request] = Asked(left, rest, right, line, column, self.name, by_hand)
        self.wire.send(inline(request, self.uri, line, column, kind=kind))
        return request

    async def step(self):
        """Write one line again, or the last function with a new name."""
        if self.version >= self.reopened_at:
            self.reopened_at = self.version + EDITS_BEFORE_REOPENING
            self.open()
        if self.rng.random() < RENAMED:
            for _ in range(self.rng.choice([1, 1, 2, 3])):
                await self.rename()
            return
        lines = self.whole.split("\n")
        own = enumerate(self.text.split("\n"))
        line = self.rng.choice([number for number, text in own if len(text.strip()) > 3])
        first = len(lines[line]) - len(lines[line].lstrip()) + 1
        start = self.rng.randrange(first, len(lines[line]))
        self.change(line, start, len(lines[line]), "")
        for column in range(start, len(lines[line])):
            await self.key(lines, line, column)

    async def rename(self):
        """Give the last function another name, and ask while its last line is being written."""
        before = self.whole.split("\n")
        self.name = NAMES[(NAMES.index(self.name) + 1) % len(NAMES)]
        lines = self.whole.split("\n")
        first, last = self.text.count("\n"), len(lines) - 2
        start = len("    return ") + self.rng.randrange(4)
        text = "\n".join([*lines[first:last], lines[last][:start]])
        self.version += 1
        self.wire.send(did_change(self.uri, self.version, (first, 0), (last, len(before[last])), text))
        await asyncio.sleep(self.rng.choice([0, 0, 0.5]))
        for column in range(start, min(start + 3, len(lines[last]))):
            await self.key(lines, line=last, column=column)
        rest = min(start + 3, len(lines[last]))
        self.change(last, rest, rest, lines[last][rest:])

    async def key(self, lines, line, column):
        """Ask at a column of a line, and type its next character."""
        request = self.ask(lines, line, column, kind=self.rng.choice([BY_HAND, WHILE_TYPING, WHILE_TYPING]))
        if self.rng.random() > TOGETHER:
            self.take(request, await self.wire.answer(request))
        await asyncio.sleep(self.rng.uniform(*KEY_S))
        self.change(line, column, column, lines[line][column])

    def take(self, request, answer):
        """Judge an answer, once."""
        asked = self.asked.pop(request)
        result = answer.get("result") or {}
        items = result["items"] if isinstance(result, dict) else result
        self.seen["answers"] += 1
        self.seen["errors"] += "error" in answer
        self.seen["answers with text"] += bool(items)
        for number, item in enumerate(items):
            fault = asked.judge(item, items[number + 1 :], self.seen_by_hand)
            if fault is None and asked.is_older(item):
                self.seen["older names by hand"] += 1
                self.seen_by_hand.add(asked.line_with(item))
            if fault is not None:
                kind = "by hand" if asked.by_hand else "while typing"
                sides = asked.left[-90:], item["insertText"], asked.right[:60]
                self.faults.append((fault, kind, *sides, asked.name, self.uri.rpartition("/")[2]))
                print(self.faults[-1], flush=True)
            else:
                self.seen["suggestions"] += 1
                self.seen["suggestions with the newest name"] += bool(asked.names_in(item))

    async def end(self):
        """Every request has one answer."""
        for request in [*self.asked]:
            self.take(request, await self.wire.answer(request))
        await self.wire.leave()
        assert set(self.wire.counts.values()) == {1}


async def killed_client(server, folder, text, rng):
    """A client that works for a moment and then disappears, with requests under way."""
    wire = await server.connect()
    folders = [{"uri": folder.as_uri(), "name": "project"}]
    try:
        await wire.initialize(workspace_folders=folders, maxTokens=12, minLength=1)
        uri = (folder / "killed.py").as_uri()
        wire.send(did_open(uri, text))
        for request in range(rng.randrange(1, 6)):
            wire.send(inline(f"killed {request}", uri, rng.randrange(3), 0))
            await asyncio.sleep(rng.uniform(0, 0.5))
        wire.send(did_open(uri, text)[: rng.randrange(1, 60)])
    finally:
        if rng.random() < 0.5:
            linger = struct.pack("ii", 1, 0)  # so that the connection is reset
            wire.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        wire.writer.transport.abort()
        wire.listener.cancel()
        server.wires.remove(wire)
