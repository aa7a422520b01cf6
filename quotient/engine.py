"""The public interface of the engine: documents, and the constraint at a cursor."""

from __future__ import annotations

from functools import cached_property, partial

from fimlsp.lexing.values import value
from fimlsp.quotient.connect.connect import connect, read_up_to
from fimlsp.quotient.connect.options import ConnectOptions
from fimlsp.quotient.contexts.document import BYTE_ORDER_MARK, Document
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.contexts.transitions import ContextTransitions
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.tables import LanguageTables, tables_of
from fimlsp.quotient.language.whole_text import Fault
from fimlsp.quotient.recovery.mended_text import Mend
from fimlsp.quotient.recovery.recovery import Recovery
from fimlsp.quotient.states.checked_state import CheckedState, Finer, Surroundings, checked
from fimlsp.quotient.states.file_start import FileStart
from fimlsp.quotient.states.protocol import OwnMiddles, State

_LONG_TEXT = 100_000
"""From so many bytes on the language's check reads a text before anything is decided about it.

That takes some seconds for 100,000 lines, and can be interrupted there, but not where a text is written.
"""


@value
class Constraint:
    """What may replace a part of a document.

    `start` is the state before any byte, or None if nothing connects the two contexts. `relaxed` tells what
    had to be assumed because the file is broken elsewhere, in the order of the text; nothing if it is not.
    """

    start: State | None
    relaxed: tuple[Mend, ...] = ()

    @property
    def ignored(self) -> tuple[Fault, ...]:
        """What is wrong elsewhere and does not count, as far as any middle has met it yet."""
        return self.start.around.known_to_be_ignored if isinstance(self.start, CheckedState) else ()

    @property
    def connectable(self) -> bool:
        """Whether there is a middle at all."""
        return self.start is not None


@value
class _SameText:
    """A document of the same text, in another language."""

    document: Document

    def follow(self, _: Document, edit: Replacement) -> bool:
        """Edit it, too."""
        self.document.edit(edit.start, edit.end, edit.text)
        return True


