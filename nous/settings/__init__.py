"""Settings: `NOUS_*` variables take precedence over a TOML file, and that over defaults."""

from nous.settings.load import Loaded, load, load_settings
from nous.settings.model import Settings

__all__ = ["Loaded", "Settings", "load", "load_settings"]
