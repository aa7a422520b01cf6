"""Suites of judged cases, each with a tally of some hundred verdicts: in the cuts of texts, and all in turn.

The texts are random programs, derivations of a language's grammar. `command` makes the program
`python -m tests.languages.LANGUAGE`, which judges as many cases as time allows.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import sqrt
from pathlib import Path
from statistics import median
from time import perf_counter
from weakref import WeakKeyDictionary

import click

from fimlsp.lexing.lexer_tables import longest_match
from fimlsp.quotient.language.contract import Language
from fimlsp.testing.checking import Fault, Judged, Tally, fed, total, verdict

LENGTHS = (0, 1, 2, 5, 20, 100)
_TRIES_BETWEEN = 5
_SHOWN = 10_000
"""The most bytes of each part of a text that are printed, so that it can be judged again."""
_OPENING, _CLOSING = "([{", ")]}"


def cuts(data: bytes, rng: random.Random, count: int) -> Iterator[tuple[int, int]]:
    """Random parts of *data*, also from its very start and up to its very end."""
    for _ in range(count):
        start = rng.choice([rng.randrange(len(data) + 1), rng.randrange(len(data) + 1), 0])
        yield start, rng.choice([min(len(data), start + rng.choice(LENGTHS)), len(data)])


def mutated(of: Judged, middle: bytes, rng: random.Random) -> bytes:
    """*middle* with a piece put in or instead of some bytes, or with some left out or doubled."""
    place = rng.randrange(len(middle) + 1)
    until = min(len(middle), place + rng.choice((0, 0, 1, 2, 8)))
    put = rng.choice([rng.choice(of.pieces), rng.choice(of.pieces), b"", middle[place:until] * 2])
    return middle[:place] + put + middle[until:]


def cut_text(of: Judged, data: bytes, rng: random.Random) -> Tally:
    """A valid text, cut: prefixes of the truth are viable, mutants are judged, and dead middles stay dead."""
    tally = of.tally()
    document = of.engine.document(data)
    for start, end in cuts(data, rng, 6):
        left, middle, right = data[:start], data[start:end], data[end:]
        state = document.middle_at_bytes(start, end, relax=False).start
        _judge_prefixes(of, tally, left, middle[: of.longest], middle[of.longest :] + right, rng)
        for mutant in [mutated(of, middle, rng) for _ in range(6)]:
            reached = fed(state, mutant)
            tally.judge(left, mutant, right, reached)
            if reached is None:
                _judge_dead(of, tally, left, mutant, right, rng, of.tries)
    return tally


def _judge_prefixes(
    of: Judged, tally: Tally, left: bytes, middle: bytes, right: bytes, rng: random.Random
) -> None:
    """Judge the prefixes of a true middle, a piece at a time."""
    state = of.start_between(left, right)
    place = 0
    while place < len(middle):
        if state is None:
            tally.fault("refuses a true prefix", left, middle[:place], right, rest=middle[place:])
            return
        tally.judge(left, middle[:place], right, state)
        size = rng.choice((1, 1, 2, 4))
        state, place = state.feed(middle[place : place + size]), min(len(middle), place + size)
    tally.judge(left, middle, right, state)


def _judge_dead(
    of: Judged, tally: Tally, left: bytes, middle: bytes, right: bytes, rng: random.Random, tries: int
) -> None:
    """Search for completions of a middle that is dead for the engine."""
    for tried in [b"".join(rng.choices(of.pieces, k=rng.randrange(1, 4))) for _ in range(tries)]:
        tally.judge(left, middle + tried, right, None)


def staying_cuts(of: Judged, data: bytes, rng: random.Random) -> Tally:
    """Middles that stay in the brackets and blocks of both sides: the files that they complete are valid."""
    tally = of.tally()
    document = of.engine.document(data)
    for start, end in cuts(data, rng, 6):
        left, right = data[:start], data[end:]
        state = document.middle_at_bytes(start, end, relax=False, may_escape=False).start
        for middle in (b"", *[mutated(of, data[start:end], rng) for _ in range(4)]):
            reached = fed(state, middle)
            if reached is not None and (reached.complete or of.accepts(left + middle + right) is False):
                tally.judge(left, middle, right, reached)
    return tally


def balanced_cuts(of: Judged, data: bytes, rng: random.Random) -> Tally:
    """True middles that close each bracket they open, and no other: one that has to stay may be each of them.

    A language whose enclosures are not all such brackets has no cases.
    """
    tally = of.tally()
    depths = _bracket_depths(of, data)
    document = of.engine.document(data)
    for start in rng.sample(list(depths), min(6, len(depths))):
        ends = [end for end in _balanced_ends(depths, start) if end - start <= of.longest]
        end = rng.choice(ends)
        left, middle, right = data[:start], data[start:end], data[end:]
        state = fed(document.middle_at_bytes(start, end, relax=False, may_escape=False).start, middle)
        tally.judged += 1
        if state is None or not state.complete:
            tally.fault("does not let stay", left, middle, right, verdict(state))
    return tally


def _balanced_ends(depths: Mapping[int, int], start: int) -> Iterator[int]:
    """The offsets from *start* on that are as deep, before the first that is less deep."""
    for offset, depth in depths.items():
        if offset >= start and depth < depths[start]:
            return
        if offset >= start and depth == depths[start]:
            yield offset


def _bracket_depths(of: Judged, data: bytes) -> dict[int, int]:
    """The number of open brackets at each offset of *data* that is not in a string or a comment."""
    enclosures, lexical = of.language.enclosures, of.engine.tables.lexical
    if not set("".join((*enclosures, *enclosures.values()))) <= set(_OPENING + _CLOSING + " "):
        return {}
    modes, position, depth, depths = lexical.start, 0, 0, {0: 0}
    while position < len(data):
        start = position
        lexeme = longest_match(lexical, lexical.dfa.starts[modes.mode], data, position)
        if lexeme is None:
            return {}
        kind, position = lexeme
        name = lexical.kinds[kind]
        modes = modes.after(name) or modes
        family = "comment" if name == lexical.spec.comment else lexical.spec.families.get(name)
        for offset in range(start + 1, position + 1) if family in (None, "line end") else ():
            sign = chr(data[offset - 1])
            depth += (sign in _OPENING) - (sign in _CLOSING)
            if data[offset - 1 : offset + 1] != b"\r\n":
                depths[offset] = depth
    return depths


def broken_cuts(of: Judged, one: bytes, other: bytes, rng: random.Random) -> Tally:
    """Two unrelated sides: a start exists exactly if some text connects them."""
    tally = of.tally()
    left = one[: rng.randrange(len(one) + 1)]
    right = mutated(of, other[rng.randrange(len(other) + 1) :], rng)
    state = of.start_between(left, right)
    if state is None:
        _judge_dead(of, tally, left, b"", right, rng, _TRIES_BETWEEN)
    else:
        tally.judge(left, b"", right, state)
    return tally


Endless = Callable[[int, Sequence[Path]], Iterator[Tally]]
"""Tallies of all suites in turn, from a seed; also of real files, if there are any."""

Program = Callable[[random.Random, int], bytes]
"""A valid program of about so many lexemes or more."""


@cache
def depths(language: Language) -> dict[int, int]:
    """The depth of the shallowest derivation of each symbol."""
    grammar = language.grammar()
    depth_of = dict.fromkeys(range(len(grammar.terminals)), 0)
    changed = True
    while changed:
        changed = False
        for production in grammar.productions:
            if all(symbol in depth_of for symbol in production.rhs):
                depth = 1 + max(depth_of[symbol] for symbol in production.rhs)
                if depth < depth_of.get(production.lhs, 1 << 30):
                    depth_of[production.lhs] = depth
                    changed = True
    return depth_of


@cache
def unbounded(language: Language) -> frozenset[int]:
    """The symbols that derive texts of any length, as they lead to themselves or to such a one."""
    grammar = language.grammar()
    parts_of: dict[int, set[int]] = {}
    for production in grammar.productions:
        parts_of.setdefault(production.lhs, set()).update(production.rhs)
    led_to = {symbol: set(parts) for symbol, parts in parts_of.items()}
    changed = True
    while changed:
        changed = False
        for parts in led_to.values():
            further = set().union(*(parts_of.get(part, ()) for part in parts))
            changed |= not further <= parts
            parts |= further
    recursive = {symbol for symbol, parts in led_to.items() if symbol in parts}
    return frozenset(symbol for symbol, parts in led_to.items() if recursive & {symbol, *parts})


def lexemes(
    language: Language, texts: Mapping[str, Sequence[bytes]], rng: random.Random, size: int
) -> list[bytes]:
    """The lexemes of a random derivation, about *size* or more; *texts* are those of each named terminal.

    The more are missing, the likelier a repetition goes on. Once there may be *size*, the ways are short. A
    rule is the less likely, the more often the derivations by the same *rng* have used it.
    """
    grammar, depth, grows = language.grammar(), depths(language), unbounded(language)
    uses = _uses.setdefault(rng, Counter())
    texts_so_far: list[bytes] = []
    waiting = [grammar.start]
    while waiting:
        symbol = waiting.pop()
        if grammar.is_terminal(symbol):
            name = grammar.name(symbol)
            texts_so_far.append(rng.choice(texts[name]) if name in texts else name.encode())
            continue
        options = grammar.productions_of(symbol)
        missing = size - len(texts_so_far) - len(waiting)
        if missing <= 0:
            best = min(max(depth[part] for part in option.rhs) for option in options)
            options = tuple(o for o in options if max(depth[part] for part in o.rhs) == best)
        elif grows.isdisjoint(waiting):
            options = tuple(o for o in options if not grows.isdisjoint(o.rhs)) or options
        weights = [
            (2 * sqrt(max(missing, 1)) if symbol in option.rhs else 1) / (1 + uses[symbol, option.rhs])
            for option in options
        ]
        (chosen,) = rng.choices(options, weights)
        uses[symbol, chosen.rhs] += 1
        waiting.extend(reversed(chosen.rhs))
    return texts_so_far


_uses = WeakKeyDictionary[random.Random, Counter[tuple[int, tuple[int, ...]]]]()


def endless(
    of: Judged,
    alphabets: Sequence[Sequence[bytes]],
    contexts: Sequence[tuple[bytes, bytes]],
    program: Program,
    outer: Sequence[Sequence[bytes]] = (),
) -> Endless:
    """The suites of a language: short middles over the *alphabets* in the *contexts*, and programs in cuts.

    The first symbol of an alphabet is in each of its middles' samples. Those over the alphabets *outer* are
    whole files.
    """

    def tallies(seed: int, files: Sequence[Path] = ()) -> Iterator[Tally]:
        rng = random.Random(seed)
        while True:
            first, *others = rng.choice(alphabets)
            tally = of.walk(*rng.choice(contexts), [first, *rng.sample(others, min(5, len(others)))], 3)
            if outer:
                alphabet = rng.choice(outer)
                tally.include(of.walk(b"", b"", rng.sample(alphabet, min(5, len(alphabet))), 3))
            yield tally
            yield from in_cuts(of, program, rng, files)

    return tallies


def in_cuts(of: Judged, program: Program, rng: random.Random, files: Sequence[Path]) -> Iterator[Tally]:
    """All suites of cuts in two programs, and one in one of *files*, if there are any.

    A program that the reference parser does not accept is judged once, and not cut.
    """
    data = program(rng, rng.choice((5, 20, 100, 500)))
    if not of.accepts(data):
        wrong = of.tally()
        wrong.judge(b"", b"", data, of.start_between(b"", data))
        yield wrong
    else:
        tally = cut_text(of, data, rng)
        tally.lengths.append(len(data))
        yield tally
        yield staying_cuts(of, data, rng)
        yield balanced_cuts(of, data, rng)
        other = program(rng, 50)
        for _ in range(5):
            yield broken_cuts(of, data, other, rng)
    if files:
        text = rng.choice(files).read_bytes()
        if of.accepts(text):
            yield cut_text(of, text, rng)


Explain = Callable[[Sequence[Fault]], tuple[Mapping[str, int], Sequence[Fault]]]
"""How many faults each known difference explains, and the faults that none explains."""


def command(
    title: str,
    about: str,
    endless: Endless,
    suffix: str | None = None,
    judged: Judged | None = None,
    explain: Explain | None = None,
) -> click.Command:
    """The command for the language *title*; with a *suffix*, files that end with it can be cut as well.

    With *judged* such files can be read as wholes. The command fails if there is a fault that `explain` does
    not explain.
    """

    @click.command(help=about)
    @click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
    @click.option("--cases", default=100_000, show_default=True, help="Judged verdicts.")
    @click.option("--seed", type=int, help="Repeats a run; it is printed, and random by default.")
    @click.option("--whole", type=int, metavar="N", help="Each file once, as a whole and at N cuts.")
    @click.option("--sample", type=int, metavar="N", help="With --whole: so many of the files.")
    def main(
        cases: int,
        seed: int | None,
        folder: Path | None = None,
        whole: int | None = None,
        sample: int | None = None,
    ) -> None:
        """Judge, and print the results; files in FOLDER are cut as well."""
        seed = random.randrange(1 << 32) if seed is None else seed
        started = perf_counter()
        files = sorted(filter(Path.is_file, folder.rglob(f"*{suffix}"))) if folder else []
        if whole is not None and judged is not None:
            chosen = files if sample is None else random.Random(seed).sample(files, min(sample, len(files)))
            sum_ = judged.tally()
            for tally in whole_files(judged, chosen, whole, seed):
                sum_.include(tally)
        else:
            sum_ = total(endless(seed, files), cases)
        names, unexplained = explain(sum_.faults) if explain is not None else ({}, sum_.faults)
        for fault in unexplained[:20]:
            around = fault.left[-_SHOWN:], fault.middle[-_SHOWN:], fault.right[:_SHOWN]
            click.echo(f"{fault.complaint}: {' <|> '.join(map(repr, around))} {fault.detail}")
            click.echo(fault.grammar, nl=bool(fault.grammar))
        for name, count in names.items():
            click.echo(f"{count} times: {name}")
        click.echo(
            f"{title}, seed {seed}, {len(files)} files: {sum_.judged:,} judged cases, "
            f"{sum_.undecided:,} open, {len(sum_.faults):,} disagreements, "
            f"{sum_.dead_ends:,} dead ends, {len(unexplained):,} unexplained, "
            f"{perf_counter() - started:,.0f} s"
        )
        if sum_.lengths:
            click.echo(f"{len(sum_.lengths):,} programs, of {median(sum_.lengths):,.0f} bytes (median)")
        sys.exit(bool(unexplained))

    hidden = {"folder", "whole", "sample"} if suffix is None else set() if judged else {"whole", "sample"}
    main.params = [parameter for parameter in main.params if parameter.name not in hidden]
    return main


_PART = 4_000


def whole_files(of: Judged, files: Iterable[Path], n_cuts: int, seed: int) -> Iterator[Tally]:
    """A tally of each of *files*; one that the reference parser refuses is not cut."""
    for number, path in enumerate(files):
        tally = of.tally()
        data = path.read_bytes()
        accepted = of.accepts(data)
        if accepted is None:
            tally.undecided += 1
        else:
            engine = of.engine if number % 50 else of.fresh_engine()
            for start, end in ((0, len(data)), *_cuts_of(data, path, n_cuts if accepted else 0, seed)):
                document = engine.document(data if end - start < len(data) else b"")
                at, until = (start, end) if end - start < len(data) else (0, 0)
                state = document.middle_at_bytes(at, until, relax=False).start
                for offset in range(start, end, _PART):
                    state = state and state.feed(data[offset : min(end, offset + _PART)])
                is_complete = state is not None and state.complete
                _judge_cut(tally, data, (start, end), accepted=accepted, is_complete=is_complete, path=path)
        yield tally


def _cuts_of(data: bytes, path: Path, count: int, seed: int) -> Iterator[tuple[int, int]]:
    return cuts(data, random.Random(f"{seed} {path.name} {len(data)}"), count)


def _judge_cut(
    tally: Tally, data: bytes, cut: tuple[int, int], *, accepted: bool, is_complete: bool, path: Path
) -> None:
    start, end = cut
    text = data[:start], data[start:end], data[end:]
    if accepted != is_complete and tally.leaves_open is not None and tally.leaves_open(data):
        tally.undecided += 1
        return
    tally.judged += 1
    if is_complete != accepted:
        tally.fault("rejects" if accepted else "accepts", *text, str(path))
