"""Answers of processes are read as values: whatever else a pickle names is refused before it runs."""

from __future__ import annotations

import os
import pickle
import subprocess
from collections import Counter, OrderedDict, defaultdict, deque
from pathlib import Path, PurePosixPath

import pytest

from fimlsp.errors import UserError
from fimlsp.languages.python import Python
from fimlsp.lsp_server import worker_process
from fimlsp.lsp_server.messages import Answer, Completion, DocumentId, Load
from fimlsp.processes.helper import HelperEndedError, HelperProcess, command_of
from fimlsp.processes.plain_values import plain_of

VALUES = [
    {"a": [1, 2.5, None, True, "é", b"\xff"], (1, 2): {3}},
    frozenset([1]),
    bytearray(b"a"),
    Path("a/b"),
    PurePosixPath("/a"),
    OrderedDict(a=1),
    Counter("aab"),
    deque([1]),
    DocumentId(1, "a"),
    Load("m"),
    Answer(1, Completion(("a",), reason=None), 2.0),
    Python((3, 11)),
    defaultdict(list, a=[1]),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values(value):
    assert plain_of(pickle.dumps(value)) == value


@pytest.mark.parametrize(
    "error", [ValueError("a"), UserError("a"), RecursionError(), FileNotFoundError(2, "a")]
)
def test_errors(error):
    assert repr(plain_of(pickle.dumps(error))) == repr(error)


class Call:
    def __init__(self, function, *arguments):
        self.made = function, arguments

    def __reduce__(self):
        return self.made


OTHERS = [
    (os.system, "exit 1"),
    (eval, "1"),
    (exec, "1"),
    (getattr, 1, "real"),
    (print, "a"),
    (subprocess.Popen, ["true"]),
    (open, "/dev/null"),
    (SystemExit, 1),
    (KeyboardInterrupt,),
    (type, "a", (), {}),
    (pickle.Unpickler, None),
    (worker_process.WorkerRun, ["true"]),
    (worker_process.WorkerProcess, ["true"], None, None, None),
    (HelperProcess, ["true"]),
    (command_of, "a", "b"),
]


@pytest.mark.parametrize("call", OTHERS, ids=lambda call: call[0].__name__)
@pytest.mark.parametrize("protocol", [0, 2, pickle.HIGHEST_PROTOCOL])
def test_what_runs_something_is_refused(call, protocol):
    with pytest.raises(pickle.UnpicklingError, match="is no plain value"):
        plain_of(pickle.dumps([Call(*call)], protocol))


NAMES = [
    ("fimlsp.lsp_server.worker_process", "subprocess.Popen"),
    ("fimlsp.processes.helper", "subprocess"),
    ("fimlsp.processes.helper", "HelperProcess._running"),
    ("fimlsp.errors", "UserError.__init__"),
    ("os", "system"),
    ("builtins", "type.__subclasses__"),
]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_names_that_lead_elsewhere_are_refused(module, name):
    texts = b"".join(b"\x8c" + bytes([len(text)]) + text.encode() for text in (module, name))
    with pytest.raises(pickle.UnpicklingError, match="is no plain value"):
        plain_of(b"\x80\x04" + texts + b"\x93.")


DAMAGED = [
    b"\x80\x05.",
    b"cos\nsystem",
    b"\x80\x04\x95",
    b"garbage",
    pickle.dumps(Load("a"))[:-9],
    b"I1\n\x81.",
]


@pytest.mark.parametrize("data", DAMAGED)
def test_what_is_no_pickle(data):
    with pytest.raises((EOFError, ValueError, pickle.UnpicklingError)):
        plain_of(data)


def test_an_answer_that_runs_something_ends_the_process_instead(tmp_path):
    path = tmp_path / "run"
    data = pickle.dumps(Call(os.mkdir, str(path)))
    process = HelperProcess([os.sys.executable, "-c", f"import os; os.write(1, {data!r}); input()"])
    process.send("a question")
    with pytest.raises(HelperEndedError):
        process.receive()
    process.end()
    assert not path.exists()
