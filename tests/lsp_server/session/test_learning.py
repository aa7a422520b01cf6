"""The texts that the user types correct the estimate of the model: kept, told, and switched off."""

from __future__ import annotations

import pytest

from fimlsp.lsp_server.messages import Complete
from fimlsp.models.learnt import Learnt, learnt_file, learnt_folder, read_learnt

from ..local_editor import LocalEditor, LocalPool

WRONG, RIGHT = "zero + 1\n", "total\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
async def start():
    editors = []

    async def start_one(**options):
        editor = LocalEditor(LocalPool(), options)
        await editor.start()
        editors.append(editor)
        return editor

    yield start_one
    for editor in editors:
        await editor.session.close()


async def write(editor, typed, number, line="# even 'total'"):
    """Write so many lines below each other, with a text estimated in each; the numbers of those shown."""
    shown = 0
    for each in range(number):
        uri = f"file:///project/{each}.py"
        editor.open(line + "<|>\nnext\n", uri=uri)
        shown += (await editor.suggestion(uri=uri)) is not None
        at = (editor.line, editor.character)
        editor.edit(at, at, typed, uri=uri)
    return shown


async def kept(editor):
    await editor.session.close()
    return read_learnt(learnt_file("scripted"))


@pytest.mark.parametrize("line", ["# even 'total'", "# held 'total'"])
@pytest.mark.parametrize(("typed", "is_right"), [(RIGHT, True), (WRONG, False)])
async def test_typing_is_counted_for_texts_that_are_shown_or_held(start, line, typed, is_right):
    editor = await start()
    assert await write(editor, typed, 3, line) == (3 if "even" in line else 0)
    learnt = await kept(editor)
    assert (learnt.places, sum(learnt.whole.right), sum(learnt.whole.wrong)) == (
        3,
        3 * is_right,
        3 * (not is_right),
    )
    assert sum(learnt.opening.right) == 3 * is_right


async def test_a_text_that_is_accepted_by_a_command_counts_as_typed(start):
    editor = await start()
    editor.open("# even 'total'<|>\nnext\n")
    offer = await editor.offer()
    editor.completer.suggestions.accept(f"{offer.id}.0")
    editor.type("total")
    learnt = await kept(editor)
    assert (learnt.places, sum(learnt.whole.right)) == (1, 1)


async def test_it_corrects_the_next_editor_which_says_so(start):
    assert await write(editor := await start(), WRONG, 200) == 200
    assert (await kept(editor)).places == 200
    later = await start(cacheSize=0)
    assert await write(later, WRONG, 1) == 1  # which estimate it is, the first answer says
    assert await write(later, RIGHT, 1) == 0
    assert later.session.status.now.learnt == "learnt from 200 places"
    [worker] = later.pool.workers.values()
    first, *_, last = [message.correction for message in worker.process.seen if isinstance(message, Complete)]
    assert (first, last.key) == (None, "scripted")
    assert last.whole.bias < -0.5


async def test_editors_side_by_side_add_to_one_file(start):
    one, two = await start(), await start()
    await write(one, RIGHT, 2)
    await write(two, WRONG, 3)
    assert (await kept(one)).places == 2
    assert (await kept(two)).places == 5


async def test_switched_off_there_is_no_file_and_no_correction(start):
    await kept_by_another(start)
    path = learnt_file("scripted")
    before = path.read_bytes()
    editor = await start(learn=False)
    assert await write(editor, WRONG, 5) == 5
    await editor.session.close()
    assert (path.read_bytes(), editor.session.status.now.learnt) == (before, None)
    path.unlink()
    path.parent.rmdir()
    await write(await start(learn=False), WRONG, 1)
    assert not learnt_folder().exists()


async def kept_by_another(start):
    await write(editor := await start(), WRONG, 200)
    await editor.session.close()


async def test_switching_it_off_forgets_the_counts_in_memory(start):
    editor = await start()
    await write(editor, WRONG, 3)
    editor.completer.learning.switch(False)
    assert await kept(editor) == Learnt()


async def test_a_folder_that_cannot_be_written_is_told_once_and_the_rest_works(start, cache):
    (cache / "fimlsp").write_text("a file in place of the folder")
    editor = await start()
    records = []
    editor.session.log.addFilter(lambda record: records.append(record.getMessage()))
    await write(editor, WRONG, 3)
    await editor.session.close()
    assert [words for words in records if "Cannot keep" in words]


async def test_no_text_is_kept(start):
    editor = await start()
    await write(editor, "secret = zero\n", 3)
    await editor.session.close()
    content = learnt_file("scripted").read_bytes()
    assert not any(word in content for word in (b"total", b"secret", b"zero", b"project"))
