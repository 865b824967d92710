"""Package (no code): embedded or external Redis server, its clients, its safety check."""
