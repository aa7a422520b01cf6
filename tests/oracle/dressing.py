"""The same statements in another layout: line ends, indentation, joined lines, comments, f-strings."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

_MOST_PLACES = 3


def dressed(text: bytes, rng: random.Random) -> bytes:
    """*text*, every other time in another layout; now and then it is valid no more."""
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        text = rng.choice(_LAYOUTS)(text, rng)
    return text


def _everywhere(old: bytes, new: bytes) -> Callable[[bytes, random.Random], bytes]:
    return lambda text, _: text.replace(old, new)


def _somewhere(pattern: bytes, new: bytes) -> Callable[[bytes, random.Random], bytes]:
    """A few matches of *pattern* replaced by *new*, in which a backslash is written twice."""

    def change(text: bytes, rng: random.Random) -> bytes:
        places = list(re.finditer(pattern, text))
        for match in sorted(
            rng.sample(places, min(len(places), _MOST_PLACES)), key=re.Match.start, reverse=True
        ):
            text = text[: match.start()] + match.expand(new) + text[match.end() :]
        return text

    return change


_LAYOUTS = (
    lambda text, _: text.rstrip(b"\n"),
    _everywhere(b"\n", b"\r\n"),
    _everywhere(b"\n", b"\r"),
    _everywhere(b"    ", b"\t"),
    _everywhere(b"    ", b" "),
    _everywhere(b"\n", b"\n\f"),
    _everywhere(b"\n", b" # c\n"),
    _everywhere(b"\n", b"\n\n"),
    _somewhere(rb"\n( *)", rb"\n \n\1"),
    _somewhere(rb"\n( *)", rb"\n\1# c\n\1"),
    _somewhere(rb"(?m)^( *)", rb"\\\n\1"),
    _somewhere(rb"(?m)^( *)", rb"\1\\\n"),
    _somewhere(rb"(?m)^( *)", rb"\1\\\r\n  "),
    _somewhere(rb" +", rb" \\\n "),
    _somewhere(rb" +", rb"\t\\\r\n"),
    _somewhere(rb"(?m)$", rb"\\\n"),
    _somewhere(rb"([\[({,])", rb"\1\n"),
    _somewhere(rb"([\[({,])", rb"\1 # c\n"),
    _somewhere(rb"\n +", rb"; "),
    _somewhere(rb":\n +", rb": "),
    _somewhere(rb"(?m)^( +)", rb"\1\1"),
    _somewhere(rb"(\b[a-z]\w*)", b"\\1\xc3\xa9"),
    _somewhere(rb"'([^'\n]*)'", rb"f'\1'"),
    _somewhere(rb"'([^'\n]*)'", rb"f'''{\1}'''"),
    _somewhere(rb"\b([a-z]\w*)\b", rb"f'{\1!r:>{\1}}'"),
)
