"""The scope of a directory: an override, the repository's remote, or a name."""

import subprocess
from pathlib import Path

import pytest

from nous.domain.errors import Misconfigured
from nous.domain.scope import Scope
from nous.services.workspace import SessionScopes, Workspace, workspace_of


def repository(folder: Path, url: str = "", *, remote: str = "origin") -> Path:
    """Make a git repository, as git lays it out."""
    (folder / ".git").mkdir(parents=True)
    section = f'[remote "{remote}"]\n\turl = {url}\n\tfetch = +refs/heads/*:refs/remotes/{remote}/*\n' if url else ""
    (folder / ".git" / "config").write_text(f'[core]\n\tbare = false\n{section}[branch "main"]\n\tremote = {remote}\n')
    return folder


@pytest.mark.parametrize(
    ("url", "project"),
    [
        ("https://github.com/acme/shop.git", "github.com:acme:shop"),
        ("https://ann:ghp_token@github.com/Acme/Shop", "github.com:acme:shop"),
        ("git@github.com:acme/shop.git", "github.com:acme:shop"),
        ("ssh://git@gitlab.acme.example:2222/team/tools/shop.git/", "gitlab.acme.example:team:tools:shop"),
        ("github-work:acme/shop.git", "github-work:acme:shop"),
        ("/srv/git/shop.git", "here"),
        ("../shop", "here"),
        ("file:///srv/git/shop.git", "here"),
    ],
)
def test_the_remote_names_the_project_without_credentials(tmp_path: Path, url: str, project: str) -> None:
    folder = repository(tmp_path / "here", url)

    assert workspace_of(folder).scope == Scope(project=project)


def test_every_folder_below_a_repository_is_of_the_same_workspace(tmp_path: Path) -> None:
    folder = repository(tmp_path / "shop", "git@github.com:acme/shop")

    assert workspace_of(folder / "src" / "gone") == workspace_of(folder)
    assert workspace_of(folder).root == folder


def test_a_repository_without_origin_has_its_first_other_remote(tmp_path: Path) -> None:
    folder = repository(tmp_path / "shop", "git@github.com:acme/shop", remote="upstream")

    assert workspace_of(folder) == Workspace(Scope(project="github.com:acme:shop"), folder, "git remote upstream")


def test_worktrees_are_of_the_workspace_of_their_repository(tmp_path: Path) -> None:
    main, other = tmp_path / "shop", tmp_path / "elsewhere"
    run = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-C", str(main)]
    main.mkdir()
    for command in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "x"],
        ["worktree", "add", "-q", str(other)],
    ):
        subprocess.run([*run, *command], check=True)

    assert workspace_of(other).scope == workspace_of(main).scope == Scope(project="shop")


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    main = repository(tmp_path / "shop", "git@github.com:acme/shop")
    modules = repository(tmp_path / "made", "git@github.com:acme/lib")
    (main / ".git" / "modules").mkdir()
    (modules / ".git").rename(main / ".git" / "modules" / "lib")
    (main / "lib").mkdir()
    (main / "lib" / ".git").write_text("gitdir: ../.git/modules/lib\n")

    assert workspace_of(main / "lib").scope == Scope(project="github.com:acme:lib")


def test_without_a_repository_the_folder_names_the_project(tmp_path: Path) -> None:
    assert workspace_of(tmp_path / "notes").scope == Scope(project="notes")
    assert workspace_of(Path("/")).scope == Scope()


def test_the_nearest_override_decides_over_the_repository(tmp_path: Path) -> None:
    folder = repository(tmp_path / "work" / "shop", "git@github.com:acme/shop")
    (tmp_path / "work" / ".nous.toml").write_text('scope = "acme/assistant/all"\n')

    assert workspace_of(folder) == Workspace(Scope("acme", "assistant", "all"), tmp_path / "work", ".nous.toml")

    (folder / ".nous.toml").write_text('scope = "shop"\n')

    assert workspace_of(folder / "src").scope == Scope(project="shop")


@pytest.mark.parametrize(
    "content", ["scope = 5", 'scope = ""', "scope =", 'scopes = "a"', 'scope = "a"\nother = 1', "\xff"]
)
def test_an_override_that_cannot_be_used_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / ".nous.toml").write_bytes(content.encode("latin-1"))

    with pytest.raises(Misconfigured, match=r"\.nous\.toml"):
        workspace_of(tmp_path)


def test_a_damaged_repository_counts_as_a_folder(tmp_path: Path) -> None:
    for number, content in enumerate([b"", b"gitdir: \x00", b"\xff\xfe"]):
        folder = tmp_path / f"shop-{number}"
        folder.mkdir()
        (folder / ".git").write_bytes(content)

        assert workspace_of(folder).scope.project


def test_a_session_that_was_published_before_stays_where_it_is(tmp_path: Path) -> None:
    folder, before = str(repository(tmp_path / "shop", "git@github.com:acme/shop")), Scope(project="before")
    scopes = SessionScopes(known=lambda session: [before] if session == "old" else [])

    assert scopes.of_session("old", folder) == before
    assert scopes.of_session("new", folder) == Scope(project="github.com:acme:shop")


def test_a_scope_of_the_settings_holds_for_every_session(tmp_path: Path) -> None:
    scopes = SessionScopes(always=Scope(project="all"), known=lambda _: [Scope(project="before")])

    assert scopes.of_session("old", str(tmp_path)) == scopes.of_directory(None) == Scope(project="all")


@pytest.mark.parametrize("directory", [None, "", "shop", r"C:\Users\ann\shop"])
def test_a_directory_that_says_nothing_here_has_the_default_scope(directory: str | None) -> None:
    assert SessionScopes().of_directory(directory) == Scope()
