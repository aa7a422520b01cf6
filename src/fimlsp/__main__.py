"""The command line, as the console script `fimlsp` and as `python -m fimlsp`."""

import errno
import io
import os
import sys

CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main() -> None:
    """Run the command line. Characters outside the encoding of the output are escaped."""
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
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for the flush at the end of Python
        sys.exit(f"Error: cannot write the output: {error.strerror}. Free some space, or write elsewhere.")


def run_beside_a_workspace() -> None:
    """Run the command line without the working directory in the search path.

    `python -m` puts that directory first. Editors start servers in the user's workspace, where a `queue.py`
    would be imported instead of the standard library's.
    """
    del sys.path[0], sys.modules["fimlsp"]
    from fimlsp.__main__ import main

    main()


if __name__ == "__main__":
    if sys.flags.isolated or getattr(sys.flags, "safe_path", False):
        main()
    else:
        run_beside_a_workspace()
