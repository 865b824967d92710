"""What can be set, and where it is read from: `NOUS_*` variables, then a TOML file, then the defaults."""

from nous.settings.load import Loaded, load, load_settings
from nous.settings.model import Settings

__all__ = ["Loaded", "Settings", "load", "load_settings"]
