"""Confines this process by the kernel, for ever: namespaces, a view of the files, Landlock, limits.

Each layer is set up by system calls through ctypes, so no program must be installed. `LAYERS` names those
that a kernel may lack. `system_calls.py` has the filter of system calls.

The view is a file system of its own in memory. It has the libraries of Python and of the system, read-only,
two devices, and an empty folder that can be written to. It has no `/proc` and nothing of the user.
"""

from __future__ import annotations

import ctypes
import os
import sys

TYPE_CHECKING = False  # as in `typing`, whose import costs each program 3 ms
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WORK = "/work"
PROGRAM = "/program"
DEVICES = ("/dev/null", "/dev/urandom")
SIZE_OF_VIEW = "size=16m,nr_inodes=1024,mode=755"


NAMESPACES = "namespaces of users, processes, networks and mounts"
LANDLOCK = "Landlock of Linux 6.2 or later"
SECCOMP = "a filter of system calls on x86-64 or ARM64"
MEMORY = "a limit of memory"
LAYERS = (NAMESPACES, LANDLOCK, SECCOMP, MEMORY)
"""The layers of the containment that some kernels and containers lack."""

_ALL_NAMESPACES = 0x7E020000
_READ_ONLY, _NO_SUID, _NO_DEVICES, _BIND, _RECURSIVE, _PRIVATE = 1, 2, 4, 1 << 12, 1 << 14, 1 << 18
_DETACH, _ALL_MOUNTS, _HERE = 2, 0x8000, -100
_MACHINE = os.uname().machine if os.name == "posix" else ""
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CAPSET = {"x86_64": 126, "aarch64": 91}
_MOUNT_SETATTR = 442
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_PR_SET_DEATH_SIGNAL, _PR_NO_NEW_PRIVILEGES, _PR_SET_DUMPABLE = 1, 38, 4
_CAPABILITIES_VERSION = 0x20080522


