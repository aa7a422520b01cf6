"""Takes away from Python all that Windows lacks, in processes with this folder in `PYTHONPATH`.

The standard library is imported before, as it has other parts for Windows. `os.name` and `sys.platform` stay,
for the same reason.
"""

import asyncio  # noqa: F401 - before its parts are gone
import os
import signal
import socket
import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401

OF_OS = ["fork", "forkpty", "killpg", "nice", "mkfifo", "mknod", "geteuid", "getuid", "getgid", "setsid"]
OF_OS += ["setpgid", "getpgid", "posix_spawn", "O_NONBLOCK", "O_NOCTTY", "O_PATH", "chown", "lchown"]
OF_OS += ["statvfs", "setxattr", "getxattr", "sched_getaffinity", "pread", "pwrite", "preadv", "openpty"]
OF_SIGNAL = [
    "SIGKILL",
    "SIGPROF",
    "SIGSTOP",
    "SIGCONT",
    "SIGHUP",
    "SIGUSR1",
    "SIGALRM",
    "SIGXCPU",
    "setitimer",
]
OF_SIGNAL += ["ITIMER_PROF", "alarm", "pthread_sigmask", "setitimer"]
for module, names in ((os, OF_OS), (signal, OF_SIGNAL), (socket, ["AF_UNIX"])):
    for name in names:
        vars(module).pop(name, None)
for name in ("resource", "fcntl", "pwd", "grp", "termios", "pty"):
    sys.modules[name] = None
