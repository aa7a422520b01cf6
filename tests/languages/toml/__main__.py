"""Holds the engine against tomli: `python -m tests.languages.toml --cases 100000 [FOLDER]`."""

from fimlsp.testing import command

from .suites import SUITES, TOML

main = command("TOML", __doc__, SUITES, ".toml", TOML)

if __name__ == "__main__":
    main()
