"""The Redis protocol server: our own or the operator's, the way to it, and what is asked of it."""
