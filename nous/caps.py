"""How much a session may leave behind at most. Whoever cuts says how much was cut."""

MOST_CANDIDATES = 50
"""Facts of an episode. No honest session reaches it; a model that repeats itself does."""

MOST_POINTS = 10
"""Key points of a summary."""
