"""The Lua scripts of vector sets. Each file says at its top what it promises and what it is given."""
