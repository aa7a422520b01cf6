"""Confines a worker with the bundled model by the kernel: such a worker needs no network and no devices.

It may read all files and start programs, as the processes that read files for it do. It may write in the
cache folder and among temporary files only. It may not connect, signal others, or use system calls that
Landlock leaves open (`NEVER_NEEDED`). Its processes inherit all of that.

A worker with another model is not confined. Such a model may need devices, compilers, caches or a server. A
GPU may also need a program with rights of its own, which makes its device files.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from fimlsp.lexing.automata.cached_files import cache_folder
from fimlsp.processes.confinement import LANDLOCK, SECCOMP, forbid_effects
from fimlsp.processes.system_calls import refuse_needless_calls

ONE_THREAD = "a process with a single thread"
"""A library that starts threads when it is imported leaves them without bounds."""

_MODULES_OF_MODELS = (
    "fimlsp.models.loading",
    "fimlsp.models.completion",
    "fimlsp.models.networks.onnx_llama",
)
_THREADS = Path("/proc/self/task")
_NUMBERS_ON_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def confine_worker() -> tuple[str, ...]:
    """Confine this process, for ever; the layers that are missing. The calls take about 1 ms.

    No thread may run yet, as the kernel confines one thread and all that this one starts. The modules of the
    model are imported before, because Python could not store them compiled later.
    """
    _import_for_models()
    missing = []
    if sys.platform == "linux" and len([*_THREADS.iterdir()]) > 1:
        missing.append(ONE_THREAD)
    _forbid_core_files()
    if not forbid_effects(_writable_folders(), starts_programs=True):
        missing.append(LANDLOCK)
    if not refuse_needless_calls():
        missing.append(SECCOMP)
    return tuple(missing)


def _import_for_models() -> None:
    """Import the modules of the bundled model. Its libraries start no threads then, but when it is loaded."""
    os.environ.update(_NUMBERS_ON_ONE_THREAD)
    for name in _MODULES_OF_MODELS:
        importlib.import_module(name)


def _writable_folders() -> tuple[str, ...]:
    """The cache folder and that of temporary files, as far as they are there or can be made."""
    folders = []
    with suppress(OSError, RuntimeError):
        cache = cache_folder()
        cache.mkdir(parents=True, exist_ok=True)
        folders.append(str(cache))
    with suppress(OSError):
        folders.append(tempfile.gettempdir())
    return tuple(folders)


def _forbid_core_files() -> None:
    """The memory of a worker has the texts of all documents; the system must not save it."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def report_missing() -> None:
    """Confine this process, which has no other purpose, and print the layers that are missing as JSON."""
    print(json.dumps(confine_worker()))
