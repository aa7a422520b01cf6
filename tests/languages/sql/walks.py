"""Random queries by the parser itself: at each place one of the tokens that may come, until it is to end."""

from fimlsp.languages.sql.lexemes import KEYWORDS
from fimlsp.languages.sql.machine import AGGREGATES, FUNCTIONS
from fimlsp.languages.typed.lexicon import needs_space

NAMES = ("a", "b", "c", "t1", "T2", "total", "_x", "recent_orders", "id", "Name", "count")
TEXTS = ("''", "'a'", "'it''s'", "'é; --'", "'2024-01-31'")
NUMBERS = ("0", "7", "2.5", "12345678")
CLAUSES = frozenset(("from", "where", "group", "having", "order", "limit", "join", "left", "on"))


def walk(start, rng, length, before=""):
    """About *length* tokens, a random walk from *start* on, and then the shortest completion.

    *before* is the token before them.
    """
    state, text = start, ""
    for _ in range(rng.randint(1, length)):
        token = _token(state.machine_at_end, rng)
        if token is None:
            break
        written = (
            f"{' ' if needs_space(before, token) or rng.random() < 0.7 else ''}{_in_some_case(token, rng)}"
        )
        following = state.feed(written.encode())
        assert following is not None, (text, written)
        state, text, before = following, text + written, token
    return text + state.shortest_completion.decode()


def some_schema(rng):
    """A schema whose tables share many names of columns, so that names are often ambiguous."""
    names = ("id", "name", "code", '"x y"', "sum", "total")
    types = ("INTEGER", "TEXT", "TEXT", "BOOLEAN", "BLOB", "")
    tables = []
    for number in range(rng.randint(1, 6)):
        columns = rng.sample(names, rng.randint(1, len(names)))
        written = ", ".join(f"{column} {rng.choice(types)}" for column in columns)
        tables.append(f"CREATE TABLE {rng.choice(('t', 'table_', 'name', 'a'))}_{number} ({written});")
    return "\n".join(tables)


def _in_some_case(token, rng):
    """*token* as written by a person: a keyword or a name in upper or lower case."""
    return token if token[0] == "'" else rng.choice((str, str, str.upper, str.title))(token)


def _token(machine, rng):
    expected = machine.expected()
    kinds = {}
    for word in sorted(expected.words):
        kinds.setdefault(_kind(word), []).append(word)
    if expected.taken_names is not None:
        kinds["new name"] = [name for name in NAMES if expected.accepts(name.lower())]
    if expected.number or expected.integer:
        kinds["number"] = [number for number in NUMBERS if expected.accepts(number)]
    if expected.string:
        kinds["text"] = TEXTS
    possible = [kind for kind in kinds if kinds[kind]] + ["clause"] * ("clause" in kinds)
    return rng.choice(kinds[rng.choice(possible)]) if possible else None


def _kind(word):
    if word in CLAUSES:
        return "clause"
    if word in FUNCTIONS or word in AGGREGATES:
        return "function"
    return "keyword" if word in KEYWORDS else "name" if word[0].isalpha() or word[0] == '"' else "sign"
