"""Random values, and random changes of good ones."""

from __future__ import annotations

import os

WORDS = ["", "a", "é", "\ud800", "\0", "x" * 300, "../../ESC", "/dev/stdin", "~nosuch", "file:///a.py", "%00"]
WORDS += ["a/b", "**/*", "{a,b}", "[", "(a|a)*$", "-1", "1e999", "main", "\n", "\u2028", "SELECT 1"]
NUMBERS = [0, 1, -1, 2, 7, 255, 2**31, -(2**31), 2**53, 2**64, 10**30, 0.5, -0.0, 1e308, 1e400, float("nan")]


def value(rng, depth=3):
    """A value of JSON, or NaN and infinity, which Python's reader takes."""
    kind = rng.randrange(6 if depth else 4)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice(NUMBERS)
    if kind in (2, 3):
        return rng.choice(WORDS)
    many = range(rng.choice([0, 1, 2, 5]))
    if kind == 4:
        return [value(rng, depth - 1) for _ in many]
    return {rng.choice(WORDS): value(rng, depth - 1) for _ in many}


def changed(rng, tree, n_changes=1):
    """*tree* with some of its nodes replaced, removed or added."""
    for _ in range(n_changes):
        tree = _changed_once(rng, tree)
    return tree


def _changed_once(rng, tree):
    if not isinstance(tree, (dict, list)) or not tree or rng.random() < 0.15:
        return value(rng)
    if isinstance(tree, list):
        at = rng.randrange(len(tree))
        return [*tree[:at], *([] if rng.random() < 0.1 else [_changed_once(rng, tree[at])]), *tree[at + 1 :]]
    key = rng.choice(list(tree))
    rest = {name: child for name, child in tree.items() if name != key}
    roll = rng.random()
    if roll < 0.1:
        return rest
    if roll < 0.2:
        return tree | {rng.choice([*WORDS, *tree]): value(rng)}
    return rest | {key: _changed_once(rng, tree[key])}


def damaged(rng, data):
    """*data* with some bytes flipped, cut out, doubled, or cut off."""
    for _ in range(rng.randint(1, 4)):
        at, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        end = min(end, at + rng.choice([1, 8, 1000]))
        noise = rng.choice([b"", rng.randbytes(end - at), b"\0" * 8, b"\xff" * 8, data[at:end] * 2])
        data = data[:at] if rng.random() < 0.1 else data[:at] + noise + data[end:]
    return data


def put(rng, path, good):
    """Put something at *path*: damaged content, or a special file."""
    kinds = [
        "damaged",
        "damaged",
        "damaged",
        "pipe",
        "device",
        "folder",
        "circle",
        "nothing",
        "stdin",
        "large",
    ]
    match rng.choice(kinds):
        case "damaged":
            path.write_bytes(damaged(rng, good))
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to(rng.choice(["/dev/zero", "/dev/null", "/dev/tty"]))
        case "folder":
            path.mkdir()
        case "circle":
            path.symlink_to(path.name)
        case "nothing":
            path.symlink_to("no/such/file")
        case "stdin":
            path.symlink_to(rng.choice(["/dev/stdin", "/proc/self/fd/0"]))
        case "large":
            with path.open("wb") as file:
                file.truncate(1 << 34)
