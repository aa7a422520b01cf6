"""The system calls of a process, as a filter in the kernel (seccomp(2)).

A contained program has a list of permitted ones. All else fails: sockets, other processes, io_uring, ptrace,
memory and signals of other processes, new namespaces, mounts, links, devices, owners and times of files. Some
calls are permitted with certain arguments only. A process of our own has a list of refused ones. The filter
is a program for the kernel's packet filter (BPF), written here as bytes.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

TYPE_CHECKING = False  # as in `typing`, whose import costs each program 5 ms
if TYPE_CHECKING:
    from collections.abc import Sequence

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""The column of a machine in `NUMBERS`, and its name in the kernel (AUDIT_ARCH)."""

NUMBERS: dict[str, tuple[int | None, int | None]] = {
    **{"read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "lseek": (8, 62)},
    **{"pread64": (17, 67), "pwrite64": (18, 68), "preadv": (295, 69), "pwritev": (296, 70)},
    **{"close": (3, 57), "close_range": (436, 436), "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24)},
    **{"pipe": (22, None), "pipe2": (293, 59), "flock": (73, 32), "fsync": (74, 82), "fdatasync": (75, 83)},
    **{"ftruncate": (77, 46), "truncate": (76, 45), "open": (2, None), "openat": (257, 56)},
    **{"creat": (85, None), "stat": (4, None), "fstat": (5, 80), "lstat": (6, None), "statx": (332, 291)},
    **{"newfstatat": (262, 79), "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439)},
    **{"readlink": (89, None), "readlinkat": (267, 78), "getdents64": (217, 61), "getcwd": (79, 17)},
    **{"chdir": (80, 49), "fchdir": (81, 50), "statfs": (137, 43), "fstatfs": (138, 44), "umask": (95, 166)},
    **{"mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None), "unlink": (87, None)},
    **{"unlinkat": (263, 35), "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276)},
    **{"brk": (12, 214), "mmap": (9, 222), "munmap": (11, 215), "mprotect": (10, 226), "mremap": (25, 216)},
    **{"madvise": (28, 233), "mincore": (27, 232), "msync": (26, 227), "membarrier": (324, 283)},
    **{"futex": (202, 98), "set_robust_list": (273, 99), "set_tid_address": (218, 96), "rseq": (334, 293)},
    **{"arch_prctl": (158, None), "exit": (60, 93), "exit_group": (231, 94), "sched_yield": (24, 124)},
    **{"sched_getaffinity": (204, 123), "getpid": (39, 172), "gettid": (186, 178), "getppid": (110, 173)},
    **{"getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177)},
    **{"getpgrp": (111, None), "getgroups": (115, 158), "getresuid": (118, 148), "getresgid": (120, 150)},
    **{"rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139)},
    **{"rt_sigpending": (127, 136), "rt_sigsuspend": (130, 133), "rt_sigtimedwait": (128, 137)},
    **{"sigaltstack": (131, 132), "restart_syscall": (219, 128), "clock_gettime": (228, 113)},
    **{"clock_getres": (229, 114), "clock_nanosleep": (230, 115), "nanosleep": (35, 101)},
    **{"gettimeofday": (96, 169), "time": (201, None), "times": (100, 153), "getrusage": (98, 165)},
    **{"getitimer": (36, 102), "setitimer": (38, 103), "alarm": (37, None), "poll": (7, None)},
    **{"ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72), "epoll_create1": (291, 20)},
    **{"epoll_ctl": (233, 21), "epoll_wait": (232, None), "epoll_pwait": (281, 22), "eventfd2": (290, 19)},
    **{"uname": (63, 160), "sysinfo": (99, 179), "getrandom": (318, 278), "getrlimit": (97, 163)},
}
"""The permitted calls, with their numbers on x86-64 and ARM64."""

CLONE, CLONE3 = (56, 220), (435, 435)
FCNTL, PRLIMIT = (72, 25), (302, 261)
KILL, TGKILL = (62, 129), (234, 131)
EXECVE, WAIT = (59, 221), (61, 260)

CLONE_THREAD = 0x10000
CLONE_NAMESPACES = 0x7E020000
"""All flags of clone(2) that make a namespace; CLONE_NEWTIME is none of them."""

FCNTL_COMMANDS = (0, 1, 2, 3, 4, 1030)
"""Duplicating a descriptor, and its flags. F_SETOWN would send signals to other processes."""

NEVER_NEEDED: dict[str, tuple[int | None, int | None]] = {
    **{"socket": (41, 198), "ptrace": (101, 117), "process_madvise": (440, 440)},
    **{"io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427)},
    **{
        "process_vm_readv": (310, 270),
        "process_vm_writev": (311, 271),
        "kcmp": (312, 272),
        "pidfd_getfd": (438, 438),
    },
    **{"chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452)},
    **{"chown": (92, None), "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54)},
    **{"setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463)},
    **{"removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16)},
    **{"removexattrat": (466, 466), "open_by_handle_at": (304, 265), "fanotify_init": (300, 262)},
    **{"unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39)},
    **{"pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429)},
    **{"fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433)},
    **{"mount_setattr": (442, 442), "bpf": (321, 280), "perf_event_open": (298, 241)},
    **{"userfaultfd": (323, 282), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218)},
    **{"init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106)},
    **{"kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142)},
    **{"swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60)},
    **{"syslog": (103, 116), "sethostname": (170, 161), "setdomainname": (171, 162)},
    **{"settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171)},
    **{"clock_adjtime": (305, 266), "vhangup": (153, 58), "iopl": (172, None), "ioperm": (173, None)},
    **{"modify_ldt": (154, None), "personality": (135, 92), "shmget": (29, 194), "shmat": (30, 196)},
    **{"msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180)},
}
"""The calls that no process of ours needs which has a model of its own, with numbers as in `NUMBERS`.

Neither Landlock nor a user's rights refuse most of them. They reach modes, owners and attributes of files,
sockets other than TCP, memory of the user's other processes, and rare parts of the kernel.
"""

IOCTL, IOCTLS_OF_TERMINALS = (16, 29), (0x5412, 0x541C)
"""TIOCSTI types into a terminal, and TIOCLINUX pastes there."""

FOREIGN_CALLS = 0x40000000
"""On x86-64, calls from this number on are those of x32, which have names of their own."""

_LOAD, _EQUAL, _AND, _RETURN = 0x20, 0x15, 0x54, 0x06
_AT_LEAST, _ANY_BIT = 0x35, 0x45
_ALLOW, _FAIL, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2

Instruction = tuple[int, int, int, int]
REFUSE: Instruction = (_RETURN, 0, 0, _FAIL | errno.EACCES)
ALLOW: Instruction = (_RETURN, 0, 0, _ALLOW)


def program_of(machine: str, pid: int, *, may_execute: bool, may_wait: bool) -> list[Instruction]:
    """The filter for the process *pid*, as it sees itself.

    Libraries fall back to clone(2) from clone3(2), whose flags a filter cannot read.
    """
    column, architecture = ARCHITECTURES[machine]
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
    ]
    permitted = list(NUMBERS.values())
    permitted += [EXECVE] if may_execute else []
    permitted += [WAIT] if may_wait else []
    for numbers in permitted:
        number = numbers[column]
        if number is not None:
            program += [(_EQUAL, 0, 1, number), ALLOW]
    program += [(_EQUAL, 0, 1, CLONE3[column]), (_RETURN, 0, 0, _FAIL | errno.ENOSYS)]
    threads_only = (_AND, 0, 0, CLONE_THREAD | CLONE_NAMESPACES)
    program += _with_argument(CLONE[column], 0, (CLONE_THREAD,), threads_only)
    program += _with_argument(FCNTL[column], 1, FCNTL_COMMANDS)
    program += _with_argument(PRLIMIT[column], 0, (0,))
    for numbers in (KILL, TGKILL):
        program += _with_argument(numbers[column], 0, (pid,))
    return [*program, REFUSE]


def _with_argument(
    number: int, argument: int, values: Sequence[int], change: Instruction | None = None
) -> list[Instruction]:
    """Permit the call *number* if its *argument*, after the *change*, is one of *values*."""
    check: list[Instruction] = [(_LOAD, 0, 0, _ARGUMENTS + 8 * argument)]
    check += [] if change is None else [change]
    for value in values:
        check += [(_EQUAL, 0, 1, value), ALLOW]
    check += [REFUSE]
    return [(_EQUAL, 0, len(check), number), *check]


def filter_system_calls(*, may_execute: bool = False, may_wait: bool = False) -> bool:
    """Let the kernel refuse all other system calls of this process, for ever; True if it does.

    If it *may_execute*, it can become a program for which it has the right; if it *may_wait*, it can wait for
    a child.
    """
    machine = os.uname().machine
    if machine not in ARCHITECTURES:
        return False
    return _load(program_of(machine, os.getpid(), may_execute=may_execute, may_wait=may_wait))


def program_without(machine: str) -> list[Instruction]:
    """The filter that permits all but `NEVER_NEEDED`, new namespaces, and typing into terminals.

    As for programs, clone3(2) seems to be missing.
    """
    column, architecture = ARCHITECTURES[machine]
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        REFUSE,
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, FOREIGN_CALLS),
        REFUSE,
    ]
    for numbers in NEVER_NEEDED.values():
        number = numbers[column]
        if number is not None:
            program += [(_EQUAL, 0, 1, number), REFUSE]
    program += [(_EQUAL, 0, 1, CLONE3[column]), (_RETURN, 0, 0, _FAIL | errno.ENOSYS)]
    namespaces = [(_LOAD, 0, 0, _ARGUMENTS), (_ANY_BIT, 0, 1, CLONE_NAMESPACES), REFUSE, ALLOW]
    program += [(_EQUAL, 0, len(namespaces), CLONE[column]), *namespaces]
    typing = [(_LOAD, 0, 0, _ARGUMENTS + 8)]
    for command in IOCTLS_OF_TERMINALS:
        typing += [(_EQUAL, 0, 1, command), REFUSE]
    return [*program, (_EQUAL, 0, len(typing), IOCTL[column]), *typing, ALLOW]


def refuse_needless_calls() -> bool:
    """Let the kernel refuse `NEVER_NEEDED` to this thread and all that it starts; True if it does."""
    if sys.platform != "linux" or (machine := os.uname().machine) not in ARCHITECTURES:
        return False
    return _load(program_without(machine))


def _load(program: Sequence[Instruction]) -> bool:
    """Give the kernel the filter *program* for this thread; True if it takes it."""
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))

    class Filter(ctypes.Structure):
        _fields_ = (("size", ctypes.c_ushort), ("code", ctypes.c_void_p))

    filter_ = Filter(len(program), ctypes.addressof(code))
    call = ctypes.CDLL(None).prctl
    return bool(
        call(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
        and call(_SET_SECCOMP, _FILTER, ctypes.byref(filter_), 0, 0) == 0
    )
