"""Makes a Python environment with the server in it, for editors: `python3 editors/environment --help`.

Progress goes to standard output, one JSON object a line: {"step": ...} for a progress bar, {"log": ...}, and
at last {"python": ...} with the environment's interpreter, or {"error": ...}, or {"unsuitable": ...} if
another Python may be suitable. Any Python can read this file, even one from before 3; the other files need a
newer one.
"""

import json
import sys

OLDEST = (3, 10)
UNSUITABLE = 3


def why_unsuitable():  # noqa: ANN201 - Python 2 has no annotations
    """The reason for which this Python cannot make environments; None if it can."""
    if sys.version_info < OLDEST:
        return "it is Python {}.{}, and fimlsp needs {}.{} or newer".format(*(sys.version_info[:2] + OLDEST))
    try:
        import ensurepip
        import venv
    except ImportError:
        remedy = "on Debian and Ubuntu `sudo apt install python3-venv` adds it"
        return "it comes without pip and venv; " + remedy
    return None if ensurepip and venv else "it has no pip"


if __name__ == "__main__":
    REASON = why_unsuitable()
    if REASON is not None:
        sys.stdout.write(json.dumps({"unsuitable": REASON}) + "\n")
        sys.exit(UNSUITABLE)
    from making import main

    sys.exit(main(sys.argv[1:]))
