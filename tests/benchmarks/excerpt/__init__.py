"""The parts of the command `excerpts.py`: the gold, what is kept of it, what that costs, and how both are shown."""
