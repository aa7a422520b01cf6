"""Holds the engine against `go/parser`: `python -m tests.languages.go --cases 200000 [FOLDER]`.

`--whole 10` with the folder `src` of a Go toolchain reads each file of its standard library, at ten cuts too.
"""

from fimlsp.testing.suites import command

from .suites import GO, SUITES

main = command("Go", __doc__, SUITES, ".go", GO)

if __name__ == "__main__":
    main()
