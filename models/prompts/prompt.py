"""Builds the prompt: the part of the file around the cursor that fits into the model's context.

The budget rule is that of Melcer et al. 2024 (arXiv 2402.17988, released evaluation code). The two sides
share the context, without the tokens reserved for the middle and for markers. If twice the shorter side
exceeds that, each side gets half; otherwise the shorter side stays whole. The prefix loses its start, the
suffix its end. The constraint always sees the whole file. Other files come first: they get the tokens that
the two sides leave, and a quarter of the budget in any case.

In a *steady* prompt with the prefix first, the last few lines before the cursor start the middle, and the
suffix has 64 lines at most. So typing only appends in this order as well, until the lines are too many.

Editors close brackets and quotes while one types. So the text after the cursor changes at such keys, and all
that follows it in a prompt would be read anew. `without_closers` leaves them out where reading is slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.families import Template
from fimlsp.models.prompts.fim_format import FimFormat
from fimlsp.models.prompts.vocabulary import ModelVocabulary
from fimlsp.quotient.language.editor_policy import Comment

NEIGHBOURS_ONE_IN = 4
STEPS = 16
BEGUN_LINES = (8, 4, 2, 1)
"""In a steady prompt with the prefix first, its lines end at a multiple of the first number that fits."""

BEGUN_ONE_IN, BEGUN_MAX = 4, 256
"""The largest share of the budget for the beginning of the middle, and the most tokens."""

SUFFIX_LINES = 64
"""The most lines after the cursor in such a prompt."""

HASH = Comment("#")
BYTES_PER_TOKEN = 6
BYTES_PER_TOKEN_MAX = 16
SMALLEST_FILE = 16
"""Tokens of room below which another file is left out."""

_CLOSERS = re.compile(rb"[ \t]*(?:[)\]}>\"'`]+[ \t]*)?(?=\r?\n|\Z)")
_SLOT = re.compile(r"\{(?:comment|end|path|text)\}")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another file that the model should know: its path, best relative to the project, and its text."""

    path: str
    text: bytes


@dataclass(frozen=True, slots=True)
class Prompt:
    """The token ids of a prompt, and the number of tokens of the context that are left for the middle.

    *left_out* follows the middle in its line, although the model has not read it.
    """

    tokens: tuple[int, ...]
    room: int
    left_out: bytes = b""

    def repeats_left_out(self, text: bytes | None) -> bool:
        """True if *text* and the part of the line that was left out agree, as far as both go."""
        unread, text = self.left_out.strip(), (text or b"").strip()
        return bool(unread and text) and (unread.startswith(text) or text.startswith(unread))


