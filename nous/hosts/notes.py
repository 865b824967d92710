"""Notes kept ready for hooks, since a hook has no time to ask a server.

<data directory>/context/      mode 0700
  roots                        a line for each known workspace: name of its scope's notes, reach, folder, scope
  <name>.<host>                notes for any session of the scope, as the host expects them
  <name>.<session>.<host>      notes for one session that goes on after it was compacted
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

from typing_extensions import override

from nous.domain.scope import Scope
from nous.hosts.base import Host
from nous.runtime.maintenance import PeriodicTask
from nous.services.workspace import Workspace

_EVERY = 30  # intervals after which notes are rendered even if no worker has committed: a fact was merged by hand, say

Notes = Mapping[str, str]
"""Notes by the id of the session that they are for; the empty id stands for any session."""


def name_of(scope: Scope) -> str:
    """Return the name of a scope's notes."""
    return sha256(str(scope).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class NotesFolder:
    """The folder from which hooks read notes."""

    folder: Path

    def roots(self) -> Mapping[str, Scope]:
        """Return the scope of each known folder."""
        return {folder: Scope.parse(scope) for _, _, folder, scope in self._lines()}

    def see(self, workspace: Workspace) -> None:
        """Add a workspace, so that notes are kept ready for it. Folders that are gone are left out."""
        root = str(workspace.root)
        line = (name_of(workspace.scope), workspace.reach, root, str(workspace.scope))
        before = list(self._lines())
        if line in before or not root.isprintable():
            return
        kept = [each for each in before if each[2] != root and each[1] != "all" and os.path.isdir(each[2])]  # noqa: PTH112
        text = "".join("\t".join(each) + "\n" for each in sorted([*kept, line], key=lambda each: each[2]))
        self._write("roots", text.encode())

    def put(self, scope: Scope, notes: Notes, hosts: Mapping[str, Host]) -> None:
        """Replace the notes of a scope by *notes*, for every host."""
        name = name_of(scope)
        wanted = {
            ".".join(filter(None, (name, session, host.name))): host.printed(text)
            for host in hosts.values()
            for session, text in notes.items()
            if text
        }
        for file, content in wanted.items():
            self._write(file, content)
        for path in self.folder.glob(f"{name}.*"):
            if path.name not in wanted:
                path.unlink(missing_ok=True)

    def _lines(self) -> Iterator[tuple[str, ...]]:
        with suppress(FileNotFoundError):
            for line in (self.folder / "roots").read_text().splitlines():
                yield tuple(line.split("\t"))

    def _write(self, name: str, content: bytes) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = self.folder / f"{name}.part-{os.getpid()}"
        with open(part, "wb", opener=_private) as file:
            file.write(content)
        part.replace(self.folder / name)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@dataclass(eq=False)
class NotesRefresher(PeriodicTask):
    """Renders the notes of each known workspace again after workers have committed.

    *render* returns the notes of a scope, and *progress* a value that differs after a commit.
    """

    name: ClassVar[str] = "notes_refresher"

    folder: NotesFolder
    _: KW_ONLY
    render: Callable[[Scope], Notes]
    progress: Callable[[], object]
    hosts: Mapping[str, Host]
    _seen: object = field(init=False, default=None)
    _age: int = field(init=False, default=0)
    _written: dict[Scope, Notes] = field(init=False, default_factory=dict[Scope, Notes])

    @override
    def run_once(self) -> float:
        scopes = set(self.folder.roots().values())
        now = self.progress()
        self._age += 1
        if now != self._seen or self._age >= _EVERY:
            self._age, stale = 0, scopes
        else:
            stale = scopes - self._written.keys()
        for scope in stale:
            if (notes := self.render(scope)) != self._written.get(scope):
                self.folder.put(scope, notes, self.hosts)
                self._written[scope] = notes
        self._seen = now
        return self.interval
