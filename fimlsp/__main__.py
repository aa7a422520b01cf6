"""The command line, as the console script `fimlsp` and as `python -m fimlsp`."""

import errno
import io
import os
import sys

CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main() -> None:
    """Run the command line. What the encoding of the output lacks is shown by its number."""
    from fimlsp.datasets.command_line.command import calibrate, replay
    from fimlsp.lsp_server.command_line.cli import command_line

    command_line.add_command(replay)
    command_line.add_command(calibrate)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            command_line()
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.errno not in CANNOT_WRITE:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what Python itself writes at its end
        sys.exit(f"Error: the output cannot be written ({error.strerror}); make room, or write elsewhere.")


def run_installed() -> None:
    """Run the command line of the installed package, without the working directory on the search path.

    `python -m` puts that directory first. Editors start servers in the user's workspace, where a `queue.py`
    would be taken for the standard library's. If the workspace is a clone of this project, its `fimlsp` was
    found instead of the installed package, which is the one that worker processes will find.
    """
    del sys.path[0], sys.modules["fimlsp"]
    try:
        from fimlsp.__main__ import main
    except ModuleNotFoundError as error:
        if error.name != "fimlsp":
            raise
        sys.exit(f"fimlsp is not installed for {sys.executable}; run: {sys.executable} -m pip install -e .")
    main()


if __name__ == "__main__":
    if sys.flags.isolated or getattr(sys.flags, "safe_path", False):
        main()
    else:
        run_installed()
