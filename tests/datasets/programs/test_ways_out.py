"""Ways out of the containment: each is tried by a program, and none succeeds.

The first are those of a table that programs and workers have in common. Calls by number, other architectures
and forged verdicts follow.
"""

from __future__ import annotations

import platform
import signal
import sys

import pytest

from fimlsp.datasets.programs.sandbox import Limits, Trial, missing_layers, run_python
from fimlsp.processes.system_calls import ARCHITECTURES, NUMBERS, program_of

from ...processes.filters import verdict
from ...processes.ways_out import PRELUDE, WAYS, things_of_the_user

MISSING = missing_layers() if sys.platform == "linux" else ("Linux",)
pytestmark = pytest.mark.skipif(
    MISSING != (), reason=f"this machine does not contain programs in full: no {', '.join(MISSING)}"
)

LIMITS = Limits(seconds=60)

REFUSED_CALLS = {
    **{"io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427)},
    **{"io_setup": (206, 0), "ptrace": (101, 117), "process_vm_readv": (310, 270)},
    **{"process_vm_writev": (311, 271), "process_madvise": (440, 440), "kcmp": (312, 272)},
    **{"pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424)},
    **{"rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "tkill": (200, 130)},
    **{"unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39)},
    **{"pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429)},
    **{"fsopen": (430, 430), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442)},
    **{"bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "keyctl": (250, 219)},
    **{"add_key": (248, 217), "request_key": (249, 218), "seccomp": (317, 277), "prctl": (157, 167)},
    **{"landlock_create_ruleset": (444, 444), "landlock_restrict_self": (446, 446)},
    **{"personality": (135, 92), "syslog": (103, 116), "init_module": (175, 105)},
    **{"finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104)},
    **{"reboot": (169, 142), "swapon": (167, 224), "sethostname": (170, 161), "setdomainname": (171, 162)},
    **{"settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171)},
    **{"quotactl": (179, 60), "acct": (163, 89), "fanotify_init": (300, 262), "inotify_init1": (294, 26)},
    **{"mq_open": (240, 180), "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190)},
    **{"vmsplice": (278, 75), "splice": (275, 76), "tee": (276, 77), "sendfile": (40, 71)},
    **{"copy_file_range": (326, 285), "memfd_create": (319, 279), "memfd_secret": (447, 447)},
    **{"execveat": (322, 281), "open_by_handle_at": (304, None), "name_to_handle_at": (303, None)},
    **{"openat2": (437, 437), "mknodat": (259, 33), "symlinkat": (266, 36), "linkat": (265, 37)},
    **{"fchmodat": (268, 53), "fchownat": (260, 54), "utimensat": (280, 88), "setxattr": (188, 5)},
    **{"removexattr": (197, 14), "fchmod": (91, 52), "fchown": (93, 55), "socket": (41, 198)},
    **{"socketpair": (53, 199), "setsid": (112, 157), "setpgid": (109, 154), "setpriority": (141, 140)},
    **{"sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119), "ioprio_set": (251, 30)},
    **{"setuid": (105, 146), "setgid": (106, 144), "setgroups": (116, 159), "setresuid": (117, 147)},
    **{"capset": (126, 91), "capget": (125, 90), "ioctl": (16, 29), "timer_create": (222, 107)},
    **{"signalfd4": (289, 74), "migrate_pages": (256, 238), "move_pages": (279, 239), "mbind": (237, 235)},
    **{"lookup_dcookie": (212, 18), "nfsservctl": (180, 42), "modify_ldt": (154, None)},
    **{"iopl": (172, None), "ioperm": (173, None), "pkey_mprotect": (329, 288)},
    **{"remap_file_pages": (216, 234), "get_robust_list": (274, 100), "sched_setattr": (314, 274)},
    **{"fallocate": (285, 47), "vhangup": (153, 58), "sync": (162, 81), "syncfs": (306, 267)},
    **{"clone3": (435, 435)},
}
"""Numbers on x86-64 and ARM64."""


@pytest.fixture(scope="module")
def users(tmp_path_factory):
    """Things of the user: a file, a process, a port."""
    with things_of_the_user(tmp_path_factory.mktemp("user"), new="a") as users:
        yield users


OF_PROGRAMS = [way for way in WAYS if way.program is not None]


@pytest.mark.parametrize("way", OF_PROGRAMS, ids=[way.name for way in OF_PROGRAMS])
def test_a_way_out(way, users):
    program = f"""{PRELUDE}
def attempt():
    return {way.attempt.format(**users)}

def run():
    return outcome(attempt)
"""
    ran = run_python(Trial(program, f"got = run()\nassert got in {way.program!r}, got"), LIMITS)
    assert (ran.outcome, ran.reason) == ("passed", "")


def test_calls_that_are_not_permitted():
    column = ARCHITECTURES[platform.machine()][0]
    numbers = {name: both[column] for name, both in REFUSED_CALLS.items() if both[column] is not None}
    assert len(numbers) > 100
    program = f"""{PRELUDE}
def run(numbers):
    return [
        name
        for name, number in numbers.items()
        if outcome(lambda: call("syscall", number, 0, 0, 0, 0, 0, 0)) not in ("EACCES", "ENOSYS")
    ]
"""
    test = f"went_through = run({numbers!r})\nassert not went_through, went_through"
    assert run_python(Trial(program, test), LIMITS).reason == ""


def test_only_what_is_listed_is_permitted():
    """Each number up to 1,000, those of x32 as well, in the filter's own arithmetic."""
    for machine, (column, architecture) in ARCHITECTURES.items():
        listed = {numbers[column] for numbers in NUMBERS.values()}
        program = program_of(machine, 7, may_execute=False, may_wait=False)
        numbers = [*range(1000), *range(0x40000000, 0x40000400)]
        allowed = {number for number in numbers if verdict(program, architecture, number) == "allow"}
        assert allowed == listed - {None}
        assert verdict(program, architecture + 1, 0) == "kill"


ARGUMENTS = [
    ("clone of a thread", "clone", (0x3D0F00, 0), "allow"),
    ("clone of a process", "clone", (17, 0), "refuse"),
    ("clone of a thread in a new network", "clone", (0x403D0F00, 0), "refuse"),
    ("flags of a descriptor", "fcntl", (3, 1), "allow"),
    ("owner of a descriptor", "fcntl", (3, 8), "refuse"),
    ("own limits", "prlimit", (0, 0), "allow"),
    ("limits of another", "prlimit", (8, 0), "refuse"),
    ("a signal to itself", "kill", (7, 0), "allow"),
    ("a signal to another", "kill", (8, 0), "refuse"),
    ("a signal to its group", "kill", (0, 0), "refuse"),
]
CHECKED_CALLS = {"clone": (56, 220), "fcntl": (72, 25), "prlimit": (302, 261), "kill": (62, 129)}


@pytest.mark.parametrize(("what", "call", "arguments", "expected"), ARGUMENTS)
def test_arguments_of_calls(what, call, arguments, expected):
    for machine, (column, architecture) in ARCHITECTURES.items():
        program = program_of(machine, 7, may_execute=False, may_wait=False)
        assert verdict(program, architecture, CHECKED_CALLS[call][column], arguments) == expected, what


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the machine code is of x86-64")
def test_a_call_in_the_way_of_another_architecture_ends_the_program():
    """`int 0x80` with number 20 is getpid of i386."""
    program = """
import ctypes, mmap
def run():
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex("b814000000cd80c3"))
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
"""
    ran = run_python(Trial(program, "run()"), LIMITS)
    assert ran.outcome == "failed"
    assert ran.reason.startswith(f"exit status -{signal.SIGSYS.value} ")


FORGERIES = {
    "end with success": "import os; os._exit(0)",
    "end with success, politely": "import sys; sys.exit(0)",
    "end with success in the call": "import os\ndef f(x): os._exit(0)",
    "exit in the call": "def f(x): raise SystemExit(0)",
    "be equal to everything": "class A:\n    def __eq__(self, o): return True\ndef f(x): return A()",
    "be a number equal to all": "class A(int):\n    def __eq__(self, o): return True\ndef f(x): return A(9)",
    "be a text equal to all": "class A(str):\n    def __eq__(self, o): return True\ndef f(x): return A()",
    "change the main module": "import __main__ as m; m.REFUSED = (); m.FAILED = 0\ndef f(x): return 9",
    "change the module of the judge": """
import sys
judges = sys.modules["fimlsp.datasets.programs.contained"]
judges.run_test = judges.judge = lambda *_: 0
def f(x): return 9
""",
    "change what assert raises": "import builtins; builtins.AssertionError = None\ndef f(x): return 9",
    "write to all descriptors": """
import os
for number in range(32):
    try: os.write(number, b"true\\n0\\npassed\\n")
    except OSError: pass
def f(x): return 9
""",
    "write what is no value": """
import os
def f(x):
    for number in range(3, 32):
        try: os.write(number, b"[1]\\n")
        except OSError: pass
    return 9
""",
    "find the test in memory": """
import gc
def f(x):
    held = [held for object in gc.get_objects() for held in gc.get_referents(object)]
    texts = [text for text in held if isinstance(text, (str, bytes)) and len(text) < 99]
    return 2 if any(chr(83) + "ECRET" in str(text) for text in texts) else 9
""",
    "find the test in a file": """
import os
def f(x):
    return 2 if any("== 2" in open(name).read() for name in os.listdir()) else 9
""",
    "find the test in a caller": """
import sys
def f(x):
    frame = sys._getframe()
    while frame:
        if "test" in frame.f_locals: return 2
        frame = frame.f_back
    return 9
""",
    "end the judge": "import os\ndef f(x): os.kill(os.getppid(), 15)",
    "answer without end": "def f(x): return 'x' * (1 << 25)",
}


@pytest.mark.parametrize(("way", "program"), FORGERIES.items(), ids=FORGERIES)
def test_a_forged_verdict(way, program):
    ran = run_python(Trial(program, "SECRET = 0\nassert f(1) == 2"), LIMITS)
    assert ran.outcome == "failed", way


def test_the_program_has_no_descriptors_but_its_own():
    program = f"""{PRELUDE}
def run():
    return [number for number in range(256) if outcome(lambda: os.fstat(number)) != "EBADF"]
"""
    assert run_python(Trial(program, "assert len(run()) == 5, run()"), LIMITS).reason == ""


def test_the_program_has_nothing_of_the_environment(monkeypatch):
    monkeypatch.setenv("OWN_SECRET", "sesame")
    program = """
import os, ctypes
def run():
    get = ctypes.CDLL(None).getenv
    get.restype = ctypes.c_char_p
    return [dict(os.environ), get(b"OWN_SECRET"), get(b"PATH"), os.getuid(), os.getpid(), os.listdir()]
"""
    test = "got = run()\nassert got == [{}, None, None, 65534, 1, []], got"
    assert run_python(Trial(program, test), LIMITS).reason == ""


def test_the_program_cannot_fill_the_disk():
    program = """
import errno
def run():
    try:
        for n in range(10000):
            with open(str(n), "wb") as file:
                file.write(bytes(1 << 20))
    except OSError as error:
        return n, errno.errorcode[error.errno]
"""
    test = "got = run()\nassert got[0] <= 16 and got[1] == 'ENOSPC', got"
    assert run_python(Trial(program, test), LIMITS).reason == ""
