"""The public interface of the engine: documents, and the constraint at a cursor."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from fimlsp.lexing.values import value
from fimlsp.quotient.contexts.document import BYTE_ORDER_MARK, ContextDocument, ContextTransitions
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.first_state import ConnectOptions, connect, read_up_to
from fimlsp.quotient.grown_word import GrownWord
from fimlsp.quotient.language.contract import Fault, Language
from fimlsp.quotient.language.tables import LanguageTables, tables_of
from fimlsp.quotient.recovery.recovery import Readings, Recoveries
from fimlsp.quotient.recovery.repaired_text import RepairedText, TextRepair
from fimlsp.quotient.states.checked_state import CheckedState, FinerLanguage, TextSides, checked
from fimlsp.quotient.states.lexeme_state import family_of_lexeme, is_within_lexeme
from fimlsp.quotient.states.protocol import OwnMiddles, State, readings_of
from fimlsp.quotient.states.shortest_completion import NoCompletionError

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary


CLOSING = (b")", b"]", b"}")
"""Brackets that an editor closes."""

QUOTES = (b'"', b"'")

_SPACE = b" "
_LONG_TEXT = 100_000
"""Texts of at least so many bytes are read by the language's check in advance.

That takes some seconds for 100,000 lines. It can be interrupted there, but not while a middle is written.
"""


@value
class Constraint:
    """The texts that may replace a part of a document.

    `start` is the state before any byte, or None if no text connects the two contexts. `relaxed` lists the
    repairs that were assumed because the file is broken elsewhere, in the order of the text. Where some
    middle makes the text valid as it stands, they hold only for the other middles.
    """

    start: State | None
    relaxed: tuple[TextRepair, ...] = ()

    @property
    def ignored(self) -> tuple[Fault, ...]:
        """Faults outside the middle that were encountered so far and are ignored."""
        readings = readings_of(self.start) if self.start is not None else ()
        checked = (reading for reading in readings if isinstance(reading, CheckedState))
        return next((reading.sides.known_to_be_ignored for reading in checked), ())

    @property
    def connectable(self) -> bool:
        """True if there is a middle at all."""
        return self.start is not None


class Document(ContextDocument):
    """A document with the constraint at any cursor."""

    def __init__(self, transitions: ContextTransitions, data: bytes) -> None:
        super().__init__(transitions, data)
        self._is_known_to_check = False
        self._recoveries = Recoveries()
        self._grown_word = GrownWord()
        self._finer_documents: dict[Language, ContextDocument] = {}  # the same text in finer languages

    @cached_property
    def _own_middles(self) -> OwnMiddles | None:
        """The language, if it computes its middles itself."""
        language = self.tables.language
        return language if isinstance(language, OwnMiddles) else None

    def edit(self, start: int, end: int, replacement: bytes) -> None:
        """As in `ContextDocument`."""
        before, change = self.data, Replacement(start, end, replacement)
        super().edit(start, end, replacement)
        for document in self._finer_documents.values():
            document.edit(start, end, replacement)
        self._recoveries.follow(self, change)
        self._grown_word.follow(change, before)

    def prepare_check(self) -> None:
        """Let the language's check, if any, read the text now. From then on it reads changed parts only."""
        check = self.tables.whole_text_check
        if check is not None and not self._is_known_to_check:
            check.faults(self.data)
            self._is_known_to_check = True

    def middle(self, start: int, end: int, *, relax: bool = False, may_escape: bool = True) -> Constraint:
        """The texts that may replace `data[start:end]`. O(depth) once the lines around are known.

        With *relax*, a broken text is read as the nearest valid one, and a half-written one in both ways.
        A middle may then be complete for the repaired text alone (`Constraint.relaxed`).

        Unless it *may_escape*, a middle stays in the brackets and blocks that both its ends are in. It also
        stays in the string or comment at the cursor, if any such middle exists (see `escape.py`).

        Raises:
            ValueError: The cut is outside the text, or inside a character. Positions count bytes, not
                characters.
        """
        for position in (start, end):
            if 0 <= position < len(self.data) and self.data[position] & 0xC0 == 0x80:
                raise ValueError(
                    f"Cannot cut at {start}:{end}: byte {position} is inside a character. "
                    "Count bytes, not characters."
                )
        return self.middle_at_bytes(start, end, relax=relax, may_escape=may_escape)

    def middle_at_bytes(
        self, start: int, end: int, *, relax: bool = False, may_escape: bool = True
    ) -> Constraint:
        """As `middle`, also for a cut inside a character: middles then supply the missing bytes.

        Raises:
            ValueError: The cut is outside the text.
        """
        if not 0 <= start <= end <= len(self.data):
            raise ValueError(f"Cannot cut at {start}:{end}: the text has {len(self.data)} bytes.")
        options = ConnectOptions(forbid_escape=not may_escape)
        if self._may_be_marked(start):
            return self._middle_at_file_start(start, end, options, relax)
        return Constraint(*self._middle(start, end, options, relax))

    def _may_be_marked(self, start: int) -> bool:
        """True if the text up to *start* may be a proper prefix of a byte order mark."""
        is_prefix = start < len(BYTE_ORDER_MARK) and self.data.startswith(BYTE_ORDER_MARK[:start])
        return is_prefix and self.tables.language.byte_order_mark

    def _middle_at_file_start(self, start: int, end: int, options: ConnectOptions, relax: bool) -> Constraint:
        """As `middle_at_bytes`, where a middle may complete a byte order mark."""
        mark = BYTE_ORDER_MARK
        right = self.data[end : end + len(mark)]
        parts = [mark[:size] for size in range(len(mark)) if right.startswith(mark[size:])]
        parts = [part for part in parts if self._is_file_from(end + len(mark) - len(part))]
        unmarked, relaxed = self._middle(0, end, options, relax and not parts)
        state = FileStart(mark[:start], unmarked, tuple(parts))
        return Constraint(state if state.viable else None, relaxed)

    def _is_file_from(self, position: int) -> bool:
        """True if the text from *position* on is a valid file."""
        before = read_up_to(self, 0)
        state = before and connect(self, position, *before, ConnectOptions())
        return state is not None and state.complete

    def _middle(
        self, start: int, end: int, options: ConnectOptions, relax: bool
    ) -> tuple[State | None, tuple[TextRepair, ...]]:
        """The first state of the middles for `data[start:end]`, and the repairs that it assumes."""
        if self._own_middles is not None:
            return self._own_middle(self._own_middles, start, end, options, relax)
        key = options, relax
        readings = self._grown_word.readings(self, start, key) if start == end else None
        if readings is None:
            readings = self._readings(start, end, options, relax)
            if start == end:
                self._grown_word.keep(self, start, key, readings)
        stands = self._checked(readings.connected, start, end, options, lenient=relax)
        return readings.union(stands), readings.repairs

    def _readings(self, start: int, end: int, options: ConnectOptions, relax: bool) -> Readings:
        """The readings of the text at the middles for `data[start:end]`.

        As it stands it may connect only by middles that leave brackets, or take the rest of the line into a
        comment. Then it is none of them if others are likelier.
        """
        staying = connected = _connected(self, start, end, replace(options, falls_back=False))
        if staying is None and options.forbid_escape:
            connected = _connected(self, start, end, options)
        if not relax or self.tables.lexical.contextual:
            return Readings(connected)
        if options.forbid_escape and not is_within_lexeme(staying) and self._is_before_quote(start, end):
            mended, rest = self._with_rest(start, end)
            if is_within_lexeme(mended):
                return Readings(None, mended, rest)
        check = partial(self._checked_repaired, options=options)
        try:
            readings = self._recoveries.readings(self, connected, start, end, options, check)
        except NoCompletionError:  # a repair that no completion ends is none
            return Readings(connected)
        if staying is None and connected is not None and not readings.repairs:
            mended, rest = self._with_rest(start, end)
            if mended is not None:
                return Readings(None, mended, rest)
        if staying is None and options.forbid_escape and readings.replaces_text:
            return readings._replace(connected=None)
        return readings

    def _with_rest(self, start: int, end: int) -> tuple[State | None, tuple[TextRepair, ...]]:
        """The first state of the middles that stay in brackets or string if text after their line is assumed.

        An editor closes the bracket of a new `def`, or of a call in a new `try`, before the rest of the
        statement is there. So it closes an annotation in quotes. The rest is the shortest text that completes
        the file. The state is None if no text does, or if no middle stays there even so.
        """
        follows = self.data[end:].partition(b"\n")[0].rstrip()
        if not follows.lstrip().startswith((*CLOSING, *QUOTES)):
            return None, ()
        line_end = end + len(follows)
        after = _connected(self, line_end, line_end, ConnectOptions())
        whole = after and self._checked_repaired(
            RepairedText(self, line_end, line_end), after, ConnectOptions()
        )
        rest = b"" if whole is None else whole.shortest_completion
        if not rest:
            return None, ()
        text = RepairedText(self, start, end)
        text.replace([(line_end, line_end, rest)])
        options = ConnectOptions(forbid_escape=True, falls_back=False)
        state = _connected(text.document, start, end, options)
        if state is not None and not is_within_lexeme(state):
            state = self._checked_repaired(text, state, options)
        return state, tuple(text.repairs)

    def _checked_repaired(self, text: RepairedText, state: State, options: ConnectOptions) -> State:
        """*state* in the repaired *text*, with the check of whole texts if that is of `structure`.

        Without it, if the text has faults that no middle mends.
        """
        check = self.tables.whole_text_check
        if check is None or not check.structure:
            return state
        sides = TextSides(
            check,
            (text.data[: text.cursor], text.data[text.cursor_end :]),
            state,
            partial(text.document.statement_start, text.cursor),
            FinerLanguage(self.tables.language.finer, lambda _: None, lambda: False),
            stays=options.forbid_escape,
            lenient=True,
        )
        first = checked(sides)
        end = None if first is None else first.feed(first.shortest_completion)
        return first if first is not None and end is not None and end.complete else state

    def _is_before_quote(self, start: int, end: int) -> bool:
        """True if *start* is in a string, and a quote follows *end*: one that an editor has closed."""
        before = read_up_to(self, start) if self.data.startswith(QUOTES, end) else None
        return before is not None and family_of_lexeme(before[1]) == "string"

    def _own_middle(
        self, language: OwnMiddles, start: int, end: int, options: ConnectOptions, relax: bool
    ) -> tuple[State | None, tuple[TextRepair, ...]]:
        """As `_middle`, computed by the *language*, whose offsets count *left* and *right* as one text."""
        left, right, may_escape = self.data[:start], self.data[end:], not options.forbid_escape
        state, spans = language.middle(left, right, may_escape=may_escape, relax=relax)
        shifts = (0 if first < start else end - start for first, _, _ in spans)
        return state, tuple(
            TextRepair(first + shift, last + shift, text)
            for shift, (first, last, text) in zip(shifts, spans, strict=True)
        )

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
        sides = TextSides(
            check,
            (self.data[:start], right),
            state,
            partial(self.statement_start, start),
            FinerLanguage(
                language.finer, partial(self._finer_state, start, end, options), needs_finer_before
            ),
            stays=options.forbid_escape,
            lenient=lenient,
        )
        if language.needs_finer_after(sides.statement) or (not lenient and needs_finer_before()):
            finer = sides.finer_start(b"")
            return None if finer is None and not lenient else checked(sides, finer)
        return checked(sides)

    def _finer_state(self, start: int, end: int, options: ConnectOptions, language: Language) -> State | None:
        """The first state for `data[start:end]` in *language*, which is one of `Language.finer`."""
        document = self._finer_documents.get(language)
        if document is None:
            document = ContextDocument(self.transitions.finer(language), self.data)
            self._finer_documents[language] = document
        return _connected(document, start, end, options)


