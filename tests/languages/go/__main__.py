"""Holds the engine against `go/parser`: `python -m tests.languages.go --cases 200000 [FOLDER]`.

`--whole 10` with the folder `src` of a Go toolchain reads each file of its standard library, at ten cuts too.
"""

from ..judged.command import command
from .suites import GO, endless

main = command("Go", __doc__, endless, ".go", GO)

if __name__ == "__main__":
    main()