def _call(name: str, *arguments: object) -> int:
    """Call *name* of the C library.

    Raises:
        OSError: it failed.
    """
    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    result = int(function(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
    return result


def library_folders() -> list[str]:
    """The folders of shared libraries and of Python's standard library, links among them."""
    own = os.path.dirname(os.path.dirname(os.__file__))
    known = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
    found = [folder for folder in known if os.path.isdir(folder)]
    return found if own in found else [*found, own]


def enter_namespaces(mount_point: str, executable: str | None) -> tuple[str, str | None]:
    """Leave the namespaces of the user for new ones, with a new view; the next child is their first process.

    Returns the folder for work and the executable, as the view has them.

    Raises:
        OSError: the kernel refuses that.
    """
    user, group = os.geteuid(), os.getegid()
    _call("unshare", _ALL_NAMESPACES)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"65534 {user} 1"),
        ("gid_map", f"65534 {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)
    _mount("tmpfs", mount_point, "tmpfs", _NO_SUID | _NO_DEVICES, SIZE_OF_VIEW)
    _fill(mount_point, executable)
    os.chdir(mount_point)
    _call("syscall", _PIVOT_ROOT[_MACHINE], b".", b".")
    _call("umount2", b".", _DETACH)
    os.chdir(WORK)
    return WORK, executable and PROGRAM


def _fill(view: str, executable: str | None) -> None:
    for folder in library_folders():
        place = view + folder
        if os.path.lexists(place):
            continue
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.islink(folder):
            os.symlink(os.readlink(folder), place)
            continue
        os.mkdir(place)
        _mount(folder, place, None, _BIND | _RECURSIVE)
    files = dict(zip(DEVICES, DEVICES, strict=True)) | ({} if executable is None else {executable: PROGRAM})
    for source, name in files.items():
        os.makedirs(os.path.dirname(view + name), exist_ok=True)
        os.close(os.open(view + name, os.O_CREAT))
        _mount(source, view + name, None, _BIND)
    os.mkdir(view + WORK)
    read_only = (ctypes.c_uint64 * 4)(_READ_ONLY, 0, 0, 0)
    _call("syscall", _MOUNT_SETATTR, _HERE, view.encode(), _ALL_MOUNTS, read_only, 32)
    _mount("tmpfs", view + WORK, "tmpfs", _NO_SUID | _NO_DEVICES, SIZE_OF_VIEW)


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    texts = [text and text.encode() for text in (source, target, kind, data)]
    _call("mount", *texts[:3], ctypes.c_ulong(flags), texts[3])


_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
_EXECUTE, _WRITE_FILE = 1 << 0, 1 << 1
_OWN_FOLDER = _READ_FILE | _READ_FOLDER | _WRITE_FILE | 0b11 << 4 | 0b11 << 7 | 0b11 << 13
"""Removing files and folders, making them, moving and truncating."""

_RIGHTS = (13, 14, 15, 15, 16)
"""The number of rights of files that the versions of Landlock from 1 to 5 know."""

OLDEST_LANDLOCK = 3
"""The first version that refuses to truncate files."""


def restrict_files(work: str, executable: str | None) -> bool:
    """Let Landlock refuse all files but the libraries, TCP, and signals to others; True if it does.

    The folder for *work* can be written to as well, and the *executable* run.
    """
    rights = dict.fromkeys(library_folders(), _READ_FILE | _READ_FOLDER)
    rights |= dict.fromkeys(DEVICES, _READ_FILE | _WRITE_FILE) | {work: _OWN_FOLDER}
    return _restrict(rights | ({} if executable is None else {executable: _EXECUTE | _READ_FILE}))


def forbid_effects(writable: Sequence[str] = (), *, starts_programs: bool = False) -> bool:
    """Let Landlock refuse to write files, to start programs, and to connect by TCP; True if it does.

    All files can be read. Those below the folders *writable*, which must exist, can be written as well. With
    *starts_programs*, programs can be started, with the same limits. Threads that run already keep their
    rights.
    """
    if sys.platform != "linux":
        return False
    run = _EXECUTE if starts_programs else 0
    everything = {"/": _READ_FILE | _READ_FOLDER | run, os.devnull: _READ_FILE | _WRITE_FILE}
    return _restrict(everything | dict.fromkeys(writable, _OWN_FOLDER))


def run_confined() -> None:
    """Become a command that may write in one folder alone and not connect by TCP, where there is Landlock.

    It may read all files and start programs. The arguments are the folder and the command.
    """
    folder, *command = sys.argv[1:]
    forbid_effects((folder,), starts_programs=True)
    os.execv(command[0], command)


def _restrict(rights: Mapping[str, int]) -> bool:
    """Let Landlock refuse all but the *rights* of files, by path; False if the kernel lacks it."""
    try:
        version = _call("syscall", _LANDLOCK_CREATE, None, 0, 1)
    except (OSError, AttributeError):
        return False
    if version < OLDEST_LANDLOCK:
        return False
    handled = (1 << _RIGHTS[min(version, 5) - 1]) - 1
    attributes = (ctypes.c_uint64 * 3)(handled, 0b11, 0b11)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _call("syscall", _LANDLOCK_CREATE, attributes, size, 0)
    for path, own in rights.items():
        _permit(rules, path, own & handled)
    _call("prctl", _PR_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _call("syscall", _LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)
    return True


def _permit(rules: int, path: str, rights: int) -> None:
    class Rule(ctypes.Structure):
        _pack_ = 1
        _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))

    descriptor = os.open(path, getattr(os, "O_PATH", 0))
    _call("syscall", _LANDLOCK_ADD, rules, 1, ctypes.byref(Rule(rights, descriptor)), 0)
    os.close(descriptor)


def give_up_privileges() -> None:
    """Drop all capabilities; keep others of the user from reading this process; end with its parent."""
    if sys.platform != "linux":
        return
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    _call("prctl", _PR_SET_DEATH_SIGNAL, 9, 0, 0, 0)
    _call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)
    if _MACHINE in _CAPSET:
        _call("syscall", _CAPSET[_MACHINE], header, (ctypes.c_uint32 * 6)())


def limit_resources(limits: Mapping[str, int], *, own_user: bool) -> bool:
    """Limit this process; true if its memory is limited.

    The number of processes counts all of the user, unless it is in a namespace of its *own_user*.
    """
    import resource

    wanted = {
        "RLIMIT_CPU": limits["seconds"],
        "RLIMIT_AS": limits["memory"],
        "RLIMIT_FSIZE": limits["file_bytes"],
        "RLIMIT_NOFILE": limits["files"],
        **dict.fromkeys(("RLIMIT_CORE", "RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE"), 0),
        **({"RLIMIT_NPROC": limits["processes"]} if own_user else {}),
    }
    held = {name for name, most in wanted.items() if _limit(getattr(resource, name, None), most)}
    return "RLIMIT_AS" in held


def _limit(kind: int | None, most: int) -> bool:
    import resource

    if kind is None:
        return False
    _, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    try:
        resource.setrlimit(kind, (most, most))
    except (OSError, ValueError):
        return False  # macOS cannot limit the address space
    return True
