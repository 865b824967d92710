"""Notes kept ready for hooks, since a hook has no time to ask a server.

<data directory>/context/      mode 0700, made by `nous install`
  roots                        a line for each known workspace: name of its scope's notes, reach, folder, scope
  <name>.<host>                notes for any session of the scope, as the host expects them
  <name>.<session>.<host>      notes for one session that goes on after it was compacted
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from nous.domain.scope import Scope
from nous.services.workspace import Workspace


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
        with open(part, "wb", opener=_private) as file:
            file.write(content)
        part.replace(self.folder / name)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
