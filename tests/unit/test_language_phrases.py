"""What holds for all lists of phrases."""

import re
import tomllib
from importlib.resources import files

import pytest

import nous.language

LISTS = [
    (f"{table}.{name}", phrase)
    for file in files(nous.language).iterdir()
    if file.name.endswith(".toml")
    for table in ("contains", "begins")
    for name, phrases in tomllib.loads(file.read_text("utf-8")).get(table, {}).items()
    for phrase in phrases
]
ENDS_IN_BLANK = re.compile(r"(?: |(?<!\\)\((?:[^()]*\|)?[^()|]* (?:\|[^()]*)?\)| \(\?![^()]*(?:\([^()]*\)[^()]*)*\))\Z")
"""A blank at the very end, in one of the last alternatives, or before a last look ahead."""


@pytest.mark.parametrize(("name", "phrase"), LISTS)
def test_no_phrase_ends_in_a_blank_since_none_could_match_before_a_word(name: str, phrase: str) -> None:
    assert ENDS_IN_BLANK.search(phrase) is None, name
