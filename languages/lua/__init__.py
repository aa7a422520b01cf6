"""Lua 5.4."""

from fimlsp.languages.lua.language import Lua, lua

__all__ = ["Lua", "lua"]
