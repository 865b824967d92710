"""Derive the scope of a directory (`.nous.toml`, a remote, a folder's name); keep its notes.

Projects never mix, and no command needs an option: hooks, `publish`, `watch`, `context` and MCP use the same rule.

Notes are kept ready for hooks, since a hook has no time to ask a server:

<data directory>/context/      mode 0700, made by `nous install`
  roots                        a line for each known workspace: name of its scope's notes, reach, folder, scope
  <name>.<host>                notes for any session of the scope, as the host expects them
  <name>.<session>.<host>      notes for one session that goes on after it was compacted
"""

import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path

from nous.domain.errors import BadInput, Misconfigured
from nous.domain.scope import LONGEST_PART, Scope

OVERRIDE = ".nous.toml"
"""File that names the scope of its folder and of all below it: `scope = "acme/shop"`."""

_BY_FOLDER = "name of the folder"
_BY_SETTING = "setting scope"

_REMOTE = re.compile(r'\[\s*remote\s+"(?P<name>[^"]*)"\s*\]', re.IGNORECASE)
_URL = re.compile(r"url\s*=\s*(?P<url>\S+)", re.IGNORECASE)
_WITH_SCHEME = re.compile(r"(?:https?|ssh|git|git\+ssh)://(?:[^@/]*@)?(?P<host>[^/:]+)(?::\d+)?/(?P<path>.+)")
_LIKE_SCP = re.compile(r"(?:[^@/:]+@)?(?P<host>[^/:]{2,}):(?!//)(?P<path>.+)")


@dataclass(frozen=True, slots=True)
class Workspace:
    """Scope of a directory, the topmost folder it holds for, and the rule that gave it."""

    scope: Scope
    root: Path
    rule: str

    @property
    def reach(self) -> str:
        """For which folders the scope holds: `here` the root alone, `below` it too, `all` of them."""
        return {_BY_FOLDER: "here", _BY_SETTING: "all"}.get(self.rule, "below")


def workspace_of(directory: Path) -> Workspace:
    """Return the workspace of *directory*, which may be gone.

    The nearest `.nous.toml` at or above it decides. Else it is the repository: `host:owner:name` of the remote, without
    credentials, or the name of its root folder; all worktrees of a repository are one workspace. Else it is the
    directory's own name.

    Raises:
        Misconfigured: a `.nous.toml` cannot be used; it is named.
    """
    above = (directory, *directory.parents)
    for folder in above:
        if os.path.isfile(override := folder / OVERRIDE):  # noqa: PTH113 (Path.is_file raises for a forbidden folder)
            return Workspace(_scope_in(override), folder, OVERRIDE)
    for folder in above:
        if repository := _repository(folder / ".git"):
            return _of_repository(repository, folder)
    return Workspace(_named(directory.name), directory, _BY_FOLDER)


def working_directory() -> str | None:
    """Return the directory of this process; None if it was deleted."""
    try:
        return os.getcwd()  # noqa: PTH109 (a text, as transcripts state it)
    except OSError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionScopes:
    """Scope of each session whose publisher has named none.

    *always* is the scope that the settings give to all. *known* returns the scopes that have an episode of a session:
    one that was published before stays where it is. *seen* is called with each workspace that was looked up.
    """

    always: Scope | None = None
    known: Callable[[str], Collection[Scope]] = lambda _: ()
    seen: Callable[[Workspace], object] = field(default=lambda _: None)

    def of_session(self, session_id: str, cwd: str) -> Scope:
        """Return the scope of a session whose transcript states *cwd*. Raises as `workspace_of`."""
        scope = self.of_directory(cwd)
        stored = () if self.always else self.known(session_id)
        return next(iter(stored)) if len(stored) == 1 else scope

    def of_directory(self, directory: str | Path | None) -> Scope:
        """Return the scope of *directory*, by default the default. Raises as `workspace_of`."""
        if self.always:
            workspace = Workspace(self.always, Path("/"), _BY_SETTING)
        elif directory and Path(directory).is_absolute():  # a path of another system is not
            workspace = workspace_of(Path(os.path.normpath(directory)))
        else:
            return Scope()
        self.seen(workspace)
        return workspace.scope


