"""Holds random grammars against Lark: `python -m tests.languages.custom --cases 100000`."""

from fimlsp.testing.suites import command

from .suites import endless

main = command("Random grammars", __doc__, endless)

if __name__ == "__main__":
    main()
