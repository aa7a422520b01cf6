"""Builds the prompt: the part of the file around the cursor that fits into the model's context.

The budget rule is that of Melcer et al. 2024 (arXiv 2402.17988, released evaluation code): the two sides
share the context, less the tokens kept for the middle and for markers. If twice the shorter side exceeds
that, each side gets half; otherwise the shorter side stays whole. The prefix loses its beginning, the suffix
its end. The constraint always sees the whole file. Other files come first: they get what the two sides
leave, and a quarter of the budget in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.fim_format import FimFormat
from fimlsp.models.prompts.neighbours import BYTES_PER_TOKEN_MAX, Neighbour, read_neighbours
from fimlsp.models.prompts.vocabulary import Vocabulary
from fimlsp.quotient.language.editor_policy import Comment

NEIGHBOURS_ONE_IN = 4
STEPS = 16
HASH = Comment("#")
BYTES_PER_TOKEN = 6


@dataclass(frozen=True, slots=True)
class Prompt:
    """Token ids to be read, and how many tokens of the context are left for the middle."""

    tokens: tuple[int, ...]
    room: int


def build_prompt(
    vocabulary: Vocabulary,
    fim: FimFormat,
    context: int,
    left: bytes,
    right: bytes,
    reserve: int,
    neighbours: Sequence[Neighbour] = (),
    path: str | None = None,
    comment: Comment | None = HASH,
    steady: bool = False,
    most_tokens: int | None = None,
) -> Prompt:
    """Prompt for a cursor between *left* and *right*, keeping *reserve* tokens for the middle.

    *neighbours* are other files to read, the most important first, and *path* is that of the file itself;
    both are left out for a model that was never shown several files. *comment* is how their language writes
    remarks. If *steady*, text that does not fit is cut in steps of a sixteenth of the budget, so that the
    beginning of the prompt stays the same while somebody types. *most_tokens* are read of all files, if the
    model does better with fewer than fit. Encodes 6, at most 16 bytes per token of the context for each side
    and each neighbour, however large the files are.

    Raises:
        ModelError: *reserve* leaves nothing of the context.
    """
    budget = context - reserve - fim.overhead
    if budget <= 0:
        raise _no_room(reserve, context)
    budget = min(budget, most_tokens or budget)
    step = max(1, budget // STEPS) if steady else 1
    has_files = bool(neighbours) and fim.reads_files
    encode = vocabulary.encode if has_files else vocabulary.encode_first
    before = _encoded(encode, left, budget, lambda size: _last(left, size, step * BYTES_PER_TOKEN_MAX))
    after = _encoded(vocabulary.encode, right, budget, lambda size: beginning(right, size))
    files, here = list[int](), list[int]()
    if has_files:
        room = max(budget - len(before) - len(after), budget // NEIGHBOURS_ONE_IN)
        files, here = read_neighbours(vocabulary, fim, neighbours, path, comment, room - room % step)
    n_before, n_after = share(budget - len(files) - len(here), len(before), len(after))
    cut = _rounded_up(len(before) - n_before, step)
    if n_after < len(after):
        n_after -= n_after % step
    tokens = fim.arrange(before[cut:], after[:n_after], files, here)
    return Prompt(tuple(tokens), context - len(tokens))


def build_continuation(
    vocabulary: Vocabulary, fim: FimFormat, context: int, text: bytes, reserve: int
) -> Prompt:
    """Prompt for what comes after *text* from left to right, keeping *reserve* tokens for that.

    Of a text that does not fit the beginning is cut off.

    Raises:
        ModelError: *reserve* leaves nothing of the context.
    """
    budget = context - reserve - 1
    if budget <= 0:
        raise _no_room(reserve, context)
    read = _encoded(vocabulary.encode_first, text, budget, lambda size: ending(text, size))
    tokens = fim.continued(read[max(0, len(read) - budget) :])
    return Prompt(tuple(tokens), context - len(tokens))


def _no_room(reserve: int, context: int) -> ModelError:
    return ModelError(
        f"{reserve} tokens to be written do not fit into a context of {context}; ask for fewer."
    )


def _encoded(
    encode: Callable[[str], list[int]], text: bytes, budget: int, part: Callable[[int], bytes]
) -> list[int]:
    """Tokens of the *part* of *text* next to the cursor; more than *budget* if the text has that many.

    A small part is tried first, since most tokens of code have about four bytes and encoding takes time.
    """
    tokens = list[int]()
    for bytes_per_token in (BYTES_PER_TOKEN, BYTES_PER_TOKEN_MAX):
        tokens = encode(part(budget * bytes_per_token).decode(errors="replace"))
        if len(tokens) > budget or len(text) <= budget * bytes_per_token:
            break
    return tokens


def _last(left: bytes, size: int, step: int) -> bytes:
    """The last *size* bytes of *left* or a few less, starting at a multiple of *step*."""
    cut = _rounded_up(max(0, len(left) - size), step)
    return ending(left, max(0, len(left) - cut))


def _rounded_up(number: int, step: int) -> int:
    """The least multiple of *step* that is not below *number*."""
    return -(-number // step) * step


def share(budget: int, before: int, after: int) -> tuple[int, int]:
    """How many tokens each side gets of *budget*, if they have *before* and *after* tokens."""
    if before + after <= budget:
        return before, after
    if 2 * min(before, after) > budget:
        return budget // 2, budget // 2
    return (before, budget - before) if before < after else (budget - after, after)


def ending(data: bytes, size: int) -> bytes:
    """The last *size* bytes, without a part of a character at their beginning."""
    start = max(0, len(data) - size)
    while start < len(data) and start and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


def beginning(data: bytes, size: int) -> bytes:
    """The first *size* bytes, without a part of a character at their end."""
    end = min(len(data), size)
    while end < len(data) and end and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end]
