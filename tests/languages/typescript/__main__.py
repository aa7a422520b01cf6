"""Holds the engine against the parsers: `python -m tests.languages.typescript [--javascript] --cases 20000`.

TypeScript is judged by its own parser, JavaScript by acorn. Known differences are counted by name; any other
one is printed, and the command fails. `--whole 10` with a FOLDER reads its files, at ten cuts too.
"""

import sys
from functools import partial

from fimlsp.testing.command import command

from .known import explained
from .suites import JAVASCRIPT, SUITES, TYPESCRIPT

javascript = "--javascript" in sys.argv
if javascript:
    sys.argv.remove("--javascript")
of = JAVASCRIPT if javascript else TYPESCRIPT
main = command(
    of.language.name, __doc__, SUITES[of], ".js" if javascript else ".ts", of, partial(explained, of)
)

if __name__ == "__main__":
    main()
