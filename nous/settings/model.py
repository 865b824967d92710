"""Pydantic models of all settings: types and defaults, explained in `config/nous.toml`."""

import os
import re
from pathlib import Path
from typing import Annotated, Literal, Self

import orjson
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, PositiveInt, SecretStr, model_validator

from nous.domain.errors import BadInput
from nous.domain.scope import Scope
from nous.domain.summary_input import MOST_CANDIDATES

EMBEDDED = "embedded:"
"""Prefix of a `redis_url` that requests a server started by nous."""

ESTIMATE = "estimate"
"""Name of the token counter that needs no vocabulary."""

_SERVERS = (EMBEDDED, "redis://", "rediss://", "unix://")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])")


def _in_seconds(value: object) -> object:
    """Convert a number, or a text such as "90s", "5m", "2h" or "7d", to seconds."""
    written = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if written:
        return float(written[1]) * _UNITS[written[2]]
    try:
        return float(str(value))
    except ValueError:
        raise ValueError("should be a number of seconds, or with a unit: 90s, 2m, 1h, 7d") from None


def _folders(value: object) -> object:
    """Read "/one:/other", as in PATH, or a list, which is JSON if it is text."""
    if isinstance(value, str) and value.startswith("["):
        value = orjson.loads(value)
    if not isinstance(value, str | list | tuple | None):
        raise ValueError("should be a list of folders")  # noqa: TRY004 (pydantic reports only these)
    return tuple(filter(None, value.split(os.pathsep))) if isinstance(value, str) else value


def _patterns(value: object) -> object:
    """Read a list of regular expressions, which is JSON if it is text."""
    if isinstance(value, str):
        value = orjson.loads(value) if value.startswith("[") else [value]
    return value


