"""Random queries by the parser itself: at each place one of the tokens that may come, until it is to end."""

from fimlsp.languages.typed.lexicon import needs_space

NAMES = ("a", "b", "c", "t1", "T2", "total", "_x", "recent_orders", "id", "Name")
TEXTS = ("''", "'a'", "'it''s'", "'é; --'", "'2024-01-31'")
NUMBERS = ("0", "7", "2.5", "12345678")


def walk(start, rng, length):
    """About *length* tokens, a random walk from *start*, and then the shortest completion."""
    state, text, before = start, "", ""
    for _ in range(rng.randint(1, length)):
        token = _token(state.machine_at_end, rng)
        if token is None:
            break
        written = f"{' ' if needs_space(before, token) or rng.random() < 0.7 else ''}{_in_some_case(token, rng)}"
        following = state.feed(written.encode())
        assert following is not None, (text, written)
        state, text, before = following, text + written, token
    return text + state.shortest_completion.decode()


def _in_some_case(token, rng):
    """*token* as written by a person: a keyword or a name in upper or lower case."""
    return token if token[0] == "'" else rng.choice((str, str, str.upper, str.title))(token)


def _token(machine, rng):
    expected = machine.expected()
    words = sorted(expected.words)
    kinds = ["words"] * 4 * bool(words) + ["name"] * (expected.taken_names is not None)
    kinds += ["number"] * (expected.number or expected.integer) + ["string"] * expected.string
    if not kinds:
        return None
    match rng.choice(kinds):
        case "words":
            return rng.choice(words)
        case "name":
            names = [name for name in NAMES if expected.accepts(name.lower())]
            return rng.choice(names) if names else rng.choice(words)
        case "number":
            return rng.choice([number for number in NUMBERS if expected.accepts(number)])
        case _:
            return rng.choice(TEXTS)
