"""Where blanks stand between the lexemes of a script that somebody reads."""

from __future__ import annotations

from fimlsp.languages.slua.incremental.tokens import KEYWORDS, TOKEN, needs_blank

_TIGHT_BEFORE = frozenset((",", ";", ")", ".", ":"))
_TIGHT_BEHIND = frozenset(("(", "{", "."))
_BEFORE_OPERAND = KEYWORDS - {"end", "true", "false", "function"}


def spaced(text: bytes, before: bytes) -> bytes:
    """*text*, whole lexemes behind *before*, with blanks between them as people write."""
    lexemes = TOKEN.findall(before.decode("utf-8", "replace"))
    last, earlier = (["", "", *lexemes])[:-3:-1]
    is_joined = not before or before[-1:].isspace()
    written = ""
    for lexeme in TOKEN.findall(text.decode("utf-8")):
        needs = last and not is_joined and _has_blank(earlier, last, lexeme)
        written += f" {lexeme}" if needs else lexeme
        earlier, last, is_joined = last, lexeme, False
    return written.encode("utf-8")


def _has_blank(earlier: str, last: str, lexeme: str) -> bool:
    """Whether a blank stands between *last*, which is behind *earlier*, and *lexeme*."""
    if lexeme in _TIGHT_BEFORE or last in _TIGHT_BEHIND or lexeme == "}" or (last, lexeme) == ("{", "}"):
        return needs_blank(last, lexeme)
    if lexeme == "(":
        is_call = last == "function" or last == ")" or _is_name(last)
        return not is_call
    if last == "-" and (not earlier or earlier in _BEFORE_OPERAND or not _ends_operand(earlier)):
        return needs_blank(last, lexeme)
    return True


def _is_name(lexeme: str) -> bool:
    return lexeme[0].isalpha() and lexeme not in KEYWORDS


def _ends_operand(lexeme: str) -> bool:
    return lexeme[0].isalnum() or lexeme[0] == '"' or lexeme in (")", "}")
