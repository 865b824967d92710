"""The Redis server: embedded or external, its clients, and its safety check."""