def _compilable(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
    return pattern


def _known_server(url: str) -> str:
    if not url.startswith(_SERVERS):
        raise ValueError(f"should begin with one of {', '.join(_SERVERS)}")
    return url


def _scope_name(written: str) -> str:
    try:
        return str(Scope.parse(written))
    except BadInput as error:
        raise ValueError(str(error)) from None


_STRATEGY = "default"


def _known_strategy(name: str) -> str:
    if name == _STRATEGY:
        return name
    from nous.excerpt.strategies import names  # noqa: PLC0415 (loads every transcript format)

    if name not in names():
        raise ValueError(f"should be one of {', '.join(names())}")
    return name


def _default_data_dir() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share") / "nous"


Directory = Annotated[Path, AfterValidator(Path.expanduser)]
Seconds = Annotated[float, BeforeValidator(_in_seconds), Field(gt=0)]
WholeSeconds = Annotated[int, BeforeValidator(_in_seconds), Field(gt=0)]
Cosine = Annotated[float, Field(gt=0, le=1)]
ScopeName = Annotated[str, AfterValidator(_scope_name)]
Patterns = Annotated[tuple[Annotated[str, AfterValidator(_compilable)], ...], BeforeValidator(_patterns)]


class SettingsGroup(BaseModel):
    model_config = {"frozen": True, "extra": "forbid", "validate_default": True}


class WorkerSettings(SettingsGroup):
    concurrency: PositiveInt = 16
    queue_ahead: PositiveInt = 64
    lease: Seconds = 60
    sweep_interval: Seconds = 5
    deadline: Seconds = 600
    max_attempts: PositiveInt = 5
    backoff_base: Seconds = 1
    backoff_cap: Seconds = 300
    crashes_before_quarantine: PositiveInt = 2
    deaths_before_burial: PositiveInt = 2
    readable: Annotated[tuple[Directory, ...] | None, BeforeValidator(_folders)] = None


class ExcerptSettings(SettingsGroup):
    budget: PositiveInt | None = None
    unit: Literal["chars", "tokens"] = "chars"
    windows: PositiveInt = 8
    strategy: Annotated[str, AfterValidator(_known_strategy)] = _STRATEGY
    counter: str = ESTIMATE


class LlmSettings(SettingsGroup):
    base_url: str | None = None
    api_key: SecretStr | None = None
    structured: Literal["auto", "schema", "text"] = "auto"
    deadline: Seconds = 120
    concurrency: PositiveInt = 16
    patience: Seconds = 120
    when_exhausted: Literal["defer", "extractive"] = "defer"
    daily_tokens: PositiveInt | None = None
    upgrade: bool = True


class EmbedSettings(SettingsGroup):
    base_url: str | None = None
    api_key: SecretStr | None = None
    dimensions: PositiveInt | None = None
    deadline: Seconds = 30
    concurrency: PositiveInt = 4


class SummarySettings(SettingsGroup):
    prompt: Directory | None = None
    anchored_prompt: Directory | None = None


class DedupSettings(SettingsGroup):
    """Deduplication of facts; `nous.knowledge.verdict` explains each threshold."""

    policy: Literal["guarded", "cosine", "exact"] = "guarded"
    threshold: Cosine = 0.95
    near: Cosine = 0.80
    equal: Cosine = 0.65
    one_sided: Cosine | None = None
    ask_model: bool = True
    cap: PositiveInt = MOST_CANDIDATES


class RetentionSettings(SettingsGroup):
    """Retention times, in seconds, of everything but memory itself."""

    events: WholeSeconds = 30 * 86400
    marker_ttl: WholeSeconds = 7 * 86400
    answer_ttl: WholeSeconds = 7 * 86400
    job_result_ttl: WholeSeconds = 86400
    job_failure_ttl: WholeSeconds = 7 * 86400

    @model_validator(mode="after")
    def _recognised_events_are_there(self) -> Self:
        if self.events < self.marker_ttl:
            raise ValueError(
                f"retention.events should be no less than retention.marker_ttl, {self.marker_ttl / 86400:g}d: what is "
                "recognised when it is published again has to be found"
            )
        return self


class PublishSettings(SettingsGroup):
    inline_limit: PositiveInt = 32768


class RedactSettings(SettingsGroup):
    """Regular expressions of secrets beyond the built-in rules, and of what is none."""

    enabled: bool = True
    extra: Patterns = ()
    allow: Patterns = ()


class WatchSettings(SettingsGroup):
    folders: Annotated[tuple[Directory, ...], BeforeValidator(_folders)] = ()
    scope: ScopeName | None = None
    since: Seconds = 30 * 86400
    interval: Seconds = 60


class SessionSettings(SettingsGroup):
    """Idle seconds after which a session with a heartbeat, or whose file is found, is over."""

    idle: Seconds = 1800


class DashboardSettings(SettingsGroup):
    username: str | None = None
    password: SecretStr | None = None


class Settings(SettingsGroup):
    """Effective settings: as given, else defaults; `load_settings` adds file and environment."""

    data_dir: Directory = Field(default_factory=_default_data_dir)
    redis_url: Annotated[str, AfterValidator(_known_server)] = Field(default=EMBEDDED, repr=False)
    prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,40}$")] = "nous"
    allow_unsafe_redis: bool = False
    scope: ScopeName | None = None
    background_model: str | None = None
    embedder: Annotated[str, Field(pattern=r"^(minilm|hashed|[a-z]+:.+)$")] = "minilm"
    embedder_path: Directory | None = None
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["auto", "json", "console"] = "auto"
    worker: WorkerSettings = WorkerSettings()
    excerpt: ExcerptSettings = ExcerptSettings()
    llm: LlmSettings = LlmSettings()
    embed: EmbedSettings = EmbedSettings()
    summary: SummarySettings = SummarySettings()
    dedup: DedupSettings = DedupSettings()
    retention: RetentionSettings = RetentionSettings()
    publish: PublishSettings = PublishSettings()
    redact: RedactSettings = RedactSettings()
    watch: WatchSettings = WatchSettings()
    sessions: SessionSettings = SessionSettings()
    dashboard: DashboardSettings = DashboardSettings()
