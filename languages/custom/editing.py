"""What an editor has to know of a user's language, found out from its lexemes and brackets.

A remark is what the grammar ignores although it begins like one of the usual ones; a string is one lexeme
between quotes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

from fimlsp.languages.suggested_lines import LinesPolicy
from fimlsp.lexing.automata.dfa import Dfa
from fimlsp.lexing.modes import CODE
from fimlsp.quotient.language.editor_policy import Comment

_LINE_COMMENTS = (Comment("#"), Comment("//"), Comment("--"), Comment(";"), Comment("%"), Comment("!"))
_BRACKETED_COMMENTS = (Comment("/*", "*/"), Comment("(*", "*)"), Comment("{-", "-}"), Comment("<!--", "-->"))
_QUOTES = b"\"'`"
_SAMPLE = "Path: a/b.c"
_WORD = re.compile(r"[^\W\d]\w*\Z")


def policy_of(name: str, dfa: Dfa, ignored: Collection[str], literals: Mapping[str, str]) -> LinesPolicy:
    """The policy of the language *name*, whose lexemes *dfa* reads; it ignores the kinds *ignored*."""
    comments = [
        each
        for each in (*_LINE_COMMENTS, *_BRACKETED_COMMENTS)
        if _kind(dfa, f"{each.begin} {_SAMPLE}{each.end and ' ' + each.end}".encode()) in ignored
    ]
    quotes = [quote for quote in _QUOTES if _kind(dfa, b"%c(%c" % (quote, quote)) not in (None, *ignored)]
    closed = [rb"%b.*?(?:%b|\Z)" % _escaped(each) for each in comments if each.end]
    to_the_end = [rb"%b[^\n]*" % re.escape(each.begin.encode()) for each in comments if not each.end]
    strings = [rb"%c(?:\\.|[^%c\\\n])*%c?" % (quote, quote, quote) for quote in quotes]
    begins = [re.escape(each.begin.encode()) for each in comments]
    return LinesPolicy(
        file_ending=f".{PurePosixPath(name).name}",
        comment=comments[0] if comments else None,
        known_names=frozenset(text.encode() for text in literals.values() if _WORD.match(text)),
        block_opener=re.compile(rb".*[(\[{:]\s*\Z", re.DOTALL),
        not_code=re.compile(b"|".join([*closed, *to_the_end, *strings]) or rb"(?!)", re.DOTALL),
        prose=re.compile(rb"\s*(?:%b)" % b"|".join(begins) if begins else rb"(?!)"),
    )


def _escaped(comment: Comment) -> tuple[bytes, bytes]:
    return re.escape(comment.begin.encode()), re.escape(comment.end.encode())


def _kind(dfa: Dfa, text: bytes) -> str | None:
    """The kind of the lexeme that *text* is as a whole; None if it is none."""
    kind = dfa.accepts[dfa.run(dfa.starts[CODE], text)]
    return dfa.kinds[kind] if kind >= 0 else None
