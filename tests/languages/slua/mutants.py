"""Scripts that are nearly right."""

import re

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\w+|[<>=~]=|\.\.|\S')


def mutant(text, rng):
    """*text* with some of its tokens deleted, doubled, exchanged or replaced by others of it."""
    tokens = [found.span() for found in TOKEN.finditer(text)]
    for _ in range(rng.randint(1, 2)):
        if not tokens:
            return text
        (start, end), (other, mismatch) = rng.choice(tokens), rng.choice(tokens)
        replacement = rng.choice(
            ("", f"{text[start:end]} {text[start:end]}", text[other:mismatch], text[other:mismatch])
        )
        text = f"{text[:start]} {replacement} {text[end:]}"
        tokens = [found.span() for found in TOKEN.finditer(text)]
    return text
