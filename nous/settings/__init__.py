"""Re-export the settings model and its loader (environment over TOML file over defaults)."""

from nous.settings.load import Loaded, load, load_settings
from nous.settings.model import Settings

__all__ = ["Loaded", "Settings", "load", "load_settings"]
