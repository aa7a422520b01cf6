"""Holds the engine against Lua's `load`: `python -m tests.languages.lua --cases 200000 [FOLDER]`.

`--whole 10` reads each file of FOLDER that `load` takes, at ten cuts too.
"""

from fimlsp.testing.suites import command

from .suites import LUA, SUITES

main = command("Lua", __doc__, SUITES, ".lua", LUA)

if __name__ == "__main__":
    main()
