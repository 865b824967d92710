"""The Lua scripts of what is written down of a model's calls. Each file says at its top what it promises."""
