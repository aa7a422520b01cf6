"""A language that is given as a Lark grammar, and its editor policy.

The policy is derived from the lexemes. An ignored lexeme that starts like a usual comment is a comment; a
string is one lexeme between quotes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from fimlsp.languages.custom.compiling import CompiledGrammar, compiled
from fimlsp.languages.custom.grammar_files import BASIC, GrammarFiles, Read, read_files
from fimlsp.languages.custom.indentation import LINE_END, BracketModes, Indenter
from fimlsp.languages.custom.lalr import AnyMode, LalrStack, SomeStack
from fimlsp.languages.custom.lexemes import REJECTED, terminal_of
from fimlsp.languages.suggested_lines import LinesPolicy
from fimlsp.lexing.automata.dfa import Dfa
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.lexing.nesting import ModeStack
from fimlsp.quotient.grammar.cfg import Grammar, GrammarError
from fimlsp.quotient.language.contract import Language, OpenModes, TextAfterCursor
from fimlsp.quotient.language.editor_policy import Comment, EditorPolicy

_PAIRS = {"(": ")", "[": "]", "{": "}"}
_SEPARATORS = b"\r\n,;}"
"""Bytes after which a line may be cut, as far as the lexemes of the grammar allow it."""


@dataclass(frozen=True, eq=True)
class LarkLanguage(Language):
    """The language of a Lark grammar: its files, the rule that it starts from, and the lexer that reads it.

    Without a `lexer` it is the one that a comment of the grammar names, or the basic one.
    """

    files: GrammarFiles
    start: str = "start"
    lexer: str | None = None

    @property
    def compiled(self) -> CompiledGrammar:
        """The grammar for the engine."""
        return compiled(self.files, self.start, self.reader)

    @property
    def reader(self) -> str:
        """The lexer that was chosen."""
        return self.lexer or self.files.lexer

    @property
    def lexer_in_force(self) -> str:
        """The lexer that reads its files; in a language of indentation that is the basic one."""
        return self.reader if self.indenter is None else BASIC

    @property
    def name(self) -> str:  # type: ignore[override]  # depends on the file
        """The name of the file, without its suffix."""
        return Path(self.files.name).stem

    @property
    def enclosures(self) -> dict[str, str]:  # type: ignore[override]  # depends on the grammar
        """The brackets among the literals of the grammar."""
        of_text = {text: name for name, text in self.compiled.literals.items()}
        return {of_text[a]: of_text[b] for a, b in _PAIRS.items() if a in of_text and b in of_text}

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`, as far as the grammar defines it; one that cannot be used defines nothing."""
        try:
            return _policy(self)
        except GrammarError:
            return EditorPolicy()

    def lexical_spec(self) -> LexicalSpec:
        """As in `Language`."""
        grammar = self.compiled
        if grammar.indenter is not None and grammar.layout is not None:
            brackets, layout = grammar.indenter.brackets, grammar.layout
            return LexicalSpec(
                dfa=grammar.dfa,
                start=BracketModes(brackets),
                unknown=BracketModes(brackets, known=False),
                space=grammar.layout.space,
                line_end=LINE_END,
                comment=grammar.layout.comment,
                line_joiner=grammar.layout.joiner,
                unseen=grammar.ignored
                - {grammar.layout.space, grammar.layout.comment, grammar.layout.joiner},
                rejected=REJECTED,
                mode_changers=frozenset((*brackets, *brackets.values())),
                brackets=brackets,
                offside=layout.offside,
            )
        if grammar.parser is not None:
            seen = frozenset(grammar.dfa.kinds) - grammar.ignored - {REJECTED}
            return LexicalSpec(
                dfa=grammar.dfa,
                start=LalrStack(grammar.parser, grammar.parser.start),
                unknown=SomeStack(0),
                space="",
                line_end="",
                unseen=grammar.ignored,
                rejected=REJECTED,
                mode_changers=seen,
                marks=seen,
                contextual=True,
            )
        return LexicalSpec(
            dfa=grammar.dfa,
            start=ModeStack(),
            unknown=ModeStack(known=False),
            space="",
            line_end="",
            unseen=grammar.ignored,
            rejected=REJECTED,
            separators=_SEPARATORS,
        )

    @property
    def indenter(self) -> Indenter | None:
        """The indenter that makes blocks of columns; None in a language without indentation."""
        return self.compiled.indenter

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return self.compiled.grammar

    def terminal(self, kind: str) -> str:
        """As in `Language`."""
        return terminal_of(kind)

    def open_modes(self, text: TextAfterCursor) -> OpenModes:
        """As in `Language`."""
        del text
        parser = self.compiled.parser
        return OpenModes() if parser is None else AnyMode(parser.number_of_modes)

    def refused_place(self, text: bytes, cursor: int) -> str | None:
        """As in `Language`, with the terminals that the grammar expects there."""
        from fimlsp.languages.custom.trial import place_in  # which tries languages of this class

        return place_in(self, text, cursor)


