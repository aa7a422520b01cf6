"""The command line, as the console script `fimlsp` and as `python -m fimlsp`."""

import sys


def main() -> None:
    """Run the command line."""
    from fimlsp.datasets.command_line.command import calibrate, replay
    from fimlsp.lsp_server.command_line.cli import command_line

    command_line.add_command(replay)
    command_line.add_command(calibrate)
    command_line()


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
