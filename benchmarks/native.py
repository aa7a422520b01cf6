"""What a native recogniser would cost masks: `python benchmarks/native.py TOKENIZER.json`.

Asks for masks at cursors of the standard library, as `masks.py` does, and notes each scan of the Earley
recogniser in the second half. They are then repeated twice, by Python and by a prototype in C
(`measures/native_scan.c`, built with the machine's compiler), which has to find the same sets. The prototype
reads tables that Python has filled; all else of a mask stays as it is.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import click
import numpy as np
from fimlsp.models.prompts.vocabulary import read_vocabulary
from fimlsp.quotient.earley.automaton import Predicted, State
from fimlsp.quotient.earley.sets import Earley, EarleySet
from masks import Settings, cases
from tokenizers import Tokenizer

from fimlsp import Engine, Vocabulary, python

SOURCE = Path(__file__).parent / "measures" / "native_scan.c"
SYMBOL_BITS = 20
MIX = 0x9E3779B97F4A7C15
WHOLE = (1 << 64) - 1
REPEATED = 200

Scan = tuple[Earley, EarleySet, int, EarleySet]


class Numbers:
    """Numbers of objects, in the order in which they are first seen."""

    def __init__(self) -> None:
        self.of: dict[object, int] = {}
        self.all: list[Any] = []

    def __getitem__(self, each: object) -> int:
        if each not in self.of:
            self.of[each] = len(self.all)
            self.all.append(each)
        return self.of[each]


class Lists:
    """Lists of numbers, one behind another."""

    def __init__(self) -> None:
        self.first = [0]
        self.items: list[int] = []

    def add(self, items: Iterable[int]) -> int:
        """Add a list; its number."""
        self.items += items
        self.first.append(len(self.items))
        return len(self.first) - 2


class Recorded:
    """The tables that the prototype reads, filled by scanning as `Earley.scan` does."""

    def __init__(self) -> None:
        self.states, self.sets, self.predictions = Numbers(), Numbers(), Numbers()
        self.automata = Numbers()
        self.gotos: dict[int, int] = {}
        self.after, self.after_of = Lists(), dict[int, int]()
        self.chain_states, self.chain_of = Lists(), dict[int, int]()
        self.chain_symbols: dict[int, int] = {}
        self.by_hash: dict[int, int] = {}

    def scan(self, earley: Earley, before: EarleySet, symbol: int, found: EarleySet) -> None:
        """Note what scanning *symbol* looks up; it leads to *found*."""
        entries: dict[tuple[State, EarleySet], None] = {}
        for state, origin in before.entries:
            if symbol in state.by_symbol:
                entries[self._goto(earley, state, symbol), origin] = None
        key = self.predictions[before.predicted] << SYMBOL_BITS | symbol
        if key not in self.after_of:
            self.after_of[key] = self.after.add([self.states[s] for s in before.predicted.after(symbol)])
        for state in before.predicted.after(symbol):
            entries[state, before] = None
        todo, done = list(entries), set()
        self.sets[before]
        while todo:
            ended, origin = todo.pop()
            self.sets[origin]
            for completed in ended.completed:
                if (completed, origin) in done:
                    continue
                done.add((completed, origin))
                states, symbols = self._chain(origin.predicted, completed)
                for state in states:
                    entries[state, origin] = None
                for state, earlier in origin.waiting:
                    for expected in state.expected:
                        if expected in symbols:
                            entry = self._goto(earley, state, expected), earlier
                            if entry not in entries:
                                entries[entry] = None
                                todo.append(entry)
        for state, origin in entries:
            self.states[state], self.sets[origin]
        wanted = {symbol for state, _ in found.waiting for symbol in state.expected}
        hashed = sum(_mixed(symbol) for symbol in (*wanted, ~self.automata[earley.automaton])) & WHOLE
        self.by_hash[hashed >> 1] = self.predictions[found.predicted]

    def _goto(self, earley: Earley, state: State, symbol: int) -> State:
        after = earley.automaton.goto(state, symbol)
        self.gotos[self.states[state] << SYMBOL_BITS | symbol] = self.states[after]
        return after

    def _chain(self, predicted: Predicted, symbol: int) -> tuple[tuple[State, ...], frozenset[int]]:
        states, symbols = predicted.chain(symbol)
        key = self.predictions[predicted] << SYMBOL_BITS | symbol
        if key not in self.chain_of:
            number = self.chain_of[key] = self.chain_states.add([self.states[state] for state in states])
            self.chain_symbols.update({number << SYMBOL_BITS | each: 1 for each in symbols})
        return states, symbols

    def pairs(self, entries: Sequence[tuple[State, EarleySet]]) -> list[int]:
        """*entries* as numbers."""
        return [number for state, origin in entries for number in (self.states[state], self.sets[origin])]


def _mixed(symbol: int) -> int:
    one = (symbol + 1) * MIX & WHOLE
    return one ^ one >> 29


class _Lists(ctypes.Structure):
    _fields_ = [("first", ctypes.c_void_p), ("items", ctypes.c_void_p)]


class _Map(ctypes.Structure):
    _fields_ = [("keys", ctypes.c_void_p), ("values", ctypes.c_void_p), ("mask", ctypes.c_int64)]


class _Tables(ctypes.Structure):
    _fields_ = [
        *[
            (name, _Lists)
            for name in ("completed", "expected", "entries", "waiting", "after", "chain_states")
        ],
        ("prediction", ctypes.c_void_p),
        ("reads", ctypes.c_void_p),
        *[(name, _Map) for name in ("gotos", "after_of", "chain_of", "chain_symbols", "predictions")],
    ]


class Native:
    """The prototype, with the tables in *recorded*."""

    def __init__(self, recorded: Recorded, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.repeat.restype = ctypes.c_int64
        self._held: list[np.ndarray] = []
        sets = Lists(), Lists()
        for each in recorded.sets.all:  # more are found on the way
            sets[0].add(recorded.pairs(each.entries))
            sets[1].add(recorded.pairs(each.waiting))
        states = Lists(), Lists()
        reads = []
        for state in recorded.states.all:
            states[0].add(state.completed)
            states[1].add(state.expected)
            reads.append(bool(state.by_symbol))
        predictions = [recorded.predictions[each.predicted] for each in recorded.sets.all]
        lists = (*states, *sets, recorded.after, recorded.chain_states)
        maps = (
            recorded.gotos,
            recorded.after_of,
            recorded.chain_of,
            recorded.chain_symbols,
            recorded.by_hash,
        )
        self.tables = _Tables(
            *[_Lists(self._array(each.first), self._array(each.items)) for each in lists],
            self._array(predictions),
            self._array(reads, np.uint8),
            *map(self._map, maps),
        )
        self._out, self._waits = np.zeros(8192, np.int32), np.zeros(4096, np.uint8)

    def _array(self, values: Sequence[int] | np.ndarray, kind: Any = np.int32) -> int:
        self._held.append(np.array([*values, 0], kind))
        return int(self._held[-1].ctypes.data)

    def _map(self, values: dict[int, int]) -> _Map:
        size = 1 << max(4, (3 * len(values)).bit_length())
        keys, found = np.full(size, -1, np.int64), np.zeros(size, np.int32)
        for key, value in values.items():
            at = (key * MIX & WHOLE) >> 20
            while keys[at & size - 1] >= 0:
                at += 1
            keys[at & size - 1], found[at & size - 1] = key, value
        return _Map(self._array(keys, np.int64), self._array(found), size - 1)

    def scan(self, asked: tuple[int, int, int]) -> tuple[list[int], list[int], int] | None:
        """The entries, those that wait, and the prediction; None if it is left to Python.

        *asked* are the numbers of an automaton, a set and a symbol.
        """
        prediction = ctypes.c_int32()
        n = self._library.scan(ctypes.byref(self.tables), *asked, *self._buffers(), ctypes.byref(prediction))
        if n < 0:
            return None
        pairs = self._out[: 2 * n].reshape(-1, 2)
        waiting = pairs[self._waits[:n] != 0]
        return pairs.ravel().tolist(), waiting.ravel().tolist(), prediction.value

    def repeat(self, asked: np.ndarray, times: int) -> float:
        """The milliseconds that *asked* take, an array of what `scan` is asked."""
        began = process_time()
        pointer = ctypes.c_void_p(asked.ctypes.data)
        self._library.repeat(ctypes.byref(self.tables), pointer, len(asked), times, *self._buffers())
        return 1e3 * (process_time() - began) / times

    def _buffers(self) -> tuple[ctypes.c_void_p, ctypes.c_void_p]:
        return ctypes.c_void_p(self._out.ctypes.data), ctypes.c_void_p(self._waits.ctypes.data)


def noted(settings: Settings) -> tuple[list[Scan], int, float, float]:
    """The scans of the second half of all masks, how many these are, and the milliseconds of both."""
    tokenizer = Tokenizer.from_file(str(settings.tokenizer))
    token_bytes = read_vocabulary(tokenizer, {settings.stop}).token_bytes
    vocabulary, engine = Vocabulary(token_bytes, [settings.stop]), Engine(python())
    scans: list[Scan] = []
    original, n_masks, taken, scanned = Earley.scan, 0, 0.0, 0.0

    def noting(self: Earley, before: EarleySet, symbols: Iterable[int]) -> EarleySet | None:
        nonlocal scanned
        began = process_time()
        found = original(self, before, symbols := tuple(symbols))
        scanned += 1e3 * (process_time() - began)
        if found is not None and len(symbols) == 1 and before.entries:
            scans.append((self, before, symbols[0], found))
        return found

    for number, case in enumerate(cases(settings, tokenizer)):
        document = engine.document(case.left + case.right)
        state = document.middle(len(case.left), len(case.left)).start
        for token in case.tokens:
            if state is None:
                break
            if 2 * number >= settings.cursors:
                Earley.scan = noting  # type: ignore[method-assign]  # for as long as a mask is asked for
                began = process_time()
                state.mask(vocabulary)
                taken += 1e3 * (process_time() - began)
                n_masks += 1
                Earley.scan = original  # type: ignore[method-assign]  # as above
            else:
                state.mask(vocabulary)
            state = state.feed(vocabulary.token_bytes[token] or b"")
    return scans, n_masks, taken, scanned


@click.command()
@click.argument("tokenizer", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--cursors", default=60, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(tokenizer: Path, cursors: int, seed: int) -> None:
    """Measure, compare, and print."""
    scans, n_masks, taken, scanned = noted(Settings(tokenizer, "python", cursors, seed, 0, 0))
    recorded = Recorded()
    for scan in scans:
        recorded.scan(*scan)
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "native_scan.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
        native = Native(recorded, library)
    known, asked, wrong = [], [], 0
    for scan in scans:
        earley, before, symbol, found = scan
        question = recorded.automata[earley.automaton], recorded.sets[before], symbol
        answer = native.scan(question)
        if answer is not None:
            right = (
                recorded.pairs(found.entries),
                recorded.pairs(found.waiting),
                recorded.predictions[found.predicted],
            )
            wrong += answer != right
            known.append(scan)
            asked.append(question)
    began = process_time()
    for earley, before, symbol, _ in known:
        earley.scan(before, (symbol,))
    ours = 1e3 * (process_time() - began)
    theirs = native.repeat(np.array(asked, np.int32), REPEATED)
    click.echo(f"{n_masks} masks, {taken / n_masks:.3f} ms each; {len(scans) / n_masks:.1f} scans each")
    click.echo(f"{len(known)} of {len(scans)} scans by both: {wrong} sets differ")
    click.echo(
        f"a scan in Python: {1e3 * ours / len(known):.2f} us, in C: {1e3 * theirs / len(known):.3f} us"
    )
    click.echo(
        f"scans are {scanned / taken:.0%} of the time of masks, with what is looked up for the first time,"
    )
    click.echo(f"{ours / taken:.1%} once they know it, in C {theirs / taken:.2%}")


if __name__ == "__main__":
    main()
