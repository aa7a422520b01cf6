"""Holds the engine against Lua's `load`: `python -m tests.languages.lua --cases 200000 [FOLDER]`."""

from ..judged.command import command
from .suites import endless

main = command("Lua", __doc__, endless, ".lua")

if __name__ == "__main__":
    main()
