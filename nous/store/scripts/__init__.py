"""The Lua scripts of the store. Each file says at its top what it promises and what it is given."""
