"""The session with a scripted worker, where time limits can be short."""

from __future__ import annotations

import asyncio

import pytest
from fimlsp.lsp_server import session as session_module
from fimlsp.lsp_server.session import Session
from fimlsp.lsp_server.settings import Settings

URI = "file:///a.py"


@pytest.fixture
async def session(scripted_worker, monkeypatch):
    monkeypatch.setattr(session_module, "_PATIENCE_S", 0.1)
    monkeypatch.setattr(session_module, "_STUCK_S", 0.1)
    statuses = []
    session = Session(scripted_worker, statuses.append, lambda _: None)
    session.statuses = statuses
    session.configure(Settings(deadline_ms=50))
    session.start()
    await until(lambda: any(status.state == "idle" for status in statuses))
    yield session
    await session.close()


async def until(condition):
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("not reached")


async def ask(session, character=0):
    return await asyncio.wait_for(session.complete(URI, 0, character, automatic=True), 20)


async def test_an_answer_that_takes_too_long_is_empty_and_the_worker_goes_on(session):
    session.open(URI, "python", 1, "# slow")
    assert (await ask(session, 6)).reason == "the answer took too long"
    assert (await ask(session)).text == "scripted v1 '' '# slow'"


async def test_a_worker_that_is_stuck_is_ended_and_started_again(session):
    session.open(URI, "python", 1, "# stuck")
    assert (await ask(session, 7)).reason == "the answer took too long"
    await until(lambda: any("was ended by SIGKILL" in (status.reason or "") for status in session.statuses))
    await until(lambda: session.statuses[-1].state == "idle")
    assert (await ask(session)).text == "scripted v1 '' '# stuck'"


async def test_closing_answers_what_is_under_way(session):
    session.open(URI, "python", 1, "# slow")
    pending = session.complete(URI, 0, 6, automatic=True)
    await session.close()
    assert (await pending).reason == "the server is shutting down"
    assert (await ask(session)).reason == "the worker process has ended and is not started again yet"


async def test_a_request_may_come_before_the_worker_runs(scripted_worker):
    session = Session(scripted_worker, lambda _: None, lambda _: None)
    session.start()
    session.open(URI, "python", 1, "")
    assert (await ask(session)).text == "scripted v1 '' ''"
    await session.close()


async def test_nothing_is_kept_of_requests_that_are_over(session):
    session.open(URI, "python", 1, "# slow")
    for _ in range(5):
        session.complete(URI, 0, 6, automatic=True)
    session.complete(URI, 0, 6, automatic=True).cancel()
    assert (await ask(session)).text
    await until(lambda: not session._unanswered and not session._newest)
