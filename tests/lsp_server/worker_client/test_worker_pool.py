"""Workers: shared by the clients of a model, and ended without clients."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fimlsp.lsp_server.messages import CONFINED, Leave, Load
from fimlsp.lsp_server.worker_pool import MOST_WORKERS

from ..local_editor import LocalEditor, LocalPool
from ..waiting import until


@pytest.fixture
async def start():
    editors = []
    pool = LocalPool()

    async def start_one(**options):
        editor = LocalEditor(pool, {"minLength": 0, **options})
        await editor.start()
        editors.append(editor)
        return editor

    start_one.pool = pool
    yield start_one
    for editor in editors:
        await editor.session.close()
    assert pool.workers == {}


def workers(start):
    """The workers by model, each with the number of its clients."""
    return {load.model: len(worker.handles) for load, worker in start.pool.workers.items()}


def use(editor, **changes):
    editor.session.configure(replace(editor.session.settings, **changes))


async def test_clients_with_the_same_model_share_a_worker(start):
    one, other = await start(), await start()
    third = await start(model="x")
    assert workers(start) == {None: 2, "x": 1}
    for editor in (one, other, third):
        editor.open(f"# {editor.session.number}<|>")
    answers = [await editor.suggestion() for editor in (one, other, third)]
    assert answers == ["scripted v1 '# 1' ''", "scripted v1 '# 2' ''", "x v1 '# 3' ''"]


async def test_device_and_revision_are_part_of_the_model(start):
    await start()
    await start(device="cpu")
    await start(revision="v1")
    assert [*start.pool.workers] == [Load(), Load(device="cpu"), Load(revision="v1")]


async def test_a_client_alone_keeps_its_worker_when_it_changes_the_model(start):
    editor = await start(model="x")
    (before,) = start.pool.workers.values()
    editor.open("a<|>")
    use(editor, model="y")
    assert workers(start) == {"y": 1}
    assert start.pool.workers[Load("y")] is before
    assert await editor.suggestion() == "y v1 'a' ''"


async def test_a_worker_is_confined_for_ever_so_another_model_has_another_worker(start):
    editor = await start()
    (before,) = start.pool.workers.values()
    assert before.command[-1:] == (CONFINED,)
    editor.open("a<|>")
    others = [await start(model=f"x{number}") for number in range(MOST_WORKERS - 1)]
    use(editor, model="y")
    await until(lambda: not before.process.is_available)
    assert workers(start) == {"y": 1, **{f"x{number}": 1 for number in range(len(others))}}
    assert not any(CONFINED in worker.command for worker in start.pool.workers.values())
    assert await editor.suggestion() == "y v1 'a' ''"


async def test_a_client_moves_to_the_worker_that_has_the_model(start):
    one, other = await start(), await start(model="x")
    one.open("a<|>")
    worker = start.pool.workers[Load()].process
    use(one, model="x")
    await until(lambda: workers(start) == {"x": 2} and not worker.is_available)
    assert await one.suggestion() == "x v1 'a' ''"
    use(other, model="")
    await until(lambda: workers(start) == {"x": 1, None: 1})


async def test_a_request_under_way_moves_along(start):
    one, _ = await start(), await start()
    one.open("a<|>")
    asked = one.ask()
    use(one, model="y")
    assert (await one.completer.result(asked)).texts == ("y v1 'a' ''",)


async def test_what_belongs_to_a_client_that_leaves_is_forgotten(start):
    one, other = await start(), await start()
    one.open("a<|>")
    other.open("b<|>")
    worker = start.pool.workers[Load()].process
    await one.session.close()
    await until(lambda: [name.client for name in worker.backend.texts] == [other.session.number])
    assert Leave(one.session.number) in worker.seen
    assert await other.suggestion() == "scripted v1 'b' ''"


async def test_who_comes_later_is_told_where_the_worker_is(start):
    await start()
    assert (await start()).session.status.now.model == "scripted"


async def test_reloading_is_for_all_who_share(start):
    one, other = await start(), await start()
    seen = start.pool.workers[Load()].process.seen
    one.session.reload()
    await until(lambda: sum(isinstance(message, Load) for message in seen) == 2)
    await until(lambda: other.session.status.now.state == "idle")
