"""Tables of the mask store as arrays, and back.

The modes of a lexer state are found again by following the symbols that lead to it.
"""

from __future__ import annotations

import numpy as np

from fimlsp.lexing.columns import Column
from fimlsp.lexing.lexer_state import LexerState, Margin, Symbol
from fimlsp.lexing.modes import ModeStack
from fimlsp.quotient.masks.array_files import Arrays
from fimlsp.quotient.masks.grouping.ends import Ends
from fimlsp.quotient.masks.grouping.groups import Groups
from fimlsp.quotient.masks.grouping.lexed_suffixes import LexedSuffixes
from fimlsp.quotient.masks.grouping.token_groups import Split
from fimlsp.quotient.masks.texts.runs import Runs

_NONE = -1


def split_arrays(split: Split) -> Arrays:
    """*split* as arrays."""
    return {
        "numbers": split.what.numbers,
        "lengths": split.what.lengths,
        "ends": np.array(split.ends, np.int32).reshape(-1, 3),
        "ended": np.array(split.ended, np.int32).reshape(-1, 3),
    }


def split_from(arrays: Arrays) -> Split:
    """What `split_arrays` made arrays of."""
    ends, ended = (tuple(map(tuple, arrays[name].tolist())) for name in ("ends", "ended"))
    return Split(Runs(arrays["numbers"], arrays["lengths"]), ends, ended)


def suffix_arrays(lexed: LexedSuffixes, start: LexerState) -> Arrays | None:
    """Suffixes that were read from *start* as arrays; None if their lexer states are not found again."""
    groups = lexed.groups
    nodes = np.zeros((len(groups.children), 4), np.int32)
    for parent, children in enumerate(groups.children):
        for symbol, child in children:
            nodes[child] = parent, *(symbol if isinstance(symbol, Column) else (symbol, _NONE)), 0
            nodes[child, 3] = isinstance(symbol, Column)
    modes = _modes(start, nodes)
    node_of, end_of = groups.nodes_of_all, groups.end_of[1:]
    ends, where, numbers = np.unique(end_of, return_index=True, return_inverse=True)
    rows, texts = [], []
    for end, node in zip(ends.tolist(), node_of[where].tolist(), strict=True):
        lexer = groups.ends.state(end)
        rows.append(_row(lexer, node))
        texts.append(lexer.leftover + lexer.word)
    for end, node in zip(end_of.tolist(), node_of.tolist(), strict=True):
        lexer = groups.ends.state(end)
        if lexer.modes is not modes[node] or lexer.indents is not None:
            return None
    return {
        "of_suffix": lexed.of_suffix,
        "nodes": nodes,
        "members": np.column_stack((node_of, numbers)).astype(np.int32),
        "ends": np.array(rows, np.int32).reshape(-1, 12),
        "texts": np.frombuffer(b"".join(texts), np.uint8),
    }


def suffixes_from(arrays: Arrays, start: LexerState, ends: Ends) -> LexedSuffixes:
    """What `suffix_arrays` made arrays of."""
    nodes = arrays["nodes"]
    children: list[list[tuple[Symbol, int]]] = [[] for _ in nodes]
    for child, (parent, symbol, other, is_column) in enumerate(nodes.tolist()):
        if child:
            children[parent].append((Column(symbol, other) if is_column else symbol, child))
    modes = _modes(start, nodes)
    texts, at = arrays["texts"].tobytes(), 0
    numbers = []
    for node, state, accepted, has_margin, tabs8, tabs1, frozen, last, count, counted, n, m in arrays[
        "ends"
    ].tolist():
        margin = Margin(Column(tabs8, tabs1), frozen) if has_margin else None
        leftover, word = texts[at : at + n], texts[at + n : at + n + m]
        at += n + m
        mode = modes[node]
        assert mode is not None
        lexer = LexerState(
            start.lexical, state, mode, None, accepted, leftover, margin, (last, count), word, counted
        )
        numbers.append(ends.number(lexer))
    node_of, which = arrays["members"].T
    groups = Groups(ends, children, node_of, np.array(numbers, np.int32)[which])
    return LexedSuffixes(groups, arrays["of_suffix"])


def _row(lexer: LexerState, node: int) -> tuple[int, ...]:
    margin = (0, 0, 0, 0) if lexer.margin is None else (1, *lexer.margin.column, lexer.margin.frozen)
    lengths = len(lexer.leftover), len(lexer.word)
    return (node, lexer.state, lexer.accepted, *margin, *lexer.equal_run, lexer.counted, *lengths)


def _modes(start: LexerState, nodes: np.ndarray) -> list[ModeStack | None]:
    """What is open behind the symbols of each node, as far as they tell."""
    lexical = start.lexical
    found: list[ModeStack | None] = [start.modes]
    for parent, symbol, _, is_column in nodes[1:].tolist():
        modes = found[parent]
        if modes is not None and not is_column and symbol in lexical.mode_changers:
            modes = modes.after(lexical.kinds[symbol])
        found.append(modes)
    return found
