"""The checks of types in the worker: files that are read, that nothing of a workspace runs, the order."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fimlsp.languages import LANGUAGES
from fimlsp.languages.python import Python, python
from fimlsp.languages.python.editor_policy import PYTHON_POLICY
from fimlsp.languages.type_checker.faults import TypeFault
from fimlsp.languages.typescript.checker.compiler import compiler_in
from fimlsp.lsp_server.messages import DocumentId, Workspace
from fimlsp.lsp_server.worker.answers import to_completion
from fimlsp.lsp_server.worker.engine_documents import EngineDocuments
from fimlsp.lsp_server.worker.type_checks import PREPARE_S, QUESTIONS_MAX, TypeChecks, TypesAtCursor
from fimlsp.lsp_server.workspace_files import LARGEST_FILE
from fimlsp.models.decoding.middle import Middle
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.engine import Engine

from ...languages.typescript.checker.test_compiler import INSTALLED
from ..local_files import write
from ..waiting import block_until

SCRIPT = "#!/bin/sh\ntouch MARK\n"
MARKS = "open('MARK', 'w')\n"
HOSTILE = {
    "pyproject.toml": "[tool.ty.environment]\npython = 'bin/python'\nextra-paths = ['/etc']\n[tool.uv]\n",
    "ty.toml": "[environment]\npython = 'bin/python'\n[rules]\nmissing-attribute = 'ignore'\n",
    "bin/python": SCRIPT,
    ".venv/bin/python": SCRIPT,
    ".venv/bin/ty": SCRIPT,
    ".venv/bin/uv": SCRIPT,
    ".venv/pyvenv.cfg": "home = /etc\n",
    ".venv/lib/python3.11/site-packages/evil.pth": "import os; os.mkdir('MARK')\n",
    ".venv/lib/python3.11/site-packages/third.py": "def go(a): ...\n" + MARKS,
    "sitecustomize.py": MARKS,
    "conftest.py": MARKS,
    "shop.py": MARKS + "from pipe import a\nfrom link import b\nclass Order:\n    price = 1\n",
    "hidden.py": "password = 1\n",
    "large.py": "x = 1\n" * (LARGEST_FILE // 6 + 1),
    "many/__init__.py": "".join(f"import many.m{n}\n" for n in range(3_000)),
    "main.py": "",
}
LEFT = (
    b"import os, hidden, large, pipe, link, device, loop, many, third\nfrom shop import Order\n"
    b"import sitecustomize, conftest\nx = "
)


@pytest.fixture
def checks():
    checks = TypeChecks()
    yield checks
    checks.close()


def known(here, *texts):
    """The ends of the faults of *texts*, as soon as the checker answers at all."""
    faults = []

    def are_known():
        faults[:] = here.checker.faults(here.place, [*texts, b"undefined_name"], here.opened, 600.0) or []
        return bool(faults)

    block_until(are_known)
    assert faults[-1] is not None
    return [fault is not None for fault in faults[:-1]]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes to make")
def test_a_hostile_workspace_is_read_and_not_run(tmp_path, checks, monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "work" / ".venv"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'work' / '.venv' / 'bin'}:{os.environ['PATH']}")
    folder, outside = tmp_path / "work", tmp_path / "outside"
    write(folder, {name: text.replace("MARK", str(tmp_path / "mark")) for name, text in HOSTILE.items()})
    write(outside, {"c.py": "b = 1\n"})
    for name in ("bin/python", ".venv/bin/python", ".venv/bin/ty", ".venv/bin/uv"):
        (folder / name).chmod(0o755)
    os.mkfifo(folder / "pipe.py")
    (folder / "link.py").symlink_to(outside / "c.py")
    (folder / "device.py").symlink_to("/dev/zero")
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    checks.enter(Workspace(1, (str(folder),), ("**/hidden.py",)))
    here = checks.at(
        1, folder / "main.py", (3, 11), (LEFT, b"\n"), {folder / "hidden.py": b"secret = 1\n"}, 0
    )
    assert here.opened == {}
    unknown = [b"hidden.a", b"large.a", b"pipe.a", b"link.a", b"device.a", b"loop.a"]
    assert known(here, *unknown) == [False] * len(unknown)
    wrong = [b"Order.prices", b"third.go(1, 2)", b"os.nope"]
    assert known(here, *wrong, b"Order.price", b"third.go(1)") == [True] * 3 + [False] * 2
    assert not (tmp_path / "mark").exists()


def test_only_the_workspace_is_read(tmp_path, checks):
    write(tmp_path, {"inside/main.py": "", "other.py": "x = 1\n", "inside/own.py": "x = 1\n"})
    inside = tmp_path / "inside"
    checks.enter(Workspace(1, (str(inside),), ()))
    left = b"import own, other\ny = "
    here = checks.at(1, inside / "main.py", (3, 11), (left, b"\n"), {}, 0)
    assert known(here, b"own.y", b"other.y", b"own.x") == [True, False, False]
    checks.leave(1)
    here = checks.at(1, inside / "main.py", (3, 11), (left, b"\n"), {}, 0)
    assert known(here, b"own.y", b"own.x") == [False, False]


class ScriptedChecker:
    """Texts with `wrong` have a fault; all questions are noted."""

    def __init__(self, answers=True):
        self.asked, self.prepared, self._answers = [], [], answers

    def prepare(self, place, opened):
        self.prepared.append((place, dict(opened)))

    def faults(self, _, texts, *__):
        self.asked += texts
        found = [
            TypeFault(text.find(b"wrong") + 5, "it is wrong") if b"wrong" in text else None for text in texts
        ]
        return found if self._answers else None


def test_a_place_is_prepared_from_time_to_time(monkeypatch):
    checker = ScriptedChecker()
    documents = EngineDocuments(Engine, types=TypeChecks(checker))
    now = [100.0]
    monkeypatch.setattr("fimlsp.lsp_server.worker.type_checks.time.monotonic", lambda: now[0])
    one, other = DocumentId(1, "file:///w/a.py"), DocumentId(1, "file:///w/b.py")
    documents.open(one, 1, b"x = 1\n", Python())
    documents.edit(one, 2, Replacement(0, 0, b"y"))
    assert len(checker.prepared) == 1
    documents.open(other, 1, b"z = 1\n", Python())
    place, opened = checker.prepared[-1]
    assert (place.left, place.right, opened) == (b"", b"z = 1\n", {Path("/w/a.py"): b"yx = 1\n"})
    now[0] += PREPARE_S + 0.1
    documents.edit(other, 2, Replacement(1, 1, b"y"))
    assert len(checker.prepared) == 3
    assert checker.prepared[-1][0].left == b"zy"


def test_each_language_has_its_checker():
    python, typescript = ScriptedChecker(), ScriptedChecker()
    checks = TypeChecks(python, typescript)
    documents = EngineDocuments(Engine, types=checks)
    script, other = DocumentId(1, "file:///w/a.ts"), DocumentId(1, "file:///w/b.tsx")
    documents.open(script, 1, b"let a = 1\n", LANGUAGES["typescript"].language())
    assert documents.types_at(script, 0, 0) is None
    checks.enter(Workspace(1, ("/w",), (), "/installed/tsc"))
    documents.open(other, 1, b"let b = 1\n", LANGUAGES["tsx"].language())
    documents.open(DocumentId(1, "file:///w/c.py"), 1, b"c = 1\n", Python())
    javascript = LANGUAGES["javascript"].language()
    documents.open(DocumentId(1, "file:///w/d.vue"), 1, b"let d = 1\n", javascript)
    documents.open(DocumentId(1, "untitled:d"), 1, b"let d = 1\n", javascript)
    (place, opened), (in_python, beside) = typescript.prepared[-1], python.prepared[-1]
    assert (place.path, place.against) == (Path("/w/b.tsx"), Path("/installed/tsc"))
    assert opened == {Path("/w/a.ts"): b"let a = 1\n"}
    assert (in_python.path, in_python.against, beside) == (Path("/w/c.py"), Python().version, {})
    assert len(typescript.prepared) == 1
    documents.open(DocumentId(1, "file:///w/e.mjs"), 1, b"let e = 1\n", javascript)
    assert typescript.prepared[-1][0].path == Path("/w/e.mjs")


@pytest.mark.node
def test_typescript_is_checked_in_the_confined_process(tmp_path, checks):
    write(tmp_path, {"work/shape.ts": "export const size = 1\n", "work/main.ts": "", "hidden.ts": SECRET})
    folder = tmp_path / "work"
    (folder / "link.ts").symlink_to(tmp_path / "hidden.ts")
    checks.enter(Workspace(1, (str(folder),), (), str(compiler_in(INSTALLED))))
    for name, texts, faulty in [
        ("./shape", (b"size.nope", b"size.toFixed()", b"nope"), [True, False, True]),
        ("./link", (b"secret.nope", b"size.nope", b"nope"), [False, False, True]),
    ]:
        left = f"import {{ size }} from './shape'\nimport {{ secret }} from '{name}'\n".encode()
        here = checks.at(1, folder / "main.ts", None, (left, b"\n"), {}, 0)
        assert known(here, *texts) == faulty


@pytest.mark.node
def test_javascript_is_checked_in_the_confined_process(tmp_path, checks):
    write(tmp_path, {"shape.js": "export const size = 1\n", "main.js": "", "main.ts": ""})
    checks.enter(Workspace(1, (str(tmp_path),), (), str(compiler_in(INSTALLED))))
    here = checks.at(1, tmp_path / "main.js", None, (b"import { size } from './shape.js'\n", b"\n"), {}, 0)
    assert known(here, b"size.nope", b"size.toFixed()", b"nope") == [True, False, True]


SECRET = "export const secret = 1\n"


def test_questions_are_few_and_answers_are_kept():
    checker = ScriptedChecker()
    types = TypesAtCursor(checker, SimpleNamespace(), {}, 1.0)
    assert types.fault_ends([b"a wrong", b"b", b"a wrong"]) == [7, None, 7]
    assert types.last_sound(b"a wrong") == 6
    assert checker.asked == [b"a wrong", b"b"]
    assert types.held == "it is wrong"
    for number in range(2 * QUESTIONS_MAX):
        types.last_sound(b"text %d" % number)
    assert len(checker.asked) == 1 + QUESTIONS_MAX
    assert (
        TypesAtCursor(ScriptedChecker(answers=False), SimpleNamespace(), {}, 1.0).last_sound(b"wrong") is None
    )


def test_texts_with_a_fault_come_last():
    middles = [
        Middle(text, True, 1, 0, False, "end", -1.0, 0.0, 0.0) for text in (b"wrong", b"right", b"also")
    ]
    start = Engine(python()).document(b"x = \n").middle(4, 4, relax=True).start
    types = TypesAtCursor(ScriptedChecker(), SimpleNamespace(), {}, 1.0)
    made = to_completion(middles, (), b"x = ", b"\n", start, PYTHON_POLICY, types=types)
    assert made.texts == ("right", "also", "wrong")
