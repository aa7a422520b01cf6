"""`python -m fimlsp`, and the console script `fimlsp`."""

import sys

if __name__ == "__main__" and not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
    # `python -m` puts the working directory first on the search path. Editors start servers in the
    # user's workspace, and a `queue.py` there would be taken for the standard library's.
    del sys.path[0]


def main() -> None:
    """Run the command line."""
    from fimlsp.datasets.command_line.command import calibrate, replay
    from fimlsp.lsp_server.command_line.cli import command_line

    command_line.add_command(replay)
    command_line.add_command(calibrate)
    command_line()


if __name__ == "__main__":
    main()
