"""Holds the engine against a strict JSON decoder: `python -m tests.languages.json --cases 100000`."""

from fimlsp.testing.suites import command

from .suites import endless

main = command("JSON", __doc__, endless)

if __name__ == "__main__":
    main()
