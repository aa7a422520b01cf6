"""The faults of texts by their types, and the process that finds them: without it there are none."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from threading import Event

import pytest
from ty import find_ty_bin

from fimlsp.datasets.programs.sandbox import missing_layers
from fimlsp.languages.python.checker import ty
from fimlsp.languages.python.checker.ty import PythonProjects, ty_server
from fimlsp.languages.type_checker import language_server, process
from fimlsp.languages.type_checker.faults import LONGEST_WORDS, in_words
from fimlsp.languages.type_checker.language_server import Bounds, TypeServerError
from fimlsp.languages.type_checker.process import CheckedPlace, Checker, CheckQuestion, TypeChecker
from fimlsp.processes.confinement import LANDLOCK
from fimlsp.processes.helper import command_of

WAIT_S = 60.0


def place(marked, path=None, folders=(), excluded=()):
    left, right = marked.encode().split(b"<|>")
    return CheckedPlace(path, folders, excluded, (3, 11), left, right)


@pytest.fixture(scope="module")
def checker():
    checker = TypeChecker(PythonProjects(find_ty_bin()), lambda _: lambda path: path.read_bytes())
    yield checker
    checker.end()


HEAD = """
from dataclasses import dataclass
import json
import nowhere
import sys

@dataclass
class Record:
    size: int = 0

    def grow(self, by: int) -> "Record":
        return self

class Store:
    def __init__(self):
        self.requests = 0

    def add(self, record):
        pass

