"""Half-written files as people leave them while they type, in `situations.txt`.

Each has a title after `==`, the text with its cursor `<|>`, and after `++` middles that a person might go on
with. Those after `--` are right as well, but refused today.
"""

from pathlib import Path

import pytest

from fimlsp.testing.checking import COMPLETE, fed, verdict

from ..middle_support import engine


def situations(path):
    for part in path.read_text().split("== ")[1:]:
        title, _, body = part.rstrip("\n").partition("\n")
        lines = body.split("\n")
        text = [line for line in lines if line[:3] not in ("++ ", "-- ")]
        middles = {sign: [line[3:] for line in lines if line.startswith(sign)] for sign in ("++ ", "-- ")}
        yield title, ("\n".join(text) + "\n", middles["++ "], middles["-- "])


SITUATIONS = dict(situations(Path(__file__).with_name("situations.txt")))


@pytest.mark.parametrize("title", SITUATIONS)
def test_a_person_can_go_on(title):
    text, middles, refused = SITUATIONS[title]
    left, right = text.encode().split(b"<|>")
    start = engine().document(left + right).middle(len(left), len(left), may_escape=False, relax=True).start
    assert verdict(fed(start, start.shortest_completion)) == COMPLETE
    assert {middle: verdict(fed(start, middle.encode())) for middle in middles} == dict.fromkeys(
        middles, COMPLETE
    )
    assert all(verdict(fed(start, middle.encode())) != COMPLETE for middle in refused)
