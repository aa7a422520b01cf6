"""Documents that are completed, the messages about them to the worker, and context from other files."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from fimlsp.languages.go import go
from fimlsp.languages.lua import lua
from fimlsp.languages.python import Python
from fimlsp.lsp_server.messages import Complete, DocumentId, Limits, Load, Workspace
from fimlsp.lsp_server.options import resolve, running_version
from fimlsp.lsp_server.worker.backend import PYTHON_ONLY, Backend
from fimlsp.models import completion
from fimlsp.models.confidence import ConfidenceEstimate
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.loading import BUNDLED
from fimlsp.quotient.contexts.replacement import Replacement

from ..local_editor import URI, LocalEditor, LocalPool
from ..waiting import HANG_GUARD_S, until


@pytest.fixture
async def editor():
    editor = LocalEditor(LocalPool(), {"minLength": 0})
    await editor.start()
    yield editor
    await editor.session.close()


def configure(editor, **options):
    settings, problems = resolve(options, editor.session.settings)
    assert not problems
    editor.session.configure(settings)


REFUSED = [
    ({"exclude": ["a.py"]}, "completions are off for this file (option exclude)"),
    ({"exclude": ["**/project/**"]}, "completions are off for this file (option exclude)"),
    ({"languages": []}, "python is not completed (option languages)"),
    ({"languages": ["sage", "xonsh"]}, "python is not completed, only sage, xonsh (option languages)"),
]


@pytest.mark.parametrize(("options", "reason"), REFUSED, ids=str)
async def test_documents_are_switched_off_and_on_again(editor, options, reason):
    editor.open("x<|>")
    configure(editor, **options)
    assert await editor.suggestion() is None
    assert editor.reason == reason
    editor.type("y")
    configure(editor, exclude=[], languages=["python"])
    assert await editor.suggestion() == "scripted v2 'xy' ''"


async def test_other_languages_may_count_as_python(editor):
    configure(editor, languages=["sage"])
    editor.open("x<|>", language="sage")
    assert await editor.suggestion() == "scripted v1 'x' ''"


async def test_json_is_read_as_json(editor):
    configure(editor, languages=["python", "json"])
    editor.open("# told<|>", language="json")
    assert (await editor.suggestion()).startswith("(Json(), ")


async def test_the_worker_is_told_of_versions_folders_and_limits(editor, tmp_path, monkeypatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    (tmp_path / ".python-version").write_text("3.12")
    uri = (tmp_path / "a.py").as_uri()
    editor.open("# told<|>", uri=uri)
    told = await editor.suggestion(uri=uri)
    assert told.startswith(
        f"(Python(version={running_version()}, check='compile'), (), (), Limits(max_tokens=64"
    )
    editor.session.change_folders([tmp_path.as_uri()])
    await until(lambda: editor.session.documents.find(uri).grammar == Python((3, 12), "compile"))
    told = await editor.suggestion(uri=uri)
    assert told.startswith(f"(Python(version=(3, 12), check='compile'), ({str(tmp_path)!r},), ()")
    configure(editor, pythonVersion="3.8", maxTokens=7, contextEscape=True, exclude=["b.py"])
    told = await editor.suggestion(uri=uri)
    assert told.startswith(
        f"(Python(version=(3, 8), check='compile'), ({str(tmp_path)!r},), ('b.py',), Limits(max_tokens=7"
    )
    assert "context_escape=True" in told
    editor.session.change_folders([], [tmp_path.as_uri()])
    configure(editor, pythonVersion="auto")
    await until(lambda: editor.session.documents.find(uri).grammar == Python(running_version(), "compile"))
    assert (await editor.suggestion(uri=uri)).startswith(
        f"(Python(version={running_version()}, check='compile'), ()"
    )


async def test_cells_and_buffers_without_a_file(editor):
    for uri in ("untitled:Untitled-1", "vscode-notebook-cell:/n.ipynb#1"):
        editor.open("!ls\nx<|>", uri=uri)
        version = editor.version
        read = "0#s" if "cell" in uri else "!ls"
        assert await editor.suggestion(uri=uri) == f"scripted v{version} {read + chr(10) + 'x'!r} ''"


async def test_edits_of_a_cell_are_told_as_they_are_read(editor):
    editor.open("x = 1\n<|>y", cell=True)
    editor.type("%time ")
    assert await editor.suggestion(0) == "scripted v2 'x = 1\\n' '0#ime y'"
    assert await editor.suggestion(3) is None
    assert editor.reason == "the cursor is in an IPython command"


@pytest.fixture
def asked(monkeypatch):
    """The settings of the decoding."""
    calls = []

    def complete_many(*_, neighbours, path, **__):
        calls.append((path, [(neighbour.path, neighbour.text.decode()) for neighbour in neighbours]))
        return [Middle(b"pass", True, 1, 0, False, "end", -1.0, 0.0, 0.0)]

    monkeypatch.setattr(completion, "complete_many", complete_many)
    return calls


def backend_of(folder, reads_files=True, exclude=()):
    backend = Backend()
    backend._model = SimpleNamespace(
        fim=SimpleNamespace(reads_files=reads_files),
        uses_buffer=False,
        acceptance=ConfidenceEstimate.load(BUNDLED),
    )
    backend.enter(Workspace(1, (str(folder),), exclude))
    return backend


def patient(**limits):
    """Limits whose deadline does not matter."""
    return Limits(deadline_ms=int(1000 * HANG_GUARD_S), **limits)


def ask(backend, folder, **limits):
    document = DocumentId(1, (folder / "main.py").as_uri())
    text = b"from lib import tool\n"
    backend.open(document, 1, text, Python())
    completion = backend.complete(Complete(1, document, 1, len(text), patient(**limits), 0.0), lambda: False)
    assert completion.text == "pass"


@pytest.mark.parametrize(
    ("reads_files", "tokens", "exclude", "told"),
    [
        (True, 100, (), ("main.py", [("lib.py", "def tool(a): ...\n"), ("other.py", "y = 2\n")])),
        (True, 100, ("lib.py",), ("main.py", [("other.py", "y = 2\n")])),
        (True, 0, (), (None, [])),
        (False, 100, (), (None, [])),
    ],
)
def test_the_model_reads_other_files_if_it_can(tmp_path, asked, reads_files, tokens, exclude, told):
    (tmp_path / "lib.py").write_text("def tool(a):\n    return a\n")
    backend = backend_of(tmp_path, reads_files, exclude)
    backend.open(DocumentId(1, (tmp_path / "other.py").as_uri()), 1, b"x = 1\n", Python())
    backend.edit(DocumentId(1, (tmp_path / "other.py").as_uri()), 2, Replacement(0, 5, b"y = 2"))
    backend.open(DocumentId(2, "file:///of/another/client.py"), 1, b"secret = 1\n", Python())
    ask(backend, tmp_path, neighbour_tokens=tokens)
    assert asked == [told]


def test_files_of_one_language_are_read_beside_each_other(tmp_path, asked):
    backend = backend_of(tmp_path)
    for name, language in [("b.lua", lua), ("c.go", go), ("d.py", Python())]:
        backend.open(DocumentId(1, (tmp_path / name).as_uri()), 1, b"-- " + name.encode() + b"\n", language)
    document = DocumentId(1, (tmp_path / "a.lua").as_uri())
    backend.open(document, 1, b"f()\n", lua)
    backend.complete(Complete(1, document, 1, 4, patient(neighbour_tokens=100), 0.0), lambda: False)
    assert asked == [("a.lua", [("b.lua", "-- b.lua\n")])]


def test_the_bundled_model_writes_other_languages_only_by_hand(tmp_path, asked):
    backend = backend_of(tmp_path)
    backend._loaded = Load()
    document = DocumentId(1, (tmp_path / "a.lua").as_uri())
    backend.open(document, 1, b"f()\n", lua)
    told = backend.complete(Complete(1, document, 1, 4, patient(confidence=0.5), 0.0), lambda: False)
    assert (told.texts, told.reason) == ((), PYTHON_ONLY)
    assert not backend.prepare()
    assert asked == []
    invoked = backend.complete(Complete(1, document, 1, 4, patient(confidence=0.0), 0.0), lambda: False)
    assert invoked.reason is None or invoked.reason.endswith(PYTHON_ONLY)
    assert len(asked) == 1


def test_no_other_model_is_recommended_where_none_could_write(tmp_path, asked):
    backend = backend_of(tmp_path)
    backend._loaded = Load()
    document = DocumentId(1, (tmp_path / "a.lua").as_uri())
    backend.open(document, 1, b"f(]\n", lua)
    told = backend.complete(Complete(1, document, 1, 3, patient(relaxed_contexts=False), 0.0), lambda: False)
    assert told.reason == "the file is broken elsewhere (option relaxedContexts)"
    assert asked == []


def test_what_a_client_leaves_behind_is_forgotten(tmp_path, asked):
    backend = backend_of(tmp_path)
    ask(backend, tmp_path)
    backend.leave(1)
    assert backend.documents.find(DocumentId(1, (tmp_path / "main.py").as_uri())) is None
    assert len(asked) == 1


def test_relaxing_is_an_option(asked, tmp_path):
    backend = backend_of(tmp_path)
    document = DocumentId(1, "untitled:x")
    backend.open(document, 1, b"x = ]\n\n", Python())
    request = Complete(1, document, 1, 6, patient(), 0.0)
    assert backend.complete(request, lambda: False).relaxed == ("line 1: “a” for “]”",)
    strict = Complete(2, document, 1, 6, patient(relaxed_contexts=False), 0.0)
    refused = backend.complete(strict, lambda: False)
    assert (refused.texts, refused.reason) == ((), "the file is broken elsewhere (option relaxedContexts)")
    assert len(asked) == 1


@pytest.mark.usefixtures("asked")
def test_what_a_language_does_not_read_is_told(tmp_path):
    backend = backend_of(tmp_path)
    document = DocumentId(1, "untitled:x")
    signs = b"=" * 21
    left = b"a = [" + signs + b"[ b ]" + signs + b"]\nc = "
    backend.open(document, 1, left + b"\n", lua)
    told = "line 1: a long bracket with more than 20 equal signs is not read"
    relaxed = backend.complete(Complete(1, document, 1, len(left), patient(), 0.0), lambda: False)
    assert told in relaxed.relaxed
    strict = Complete(2, document, 1, len(left), patient(relaxed_contexts=False), 0.0)
    assert backend.complete(strict, lambda: False).reason == told


@pytest.mark.parametrize("escape", [False, True])
def test_leaving_the_context_is_an_option(monkeypatch, tmp_path, escape):
    starts = []

    def complete_many(_model, _left, _right, start, *_, **__):
        starts.append(start)
        return [Middle(b"pass", True, 1, 0, False, "end", -1.0, 0.0, 0.0)]

    monkeypatch.setattr(completion, "complete_many", complete_many)
    backend = backend_of(tmp_path)
    document = DocumentId(1, URI)
    backend.open(document, 1, b"f(a, )\n", Python())
    backend.complete(Complete(1, document, 1, 5, patient(context_escape=escape), 0.0), lambda: False)
    assert (starts[0].feed(b"b) + (c") is not None) is escape
