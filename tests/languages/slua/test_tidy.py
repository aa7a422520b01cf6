"""Scripts as people lay them out, and nothing that goes on for ever."""

import pytest
from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.incremental.parser import begin
from fimlsp.languages.slua.incremental.tidy import MOST_EQUAL, TidyState

from .test_faults import INTERFACE

START = TidyState(begin(INTERFACE))


@pytest.mark.parametrize(
    ("text", "refused_at"),
    [
        ("local x: number = 1;\n\nlocal y: number = 2;\n", None),
        ("local x: number = 1;\n\n\n", 22),
        ("local x: number =\n1;", 17),
        ("local x: number = 1 +\n", 21),
        ("local x: number = player.Power(\n", 31),
        ("Register({\n  OnTurn = function(a)\n    a.health = 1;\n  end,\n  power = 1\n});", None),
        ("Register({\n  OnTurn =\n", 21),
        ("interface T {\n  a: number;\n};\nif true then\n  player.health = 1;\nelse\nend;", None),
        ("local f: () -> number = function()\n  return 1;\nend;", None),
        (" " * MOST_EQUAL + "local x: number = 1;", None),
        (" " * (MOST_EQUAL + 1), MOST_EQUAL),
        (" " * MOST_EQUAL + "\t", MOST_EQUAL),
        ('local x: string = "' + "a" * MOST_EQUAL + '";', None),
        ('local x: string = "' + "a" * (MOST_EQUAL + 1), 19 + MOST_EQUAL),
        ('local x: string = "' + " " * (MOST_EQUAL + 1), 19 + MOST_EQUAL),
        ('local x: string = "' + '\\"' * (MOST_EQUAL + 1) + '";', None),
    ],
)
def test_a_script(text, refused_at):
    data, state = text.encode(), START
    for number, byte in enumerate(data):
        following = state.feed(bytes((byte,)))
        if following is None:
            assert number == refused_at
            break
        state = following
    else:
        assert refused_at is None
        whole = START.feed(data)
        assert (whole.equal, whole.line_ends, whole.complete) == (state.equal, state.line_ends, True)
        assert state.complete
    whole = data[: len(data) if refused_at is None else refused_at] + state.shortest_completion
    assert not check_script(whole.decode(), INTERFACE).faults
