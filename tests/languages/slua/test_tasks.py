"""The paper's assumptions about its parsers (A1 to A3) hold for every kind of task, in random scripts."""

import random
from functools import cache

import pytest

from fimlsp.languages.slua.incremental import expressions, machine, statements, type_expressions
from fimlsp.languages.slua.incremental.goals import LEVELS
from fimlsp.languages.slua.incremental.machine import Step, Task
from fimlsp.languages.slua.incremental.statements import ScriptState, begin
from fimlsp.languages.slua.lexemes import KEYWORDS, SIGNS, TOKEN
from fimlsp.lexing.automata.dfa import DEAD
from fimlsp.lexing.nesting import CODE

from .next_regex import REFUSED, automaton
from .programs import Writer
from .test_slua import INTERFACE
from .walks import NAMES, walk

ENDING = (";", ")", "}", ",", "end", "then", "do")


def kinds_of_tasks():
    modules = (expressions, expressions, machine, statements, type_expressions)
    found = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    return sorted((kind for kind in found if issubclass(kind, Task)), key=lambda kind: kind.__name__)


@cache
def places():
    """The places of some random scripts, between their lexemes."""
    found = []
    for seed in range(12):
        rng = random.Random(seed)
        text = Writer(INTERFACE, rng).script() if seed % 2 else walk(begin(INTERFACE), rng, 60)
        text = text if seed else "local f: (at: number) -> void = function(a) end;"
        place = begin(INTERFACE).machine
        for token in TOKEN.findall(text):
            found.append(place)
            place = place.take(token)
    return found


def active_tasks(place):
    """The tasks that may continue at *place*, with the tokens that each expects."""
    while place.stack is not None:
        task = place.stack.task
        yield task, task.expected(place)
        if not task.may_end(place):
            return
        place = place.without_task()


def test_every_kind_of_task_is_there():
    seen = {type(task) for place in places() for task, _ in active_tasks(place)}
    wanted = {kind for kind in kinds_of_tasks() if kind not in (Task, Step) and not issubclass(kind, Step)}
    assert {kind.__name__ for kind in wanted - seen} <= {"Block"}  # `Statements` is one


def test_a_task_takes_what_it_expects():
    rng = random.Random(2)
    texts = [*sorted(SIGNS | KEYWORDS), *NAMES, "player", "Register", "y", "1", '"a"']
    for place in places()[::3]:
        reached = place
        for task, expected in active_tasks(place):
            for token in [*rng.sample(texts, 12), *sorted(expected.words)]:
                assert task.accepts(reached, token) is expected.accepts(token), (task, token)
            reached = reached.without_task() if task.may_end(reached) else reached


def test_a_lexeme_ends_where_the_next_byte_cannot_belong_to_it():
    for place in places()[::7]:
        state = begin(INTERFACE)
        state = type(state)(place)
        for word in sorted(place.expected().words)[:12]:
            after = state.feed(word.encode())
            assert after is not None
            for byte in (b" ", b"a", b"=", b"0", b"."):
                following = after.feed(byte)
                if following is not None and following.partial.startswith(word.encode()):
                    assert following.partial == word.encode() + byte or byte == b" "
                    assert following.machine is place


def test_no_match_of_the_next_regex_can_be_extended():
    for place in places()[::9]:
        found = automaton(place.expected())
        accepting = [state for state, kind in enumerate(found.accepts) if kind >= 0]
        assert accepting
        assert all(set(found.rows[state]) == {DEAD} for state in accepting)


def test_the_next_regex_and_the_parser_agree():
    rng = random.Random(1)
    others = ["player", "y", "a" * 50, "a" * 51, "1", "2.5", "2.", '"a"', '"']
    texts = [*sorted(SIGNS | KEYWORDS), *NAMES, *others]
    for place in places()[::9]:
        found, state = automaton(place.expected()), ScriptState(place)
        for token in [*rng.sample(texts, 20), *sorted(place.expected().words)[:3]]:
            for size in range(1, len(token) + 1):
                after = found.run(found.starts[CODE], token[:size].encode())
                assert may_come(found, found.live[after]) is (state.feed(token[:size].encode()) is not None)
            ends = [found.accepts[each] for each in (after, found.run(after, b"\n"))]
            is_whole = any(end >= 0 and found.kinds[end] != REFUSED for end in ends)
            assert is_whole is (token not in ("2.", '"') and place.take(token) is not None), token


def may_come(dfa, kinds):
    """True if one of *kinds*, a set of bits, is more than a name that a new name may not be."""
    return any(kinds >> number & 1 for number, kind in enumerate(dfa.kinds) if kind != REFUSED)


def test_each_lexeme_belongs_to_one_task():
    """Operators, which an operand and the one around it could both take, belong to the inner one."""
    for place in places():
        seen = set()
        for _, expected in active_tasks(place):
            kinds = {
                ("name", expected.taken_names is not None),
                ("number", expected.number),
                ("text", expected.string),
            }
            lexemes = expected.words | {kind for kind, may_come in kinds if may_come}
            assert seen & lexemes <= LEVELS.keys()
            seen |= lexemes


@pytest.mark.parametrize("sign", ENDING)
def test_what_ends_a_construct_begins_no_other_lexeme(sign):
    for place in places():
        words = place.expected().words
        if sign in words:
            longer = {
                word for word in words if word.startswith(sign) and word != sign and word not in KEYWORDS
            }
            assert not {word for word in longer if not word[0].isalpha()}