def _connected(document: ContextDocument, start: int, end: int, options: ConnectOptions) -> State | None:
    """The first state for `data[start:end]` by the grammar alone; None if the text before is broken."""
    before = read_up_to(document, start)
    if before is None or before[0].broken:
        return None
    return connect(document, end, *before, options)


class Engine:
    """Makes documents of one language, which share their knowledge of its lines.

    Engines of equal languages share their tables, which are expensive to make, unless other *tables* are
    given.
    """

    def __init__(self, language: Language, tables: LanguageTables | None = None) -> None:
        self.language = language
        self.tables = tables or tables_of(language)
        self._transitions = ContextTransitions(self.tables)

    def document(self, data: bytes) -> Document:
        """A document with the UTF-8 text *data*.

        Its contexts are computed on demand, or at once by `prepare`.
        """
        return Document(self._transitions, data)

    def prepare(self, vocabulary: Vocabulary) -> None:
        """Make or load the tables of masks that a vocabulary and nearly all places of code need.

        Otherwise the first mask does that. It takes 0.2 s for 49,152 tokens the first time, and 40 ms with
        the files of an earlier process.
        """
        from fimlsp.quotient.masks.mask import store_of

        vocabulary.prepare()
        store = store_of(self.tables, vocabulary)
        before = read_up_to(self.document(b""), 0)
        line = None if before is None else before[1].start_line(b"")
        space = line and line.lexer.feed(_SPACE)
        for step in (line, space):
            key = step and store.key(step.lexer)
            if key:
                store.tokens(key)


