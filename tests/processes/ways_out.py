"""Ways out of a confinement by the kernel, in one table: those of untrusted programs and of workers.

They are those of earlier findings, and those that are known for seccomp and Landlock: calls that neither
mediates, descriptors, namespaces. A confined process tries each expression with `PRELUDE`. A program sees
nothing of the user; a worker may read all files, and write its cache and temporary files.
"""

from __future__ import annotations

import contextlib
import os
import platform
import socket
import subprocess
import sys
from typing import NamedTuple

import pytest

from fimlsp.processes.system_calls import ARCHITECTURES, CLONE, IOCTL, NEVER_NEEDED

PRELUDE = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)

def call(name, *arguments):
    result = getattr(libc, name)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result

def outcome(attempt):
    try:
        return f"went through: {attempt()}"
    except OSError as error:
        return errno.errorcode[error.errno]

def write_by_link(path):
    import tempfile
    link = tempfile.mkdtemp() + "/link"
    os.symlink(path, link)
    return open(link, "a")

def exit_status(code):
    import subprocess, sys
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode

"""

REFUSED = ("EACCES",)
NOT_IN_VIEW = ("ENOENT", "EACCES", "EROFS")
READ_ONLY = ("EACCES", "EROFS")
OF_OTHERS = ("EPERM",)
ELSEWHERE = ("EACCES", "EXDEV")
UNKNOWN = ("ENOSYS",)
FAILS = ("went through: 1",)
"""The exit status of a process with an error."""


class Way(NamedTuple):
    """An expression, and its outcomes in a program and in a worker; None where it is no way out.

    `{file}` is a file of the user, `{new}` a path at which nothing may be made.
    """

    name: str
    attempt: str
    program: tuple[str, ...] | None = None
    worker: tuple[str, ...] | None = None


SOCKET = "__import__('socket')"
WAYS = [
    Way("read a file of the user", "open({file!r}).read()", NOT_IN_VIEW),
    Way("write a file of the user", "open({file!r}, 'a').write('x')", NOT_IN_VIEW, REFUSED),
    Way("create a file beside it", "open({file!r} + '2', 'w')", NOT_IN_VIEW, REFUSED),
    Way("remove a file of the user", "os.remove({file!r})", NOT_IN_VIEW, REFUSED),
    Way("move a file of the user", "os.rename({file!r}, {new!r})", NOT_IN_VIEW, ELSEWHERE),
    Way("move a file into it", "os.rename(__import__('tempfile').mkstemp()[1], {file!r})", None, ELSEWHERE),
    Way("truncate a file of the user", "os.truncate({file!r}, 0)", NOT_IN_VIEW, REFUSED),
    Way("look at a file of the user", "os.stat({file!r})", NOT_IN_VIEW),
    Way("change the mode of a file", "os.chmod({file!r}, 0o777)", REFUSED, REFUSED),
    Way("change the owner of a file", "os.chown({file!r}, 1, 1)", REFUSED, REFUSED),
    Way("change the times of a file", "os.utime({file!r})", REFUSED),
    Way("set an attribute of a file", "os.setxattr({file!r}, 'user.a', b'')", REFUSED, REFUSED),
    Way("climb out of the folder", "open('../../../../../../' + {file!r}).read()", NOT_IN_VIEW),
    Way("climb out by a descriptor", "os.open({file!r}[1:], 0, dir_fd=os.open('.', os.O_PATH))", NOT_IN_VIEW),
    Way("list the root", "os.listdir('/')", REFUSED),
    Way("list the home", "os.listdir({home!r})", NOT_IN_VIEW),
    Way("read the passwords", "open('/etc/passwd').read()", NOT_IN_VIEW),
    Way("write a file of settings", "open({home!r} + '/.fimlsp-test', 'w')", NOT_IN_VIEW, REFUSED),
    Way("write into the library", "open(os.__file__, 'a')", READ_ONLY, REFUSED),
    Way("write beside the library", "open(os.path.dirname(os.__file__) + '/a.py', 'w')", READ_ONLY, REFUSED),
    Way("replace the library", "os.rename(os.__file__, os.__file__ + '2')", READ_ONLY, REFUSED),
    Way("make a folder", "os.mkdir({file!r} + '2')", NOT_IN_VIEW, REFUSED),
    Way("make a pipe with a name", "os.mkfifo({new!r})", REFUSED, REFUSED),
    Way("make a device", "os.mknod({new!r}, 0o20666, os.makedev(1, 3))", REFUSED, ("EACCES", "EPERM")),
    Way("make a link", "os.symlink({file!r}, {new!r})", REFUSED, REFUSED),
    Way("make a hard link", "os.link(os.__file__, {new!r})", REFUSED, ELSEWHERE),
    Way("make a hard link beside it", "os.link({file!r}, {file!r} + '2')", REFUSED, ELSEWHERE),
    Way(
        "take a file by a link of its own",
        "os.link({file!r}, __import__('tempfile').mkdtemp() + '/a')",
        None,
        ELSEWHERE,
    ),
    Way("write by a link of its own", "write_by_link({file!r})", None, REFUSED),
    Way("write by a process", "exit_status('open(' + repr({file!r}) + ', \"a\")')", None, FAILS),
    Way("read the processes", "os.listdir('/proc')", NOT_IN_VIEW),
    Way("read the memory of the parent", "open('/proc/%d/mem' % os.getppid(), 'rb')", NOT_IN_VIEW, READ_ONLY),
    Way("write the memory of the parent", "open('/proc/%d/mem' % os.getppid(), 'r+b')", NOT_IN_VIEW, REFUSED),
    Way("read the environment of the parent", "open('/proc/%d/environ' % {pid}, 'rb').read()", NOT_IN_VIEW),
    Way("read its own memory", "open('/proc/self/mem', 'rb')", NOT_IN_VIEW),
    Way("write its own memory", "open('/proc/self/mem', 'r+b')", NOT_IN_VIEW, REFUSED),
    Way("open a descriptor again", "open('/proc/self/fd/2')", NOT_IN_VIEW),
    Way("use a terminal", "open('/dev/tty', 'w')", NOT_IN_VIEW, ("EACCES", "ENXIO")),
    Way("use shared memory", "open('/dev/shm/a', 'w')", NOT_IN_VIEW, REFUSED),
    Way("write to a device", "open('/dev/full', 'w')", NOT_IN_VIEW, REFUSED),
    Way("write to a device for reading", "open('/dev/mem', 'r+b')", NOT_IN_VIEW),
    Way("start a process", "os.fork()", REFUSED),
    Way("start a process without a copy", "call('vfork')", REFUSED),
    Way("start a shell", "os.execv('/bin/sh', ['sh'])", REFUSED),
    Way("spawn a shell", "os.posix_spawn('/bin/sh', ['sh'], {{}})", REFUSED),
    Way("start Python again", "os.execv('/proc/self/exe', ['python'])", REFUSED),
    Way("enter a namespace of users", "call('syscall', {unshare}, 0x10000000)", REFUSED, REFUSED),
    Way("clone into a namespace", "call('syscall', {clone}, 0x10000011, 0, 0, 0, 0)", REFUSED, REFUSED),
    Way("clone a process", "call('syscall', {clone}, 17, 0, 0, 0, 0)", REFUSED),
    Way("clone by the newer call", "call('syscall', 435, None, 0)", UNKNOWN, UNKNOWN),
    Way("mount a file system", "call('syscall', {mount}, 0, 0, 0, 0, 0)", REFUSED, REFUSED),
    Way("change its root", "os.chroot('/tmp')", REFUSED, REFUSED),
    Way("submit calls to a ring", "call('syscall', 425, 1, 0)", REFUSED, REFUSED),
    Way("trace the parent", "call('syscall', {ptrace}, 16, os.getppid(), 0, 0)", REFUSED, REFUSED),
    Way(
        "read the memory by a call",
        "call('syscall', {process_vm_readv}, os.getppid(), 0, 0, 0, 0, 0)",
        REFUSED,
        REFUSED,
    ),
    Way("read a key of the kernel", "call('syscall', {keyctl}, 0, -3, 0)", REFUSED, REFUSED),
    Way("end the user's process", "os.kill({pid}, 9)", REFUSED, OF_OTHERS),
    Way("end its parent", "os.kill(os.getppid(), 9)", REFUSED, OF_OTHERS),
    Way("end everything", "os.kill(-1, 9)", REFUSED),
    Way("end a thread of others", "call('syscall', {tgkill}, {pid}, {pid}, 9)", REFUSED, OF_OTHERS),
    Way("have a descriptor signal others", "call('fcntl', 2, 8, {pid})", REFUSED),
    Way("choose the signal of a descriptor", "call('fcntl', 2, 10, 9)", REFUSED),
    Way("watch a folder by signals", "call('fcntl', os.open('.', 0), 1026, 1)", REFUSED),
    Way("limit the parent", "call('prlimit', {pid}, 0, (ctypes.c_uint64 * 2)(1, 1), None)", REFUSED),
    Way(
        "type into a terminal", "call('syscall', {ioctl}, 2, 0x5412, ctypes.c_char_p(b'x'))", REFUSED, REFUSED
    ),
    Way("connect to a port", SOCKET + ".create_connection(('127.0.0.1', {port}))", REFUSED, REFUSED),
    Way("listen on a port", SOCKET + ".create_server(('127.0.0.1', 0))", REFUSED, REFUSED),
    Way("send a datagram", SOCKET + ".socket(2, 2)", REFUSED, REFUSED),
    Way("resolve a name", "__import__('_socket').socket(16, 3, 0)", REFUSED, REFUSED),
    Way("connect to a local socket", SOCKET + ".socket(1, 1)", REFUSED, REFUSED),
    Way("open a raw socket", SOCKET + ".socket(17, 3)", REFUSED, REFUSED),
    Way("connect by a process", "exit_status('import socket; socket.socket()')", None, FAILS),
]


@contextlib.contextmanager
def things_of_the_user(folder, new):
    """The values of the placeholders in `WAYS`: a file in *folder*, a process, a port, numbers of calls.

    *new* is a path at which a confined process may make nothing; by default it is beside the file. At the end
    all is as before.
    """
    file = folder / "own.txt"
    file.write_text("own", encoding="utf-8")
    column = ARCHITECTURES[platform.machine()][0]
    names = ("ptrace", "process_vm_readv", "unshare", "mount", "keyctl")
    calls = {"clone": CLONE[column], "ioctl": IOCTL[column], "tgkill": (234, 131)[column]}
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        yield {
            "file": str(file),
            "new": new or f"{file}2",
            "home": os.path.expanduser("~"),  # noqa: PTH111 - a text
            "pid": process.pid,
            "port": server.getsockname()[1],
            **calls,
            **{name: NEVER_NEEDED[name][column] for name in names},
        }
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
        assert process.poll() is None
        process.communicate(b"\n")
    assert [path.name for path in folder.iterdir()] == [file.name]
    assert (file.read_text(encoding="utf-8"), file.stat().st_mode & 0o777) == ("own", 0o644)
