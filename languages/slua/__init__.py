"""sLua: Lua with types, for scripts that a program runs."""
