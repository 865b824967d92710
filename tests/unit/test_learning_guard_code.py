"""Code in two texts: the same letters with other case, or other signs, are other code."""

import pytest

from nous.learning.guard.compare import compare
from nous.learning.guard.lexicon import english
from nous.learning.statement import Statement

APART = [
    ("The heap of the job is 128m", "The heap of the job is 128M"),
    ("The uplink has 100 Mbps", "The uplink has 100 MBps"),
    ("The sensor draws 5 mW", "The sensor draws 5 MW"),
    ("The runner reads API_TOKEN", "The runner reads api_token"),
    ("The form calls getUserID", "The form calls getUserId"),
    ("The loader reads Settings.yaml", "The loader reads settings.yaml"),
    ("The guide is at https://e.org/Docs/A", "The guide is at https://e.org/docs/a"),
    ("The script runs ls -lA", "The script runs ls -la"),
    ("Install it with `pip install -e .`", "Install it with `pip install -e ..`"),
    ("Vet it with `go vet ./...`", "Vet it with `go vet ./`"),
    ("It runs `git checkout -`", "It runs `git checkout`"),
    ("The offset is in [0, 10)", "The offset is in [0, 10]"),
    ("The separator of columns is ,", "The separator of columns is ;"),
    ("The callback uses `save!`", "The callback uses `save`"),
    ("The pattern of hosts is `a.b.`", "The pattern of hosts is `a.b`"),
    ("The glob of the job is `*test*`", "The glob of the job is `test`"),
    ("The state of the order is `Open`", "The state of the order is `open`"),
    ("Logs of the agent go to `/Var/log`", "Logs of the agent go to /var/log"),
]

SAME = [
    ("The API of billing is public", "the api of billing is public"),
    ("The team uses GitHub", "the team uses github"),
    ("It uses ruff, mypy and pytest.", "It uses `ruff`, `mypy` and `pytest`"),
    ("All *.py files are linted", "All `*.py` files are linted"),
    ("Edit src/App.tsx, then run it", "Edit src/App.tsx then run it"),
    ("Never push to main!", "never push to main"),
]


def objection(one: str, other: str) -> str | None:
    return compare(Statement(one).reading, Statement(other).reading, english()).objection


@pytest.mark.parametrize(("one", "other"), APART)
def test_other_code_is_kept_apart(one: str, other: str) -> None:
    assert objection(one, other)
    assert objection(other, one)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_code_in_other_dress_is_no_objection(one: str, other: str) -> None:
    assert objection(one, other) is None


@pytest.mark.parametrize("text", ["n't", "x n't", "(n't)", "don't, n't", "N't."])
def test_a_lone_ending_is_read_as_any_other_word(text: str) -> None:
    assert objection(text, f"The tokenizer keeps {text}") is not None
