"""Half-written files as people leave them while they type, in `situations*.txt`.

Each has a title after `==`, the text with its cursor `<|>`, and after `++` middles that a person might go on
with. Those after `--` are right as well, but refused today. Those after `!!` are wrong.
"""

from pathlib import Path

import pytest

from fimlsp.languages.typescript import tsx, typescript
from fimlsp.quotient.engine import Engine
from fimlsp.testing.checking import COMPLETE, fed, verdict

from ..middle_support import engine

SIGNS = "++ ", "-- ", "!! "
ENGINES = {
    "situations": engine(),
    "situations_typescript": Engine(typescript),
    "situations_tsx": Engine(tsx),
}


def situations(path):
    for part in ("\n" + path.read_text()).split("\n== ")[1:]:
        title, _, body = part.rstrip("\n").partition("\n")
        lines = body.split("\n")
        text = [line for line in lines if line[:3] not in SIGNS]
        middles = [[line[3:] for line in lines if line.startswith(sign)] for sign in SIGNS]
        yield title, ("\n".join(text) + "\n", *middles)


SITUATIONS = {
    (name, title): situation
    for name in ENGINES
    for title, situation in situations(Path(__file__).with_name(f"{name}.txt"))
}


@pytest.mark.parametrize(("name", "title"), SITUATIONS)
def test_a_person_can_go_on(name, title):
    text, middles, refused, wrong = SITUATIONS[name, title]
    left, right = text.encode().split(b"<|>")
    document = ENGINES[name].document(left + right)
    start = document.middle(len(left), len(left), may_escape=False, relax=True).start
    assert verdict(fed(start, start.shortest_completion)) == COMPLETE
    assert {middle: verdict(fed(start, middle.encode())) for middle in middles} == dict.fromkeys(
        middles, COMPLETE
    )
    assert all(verdict(fed(start, middle.encode())) != COMPLETE for middle in (*refused, *wrong))
