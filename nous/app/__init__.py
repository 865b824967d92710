"""Package of the composition root: its modules build the application from the settings."""
