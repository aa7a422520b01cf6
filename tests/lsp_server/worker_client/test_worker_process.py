"""The worker as a process: pauses between starts, the reason of its end, and messages to it."""

from __future__ import annotations

import asyncio
import sys

import pytest

from fimlsp.languages.python import Python
from fimlsp.lsp_server.messages import (
    Answer,
    Cancel,
    Close,
    Complete,
    DocumentId,
    Edit,
    Limits,
    Open,
    Working,
)
from fimlsp.lsp_server.worker_process import WorkerProcess, describe_end, pause_after
from fimlsp.quotient.contexts.replacement import Replacement

from ..waiting import HANG_GUARD_S, finished

A, B = DocumentId(1, "a"), DocumentId(1, "b")


def complete(id, document):
    return Complete(id, document, 1, 0, Limits(), 0.0)


def test_pauses_grow_and_are_bounded():
    assert [pause_after(lives) for lives in (0, 1, 2, 3, 4, 20)] == [0, 0, 1, 2, 4, 60]


@pytest.mark.parametrize(
    ("code", "words"),
    [(3, "exit code 3"), (0, "exit code 0"), (-9, "SIGKILL"), (-11, "SIGSEGV"), (-99, "signal 99")],
)
def test_the_end_in_words(code, words):
    assert describe_end(code).endswith(words)


async def test_a_command_that_cannot_run_is_reported():
    reasons: asyncio.Queue[str] = asyncio.Queue()
    worker = WorkerProcess(["/does/not/exist"], lambda: None, lambda _: None, reasons.put_nowait)
    worker.start()
    assert "cannot be started" in await finished(reasons.get())
    worker.send(Close(A))
    await worker.close()
    assert not worker.is_available


async def test_messages_for_documents_it_does_not_know_do_not_end_a_worker(scripted_worker):
    reports: asyncio.Queue = asyncio.Queue()
    ends: list[str] = []

    def begin():
        for message in [
            Edit(A, 1, Replacement(0, 0, b"x")),
            Close(A),
            Cancel(7),
            Open(B, 1, b"", Python()),
            Cancel(2),
            complete(1, A),
            complete(2, B),
            complete(3, B),
        ]:
            worker.send(message)

    worker = WorkerProcess(scripted_worker, begin, reports.put_nowait, ends.append)
    worker.start()
    told = [await finished(reports.get()) for _ in range(7)]
    await worker.close()
    at_work = [report.document for report in told if isinstance(report, Working)]
    assert at_work == [A, B, A, B]
    answers = [report for report in told if isinstance(report, Answer)]
    assert [answer.id for answer in answers] == [1, 2, 3]
    assert (
        answers[0].completion.reason == "completing failed unexpectedly (KeyError); the log has the details"
    )
    assert answers[1].completion.reason == "cancelled"
    assert answers[2].completion.text == "none v1 '' ''"
    assert ends == []


async def test_an_orphaned_worker_ends(scripted_worker):
    process = await asyncio.create_subprocess_exec(
        *scripted_worker, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    process.stdin.close()
    assert await finished(process.wait()) == 0


def test_the_worker_command_leaves_the_working_directory_out(tmp_path):
    import subprocess

    from fimlsp.lsp_server.worker_process import WORKER_COMMAND

    (tmp_path / "queue.py").write_text("raise SystemExit('taken from the workspace')\n")
    assert WORKER_COMMAND[0] == sys.executable
    ended = subprocess.run(
        WORKER_COMMAND, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, timeout=HANG_GUARD_S
    )
    assert (ended.returncode, ended.stdout) == (0, b"")