def build(): ...
"""

CASES = [
    # members
    ("def f(record: Record):\n    <|record.sizes|>\n", "has no attribute `sizes`", 12),
    ("def f(record: Record):\n    rec<|ord.size|>\n", None, None),
    ("def f(record: Record):\n    record.<|grow(1).nope|>\n", "has no attribute `nope`", 12),
    ("class A:\n    def f(self):\n        <|super().add(1)|>\n", "has no attribute `add`", 11),
    ("<|sys.pathx|>\n", "has no member `pathx`", 9),
    ("from dataclasses import <|re|>\n", "has no member `re`", 2),
    ("from dataclasses import <|field|>\n", None, None),
    ("from json import <|loader|>\n", "has no member `loader`", 6),
    ("<|nowhere.anything.at_all(1)|>\n", None, None),
    ("from nowhere import <|anything|>\n", None, None),
    ("import <|elsewhere|>\n", None, None),
    # names
    ("def f():\n    return <|undefined|>\n", "`undefined` used when not defined", 9),
    ("def f(name):\n    return na<|mename|>\n", "`namename` used when not defined", 6),
    ("def f(name):\n    return na<|me|>\n", None, None),
    # calls
    ("build(<|arguments=1|>)\n", "`arguments` does not match any known parameter", 11),
    ("build(<|1|>)\n", "Too many positional arguments", 1),
    ("Record().grow(<||>)\n", None, None),
    ("Record().grow<|()|>\n", None, None),
    ("<|3()|>\n", "`Literal[3]` is not callable", 3),
    # operators
    ("def f(record: Record):\n    size = 1\n    size += <|record|>\n", "not supported between", 6),
    ("def f(record: Record):\n    size = 1\n    size += <|record.size|>\n", None, None),
    ("for i in <|3|>: pass\n", "is not iterable", 1),
    # results
    ("def f() -> Record:\n    return <|1|>\n", "Return type does not match", 1),
    ("def f() -> Record:\n    return <|Record()|>\n", None, None),
    # faults that are there without the text, or elsewhere
    ("undefined(<|1|>)\n", None, None),
    ("def f() -> Record:\n    return 1\n<|x = 2|>\n", None, None),
    ("print(missing)\n<|x = 2|>\n", None, None),
    ("def f(x: int):\n    x.foo <|+ x.foo|>\n", None, None),
    # several lines, line ends, and other alphabets
    ("<|x = 1\ny = x.nope|>\n", "has no attribute `nope`", 16),
    ("<|x = 1\r\ny = x.nope|>\r\n", "has no attribute `nope`", 17),
    ("größe = 1\nprint('ä', <|größe.nope|>)\n", "has no attribute `nope`", 12),
    # texts that are not finished
    ("def f(record: Record):\n    if record.<|size|>\n", None, None),
    ("def f(record: Record):\n    try:\n        print(record.<|sizes|>)\n", "has no attribute `sizes`", 5),
]
"""`left<|text|>right` after `HEAD`, the words of the fault, and the end of the part that has it."""


@pytest.mark.parametrize(("marked", "words", "end"), CASES)
def test_faults(checker, marked, words, end):
    left, rest = (HEAD + marked).encode().split(b"<|")
    text, right = rest.split(b"|>")
    at = CheckedPlace(None, (), (), (3, 11), left, right)
    (fault,) = checker.answer(CheckQuestion(at, (text,)))
    assert (fault is None) == (words is None), fault
    if fault is not None:
        assert words in fault.words
        assert fault.end == end


def test_the_version_decides(checker):
    at = place("import tomllib\nx = <|>\n")
    texts = (b"tomllib.loads('')", b"tomllib.nope")
    assert [fault is None for fault in checker.answer(CheckQuestion(at, texts))] == [True, False]


def test_modules_of_the_project(checker, tmp_path):
    for name, text in {
        "pkg/__init__.py": "",
        "pkg/store.py": "from pkg import main\nclass Store:\n    size = 1\n",
        "pkg/main.py": "",
        ".venv/lib/python3.11/site-packages/third.py": "def go(a): ...\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    path = tmp_path / "pkg" / "main.py"
    at = place("from .store import Store, main\nimport third\nmine = 1\n<|>\n", path, (tmp_path,))

    def faulty(*texts, opened=()):
        return [fault is not None for fault in checker.answer(CheckQuestion(at, texts, opened))]

    assert faulty(b"Store.size", b"Store.sizes", b"third.go(b=1)", b"main.mine", b"main.other") == [
        False,
        True,
        True,
        False,
        True,
    ]
    opened = ((tmp_path / "pkg" / "store.py", b"main = 1\nclass Store:\n    sizes = 1\n"),)
    assert faulty(opened=opened) == []
    assert faulty(b"Store.size", b"Store.sizes") == [True, False]
    assert faulty(opened=((opened[0][0], None),)) == []
    assert faulty(b"Store.size") == [False]


def test_words_are_short():
    assert in_words("Object of type `A` has no attribute `b`") == "`A` has no attribute `b`"
    assert len(in_words("x" * 1_000)) == LONGEST_WORDS
    assert "\n" not in in_words("a\nb")


def test_too_much_memory_or_time_ends_ty(monkeypatch):
    started = []

    def counted(*arguments):
        started.append(ty_server(*arguments))
        return started[-1]

    monkeypatch.setattr(ty, "ty_server", counted)
    checker = TypeChecker(PythonProjects(find_ty_bin()), lambda _: lambda _: None)
    question = CheckQuestion(place("x = 1\n<|>\n"), (b"x.nope",))
    monkeypatch.setattr(ty, "BOUNDS", Bounds(ty.BOUNDS.seconds, 1))
    for number in (1, 2):
        (fault,) = checker.answer(question)  # on Linux from a new process each time
        assert fault is not None
        assert len(started) == (number if sys.platform.startswith("linux") else 1)
    checker.end()
    monkeypatch.setattr(ty, "BOUNDS", Bounds(-1.0, ty.BOUNDS.size))
    monkeypatch.setattr(language_server, "WATCH_S", 0.0)
    big = "".join(f"def f{n}(x):\n    return [f{n}(y) for y in x]\n" for n in range(3_000))
    with pytest.raises((TypeServerError, OSError)):
        checker.answer(CheckQuestion(place(big + "<|>\n"), (b"x.nope",)))


def fake(code):
    """The command of a process that answers questions with *code*."""
    head = "import pickle, sys, time, os\nask = lambda: pickle.load(sys.stdin.buffer)\n"
    tell = "def tell(answer):\n    pickle.dump(answer, sys.stdout.buffer)\n    sys.stdout.buffer.flush()\n"
    return sys.executable, "-c", head + tell + textwrap.dedent(code)


@pytest.fixture
def client_of():
    clients = []

    def make(command, *, is_installed=True):
        clients.append(Checker(command, is_installed=is_installed))
        return clients[-1]

    yield make
    for one in clients:
        one.close()


def rest(checker):
    done = Event()
    if not checker.is_at_rest(done.set):
        assert done.wait(WAIT_S)


AT = place("x = <|>\n")

BROKEN = [
    ("/nonexistent/python",),
    fake("sys.exit(3)"),
    fake("print('no answer')"),
    fake("ask(); tell(None); ask(); sys.exit(3)"),
    fake("ask(); tell(())"),
    fake("while True: ask(); tell(None)"),
    fake("while True: ask(); tell('nonsense')"),
]


@pytest.mark.parametrize("command", BROKEN)
def test_a_broken_process_finds_no_fault(client_of, command):
    checker = client_of(command)
    checker.prepare(AT, {})
    rest(checker)
    assert not checker.faults(AT, [b"1"], {}, WAIT_S)


def test_a_late_answer_is_not_waited_for(client_of):
    checker = client_of(fake("while True: ask(); time.sleep(0.2); tell(())"))
    assert checker.faults(AT, [b"1"], {}, 0.01) is None
    rest(checker)
    assert checker.faults(AT, [b"1"], {}, 0.01) is None
    assert checker.is_at_rest(lambda: None)  # as it would be late again, it was not even asked
    assert checker.faults(AT, [b"1"], {}, WAIT_S) == ()


def test_a_process_that_ends_is_started_again(client_of, tmp_path):
    mark = tmp_path / "mark"
    once = f"""
    ask()
    if not os.path.exists({str(mark)!r}):
        open({str(mark)!r}, 'w')
        sys.exit(3)
    tell(())
    """
    checker = client_of(fake(once))
    assert checker.faults(AT, [b"1"], {}, WAIT_S) is None
    assert checker.faults(AT, [b"1"], {}, WAIT_S) == ()


def test_a_process_that_ends_again_and_again_is_not_waited_for(client_of, tmp_path):
    starts = tmp_path / "starts"
    checker = client_of(fake(f"open({str(starts)!r}, 'a').write('.')\nask()\nsys.exit(3)"))
    for _ in range(3):
        assert checker.faults(AT, [b"1"], {}, WAIT_S) is None
    assert starts.read_text() == ".."


def test_only_changed_documents_are_sent(client_of, tmp_path):
    checker = client_of(fake("while True: q = ask(); tell(tuple((str(p), t) for p, t in q.opened))"))
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    one, two = b"one", b"two"
    for opened, sent in [
        ({a: one, b: two}, {(str(a), one), (str(b), two)}),
        ({a: one, b: one}, {(str(b), one)}),
        ({a: one}, {(str(b), None)}),
    ]:
        assert set(checker.faults(AT, [b"1"], opened, WAIT_S)) == sent


def test_large_files_and_missing_packages_are_not_checked(client_of):
    checker = client_of(fake("while True: ask(); tell(())"))
    large = place("x = 1\n" * (process.MOST_BYTES // 6 + 1) + "<|>")
    assert checker.faults(large, [b"1"], {}, WAIT_S) is None
    assert client_of(fake(""), is_installed=False).faults(AT, [b"1"], {}, WAIT_S) is None


def test_nothing_is_left_behind(client_of, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    checker = client_of(command_of("fimlsp.lsp_server.worker.file_guard", "serve_checker"))
    assert checker.faults(AT, [b"undefined"], {}, WAIT_S) is not None
    assert [*tmp_path.iterdir()] != []
    checker.close()
    guard = time.monotonic() + WAIT_S
    while [*tmp_path.iterdir()] and time.monotonic() < guard:
        time.sleep(0.01)
    assert [*tmp_path.iterdir()] == []


def test_folders_of_killed_processes_are_removed(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    names = [f"fimlsp-types-{ended.pid}-a", f"fimlsp-types-{os.getpid()}-a", "fimlsp-types-other", "else"]
    for name in names:
        (tmp_path / name / "modules").mkdir(parents=True)
    process.remove_abandoned(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[os.name == "posix" :])


@pytest.mark.skipif(sys.platform != "linux" or LANDLOCK in missing_layers(), reason="Landlock is Linux's")
def test_ty_writes_in_its_folder_alone(tmp_path):
    (tmp_path / "own").mkdir()
    program = tmp_path / "ty"
    program.write_text("#!/bin/sh\necho a > ../here\necho a > ../../there\ncat > ../read\n")
    program.chmod(0o700)
    with pytest.raises(TypeServerError):
        ty_server(str(program), tmp_path / "own", (3, 11))
    assert (tmp_path / "own" / "here").exists()
    assert not (tmp_path / "there").exists()


def test_a_text_that_is_not_utf_8_has_no_answer(client_of):
    checker = client_of(command_of("fimlsp.lsp_server.worker.file_guard", "serve_checker"))
    assert checker.faults(AT, [b"'\xff'"], {}, WAIT_S) is None
    (fault,) = checker.faults(AT, [b"undefined"], {}, WAIT_S)
    assert fault is not None
