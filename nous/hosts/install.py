"""Add the hook of nous to a host's settings, and take it out again, byte for byte."""

import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import unified_diff
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import Any, cast

import orjson

from nous.domain.errors import BadInput
from nous.hosts import hook
from nous.hosts.base import EventKind, Host, Json
from nous.hosts.json_edit import parsed, with_item, without_items
from nous.hosts.spool import FAILED

# Name of the MCP server in a host's settings.
_SERVER = "nous"
_TABLE = r"(?m)\n?^\[{}\]\n(?:[^\[\n].*(?:\n|\Z)|\n)*"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """Content of a file before and after, and what it is without our entries; None for no file."""

    path: Path
    before: str | None
    after: str | None
    original: str | None

    def diff(self) -> str:
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        return "\n".join(unified_diff(old, new, str(self.path), str(self.path), lineterm=""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Installer:
    """Editor of the settings of hosts.

    *home* is the data directory: it gets the hook, and of each changed file a record with the original. *python* runs
    the hook, and *server* is the command of the MCP server. Every method raises `BadInput` for a settings file that is
    malformed or read-only; it is named, with the line.
    """

    home: Path
    python: str
    server: Sequence[str]

    @property
    def script(self) -> Path:
        return self.home / "hook.py"

    def prepare(self) -> None:
        """Copy the hook, and make the folders that it writes to. Raises OSError."""
        for folder in (self.home, self.home / "spool", self.home / "context", self.home / "hosts"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(hook.__file__, self.script)
        failed = self.home / "spool" / FAILED
        failed.touch(mode=0o600)
        os.utime(failed, (0, 0))

    def installation(self, host: Host, *, project: Path | None = None, mcp: bool = False) -> list[FileChange]:
        """Return the changes that add the hook, and with *mcp* the MCP server; none if all is there."""
        paths = [_settings(host, project), *([_mcp_settings(host, project)] if mcp else [])]
        changes: list[FileChange] = []
        for path in dict.fromkeys(paths):
            before = _content(path)
            with _named(path):
                after = self._with_hooks(before, host) if path == paths[0] else before or ""
                after = self._with_server(after, path, host) if mcp and path == paths[-1] else after
                original = self._without(before, path, host) if before else before
                _check(after, path)
            if after != before:
                changes.append(FileChange(path=path, before=before, after=after, original=original))
        return changes

    def removal(self, host: Host, *, project: Path | None = None) -> list[FileChange]:
        """Return the changes that take out all that `installation` adds.

        A file that has not been edited since gets its original content, or goes if there was none.
        """
        changes: list[FileChange] = []
        for path in dict.fromkeys((_settings(host, project), _mcp_settings(host, project))):
            before, record = _content(path), self._record(path)
            if before is None:
                continue
            with _named(path):
                after = self._without(before, path, host)
                if record.get("installed") == _digest(before):
                    after = record.get("original")
            if after != before:
                changes.append(FileChange(path=path, before=before, after=after, original=after))
        return changes

    def apply(self, change: FileChange) -> None:
        """Write a file whole, where a symbolic link leads, and record its original. Raises OSError."""
        record, target = self._record_of(change.path), change.path.resolve()
        if change.after == change.original:
            record.unlink(missing_ok=True)
        else:
            known = self._record(change.path)
            is_ours = known.get("installed") == _digest(change.before or "")
            original = known.get("original") if is_ours else change.original
            stated = {"path": str(change.path), "installed": _digest(change.after or ""), "original": original}
            record.write_bytes(orjson.dumps(stated))
        if change.after is None:
            target.unlink()
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f"{target.name}.nous-{os.getpid()}")
        part.write_bytes(change.after.encode())
        if change.before is not None:
            shutil.copymode(target, part)
        part.replace(target)

    def has_hooks(self, host: Host) -> bool:
        """Return whether the settings of this user run the hook at every event."""
        with suppress(BadInput):
            return not self.installation(host)
        return False

    def installed_at(self, host: Host) -> float | None:
        """Return when the hook was added to the settings of this user; None if it was not."""
        with suppress(FileNotFoundError):
            return self._record_of(_settings(host, None)).stat().st_mtime
        return None

    def _with_hooks(self, content: str | None, host: Host) -> str:
        if host.plugin:
            if content is not None and str(self.script) not in content:
                raise BadInput("it is not of nous: rename it")
            return host.plugin(self.python, str(self.script), str(self.home / "sessions" / host.name))
        text = content or ""
        settings = parsed(text)
        for name, value in () if settings else host.new_settings.items():
            text = with_item(text, (), value, key=name)
        for event, kind in host.hooks.items():
            path, entry = ("hooks", event), host.entry(self._command(host, event, kind), kind)
            there = _at(settings, *path)
            if [each for each in there or () if self._is_ours(each)] != [entry]:
                text = with_item(self._without_hooks(text, event), path, entry)
        return text

    def _without_hooks(self, text: str, event: str) -> str:
        """Take our entries out, and our hook out of an entry to which another was added."""
        there = _at(parsed(text), "hooks", event)
        for at, entry in enumerate(cast("list[Any]", there) if isinstance(there, list) else ()):
            inner = cast("Json", entry).get("hooks") if isinstance(entry, dict) else None
            if isinstance(inner, list) and not self._is_ours(entry):
                text = without_items(text, ("hooks", event, at, "hooks"), self._is_ours)
        return without_items(text, ("hooks", event), self._is_ours)

    def _command(self, host: Host, event: str, kind: EventKind) -> str:
        notes = ["--notes"] if kind is EventKind.START else []
        return shlex.join([self.python, "-I", "-S", str(self.script), host.name, event, *notes])

    def _is_ours(self, entry: object) -> bool:
        """Return whether *entry* runs the hook and nothing else, or is the MCP server."""
        texts = list(_texts(entry))
        commands = [text for text in texts if " " in text]
        runs = [str(self.script) in _words(text) for text in commands]
        return (bool(runs) and all(runs)) or texts[1 - len(self.server) :] == list(self.server[1:])

    def _with_server(self, text: str, path: Path, host: Host) -> str:
        entry = host.server_entry(self.server)
        settings = tomllib.loads(text) if path.suffix == ".toml" else parsed(text)
        there = _at(settings, host.mcp_table, _SERVER)
        if there == entry:
            return text
        if there is not None and not self._is_ours(there):
            raise BadInput(f"{host.mcp_table} has another server called {_SERVER}: rename or remove it")
        text = self._without(text, path, host) or "" if there else text
        if path.suffix == ".toml":
            return text + _table(f"{host.mcp_table}.{_SERVER}", entry)
        return with_item(text, (host.mcp_table,), entry, key=_SERVER)

    def _without(self, text: str, path: Path, host: Host) -> str | None:
        if host.plugin and path.suffix == ".js":
            return None if str(self.script) in text else text
        if path.suffix == ".toml":
            is_there = self._is_ours(_at(tomllib.loads(text), host.mcp_table, _SERVER))
            return re.sub(_TABLE.format(f"{host.mcp_table}.{_SERVER}"), "", text) if is_there else text
        for event in host.hooks:
            text = self._without_hooks(text, event)
        return without_items(text, (host.mcp_table,), self._is_ours)

    def _record(self, path: Path) -> Mapping[str, str | None]:
        with suppress(FileNotFoundError):
            return orjson.loads(self._record_of(path).read_bytes())
        return {}

    def _record_of(self, path: Path) -> Path:
        return self.home / "hosts" / f"{path.name}-{_digest(str(path))[:12]}.json"


def _settings(host: Host, project: Path | None) -> Path:
    return project / host.project_settings if project else host.folder / host.settings


def _mcp_settings(host: Host, project: Path | None) -> Path:
    return project / host.project_mcp_settings if project else Path(os.path.normpath(host.folder / host.mcp_settings))


def _content(path: Path) -> str | None:
    """Return the text of a file; None for no file. Raises `BadInput` if it cannot be changed."""
    try:
        with open(path, newline="", encoding="utf-8") as file:  # noqa: PTH123 (Path.read_text translates line ends)
            content = file.read()
        if not path.stat().st_mode & 0o200 or not os.access(path, os.W_OK):
            raise BadInput(f"{path} is read-only: make it writable, or add the hooks by hand as --dry-run shows them")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: byte {error.start} is not UTF-8") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from error
    return content


def _check(text: str, path: Path) -> None:
    """Raise `BadInput` or TOMLDecodeError if *text* cannot be read as the settings in *path*."""
    if path.suffix == ".toml":
        tomllib.loads(text)
    elif path.suffix == ".json":
        parsed(text)


@contextmanager
def _named(path: Path) -> Generator[None]:
    try:
        yield
    except (BadInput, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path}: {error}; nothing was changed") from error


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogateescape")).hexdigest()


def _at(settings: Json, *path: str) -> Any:
    """Return the value at *path*; None where there is none."""
    value: Any = settings
    for name in path:
        value = cast("Json", value).get(name) if isinstance(value, dict) else None
    return value


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        each = cast("Json | list[object]", value)
        for inner in each.values() if isinstance(each, dict) else cast("list[object]", each):
            yield from _texts(inner)


def _words(command: str) -> list[str]:
    with suppress(ValueError):
        return shlex.split(command)
    return []


def _table(name: str, entry: Json) -> str:
    """Return *entry* as a TOML table. Its texts are written as JSON, which TOML reads as well."""
    lines = (f"{key} = {dumps(value, ensure_ascii=False)}\n" for key, value in entry.items())
    return f"\n[{name}]\n{''.join(lines)}"
