"""Load and validate settings: `NOUS_*` variables over a TOML file over defaults.

An unknown setting or a wrong type stops the program: a misspelt setting that is silently ignored is found only after it
was needed.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeGuard

from pydantic import BaseModel, ValidationError

from nous.domain.errors import Misconfigured
from nous.settings.model import Settings

ENVIRONMENT = "environment"
DEFAULT = "default"

_PREFIX = "NOUS_"
_NOT_SETTINGS = frozenset({"NOUS_CONFIG", "NOUS_DEBUG", "NOUS_DISABLED"})
# Kubernetes gives every container such variables for a service that is called nous or nous-something.
_SERVICE_LINK = re.compile(r"NOUS_(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)")
# Variables in which people keep the API key of a provider; it is sent only to that provider.
_USUAL_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
_SECRET = frozenset({"redis_url", "dashboard.password", "llm.api_key", "embed.api_key"})

_AN_EMBEDDER = (
    "should be minilm, hashed, or a provider and one of its models, such as ollama:nomic-embed-text "
    "(NOUS_EMBEDDER in the environment, embedder in a file)"
)

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, the file they come from, and the origin of each dotted key that is no default."""

    settings: Settings
    file: Path | None
    origins: Mapping[str, str]

    def rows(self) -> Iterator[tuple[str, Any, str]]:
        """Yield every setting as (dotted key, value, origin), in the order of the file."""
        for key, value in _leaves(self.settings.model_dump(mode="json")):
            yield key, value, self.origins.get(key, DEFAULT)


def load_settings(config: Path | None = None) -> Settings:
    """Return the effective settings.

    *config* names the TOML file, else `NOUS_CONFIG` does. Without both, `nous.toml` and `~/.config/nous/nous.toml` are
    tried.

    Raises:
        Misconfigured: a file cannot be read, a setting is unknown or has the wrong type. It is named with its place.
    """
    return load(config).settings


def load(config: Path | None = None) -> Loaded:
    """Return the settings of `load_settings`, with the origin of each. Raises the same."""
    path = _find(config)
    file = _read(path) if path else {}
    env = _environment()
    env = _with_usual_key(file, env)
    origins = {key: str(path) for key, _ in _leaves(file)} | {key: ENVIRONMENT for key, _ in _leaves(env)}
    try:
        settings = Settings(**_over(file, env))
    except ValidationError as error:
        raise Misconfigured("; ".join(_complaints(error, origins))) from None
    return Loaded(settings, path, origins)


def _find(config: Path | None) -> Path | None:
    named = config or os.environ.get("NOUS_CONFIG")
    if named:
        return Path(named).expanduser()
    usual = (Path("nous.toml"), Path("~/.config/nous/nous.toml").expanduser())
    return next((path for path in usual if path.is_file()), None)


def _read(path: Path) -> Values:
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise Misconfigured(f"cannot read the settings in {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path} is not valid TOML: {error}") from error


def _environment() -> Values:
    variables = {_PREFIX + key.replace(".", "__").upper(): key for key in _known()}
    for name in sorted(os.environ):
        upper = name.upper()
        is_known = upper in variables or upper in _NOT_SETTINGS or _SERVICE_LINK.fullmatch(upper)
        if upper.startswith(_PREFIX) and not is_known:
            raise Misconfigured(f"{name} in the environment is no setting{_hint(upper, list(variables))}")
    # Compose files write VARIABLE="" for what is not set.
    given = {name.upper(): value for name, value in os.environ.items() if value}
    found: Values = {}
    for name, key in variables.items():
        if name in given:
            table, _, inner = key.rpartition(".")
            (found.setdefault(table, {}) if table else found)[inner] = given[name]
    return found


def _with_usual_key(file: Values, env: Values) -> Values:
    """Return *env* with the key of the chosen provider, unless a key or another address is set."""
    values = _over(file, env)
    provider = str(values.get("background_model") or "").partition(":")[0]
    llm = values.get("llm") or {}
    key = os.environ.get(_USUAL_KEYS.get(provider, ""))
    if not key or not isinstance(llm, dict) or llm.get("api_key") or llm.get("base_url"):
        return env
    return _over(env, {"llm": {"api_key": key}})


def _over(below: Values, above: Values) -> Values:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        merged[key] = _over(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return merged


def _complaints(error: ValidationError, origins: Mapping[str, str]) -> Iterator[str]:
    groups = [name for name, field in Settings.model_fields.items() if _is_group(field.annotation)]
    known = [*groups, *_known()]
    for problem in error.errors(include_url=False):
        key = ".".join(str(part) for part in problem["loc"])
        place = next((origin for name, origin in origins.items() if f"{name}.".startswith(f"{key}.")), DEFAULT)
        if problem["type"] == "extra_forbidden":
            yield f"{key} in {place} is no setting{_hint(key, known)}"
        else:
            value = "" if key in _SECRET else f" = {problem['input']!r:.80}"
            said = _AN_EMBEDDER if key == "embedder" else problem["msg"].removeprefix("Value error, ")
            yield f"{key}{value} in {place}: {said}"


def _hint(key: str, known: list[str]) -> str:
    name = key.rpartition(".")[2]
    same = [other for other in known if other.rpartition(".")[2] == name]
    near = same or get_close_matches(key, known, n=3, cutoff=0.8)
    return f"; did you mean {' or '.join(near)}?" if near else "; `nous config` lists them all"


def _known() -> Iterator[str]:
    for name, field in Settings.model_fields.items():
        kind = field.annotation
        if _is_group(kind):
            yield from (f"{name}.{inner}" for inner in kind.model_fields)
        else:
            yield name


def _is_group(kind: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
