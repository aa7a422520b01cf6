"""The session with a scripted worker, where time limits can be short."""

from __future__ import annotations

import asyncio
import itertools
import logging
from operator import attrgetter

import pytest

from fimlsp.lsp_server import worker_process
from fimlsp.lsp_server.documents import UNREADABLE, TextChange
from fimlsp.lsp_server.session import requests
from fimlsp.lsp_server.session import session as session_module
from fimlsp.lsp_server.session.session import Session
from fimlsp.lsp_server.worker_pool import WorkerPool

from ..waiting import HANG_GUARD_S, finished, until

URI, OTHER = "file:///a.py", "file:///b.py"


@pytest.fixture
async def session(scripted_worker):
    statuses = []
    session = Session(WorkerPool(scripted_worker), statuses.append, lambda _: None)
    session.statuses = statuses
    session.start()
    await until(lambda: any(status.state == "idle" for status in statuses))
    yield session
    await session.close()


async def ask(session, character=0, uri=URI):
    """The completion at a place of the first line, before the decision to show it."""
    return await finished(session.completer.request(uri, 0, character, "automatic").future)


async def ask_in_vain(session, character):
    """The completion at a place of the first line under a short limit, which holds for this request alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(requests, "PATIENCE_S", -session.settings.deadline_ms / 1000)
        return await ask(session, character)


async def test_an_answer_that_takes_too_long_is_empty_and_the_worker_goes_on(session):
    session.open(URI, "python", 1, "# slow")
    assert (await ask_in_vain(session, 6)).reason == "the answer took too long"
    assert (await ask(session)).text == "scripted v1 '' '# slow'"


LEFT_OUT = f"this file is left out: {UNREADABLE}"


async def restarted(session, reason):
    """Wait until the worker has ended with a status of this *reason*, and runs again."""
    await until(lambda: any(reason in (status.reason or "") for status in session.statuses))
    await until(lambda: session.statuses[-1].state == "idle")


async def test_a_worker_that_is_stuck_is_ended_and_its_file_left_out(session, monkeypatch):
    monkeypatch.setattr(requests, "STUCK_S", 0)
    session.open(OTHER, "python", 1, "")
    session.open(URI, "python", 1, "# stuck")
    assert (await ask(session)).text == "scripted v1 '' '# stuck'", "it is at work on this document"
    reasons = set()
    while not any("SIGKILL" in (status.reason or "") for status in session.statuses):
        reasons.add((await ask_in_vain(session, 7)).reason)  # the first may come before it starts
    assert "the answer took too long" in reasons
    await restarted(session, "was ended by SIGKILL; it is restarted. a.py is left out: the worker")
    assert (await ask(session)).reason == LEFT_OUT
    session.change(URI, 2, [TextChange(None, "x = ")])
    assert (await ask(session)).reason == LEFT_OUT, "an edit does not start it anew"
    assert (await ask(session, uri=OTHER)).text == "scripted v1 '' ''"
    session.open(URI, "python", 3, "x = ")
    assert (await ask(session)).text == "scripted v3 '' 'x = '"


async def test_a_file_with_which_the_worker_ends_again_is_left_out(session, monkeypatch):
    monkeypatch.setattr(worker_process, "pause_after", lambda _: 0.0)
    session.open(URI, "python", 1, "# die")
    assert "exit code 3; it is restarted" in (await ask(session, 5)).reason
    await restarted(session, "exit code 3; it is restarted")
    assert (await ask(session)).text == "scripted v1 '' '# die'", "an answer: the next end is the first again"
    for _ in range(2):
        session.statuses.clear()
        await ask(session, 5)
        await restarted(session, "exit code 3; it is restarted")
    assert (await ask(session)).reason == LEFT_OUT


async def test_a_busy_machine_does_not_look_like_a_worker_that_is_stuck(session, monkeypatch):
    """The worker gets little processor time until it answers."""
    monkeypatch.setattr(requests, "STUCK_S", 0)
    seconds = itertools.count(0.0, 1.5)
    process = session.completer.requests.worker.process
    monkeypatch.setattr(process, "cpu_seconds", lambda: next(seconds))
    monkeypatch.setattr(process, "kill", lambda: pytest.fail("it is killed"))
    monkeypatch.setattr(requests, "STUCK_CPU_S", (1.0, 1e9))
    session.open(URI, "python", 1, "# slow")
    assert (await ask_in_vain(session, 6)).reason == "the answer took too long"
    assert (await ask(session)).text == "scripted v1 '' '# slow'"


async def test_closing_answers_what_is_under_way(session):
    session.open(URI, "python", 1, "# slow")
    asked = session.completer.request(URI, 0, 6, "automatic")
    await session.close()
    assert (await asked.future).reason == "the server is shutting down"
    assert (await ask(session)).reason == "the worker process has ended and will be restarted"


async def test_a_request_may_come_before_the_worker_runs(scripted_worker):
    session = Session(WorkerPool(scripted_worker), lambda _: None, lambda _: None)
    session.start()
    session.open(URI, "python", 1, "")
    assert (await ask(session)).text == "scripted v1 '' ''"
    await session.close()


async def test_nothing_is_kept_of_requests_that_are_over(session):
    session.open(URI, "python", 1, "# slow")
    for _ in range(5):
        session.completer.request(URI, 0, 6, "automatic")
    session.completer.request(URI, 0, 6, "automatic").future.cancel()
    assert (await ask(session)).text
    await until(lambda: not session.completer.requests)


@pytest.mark.parametrize(
    ("text", "are_known"), [("", True), ("# names soon", True), ("# names never", False)]
)
async def test_names_are_waited_for_but_not_for_ever(session, monkeypatch, text, are_known):
    monkeypatch.setattr(session_module, "NAMES_S", HANG_GUARD_S if are_known else 0.1)
    session.open(URI, "python", 1, text)
    assert await session.names_are_known() is are_known


async def test_without_a_worker_no_names_are_known(scripted_worker):
    session = Session(WorkerPool(scripted_worker), lambda _: None, lambda _: None)
    assert await session.names_are_known() is False


async def test_the_status_names_a_file_that_was_left_out(session):
    session.open(URI, "python", 1, "# without 'big.py'")
    await finished(session.completer.result(session.completer.request(URI, 0, 18, "automatic")))
    assert session.status.now.files == "big.py is left out."


def timers():
    """The timers of the event loop."""
    return [timer for timer in asyncio.get_running_loop()._scheduled if not timer.cancelled()]


@pytest.mark.parametrize("end", ["answered", "edited", "cancelled", "closed"])
async def test_no_timer_outlives_its_request(session, monkeypatch, end):
    monkeypatch.setattr(requests, "PATIENCE_S", 1000.0)
    monkeypatch.setattr(requests, "STUCK_S", 1000.0)
    before = len(timers())
    session.open(URI, "python", 1, "# slow\n")
    ticket = session.completer.request(URI, 1 if end == "answered" else 0, 6, "automatic")
    assert len(timers()) == before + 1
    if end == "edited":
        session.change(URI, 2, [TextChange(None, "x")])
    elif end == "cancelled":
        ticket.future.cancel()
    elif end == "closed":
        await session.close()
    await until(lambda: not session.completer.requests)
    assert len(timers()) == before


@pytest.mark.parametrize("step", ["documents.offset", "completer._to_show", "completer.suggestions.show"])
async def test_whatever_goes_wrong_in_a_request_answers_it(session, monkeypatch, caplog, step):
    def fail(*_):
        raise RecursionError("too deep")

    session.open(URI, "python", 1, "x")
    owner, name = attrgetter(step.rpartition(".")[0])(session), step.rpartition(".")[2]
    monkeypatch.setattr(owner, name, fail)
    session.log.parent = logging.getLogger("fimlsp")
    ticket = session.completer.request(URI, 0, 0, "automatic")
    assert not (await session.completer.result(ticket)).texts
    assert (
        session.status.now.reason
        == "completing failed unexpectedly (RecursionError); the log has the details"
    )
    assert any(record.exc_info for record in caplog.records)
