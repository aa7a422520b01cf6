"""Which names jedi finds, and that whatever happens to its process costs nothing but names."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from queue import SimpleQueue

import pytest

from fimlsp.languages.python.names import client
from fimlsp.languages.python.names.client import Analysis
from fimlsp.languages.python.names.jedi_names import find_names, search_path
from fimlsp.languages.python.names.known_names import MOST_BYTES, Finding, KnownNames, NamesCursor

WAIT_S = 60.0

SHOP = """import collections
from orders import load

class Shop:
    def __init__(self, name, *, is_open=True):
        self.name = name
        self.orders = collections.OrderedDict()

    def sell(self, order):
        <|>

def main():
    shop = Shop("a")
"""


def cursor(marked, path=None, folders=()):
    left, right = marked.encode().split(b"<|>")
    return NamesCursor(path, folders, left, right)


def found(at):
    question = at.question(at.queries())
    findings = find_names(question, lambda _: nullcontext())
    return {finding.query: set(finding.names) for finding in findings if isinstance(finding, Finding)}


FOUND = [
    ("", "visible", "", "self order collections load Shop main", "shop price"),
    ("x = ", "visible", "", "self order Shop", "x"),
    ("x = self.", "attributes", "self", "name orders sell", "order"),
    ("x = self.orders.", "attributes", "self.orders", "popitem move_to_end", "name"),
    ("x = collections.", "attributes", "collections", "Counter", "order"),
    ("x = Shop(", "keywords", "Shop", "name is_open", "self order"),
    ("from collections import ", "imports", "collections", "Counter deque", "order"),
    ("from os import path, ", "imports", "os", "environ", "order"),
]


# names visible at a cursor at the end of its block
VISIBLE = [
    ("def area(width, height):\n    <|>\n\n\nprint(area(2, 3))\n", "width height area"),
    ("def area(width):\n    x = 1\n    return <|>\n", "width x area"),
    ("class A:\n    def f(self, width):\n        <|>\n\n    def g(self): pass\n", "self width A"),
    ("def f(x):\n    for i in x:\n        <|>\n\ndef g(): pass\n", "x i f g"),
    ("import os\n<|>", "os"),
    ("def f(x):\n    return g(\n        x\n        <|>\n    )\n", "x f"),
    ("def f(x):\n    y = [\n        <|>\n    ]\n", "x f"),
    ("def f(x):\n    y = {\n        1: 2,\n        <|>\n    }\n", "x f"),
    ("def f(x):\n    if (x and\n            <|>):\n        pass\n", "x f"),
]


@pytest.mark.parametrize(("marked", "names"), VISIBLE)
def test_what_is_visible_at_the_end_of_a_block(marked, names):
    assert set(map(str.encode, names.split())) <= found(cursor(marked))["visible", b""]


@pytest.mark.parametrize(("line", "kind", "name", "there", "not_there"), FOUND)
def test_what_is_found_at_a_cursor(line, kind, name, there, not_there):
    names = found(cursor(SHOP.replace("<|>", line + "<|>")))[kind, name.encode()]
    assert names >= set(there.encode().split())
    assert not names & set(not_there.encode().split())


FUNCTIONS = [
    ("", "main", "load Shop shop collections int"),
    ("x = self.", "sell", "name orders is_full price"),
    ("x = self.orders.", "popitem", ""),
]


@pytest.mark.parametrize(("line", "there", "not_there"), FUNCTIONS)
def test_functions_are_calls_from_other_names(line, there, not_there):
    shop = SHOP.replace(
        "    def sell", "    @property\n    def is_full(self):\n        return 1\n\n    def sell"
    )
    at = cursor(shop.replace("<|>", line + "<|>"))
    query = at.queries()[1 if line else 0]
    (finding,) = (
        each for each in find_names(at.question(at.queries()), lambda _: nullcontext()) if each.query == query
    )
    assert set(finding.functions) >= set(there.encode().split())
    assert not set(finding.functions) & set(not_there.encode().split())


@pytest.mark.parametrize("opens", ["from somewhere import *", "exec('a = 1')", "globals()['a'] = 1"])
def test_where_names_come_from_anywhere_none_is_preferred(opens):
    assert ("visible", b"") not in found(cursor(f"{opens}\nx = <|>\n"))


def test_a_call_that_takes_any_keyword_has_none_to_prefer():
    assert ("keywords", b"f") not in found(cursor("def f(a, **more): pass\nf(<|>)\n"))


def test_values_nearby_are_looked_up_before_they_are_needed():
    at = cursor("import os\ndef f(a):\n    os.environ.get(a)\n    a.b\n    <|>\n    a.c.d()\n")
    assert at.queries() == (
        ("visible", b""),
        ("attributes", b"a"),
        ("attributes", b"os.environ"),
        ("attributes", b"a.c"),
    )


def test_imports_are_looked_for_in_the_workspace_and_its_environment(tmp_path):
    for each in ("src/shop", ".venv/lib/python3.12/site-packages"):
        (tmp_path / each).mkdir(parents=True)
    (tmp_path / "src/shop/__init__.py").touch()
    assert search_path(tmp_path / "src/shop/cart.py", [tmp_path]) == [
        tmp_path / "src",
        tmp_path,
        tmp_path / ".venv/lib/python3.12/site-packages",
    ]
    assert search_path(None, []) == [Path(each) for each in dict.fromkeys(sys.path) if each]


@pytest.fixture
def analysis(request):
    made = Analysis(*getattr(request, "param", ()))
    yield made
    made.close()


def until(condition, seconds=WAIT_S):
    ends_at = time.monotonic() + seconds
    while not condition() and time.monotonic() < ends_at:
        time.sleep(0.01)
    return condition()


def test_the_answer_comes_later_and_serves_the_whole_line_and_the_next(analysis):
    first = cursor(SHOP)
    analysis.look("shop", first)
    assert analysis.problem("shop", first) == client.NOT_YET
    assert until(lambda: analysis.problem("shop", first) is None)
    known = analysis.known("shop", first)
    assert b"order" in known.visible
    for line in ("x = ", "x = sel", "pass\n        "):
        later = cursor(SHOP.replace("<|>", line + "<|>"))
        analysis.look("shop", later)
        assert b"order" in analysis.known("shop", later).visible
        assert analysis.problem("shop", later) is None
    elsewhere = cursor(SHOP.replace("<|>", "pass") + "    <|>\n")
    analysis.look("shop", elsewhere)
    assert analysis.known("shop", elsewhere) == KnownNames()


def test_the_names_of_the_line_before_are_those_of_an_older_text(analysis, monkeypatch):
    first, following = cursor(SHOP), cursor(SHOP.replace("<|>", "pass\n        <|>"))
    analysis.look("shop", first)
    assert until(lambda: analysis.known("shop", first).is_surely_visible(b"order"))
    with monkeypatch.context() as patch:
        patch.setattr(analysis, "_due", lambda *_: ())
        analysis.look("shop", following)
    known = analysis.known("shop", following)
    assert b"order" in known.visible
    assert not known.is_surely_visible(b"order")
    analysis.look("shop", following)
    assert until(lambda: analysis.known("shop", following).is_surely_visible(b"order"))


def test_who_asks_is_calls_once_when_nothing_is_looked_up_any_more(analysis):
    calls = SimpleQueue()
    at = cursor(SHOP)
    assert analysis.is_at_rest(lambda: calls.put("no question yet"))
    analysis.look("shop", at)
    assert not analysis.is_at_rest(lambda: calls.put("answered"))
    assert calls.get(timeout=WAIT_S) == "answered"
    assert {b"name", b"orders"} <= set(analysis.known("shop", at).attributes[b"self"]._names)
    assert analysis.is_at_rest(lambda: calls.put("again"))
    assert calls.empty()


@pytest.mark.parametrize("analysis", [((sys.executable, "-c", "import sys; sys.exit(3)"),)], indirect=True)
def test_who_asks_is_calls_of_a_process_that_dies(analysis):
    calls = SimpleQueue()
    analysis.look("a", cursor("x = <|>\n"))
    if not analysis.is_at_rest(lambda: calls.put("over")):
        assert calls.get(timeout=WAIT_S) == "over"
    assert analysis.problem("a", cursor("x = <|>\n")) == client.ENDED


def test_what_was_missed_is_known_the_next_time(analysis):
    at = cursor("import json\nx = <|>\n")
    analysis.look("a", at)
    analysis.miss("a", [("attributes", b"json")])
    analysis.look("a", at)
    assert until(lambda: b"json" in analysis.known("a", at).attributes)


def test_a_large_parent_makes_no_large_process(analysis):
    ballast = b"x" * 400_000_000
    at = cursor("x = 1\n<|>\n")
    analysis.look("a", at)
    assert until(lambda: analysis.problem("a", at) is None)
    assert len(ballast) == 400_000_000


DEAD = [
    (sys.executable, "-c", "import sys; sys.exit(3)"),
    (sys.executable, "-c", "print('no answer')"),
    ("/nonexistent/python",),
]


@pytest.mark.parametrize("analysis", [(command,) for command in DEAD], indirect=True)
def test_a_process_that_dies_is_calls_and_no_more(analysis):
    at = cursor("x = <|>\n")
    analysis.look("a", at)
    analysis.wait("a", WAIT_S)
    assert analysis.problem("a", at) == client.ENDED
    assert analysis.known("a", at) == KnownNames()


ENDS_AFTER_ONE = """
import sys, time
sys.path = [p for p in sys.path if p]
from fimlsp.languages.python.names import process
sizes = iter([0, 10**12])
process._size_of_this_process = lambda: lambda: next(sizes)
process.serve()
time.sleep(0.5)
"""


@pytest.mark.parametrize("analysis", [((sys.executable, "-c", ENDS_AFTER_ONE),)], indirect=True)
def test_no_question_is_lost_while_a_process_that_has_grown_ends(analysis):
    for number in range(3):
        at = cursor(f"x{number} = {number}\n\ndef f{number}():\n    <|>\n")
        analysis.look("a", at)
        assert until(lambda: b"f" + str(number).encode() in (analysis.known("a", at).visible or ()))  # noqa: B023


NOWHERE = ['x = """\n<|>\n"""\n', 'def f():\n    """\n    <|>\n    """\n', "from a import *\n<|>\n"]


@pytest.mark.parametrize("marked", NOWHERE)
def test_lines_without_names_hold_up_no_other_line_of_the_file(analysis, marked):
    nothing, names = cursor(marked, Path("a.py")), cursor("def f(width):\n    <|>\n", Path("a.py"))
    analysis.look("a", nothing)
    analysis.wait("a", WAIT_S)
    assert analysis.known("a", nothing).visible is None
    assert analysis.problem("a", nothing) is None
    analysis.look("a", names)
    analysis.wait("a", WAIT_S)
    assert b"width" in analysis.known("a", names).visible


TOO_LONG_ONCE = """
import sys
sys.path = [p for p in sys.path if p]
from fimlsp.languages.python.names import jedi_names, process
find_names, questions = jedi_names.find_names, []
def find(question, limited):
    questions.append(question)
    if len(questions) > 1:
        yield from find_names(question, limited)
    for query in question.queries if len(questions) == 1 else ():
        with limited(query):
            raise process._TooLongError
