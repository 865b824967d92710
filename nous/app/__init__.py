"""Composition root: builds the application from the settings."""
