"""Holds the engine against `go/parser`: `python -m tests.languages.go --cases 200000 [FOLDER]`."""

from ..judged.command import command
from .suites import endless

main = command("Go", __doc__, endless, ".go")

if __name__ == "__main__":
    main()
