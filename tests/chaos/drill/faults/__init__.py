"""Every way to break something, a family in each module."""
