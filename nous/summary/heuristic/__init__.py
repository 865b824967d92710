"""Heuristic episodes without a model: outcome, title, summary, lessons and facts.

The rules were measured on labelled sessions.
"""
