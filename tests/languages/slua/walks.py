"""Random scripts by the parser itself: at each place one of the lexemes that may come, until it is to end."""

from fimlsp.languages.slua.lexemes import needs_space

OPENERS = sorted({*"({^%-", "..", "and", "do", "for", "function", "if", "local", "not", "return", "while"})
CLOSERS = frozenset((")", "}", "end"))
NAMES = ("a", "b", "c", "value", "name", "x1", "Thing", "Other")


def walk(start, rng, length, choices=sorted):
    """About *length* lexemes, a random walk from *start*, and then the shortest completion.

    *choices* are those of the words that may come; some words come in any case.
    """
    state, text, before = start, "", ""
    for _ in range(length):
        token = _token(state.machine_at_end, rng, choices if rng.random() < 0.8 else sorted)
        if token is None:
            break
        written = f"{' ' if needs_space(before, token) else ''}{token}"
        following = state.feed(written.encode())
        assert following is not None, (text, written)
        state, text, before = following, text + written, token
    return text + state.shortest_completion.decode()


def deep_walk(start, rng, length):
    """As `walk`, with an inclination to six of the lexemes that open something, and few that close it."""
    inclination = frozenset(rng.sample(OPENERS, 6))
    return walk(start, rng, length, lambda words: sorted(inclination & words or words - CLOSERS or words))


def _token(machine, rng, choices):
    expected = machine.expected()
    kinds = ["words"] * 4 * bool(expected.words) + ["name"] * (expected.taken_names is not None)
    kinds += ["number"] * expected.number + ["string"] * expected.string
    if not kinds:
        return None
    match rng.choice(kinds):
        case "words":
            return rng.choice(choices(expected.words))
        case "name":
            names = [name for name in NAMES if name not in expected.taken_names]
            return rng.choice(names) if names else f"n{rng.randrange(10**6)}"
        case "number":
            return rng.choice(("0", "7", "2.5"))
        case _:
            return rng.choice(('""', '"a"', '"é"'))
