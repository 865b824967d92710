"""Providers of language models, one file each: a module here is known by its name, and has a `PROVIDER`."""
