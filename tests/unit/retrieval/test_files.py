"""Files that a query names."""

import pytest

from nous.retrieval.context import is_trivial
from nous.retrieval.query import files_named, parts, touched


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("why does ingest.rs crash?", ["ingest.rs"]),
        ("look at `src/ingest.rs`, please", ["src/ingest.rs"]),
        (r"C:\work\Ingest.rs:42:7 fails", ["work/ingest.rs"]),
        ("./src/../lib/a.py and ../../b.c", ["lib/a.py", "b.c"]),
        ("'fix main.go please'", ["main.go"]),
        ("(see [it](docs/a.md#L3)).", ["docs/a.md"]),
        ("the .env and the Makefile", [".env", "makefile"]),
        ("why does it write to /tmp?", ["tmp"]),
        ("https://example.com/a.html", []),
        ("nothing here", []),
        ("icon@2x.png or docs/a@b.md", ["icon@2x.png", "docs/a@b.md"]),
    ],
)
def test_the_files_in_a_text(text: str, named: list[str]) -> None:
    assert ["/".join(path) for path in files_named(text)] == named


@pytest.mark.parametrize(
    ("name", "path", "is_it"),
    [
        ("ingest.rs", "src/ingest.rs", True),
        ("ingest.rs", "/home/me/src/ingest.rs", True),
        ("ingest.rs", "src/my_ingest.rs", False),
        ("ingest.rs", "src/ingest.rs.bak", False),
        ("src/ingest.rs", "lib/ingest.rs", False),
        ("rc/ingest.rs", "src/ingest.rs", False),
        ("src/ingest.rs", "a/b/../src/ingest.rs", True),
        ("/home/me/src/ingest.rs", "src/ingest.rs", True),
    ],
)
def test_parts_of_a_path_match_whole(name: str, path: str, *, is_it: bool) -> None:
    assert touched([parts(name)], [path]) == ((path,) if is_it else ())


def test_nothing_named_finds_nothing() -> None:
    assert touched((), ["a.py"]) == ()
    assert parts("../..") == ()


@pytest.mark.parametrize(
    "prompt",
    [
        "/commit",
        "ok",
        "fix bug",
        "推送",
        "yes please do it",
        "好的谢谢",
    ],
)
def test_a_trivial_prompt_is_not_searched_for(prompt: str) -> None:
    assert is_trivial(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "fix the bug",
        "what is 10.0.0.12?",
        "修改config",
        "read /tmp/x.txt please",
        "why does it write to /tmp?",
        "/review the new parser",
        "ingest.rs?",
        "ENT-250",
        "port 8080",
        "LastPrompt",
        "数据库",
        "'timeout'",
        "好的数据库",
    ],
)
def test_a_prompt_that_asks_for_something_is(prompt: str) -> None:
    assert not is_trivial(prompt)
