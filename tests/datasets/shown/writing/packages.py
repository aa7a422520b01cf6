"""A made-up package in two releases, as texts by path."""

OLD = {
    "shop/prices.py": """\
import json


def total(items):
    result = 0
    for item in items:
        result += item.price
    return result


def shown(price):
    return "%d" % price
""",
    "shop/same.py": "kept = 1\n",
    "shop/gone.py": "gone = 1\n",
}

NEW = {
    "shop/prices.py": '''\
import json
import math


def total(items, rate):
    result = 0
    for item in items:
        result += item.price
    return math.ceil(result * rate)


# a comment
def load(path):
    """A string of

    several lines."""
    with open(path) as file:
        return json.load(file)


def shown(price):
    return "%d" % price
''',
    "shop/same.py": "kept = 1\n",
    "shop/fresh.py": "fresh = 1\n",
}


def write(folder, files):
    """*files* below *folder*; the folder of the package."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "shop"
