"""Runs checked scripts: translates them to Lua 5.4, which runs them in a sandbox."""
