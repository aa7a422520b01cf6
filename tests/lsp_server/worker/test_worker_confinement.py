"""Ways out of the confinement of a worker, each tried by a process that is confined like one; none succeeds.

What a worker needs goes on: its model, its cache, temporary files, and the processes of names and types.
"""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
import sys

import pytest

from fimlsp.lsp_server.messages import Load
from fimlsp.lsp_server.worker import worker_confinement
from fimlsp.processes.confinement import LANDLOCK, SECCOMP
from fimlsp.processes.system_calls import ARCHITECTURES, CLONE, CLONE3, IOCTL, NEVER_NEEDED, program_without

from ...processes.filters import verdict

CONFINE = """
import ctypes, errno, json, os, signal, socket, subprocess, sys, tempfile
from fimlsp.lsp_server.worker.worker_confinement import confine_worker
missing = confine_worker()
libc = ctypes.CDLL(None, use_errno=True)

def call(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result

def outcome(attempt):
    try:
        return f"went through: {attempt()}"
    except OSError as error:
        return errno.errorcode[error.errno]

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


REFUSED = ("EACCES",)
WAYS = [
    ("write a file of the user", "open({file!r}, 'a')", REFUSED),
    ("create a file beside it", "open({file!r} + '2', 'w')", REFUSED),
    ("remove a file of the user", "os.remove({file!r})", REFUSED),
    ("move a file of the user", "os.rename({file!r}, {file!r} + '2')", ("EACCES", "EXDEV")),
    ("move a file into it", "os.rename(tempfile.mkstemp()[1], {file!r})", ("EACCES", "EXDEV")),
    ("truncate a file of the user", "os.truncate({file!r}, 0)", REFUSED),
    ("change the mode of a file", "os.chmod({file!r}, 0o777)", REFUSED),
    ("change the owner of a file", "os.chown({file!r}, 1, 1)", REFUSED),
    ("set an attribute of a file", "os.setxattr({file!r}, 'user.a', b'')", REFUSED),
    ("make a folder", "os.mkdir({file!r} + '2')", REFUSED),
    ("make a link", "os.symlink({file!r}, {file!r} + '2')", REFUSED),
    ("make a hard link", "os.link({file!r}, {file!r} + '2')", ("EACCES", "EXDEV")),
    ("take a file by a link of its own", "os.link({file!r}, tempfile.mkdtemp() + '/a')", ("EACCES", "EXDEV")),
    ("make a pipe with a name", "os.mkfifo({file!r} + '2')", REFUSED),
    ("write by a link of its own", "write_by_link({file!r})", REFUSED),
    ("write by a process", "exit_status('open(' + repr({file!r}) + ', \"a\")')", ("went through: 1",)),
    ("write into the library", "open(os.__file__, 'a')", REFUSED),
    ("write beside the library", "open(os.path.dirname(os.__file__) + '/a.py', 'w')", REFUSED),
    ("write a file of settings", "open(os.path.expanduser('~/.fimlsp-test'), 'w')", REFUSED),
    ("write to a device", "open('/dev/full', 'w')", REFUSED),
    ("write its own memory", "open('/proc/self/mem', 'r+b')", REFUSED),
    ("write the memory of the parent", "open(f'/proc/{{os.getppid()}}/mem', 'r+b')", REFUSED),
    ("read the memory of the parent", "open(f'/proc/{{os.getppid()}}/mem', 'rb')", ("EACCES", "EPERM")),
    ("trace the parent", "call({ptrace}, 16, os.getppid(), 0, 0)", REFUSED),
    ("read the memory by a call", "call({process_vm_readv}, os.getppid(), 0, 0, 0, 0, 0)", REFUSED),
    ("end the user's process", "os.kill({pid}, 9)", ("EPERM",)),
    ("end its parent", "os.kill(os.getppid(), 9)", ("EPERM",)),
    ("connect to a port", "socket.create_connection(('127.0.0.1', {port}))", REFUSED),
    ("listen on a port", "socket.create_server(('127.0.0.1', 0))", REFUSED),
    ("send a datagram", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)", REFUSED),
    ("resolve a name", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)", REFUSED),
    ("connect to a local socket", "socket.socket(socket.AF_UNIX)", REFUSED),
    ("connect by a process", "exit_status('import socket; socket.socket()')", ("went through: 1",)),
    ("submit calls to a ring", "call(425, 1, 0)", REFUSED),
    ("enter a namespace of users", "call({unshare}, 0x10000000)", REFUSED),
    ("clone into a namespace", "call({clone}, 0x10000011, 0, 0, 0, 0)", REFUSED),
    ("clone by the newer call", "call(435, 0, 0)", ("ENOSYS",)),
    ("mount a file system", "call({mount}, 0, 0, 0, 0, 0)", REFUSED),
    ("change its root", "os.chroot('/tmp')", REFUSED),
    ("type into a terminal", "call({ioctl}, 2, 0x5412, ctypes.c_char_p(b'x'))", REFUSED),
    ("read a key of the kernel", "call({keyctl}, 0, -3, 0)", REFUSED),
]
HELPERS = """
def exit_status(code):
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode

def write_by_link(path):
    link = tempfile.mkdtemp() + "/link"
    os.symlink(path, link)
    return open(link, "a")

"""


@pytest.fixture(scope="module")
def tried(folder):
    """The outcomes of all ways, tried by one process. Nothing of the user is changed by them."""
    file = folder / "own.txt"
    file.write_text("own", encoding="utf-8")
    column = ARCHITECTURES[platform.machine()][0]
    calls = {"clone": CLONE[column], "ioctl": IOCTL[column]}
    names = ("ptrace", "process_vm_readv", "unshare", "mount", "keyctl")
    calls |= {name: NEVER_NEEDED[name][column] for name in names}
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        port = server.getsockname()[1]
        ways = [way.format(file=str(file), pid=process.pid, port=port, **calls) for _, way, _ in WAYS]
        outcomes = "[" + ", ".join(f"outcome(lambda: {way})" for way in ways) + "]"
        yield dict(
            zip(
                (name for name, _, _ in WAYS),
                confined(f"{HELPERS}print(json.dumps({outcomes}))", folder),
                strict=True,
            )
        )
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
        assert process.poll() is None
        process.communicate(b"\n")
    assert (file.read_text(encoding="utf-8"), file.stat().st_mode & 0o777) == ("own", 0o644)
    assert {path.name for path in folder.iterdir()} == {"own.txt", "cache", "temporary"}


@pytest.mark.parametrize(("way", "expected"), [(name, expected) for name, _, expected in WAYS])
def test_a_way_out(way, expected, tried):
    assert tried[way] in expected


def test_calls_that_are_never_needed(folder):
    column = ARCHITECTURES[platform.machine()][0]
    numbers = {name: both[column] for name, both in NEVER_NEEDED.items() if both[column] is not None}
    tries = (
        f"{{name: outcome(lambda: call(number, 0, 0, 0, 0, 0, 0)) for name, number in {numbers!r}.items()}}"
    )
    assert {*confined(f"print(json.dumps({tries}))", folder).values()} <= {"EACCES", "ENOSYS"}


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