@value
class FileStart:
    """A state of a middle that starts within the first bytes of a file.

    `read` is the prefix of the mark that precedes the cursor. `state` is the state after the mark; None if no
    middle connects after it. `parts` are the prefixes of the mark that the right context completes.
    """

    read: bytes
    state: State | None
    parts: tuple[bytes, ...]

    @property
    def viable(self) -> bool:
        """True if some middle connects."""
        return self.state is not None or self._next_part is not None

    def feed(self, data: bytes) -> State | None:
        """The state after *data*; None if nothing that starts like this connects. O(len(data))."""
        read = self.read + data
        if BYTE_ORDER_MARK.startswith(read) and read != BYTE_ORDER_MARK:
            following = FileStart(read, self.state, self.parts)
            return following if following.viable else None
        after = read.removeprefix(BYTE_ORDER_MARK)
        return self.state and (self.state.feed(after) if after else self.state)

    @property
    def complete(self) -> bool:
        """True if the middle may end here."""
        unmarked = self._unmarked
        return (unmarked is not None and unmarked.complete) or self.read in self.parts

    @property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes this middle; empty if it is complete."""
        if self.complete:
            return b""
        if self._next_part is not None:
            return self._next_part[len(self.read) :]
        if self._unmarked is not None:
            return self._unmarked.shortest_completion
        assert self.state is not None
        return BYTE_ORDER_MARK[len(self.read) :] + self.state.shortest_completion

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `State`."""
        from fimlsp.quotient.masks.vocabulary import recheck

        allowed = None if self._unmarked is None else self._unmarked.allowed_texts(vocabulary)
        first = BYTE_ORDER_MARK[len(self.read) :][:1]
        numbers = [number for number, text in enumerate(vocabulary.texts) if text[:1] in (b"", first)]
        return recheck(vocabulary, allowed, numbers, lambda text: self.feed(text) is not None)

    @property
    def _unmarked(self) -> State | None:
        """The state if the bytes read belong to a name, as they do for letters from U+F000 on."""
        return self.state and (self.state.feed(self.read) if self.read else self.state)

    @property
    def _next_part(self) -> bytes | None:
        return next((part for part in self.parts if part.startswith(self.read)), None)