jedi_names.find_names = find
process.serve()
"""


@pytest.mark.parametrize("analysis", [((sys.executable, "-c", TOO_LONG_ONCE),)], indirect=True)
def test_a_look_up_that_took_too_long_is_made_again_soon(analysis, monkeypatch):
    monkeypatch.setattr(client, "_NOW", client._Retry(0.0, 0.05))
    at = cursor(SHOP)
    analysis.look("shop", at)
    analysis.wait("shop", WAIT_S)
    assert analysis.known("shop", at).visible is None

    def is_known():
        analysis.look("shop", at)
        return analysis.known("shop", at).visible is not None

    assert until(is_known)


BOUNDED = """
import sys, time
sys.path = [p for p in sys.path if p]
from fimlsp.languages.python.names import jedi_names, process
process.QUESTION_S, process._lower_priority = SECONDS, lambda: None
find_names = jedi_names.find_names
def find(question, limited):
    DELAY
    yield from find_names(question, limited)
jedi_names.find_names = find
process.serve()
"""


def after(delay, seconds):
    return ((sys.executable, "-c", BOUNDED.replace("DELAY", delay).replace("SECONDS", str(seconds))),)


@pytest.mark.skipif(not hasattr(signal, "SIGXCPU"), reason="this system does not limit processor time")
@pytest.mark.parametrize("analysis", [after("time.sleep(4)", 3)], indirect=True)
def test_a_process_that_waits_for_a_busy_machine_goes_on(analysis):
    at = cursor(SHOP)
    analysis.look("shop", at)
    analysis.wait("shop", WAIT_S)
    assert b"order" in analysis.known("shop", at).visible


@pytest.mark.skipif(not hasattr(signal, "SIGXCPU"), reason="this system does not limit processor time")
@pytest.mark.parametrize("analysis", [after("while True: pass", 1)], indirect=True)
def test_a_process_that_uses_too_much_processor_time_ends(analysis):
    at = cursor(SHOP)
    analysis.look("shop", at)
    assert until(lambda: analysis.problem("shop", at) == client.ENDED)


def test_large_files_are_left_alone(analysis):
    at = cursor("x = 1\n" * (MOST_BYTES // 6 + 1) + "<|>")
    analysis.look("a", at)
    assert analysis.problem("a", at) == client.TOO_LARGE
    assert analysis.known("a", at) == KnownNames()


def test_without_jedi_nothing_is_known(monkeypatch):
    monkeypatch.setattr(client.importlib.util, "find_spec", lambda _: None)
    analysis, at = Analysis(), cursor("x = <|>\n")
    analysis.look("a", at)
    assert analysis.problem("a", at) == client.NOT_INSTALLED
    assert analysis.known("a", at) == KnownNames()


def test_a_question_that_breaks_off_ends_the_process_quietly():
    question = pickle.dumps(cursor("x = <|>\n").question((("visible", b""),)))
    ended = subprocess.run(client.PROCESS_COMMAND, input=question[:-9], capture_output=True, timeout=120)
    assert ended.returncode == 0
    assert ended.stderr == b""