@lru_cache(32)
def _policy(language: LarkLanguage) -> EditorPolicy:
    grammar = language.compiled
    return policy_of(language.name, grammar.dfa, grammar.ignored, grammar.literals)


def load_grammar(
    path: str | Path | None = None,
    start: str = "start",
    *,
    text: str | None = None,
    lexer: str | None = None,
    read: Read | None = None,
) -> LarkLanguage:
    """The language of the Lark grammar at *path*, or of its *text*, whose files start with the rule *start*.

    *lexer* is "basic", "contextual" or "dynamic"; by default it is the one that a comment of the grammar
    names, or the basic one. Imports must lie in the grammar's own folder or belong to Lark; none of them is
    ever run. *read* reads a file; by default it is opened from disk.

    Raises:
        GrammarError: the grammar cannot be read or used; the message names a remedy.
        ValueError: neither a path nor a text is given, or both.
    """
    if (path is None) == (text is None):
        raise ValueError("Cannot load a grammar: give either its path or its text.")
    files = read_files(Path(path), read or _read) if path is not None else _of_text(text or "")
    language = LarkLanguage(files, start, lexer or files.lexer)
    compiled(files, start, language.reader)
    return language


def _of_text(text: str) -> GrammarFiles:
    return GrammarFiles((("grammar", text.replace("\r\n", "\n")),))


def _read(path: Path, most: int) -> bytes | None:
    if not path.is_file():
        raise FileNotFoundError(2, "no such file")
    with path.open("rb") as opened:
        data = opened.read(most + 1)
    return data if len(data) <= most else None


_LINE_COMMENTS = (Comment("#"), Comment("//"), Comment("--"), Comment(";"), Comment("%"), Comment("!"))
_BRACKETED_COMMENTS = (Comment("/*", "*/"), Comment("(*", "*)"), Comment("{-", "-}"), Comment("<!--", "-->"))
_QUOTES = b"\"'`"
_SAMPLE = "Path: a/b.c"
_WORD = re.compile(r"[^\W\d]\w*\Z")


def policy_of(name: str, dfa: Dfa, ignored: Collection[str], literals: Mapping[str, str]) -> LinesPolicy:
    """The policy of the language *name* with the lexemes of *dfa* and these *ignored* kinds."""
    known = (*_LINE_COMMENTS, *_BRACKETED_COMMENTS)
    comments = [comment for comment in known if not _kinds(dfa, _sample(comment)).isdisjoint(ignored)]
    quotes = [quote for quote in _QUOTES if not _kinds(dfa, b"%c(%c" % (quote, quote)).issubset(ignored)]
    bracketed = [rb"%b.*?(?:%b|\Z)" % _escaped(comment) for comment in comments if comment.end]
    to_line_end = [rb"%b[^\n]*" % _escaped(comment)[0] for comment in comments if not comment.end]
    strings = [rb"%c(?:\\.|[^%c\\\n])*%c?" % (quote, quote, quote) for quote in quotes]
    starts = [_escaped(comment)[0] for comment in comments]
    return LinesPolicy(
        file_ending=f".{PurePosixPath(name).name}",
        comment=comments[0] if comments else None,
        known_names=frozenset(text.encode() for text in literals.values() if _WORD.match(text)),
        block_opener=re.compile(rb".*[(\[{:]\s*\Z", re.DOTALL),
        not_code=re.compile(b"|".join([*bracketed, *to_line_end, *strings]) or rb"(?!)", re.DOTALL),
        prose=re.compile(rb"\s*(?:%b)" % b"|".join(starts) if starts else rb"(?!)"),
    )


def _sample(comment: Comment) -> bytes:
    return f"{comment.begin} {_SAMPLE}{comment.end and ' ' + comment.end}".encode()


def _escaped(comment: Comment) -> tuple[bytes, bytes]:
    return re.escape(comment.begin.encode()), re.escape(comment.end.encode())


def _kinds(dfa: Dfa, text: bytes) -> set[str]:
    """The kinds of the lexemes that *text* is as a whole, in each mode of the lexer."""
    found = (dfa.accepts[dfa.run(start, text)] for start in dfa.starts.values())
    return {dfa.kinds[kind] for kind in found if kind >= 0}
