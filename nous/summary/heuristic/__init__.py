"""Package of rules that summarize a session without a model (no code in this file).

The rules were measured on labelled sessions.
"""
