"""Holds the engine against the parsers: `python -m tests.languages.typescript [--tsx] --cases 20000`.

TypeScript is judged by its own parser, and with `--javascript` JavaScript by acorn. `--tsx` and `--jsx` are
the same with JSX. Known differences are counted by name; any other one is printed, and the command fails.
`--whole 10` with a FOLDER reads its files, at ten cuts too.
"""

import sys
from functools import partial

from fimlsp.testing.suites import command

from .known import explained
from .suites import JAVASCRIPT, JSX, SUITES, TSX, TYPESCRIPT

OF = {"--tsx": (TSX, ".tsx"), "--javascript": (JAVASCRIPT, ".js"), "--jsx": (JSX, ".jsx")}
chosen = next((option for option in OF if option in sys.argv), None)
if chosen is not None:
    sys.argv.remove(chosen)
of, suffix = (TYPESCRIPT, ".ts") if chosen is None else OF[chosen]
main = command(of.language.name, __doc__, SUITES[of], suffix, of, partial(explained, of))

if __name__ == "__main__":
    main()
