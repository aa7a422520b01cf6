"""Ways out of the confinement of a worker, each tried by a process that is confined like one; none succeeds.

What a worker needs goes on: its model, its cache, temporary files, and the processes of names and types.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys

import pytest

from fimlsp.lsp_server.messages import Load
from fimlsp.lsp_server.worker import worker_confinement
from fimlsp.processes.confinement import LANDLOCK, SECCOMP
from fimlsp.processes.system_calls import ARCHITECTURES, CLONE, CLONE3, IOCTL, NEVER_NEEDED, program_without

from ...processes.filters import verdict
from ...processes.ways_out import PRELUDE, WAYS, things_of_the_user

CONFINE = f"""
import json, os, socket, subprocess, sys, tempfile
from fimlsp.lsp_server.worker.worker_confinement import confine_worker
missing = confine_worker()
{PRELUDE}
"""
MISSING = "print(json.dumps(missing))"


def confined(code, folder):
    """The JSON that a confined process prints when it runs *code*. It may write in two parts of *folder*."""
    for name in ("cache", "temporary"):
        (folder / name).mkdir(exist_ok=True)
    environment = {"XDG_CACHE_HOME": str(folder / "cache"), "TMPDIR": str(folder / "temporary")}
    command = [sys.executable, "-c", CONFINE + code]
    ended = subprocess.run(command, stdout=subprocess.PIPE, check=True, env={**os.environ, **environment})
    return json.loads(ended.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder for `confined`, on a machine whose kernel has all layers."""
    made = tmp_path_factory.mktemp("confined")
    if sys.platform != "linux" or (missing := confined(MISSING, made)):
        pytest.skip(f"this machine confines in part: no {', '.join(missing)}")
    return made


OF_WORKERS = [way for way in WAYS if way.worker is not None]


@pytest.fixture(scope="module")
def tried(folder):
    """The outcomes of all ways, tried by one process. Nothing of the user is changed by them."""
    own = folder / "user"
    own.mkdir()
    with things_of_the_user(own, new="") as users:
        attempts = (f"outcome(lambda: {way.attempt.format(**users)})" for way in OF_WORKERS)
        outcomes = confined(f"print(json.dumps([{', '.join(attempts)}]))", folder)
    return dict(zip(OF_WORKERS, outcomes, strict=True))


@pytest.mark.parametrize("way", OF_WORKERS, ids=[way.name for way in OF_WORKERS])
def test_a_way_out(way, tried):
    assert tried[way] in way.worker


def test_calls_that_are_never_needed(folder):
    column = ARCHITECTURES[platform.machine()][0]
    numbers = {name: both[column] for name, both in NEVER_NEEDED.items() if both[column] is not None}
    attempt = "outcome(lambda: call('syscall', number, 0, 0, 0, 0, 0, 0))"
    outcomes = confined(f"print(json.dumps([{attempt} for number in {[*numbers.values()]}]))", folder)
    assert {*outcomes} <= {"EACCES", "ENOSYS"}


WORKS = [
    ("a file in the cache", "open(os.environ['XDG_CACHE_HOME'] + '/fimlsp/a', 'w').close()"),
    ("a temporary folder", "tempfile.TemporaryDirectory().cleanup()"),
    ("a process and its end", "subprocess.run([sys.executable, '-c', ''], check=True).returncode"),
    ("a signal to its own process", "own_process()"),
    ("threads", "__import__('threading').Thread(target=print).start()"),
    ("a pair of sockets", "[end.close() for end in socket.socketpair()]"),
    ("reading a file", "len(open(os.__file__).read()) > 0"),
]
OWN_PROCESS = """
def own_process():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process.terminate()
    return process.wait()

"""


def test_needs_of_a_worker(folder):
    tries = "[" + ", ".join(f"outcome(lambda: {code})" for _, code in WORKS) + "]"
    outcomes = confined(f"{OWN_PROCESS}print(json.dumps({tries}))", folder)
    failed = [name for (name, _), outcome in zip(WORKS, outcomes, strict=True) if "went" not in outcome]
    assert failed == []


ANSWER = """
from fimlsp.languages.python import Python
from fimlsp.lsp_server.command_line import doctor_command as doctor
from fimlsp.lsp_server.messages import Load
from fimlsp.lsp_server.worker.backend import Backend
backend = Backend()
steps = [doctor.parse_sample(backend), doctor.find_names(), doctor.find_fault()]
print(json.dumps([*steps, doctor.load(backend, Load()), doctor.complete_sample(backend)]))
"""


def test_model_names_and_types_of_a_confined_worker(folder):
    *_, model, completion = confined(ANSWER, folder)
    assert model.startswith("bundled on cpu")
    assert "tokens" in completion
    assert (folder / "cache" / "fimlsp").is_dir()


def test_a_kernel_without_layers(monkeypatch):
    monkeypatch.setattr(worker_confinement, "forbid_effects", lambda *_, **__: False)
    monkeypatch.setattr(worker_confinement, "refuse_needless_calls", lambda: False)
    monkeypatch.setattr(worker_confinement, "_forbid_core_files", lambda: None)
    monkeypatch.setattr(worker_confinement, "_import_for_models", lambda: None)
    assert worker_confinement.confine_worker()[-2:] == (LANDLOCK, SECCOMP)


@pytest.mark.parametrize("system", ["win32", "darwin", "freebsd14"])
def test_another_system_confines_nothing_and_says_so(monkeypatch, tmp_path, system):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(worker_confinement, "_import_for_models", lambda: None)
    monkeypatch.setattr(worker_confinement, "_forbid_core_files", lambda: None)
    assert worker_confinement.confine_worker() == (LANDLOCK, SECCOMP)


MODELS = [(Load(), True), (Load(device="cpu"), True), (Load("./a"), False), (Load("a/b"), False)]


@pytest.mark.parametrize(("load", "expected"), MODELS)
def test_models_whose_worker_is_confined(load, expected):
    assert load.can_be_confined is expected


def test_what_the_filter_refuses():
    """Each number up to 1,000, those of x32 as well, in the filter's own arithmetic."""
    for machine, (column, architecture) in ARCHITECTURES.items():
        program = program_without(machine)
        refused = {numbers[column] for numbers in NEVER_NEEDED.values()} - {None} | {CLONE3[column]}
        some = [number for number in range(1000) if verdict(program, architecture, number, (0, 0)) != "allow"]
        assert {*some} == refused
        assert verdict(program, architecture, 0x40000000 + 1) == "refuse"
        assert verdict(program, architecture + 1, 39) == "refuse"
        clone, ioctl = CLONE[column], IOCTL[column]
        assert verdict(program, architecture, clone, (0x3D0F00, 0)) == "allow"
        assert verdict(program, architecture, clone, (0x10000011, 0)) == "refuse"
        assert verdict(program, architecture, ioctl, (0, 0x5401)) == "allow"
        assert verdict(program, architecture, ioctl, (0, 0x5412)) == "refuse"
