"""The three properties of the parser, each for one text."""

import re

from fimlsp.languages.sql.lexemes import LEXICON

from .walks import walk

NAME = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|[A-Za-z_]\w*")
UNKNOWN = "qzx_wv"


def read(start, text):
    """The state after the longest beginning of *text* that is accepted, and the length of that in bytes."""
    state, data = start, text.encode()
    for number in range(len(data)):
        following = state.feed(data[number : number + 1])
        if following is None:
            return state, number
        state = following
    return state, len(data)


def accepts(start, text):
    state, size = read(start, text)
    return size == len(text.encode()) and state.complete


def completed(start, text, rng):
    """A beginning of *text* with its shortest completion."""
    data = text.encode()
    kept = data[: rng.randint(0, len(data))]
    return (kept + start.feed(kept).shortest_completion).decode()


def continued(start, text, rng, length=30):
    """A beginning of *text*, up to a token, and a random walk from there."""
    token = rng.choice([*LEXICON.token.finditer(text)])
    kept = text[: token.end()]
    return kept + walk(start.feed(kept.encode()), rng, length, before=token[0])


def check_mutant(start, judge, text, refused_within=None):
    """The parser refuses *text* if SQLite does, and the beginning before the first refused byte has an end.

    *refused_within*: the offsets, in bytes, of the name that SQLite does not know. It is refused there.
    """
    fault = judge.fault(text)
    state, size = read(start, text)
    is_accepted = size == len(text.encode()) and state.complete
    assert not (fault and is_accepted), (fault, text)
    whole = text.encode()[:size] + state.shortest_completion
    assert not judge.fault(whole.decode()), (judge.fault(whole.decode()), text, whole)
    if refused_within is not None and fault and re.match(r"no such (table|column)", fault):
        first, last = refused_within
        assert first <= size < last, (fault, size, text)
        return True
    return fault is not None


def with_unknown_name(schema, text, rng):
    """*text* with an unknown name for one of a table or column, and the offsets of that; None without any."""
    known = schema.tables.keys() | {column for table in schema.tables.values() for column in table.columns}
    places = [found.span() for found in NAME.finditer(text) if found[0].lower() in known]
    if not places:
        return None
    first, last = rng.choice(places)
    at = len(text[:first].encode())
    return f"{text[:first]}{UNKNOWN}{text[last:]}", (at, at + len(UNKNOWN))
