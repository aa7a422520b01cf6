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


def run_beside_a_workspace() -> None:
    """Run the command line with the working directory taken off the search path.

    `python -m` puts that directory first. Editors start servers in the user's workspace, where a `queue.py`
    would be imported in place of the standard library's.
    """
    del sys.path[0], sys.modules["fimlsp"]
    from fimlsp.__main__ import main

    main()


if __name__ == "__main__":
    if sys.flags.isolated or getattr(sys.flags, "safe_path", False):
        main()
    else:
        run_beside_a_workspace()