def build_prompt(
    vocabulary: ModelVocabulary,
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
    """The prompt for a cursor between *left* and *right*, with *reserve* tokens for the middle.

    Encodes 6, at most 16 bytes per token of the context for each side and each neighbour, however large the
    files are.

    Args:
        vocabulary: encodes the texts.
        fim: the format of the model.
        context: the model's context in tokens.
        left: the file before the cursor.
        right: the file after the cursor.
        reserve: tokens for the middle.
        neighbours: other files, the most important first; left out for a model that never saw several files.
        path: the path of the file itself; left out likewise.
        comment: the delimiters of comments in the language of the files.
        steady: cut text that does not fit in steps of a sixteenth of the budget, so that the start of the
            prompt stays the same while the user types; with the prefix first, as above.
        most_tokens: the tokens of all files, if the model does better with fewer than fit.

    Raises:
        ModelError: *reserve* leaves no tokens of the context.
    """
    budget = context - reserve - fim.overhead
    if budget <= 0:
        raise _no_room(reserve, context)
    budget = min(budget, most_tokens or budget)
    step = max(1, budget // STEPS) if steady else 1
    begun = list[int]()
    if steady and fim.is_prefix_first:
        most_begun = min(budget // BEGUN_ONE_IN, BEGUN_MAX)
        left, begun = _begun(vocabulary, left, most_begun)
        right = _first_lines(right, SUFFIX_LINES)
        budget -= most_begun  # however many there are: or else a key would move the start of the prompt
    has_files = bool(neighbours) and fim.reads_files
    encode = vocabulary.encode if has_files else vocabulary.encode_first
    before = _encoded(encode, left, budget, lambda size: _last(left, size, step * BYTES_PER_TOKEN_MAX))
    after = _encoded(vocabulary.encode, right, budget, lambda size: first_bytes(right, size))
    files, here = list[int](), list[int]()
    if has_files:
        room = max(budget - len(before) - len(after), budget // NEIGHBOURS_ONE_IN)
        files, here = read_neighbours(vocabulary, fim, neighbours, path, comment, room - room % step)
    n_before, n_after = share(budget - len(files) - len(here), len(before), len(after))
    cut = _rounded_up(len(before) - n_before, step)
    if n_after < len(after):
        n_after -= n_after % step
    tokens = [*fim.arrange(before[cut:], after[:n_after], files, here), *begun]
    return Prompt(tuple(tokens), context - len(tokens))


def build_continuation(
    vocabulary: ModelVocabulary,
    fim: FimFormat,
    context: int,
    text: bytes,
    reserve: int,
    before: Sequence[int] = (),
) -> Prompt:
    """The prompt for a continuation of *text* from left to right, with *reserve* tokens for that.

    The tokens *before* it, such as a conversation, always stay. A text that does not fit loses its start.

    Raises:
        ModelError: *reserve* and *before* leave no tokens of the context.
    """
    budget = context - reserve - 1 - len(before)
    if budget <= 0:
        raise _no_room(reserve, context, len(before))
    encode = vocabulary.encode if before else vocabulary.encode_first
    read = _encoded(encode, text, budget, lambda size: last_bytes(text, size))
    read = read[max(0, len(read) - budget) :]
    tokens = [*before, *read] if before else fim.continued(read)
    return Prompt(tuple(tokens), context - len(tokens))


def without_closers(right: bytes) -> tuple[bytes, bytes]:
    """The rest of the cursor's line, if it has only closing brackets and quotes; and the text after it.

    The former is empty for any other rest. O(rest).
    """
    closers = _CLOSERS.match(right)
    end = closers.end() if closers else 0
    return right[:end], right[end:]


def _begun(vocabulary: ModelVocabulary, left: bytes, most: int) -> tuple[bytes, list[int]]:
    """*left* up to a line start that moves rarely, and the *most* tokens after it.

    No tokens if the cursor's line has too many: then *left* is whole.
    """
    lines = left.count(b"\n")
    for together in BEGUN_LINES:
        start = len(left)
        for _ in range(lines % together + 1):
            start = left.rfind(b"\n", 0, start)
        begun = left[start + 1 :]
        if len(begun) <= most * BYTES_PER_TOKEN:
            tokens = vocabulary.encode(begun.decode(errors="replace"))
            if len(tokens) <= most:
                return (left[: start + 1], tokens) if tokens else (left, [])
    return left, []


def _first_lines(right: bytes, lines: int) -> bytes:
    """The rest of the line that *right* starts in, and as many *lines* after it."""
    end = -1
    for _ in range(lines + 1):
        end = right.find(b"\n", end + 1)
        if end < 0:
            return right
    return right[: end + 1]


def _no_room(reserve: int, context: int, before: int = 0) -> ModelError:
    more = f" and the {before} tokens before them" if before else ""
    remedies = ", shorten the context and the instructions, or load the model with a larger context"
    return ModelError(
        f"Cannot write {reserve} tokens: they{more} do not fit into a context of {context}. Ask for fewer"
        f"{remedies if before else ''}."
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
    return last_bytes(left, max(0, len(left) - cut))


def _rounded_up(number: int, step: int) -> int:
    """The least multiple of *step* that is not below *number*."""
    return -(-number // step) * step


def share(budget: int, before: int, after: int) -> tuple[int, int]:
    """The tokens of *budget* for each side, if they have *before* and *after* tokens."""
    if before + after <= budget:
        return before, after
    if 2 * min(before, after) > budget:
        return budget // 2, budget // 2
    return (before, budget - before) if before < after else (budget - after, after)


def last_bytes(data: bytes, size: int) -> bytes:
    """The last *size* bytes, without a partial character at their start."""
    start = max(0, len(data) - size)
    while start < len(data) and start and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


def first_bytes(data: bytes, size: int) -> bytes:
    """The first *size* bytes, without a partial character at their end."""
    end = min(len(data), size)
    while end < len(data) and end and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end]


def read_neighbours(
    vocabulary: ModelVocabulary,
    fim: FimFormat,
    neighbours: Sequence[Neighbour],
    path: str | None,
    comment: Comment | None,
    budget: int,
) -> tuple[list[int], list[int]]:
    """Tokens of other files, and of the *path* of the one with the cursor; at most *budget* together.

    The first of *neighbours* matters most, so it comes last, next to the file itself. A file for which the
    budget is too small keeps its start. Some families write names of files as a *comment*. Both results are
    empty if no neighbour has text, or if there are no comments for such names.
    """
    project = fim.project
    if comment is None and project.needs_comment:
        return [], []
    filler = _TemplateFiller(vocabulary, fim, comment or Comment(""))
    here = filler.tokens(project.here, path or "untitled", b"", budget)
    first, last = (filler.tokens(template, "", b"", budget) for template in (project.begin, project.end))
    room = budget - len(here) - len(first) - len(last)
    files = list[list[int]]()
    for neighbour in neighbours:
        if room >= SMALLEST_FILE and neighbour.text:
            files.insert(0, filler.tokens(project.file, neighbour.path, neighbour.text, room))
            room -= len(files[0])
    if not files:
        return [], []
    return [*first, *(token for tokens in files for token in tokens), *last], here


class _TemplateFiller:
    """Fills the templates of a family with paths and texts."""

    def __init__(self, vocabulary: ModelVocabulary, fim: FimFormat, comment: Comment) -> None:
        self._vocabulary = vocabulary
        self._marker_ids = fim.marker_ids
        self._slots = {"{comment}": comment.begin, "{end}": comment.end and f" {comment.end}"}

    def tokens(self, template: Template, path: str, text: bytes, room: int) -> list[int]:
        """At most *room* tokens of *template*; if its last part is a marker, that is never cut off."""
        tokens = list[int]()
        last = [self._marker_ids[part] for part in template[-1:] if part in self._marker_ids]
        for part in template[: len(template) - len(last)]:
            marker = self._marker_ids.get(part)
            tokens += [marker] if marker is not None else self._encoded(part, path, text, room)
        return tokens[: max(0, room - len(last))] + last

    def _encoded(self, part: str, path: str, text: bytes, room: int) -> list[int]:
        decoded = text[: max(0, room) * BYTES_PER_TOKEN_MAX].decode(errors="ignore")
        slots = {**self._slots, "{path}": path, "{text}": decoded}
        return self._vocabulary.encode(_SLOT.sub(lambda slot: slots[slot[0]], part))
