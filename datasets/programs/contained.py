"""Runs one untrusted program in this process, which contains itself first; started by `sandbox.py`.

It is a script of its own and uses the standard library only. It reads a JSON object from standard input. When
the program and its test have reached their end, the word in the object is written to the descriptor in the
first argument.

Python's audit events (PEP 578) refuse sockets, other programs, signals to other processes and all writing
outside the working directory. The kernel limits time, memory (not on macOS), and the size and number of
files. On Linux of x86-64 and ARM64 a filter of system calls (seccomp) refuses sockets and new processes in
the kernel. Executable files, such as Go's, are contained by the kernel alone.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import struct
import sys
from collections.abc import Mapping
from pathlib import Path

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
PROGRAMS = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.spawn", "os.kill")
REFUSED = (*PROGRAMS, "socket.", "ctypes.", "os.link", "os.symlink", "webbrowser.")
CHANGES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.chown")


def limit_resources(limits: Mapping[str, int]) -> None:
    """Limit processor time, memory, and the size and number of files; forbid core dumps."""
    try:
        import resource
    except ImportError:
        return
    for name, most in (
        ("RLIMIT_CPU", limits["seconds"]),
        ("RLIMIT_AS", limits["memory"]),
        ("RLIMIT_FSIZE", limits["file_bytes"]),
        ("RLIMIT_NOFILE", limits["files"]),
        ("RLIMIT_CORE", 0),
    ):
        if hasattr(resource, name):
            kind = getattr(resource, name)
            _, hard = resource.getrlimit(kind)
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            try:
                resource.setrlimit(kind, (most, most))
            except (OSError, ValueError):
                continue  # macOS cannot limit the address space


# Numbers of system calls: socket, socketpair, fork, vfork, ptrace; execve, execveat; clone; clone3.
_MACHINES = {
    "x86_64": (0xC000003E, (41, 53, 57, 58, 101), (59, 322), 56, 435),
    "aarch64": (0xC00000B7, (198, 199, 117), (221, 281), 220, 435),
}
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_CLONE_THREAD = 0x10000
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2


def filter_system_calls(*, may_execute: bool = False) -> bool:
    """Let the kernel refuse sockets and new processes, but not threads (seccomp(2)); True if it does.

    Unless it *may_execute*, this process cannot become another program.
    """
    machine = _MACHINES.get(platform.machine())
    if not sys.platform.startswith("linux") or machine is None:
        return False
    import ctypes

    architecture, refused, executing, clone, clone3 = machine

    def instruction(code: int, true: int, false: int, value: int) -> bytes:
        return struct.pack("HBBI", code, true, false, value)

    program = [
        instruction(_LOAD, 0, 0, _ARCHITECTURE),
        instruction(_EQUAL, 1, 0, architecture),
        instruction(_RETURN, 0, 0, _KILL),
        instruction(_LOAD, 0, 0, _NUMBER),
    ]
    for number in refused if may_execute else refused + executing:
        program += [
            instruction(_EQUAL, 0, 1, number),
            instruction(_RETURN, 0, 0, _FAIL | errno.EACCES),
        ]
    program += [  # libraries fall back from clone3, whose flags a filter cannot read, to clone
        instruction(_EQUAL, 0, 1, clone3),
        instruction(_RETURN, 0, 0, _FAIL | errno.ENOSYS),
        instruction(_EQUAL, 0, 3, clone),
        instruction(_LOAD, 0, 0, _FIRST_ARGUMENT),
        instruction(_ANY_BIT, 1, 0, _CLONE_THREAD),
        instruction(_RETURN, 0, 0, _FAIL | errno.EACCES),
        instruction(_RETURN, 0, 0, _ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(program))

    class Filter(ctypes.Structure):
        _fields_ = (("size", ctypes.c_ushort), ("code", ctypes.c_void_p))

    filter_ = Filter(len(program), ctypes.addressof(code))
    call = ctypes.CDLL(None).prctl
    return bool(
        call(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
        and call(_SET_SECCOMP, _FILTER, ctypes.byref(filter_), 0, 0) == 0
    )


def refuse_by_audit(folder: str) -> None:
    """Refuse other programs, sockets and writing outside *folder*, by Python's audit events."""

    def is_inside(path: object) -> bool:
        if isinstance(path, int):
            return True  # an open descriptor
        text = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
        return os.path.realpath(text).startswith(folder + os.sep)

    def check(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = (isinstance(flags, int) and flags & WRITES) or str(mode or "r").strip("rbt")
            if writes and not is_inside(path):
                raise PermissionError(errno.EACCES, "only its own folder may be written to", str(path))
        elif event.startswith(REFUSED):
            raise PermissionError(errno.EACCES, f"{event} is refused")
        elif event.startswith(CHANGES) and not is_inside(arguments[0]):
            raise PermissionError(errno.EACCES, "only its own folder may be changed", str(arguments[0]))

    sys.addaudithook(check)


def main() -> None:
    """Contain this process, run the program, and report its end.

    An executable file replaces this process, and reports by its exit status.
    """
    job = json.loads(sys.stdin.buffer.read())
    report = int(sys.argv[1])
    sys.argv = ["program.py"]
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(nowhere, descriptor)
    limit_resources(job["limits"])
    filter_system_calls(may_execute="executable" in job)
    if "executable" in job:
        os.execv(job["executable"], [job["executable"]])
    refuse_by_audit(str(Path.cwd().resolve()))
    exec(compile(job["program"], "program.py", "exec"), {"__name__": "__main__"})
    os.write(report, job["word"].encode())


if __name__ == "__main__":
    main()