class EditedDocument(Document):
    """A document with the constraint at any cursor."""

    _is_known_to_check = False

    @cached_property
    def _own_middles(self) -> OwnMiddles | None:
        """The language, if it says itself what may stand between two texts."""
        language = self.tables.language
        return language if isinstance(language, OwnMiddles) else None

    def prepare_check(self) -> None:
        """Let the language's check, if it has one, read the text now; from then on it reads what changes."""
        check = self.tables.whole_text_check
        if check is not None and not self._is_known_to_check:
            check.faults(self.data)
            self._is_known_to_check = True

    def middle(self, start: int, end: int, *, relax: bool = True, may_escape: bool = True) -> Constraint:
        """What may replace `data[start:end]`. O(depth) once the lines around are known.

        If nothing may, the text is read as the valid one that it most nearly is, unless *relax* is off.
        Unless it *may_escape*, a middle stays in the brackets and blocks that both its ends are in, and in
        the string or comment at the cursor, if any such middle exists (see `escape.py`).

        Raises:
            ValueError: the cut is not within the text, or inside a character. Positions count bytes; one that
                counts characters is wrong behind the first that is not ASCII.
        """
        for position in (start, end):
            if 0 <= position < len(self.data) and self.data[position] & 0xC0 == 0x80:
                raise ValueError(
                    f"the cut {start}:{end} is inside a character, of which byte {position} is a part"
                )
        return self.middle_at_bytes(start, end, relax=relax, may_escape=may_escape)

    def middle_at_bytes(
        self, start: int, end: int, *, relax: bool = True, may_escape: bool = True
    ) -> Constraint:
        """As `middle`, also for a cut inside a character: middles then supply the bytes that are missing.

        Raises:
            ValueError: the cut is not within the text.
        """
        if not 0 <= start <= end <= len(self.data):
            raise ValueError(f"the cut {start}:{end} is not within a text of {len(self.data)} bytes")
        options = ConnectOptions(forbid_escape=not may_escape)
        if start >= len(BYTE_ORDER_MARK) or not self._may_be_marked(start):
            return Constraint(*self._middle(start, end, options, relax))
        mark = BYTE_ORDER_MARK
        right = self.data[end : end + len(mark)]
        parts = [mark[:size] for size in range(len(mark)) if right.startswith(mark[size:])]
        parts = [part for part in parts if self._begins_at(end + len(mark) - len(part))]
        found, relaxed = self._middle(0, end, options, relax and not parts)
        state = FileStart(mark[:start], found, tuple(parts))
        return Constraint(state if state.viable else None, relaxed)

    def _may_be_marked(self, start: int) -> bool:
        """Whether the text up to *start* may be a prefix of a byte order mark."""
        return self.tables.language.byte_order_mark and self.data.startswith(BYTE_ORDER_MARK[:start])

    def _begins_at(self, position: int) -> bool:
        """Whether the text from *position* on is a valid file."""
        found = read_up_to(self, 0)
        state = found and connect(self, position, *found, ConnectOptions())
        return state is not None and state.complete

    def _middle(
        self, start: int, end: int, options: ConnectOptions, relax: bool
    ) -> tuple[State | None, tuple[Mend, ...]]:
        if self._own_middles is not None:
            left, right, may_escape = self.data[:start], self.data[end:], not options.forbid_escape
            own, replaced = self._own_middles.middle(left, right, may_escape=may_escape, relax=relax)
            shifts = (0 if first < start else end - start for first, _, _ in replaced)
            return own, tuple(
                Mend(a + n, b + n, new) for n, (a, b, new) in zip(shifts, replaced, strict=True)
            )
        found = read_up_to(self, start)
        state: State | None = None
        if found is not None and not found[0].broken:
            state = connect(self, end, *found, options)
        relaxed: tuple[Mend, ...] = ()
        if state is None and relax:
            state, relaxed = self._recovery(start, end).state(self, start, end, options)
        if relaxed:
            return state, relaxed  # names of a text that is broken elsewhere cannot be told apart
        return self._checked(state, start, end, options, lenient=relax), relaxed

    def _recovery(self, start: int, end: int) -> Recovery:
        """The text as the valid one that it most nearly is; kept while a cursor stays in its line."""
        for each in self.followers:
            if isinstance(each, Recovery):
                if each.serves(self, start, end):
                    return each
                self.followers.remove(each)
                break
        found = Recovery(self, start, end)
        self.followers.append(found)
        return found

    def _checked(
        self, state: State | None, start: int, end: int, options: ConnectOptions, *, lenient: bool
    ) -> State | None:
        """*state* with the language's check of whole texts, if it has one."""
        check = self.tables.whole_text_check
        if check is None or state is None:
            return state
        if len(self.data) >= _LONG_TEXT:
            self.prepare_check()
        language = self.tables.language
        right = self.data[end:]
        needs_finer_before = partial(
            self.cached_for_suffix, end, "finer", partial(language.needs_finer_before, right)
        )
        around = Surroundings(
            check,
            (self.data[:start], right),
            state,
            partial(self.statement_start, start),
            Finer(language.finer, partial(self._finer_state, start, end, options), needs_finer_before),
            stays=options.forbid_escape,
            lenient=lenient,
        )
        if language.needs_finer_behind(around.statement) or (not lenient and needs_finer_before()):
            finer = around.finer(b"")
            return None if finer is None and not lenient else checked(around, finer)
        return checked(around)

    def _finer_state(self, start: int, end: int, options: ConnectOptions, language: Language) -> State | None:
        """What may replace `data[start:end]` in *language*, which is one of `Language.finer`."""
        document = self._in_finer(language)
        found = read_up_to(document, start)
        if found is None or found[0].broken:
            return None
        return connect(document, end, *found, options)

    def _in_finer(self, language: Language) -> Document:
        """This text in *language*."""
        for each in self.followers:
            if isinstance(each, _SameText) and each.document.tables.language == language:
                return each.document
        document = Document(self.transitions.finer(language), self.data)
        self.followers.append(_SameText(document))
        return document


class Engine:
    """Makes documents of one language, which share what was learnt about its lines.

    Engines of equal languages share their tables, which are expensive to make, unless other *tables* are
    given.
    """

    def __init__(self, language: Language, tables: LanguageTables | None = None) -> None:
        self.language = language
        self.tables = tables or tables_of(language)
        self._transitions = ContextTransitions(self.tables)

    def document(self, data: bytes) -> EditedDocument:
        """A document with the UTF-8 text *data*.

        Its contexts are computed on demand, or at once by `prepare`.
        """
        return EditedDocument(self._transitions, data)