def _scope_in(override: Path) -> Scope:
    try:
        values = tomllib.loads(override.read_text("utf-8-sig"))
        if values.keys() == {"scope"}:
            return Scope.parse(values["scope"])
    except (OSError, ValueError, BadInput) as error:
        raise Misconfigured(f"{override}: {error}") from error
    raise Misconfigured(f'{override} should hold one line, such as scope = "acme/shop"')


def _repository(entry: Path) -> Path | None:
    """Return the git directory of the main worktree, to which *entry*, called `.git`, leads."""
    try:
        if entry.is_dir():
            return entry
        reference = entry.read_text().removeprefix("gitdir:").strip()
        own = (entry.parent / reference).resolve()
        common = own / "commondir"
        return (own / common.read_text().strip()).resolve() if common.is_file() else own
    except (OSError, ValueError):
        return None


def _of_repository(repository: Path, root: Path) -> Workspace:
    for name, url in sorted(_remotes(repository / "config"), key=lambda each: each[0] != "origin"):
        if project := _project(url):
            return Workspace(_named(project), root, f"git remote {name}")
    main = repository.parent.name if repository.name == ".git" else repository.name.removesuffix(".git")
    return Workspace(_named(main), root, "name of the repository")


def _remotes(config: Path) -> Iterator[tuple[str, str]]:
    """Yield name and URL of each remote in the config file of a repository.

    Format: https://git-scm.com/docs/git-config#_configuration_file
    """
    try:
        lines = config.read_text(errors="replace").splitlines()
    except OSError:
        return
    remote = ""
    for line in map(str.strip, lines):
        if line.startswith("["):
            section = _REMOTE.match(line)
            remote = section["name"] if section else ""
        elif remote and (found := _URL.match(line)):
            yield remote, found["url"].strip('"')


def _project(url: str) -> str | None:
    """Return `host:owner:name` of a remote; None for a local path. Hosts ignore case."""
    parts = _WITH_SCHEME.fullmatch(url) or _LIKE_SCP.fullmatch(url)
    if parts is None or url.startswith(("/", ".", "file:")):
        return None
    path = parts["path"].strip("/").removesuffix(".git").strip("/")
    return ":".join((parts["host"], *filter(None, path.split("/")))).casefold() if path else None


def _named(project: str) -> Scope:
    """Return the scope of a project; the default one if the name cannot be part of a scope."""
    shown = "".join(filter(str.isprintable, project))[:LONGEST_PART]
    return Scope(project=shown) if shown.strip() else Scope()


def name_of(scope: Scope) -> str:
    return sha256(str(scope).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class NotesFolder:
    folder: Path

    def roots(self) -> Mapping[str, Scope]:
        return {folder: Scope.parse(scope) for _, _, folder, scope in self._lines()}

    def see(self, workspace: Workspace) -> None:
        """Add a workspace, so that notes are kept ready for it. Folders that are gone are left out.

        Nothing is written where no hook is installed.
        """
        if not self.folder.is_dir():
            return
        root = str(workspace.root)
        line = (name_of(workspace.scope), workspace.reach, root, str(workspace.scope))
        before = list(self._lines())
        if line in before or not root.isprintable():
            return
        kept = [each for each in before if each[2] != root and each[1] != "all" and os.path.isdir(each[2])]  # noqa: PTH112
        text = "".join("\t".join(each) + "\n" for each in sorted([*kept, line], key=lambda each: each[2]))
        self._write("roots", text.encode())

    def put(self, scope: Scope, notes: Mapping[str, bytes]) -> None:
        """Replace all notes of a scope by *notes*, named after their host, maybe with a session."""
        files = {f"{name_of(scope)}.{name}": content for name, content in notes.items()}
        for file, content in files.items():
            self._write(file, content)
        for path in self.folder.glob(f"{name_of(scope)}.*"):
            if path.name not in files:
                path.unlink(missing_ok=True)

    def _lines(self) -> Iterator[tuple[str, ...]]:
        with suppress(FileNotFoundError):
            for line in (self.folder / "roots").read_text().splitlines():
                yield tuple(line.split("\t"))

    def _write(self, name: str, content: bytes) -> None:
        part = self.folder / f"{name}.part-{os.getpid()}"
        with open(part, "wb", opener=partial(os.open, mode=0o600)) as file:
            file.write(content)
        part.replace(self.folder / name)
