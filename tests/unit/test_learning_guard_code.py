"""Code in two texts: the same letters with other case, or other signs, are other code."""

from time import process_time

import pytest

from nous.learning.guard.compare import compare
from nous.learning.guard.lexicon import english
from nous.learning.guard.reading import read
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
    ("The flag of the job is `true`", 'The flag of the job is "true"'),
]

SIGNS = [
    ("Run docker build . in CI", "Run docker build in CI"),
    ("Run docker build .", "Run docker build"),
    ("Run cd .. first", "Run cd first"),
    ("Run make & in CI", "Run make in CI"),
    ("Run cd - there", "Run cd there"),
    ("The total is price - discount", "The total is price discount"),
    ("The total is price - tax", "The total is price + tax"),
    ("The delay is base + jitter", "The delay is base - jitter"),
    ("The price is net + tax", "The price is net tax"),
    ("The area is width * height", "The area is width + height"),
    ("Use max = min here", "Use max, min here"),
    ("Set limit = size", "Set limit : size"),
    ("The profit is price - cost here", "The profit is cost - price here"),
    ("Run sudo !! there", "Run sudo ! there"),
    ("Negate the pattern with ! in gitignore", "Negate the pattern with - in gitignore"),
    ("The wildcard is ? here", "The wildcard is ! here"),
    ("Use ?. for the access", "Use . for the access"),
    ("Call save! on the record", "Call save on the record"),
    ("Call empty? on the list", "Call empty! on the list"),
    ("Exit with :wq!.", "Exit with :wq."),
]

PAUSES = [
    ("Never. Deploy on Friday.", "Never deploy on Friday."),
    ("No; interns can push to main.", "No interns can push to main."),
    ("Merge. Always squash first.", "Merge always. Squash first."),
    ("It runs. Not in prod.", "It runs not. In prod."),
    ("If tests fail, always retry.", "If tests fail always, retry."),
    ("Log errors, only in prod, to Kafka.", "Log errors only, in prod to Kafka."),
    ("Kim said: Lee is late.", "Kim, said Lee, is late."),
    ("Redis, no Kafka.", "Redis no, Kafka."),
]

SAME = [
    ("The API of billing is public", "the api of billing is public"),
    ("The team uses GitHub", "the team uses github"),
    ("It uses ruff, mypy and pytest.", "It uses `ruff`, `mypy` and `pytest`"),
    ("All *.py files are linted", "All `*.py` files are linted"),
    ("Edit src/App.tsx, then run it", "Edit src/App.tsx then run it"),
    ("Never push to main!", "never push to main"),
    ("Uploads are refused at night!", "Uploads are refused at night."),
    ("Never push to main!!", "Never push to main!"),
    ("Never push to main …", "Never push to main."),
    ("Is the pool open??", "Is the pool open?"),
    ("Debug = true", "Debug: true"),
    ("The limit = 5 MB", "The limit: 5 MB"),
    ("Timeout = 30 s", "Timeout: 30 s"),
    ("Redis + Kafka are used", "Redis and Kafka are used"),
    ("The cache is fast - it uses Redis", "The cache is fast; it uses Redis"),
    ("Stop! Tests fail on Friday.", "Stop. Tests fail on Friday."),
    ("Redis & Kafka are used", "Redis and Kafka are used"),
    ("Backups run (in CI) daily", "Backups run in CI daily"),
    ("First, run it.", "First run it."),
    ("The API uses ruff, mypy, and pytest", "The API uses ruff, mypy and pytest"),
    ("The limit is approx. 5 MB", "The limit is approx 5 MB"),
    ("The team doesn't deploy on Friday", "The team doesnt deploy on Friday"),
]


def objection(one: str, other: str) -> str | None:
    return compare(Statement(one).reading, Statement(other).reading, english()).objection


@pytest.mark.parametrize(("one", "other"), APART)
def test_other_code_is_kept_apart(one: str, other: str) -> None:
    assert objection(one, other)
    assert objection(other, one)


@pytest.mark.parametrize(("one", "other"), SIGNS)
def test_a_sign_that_is_an_argument_or_part_of_a_name_is_no_punctuation(one: str, other: str) -> None:
    assert objection(one, other)
    assert objection(other, one)


@pytest.mark.parametrize(("one", "other"), PAUSES)
def test_a_pause_between_other_words_makes_another_sense(one: str, other: str) -> None:
    assert objection(one, other)
    assert objection(other, one)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_code_in_other_dress_is_no_objection(one: str, other: str) -> None:
    assert objection(one, other) is None


def test_reading_takes_time_in_proportion_to_the_blanks() -> None:
    def seconds(blanks: int) -> float:
        start = process_time()
        read(f"{' ' * blanks}x", english())
        return process_time() - start

    assert min(seconds(32_000) for _ in range(3)) < 20 * max(min(seconds(4_000) for _ in range(3)), 0.001)


@pytest.mark.parametrize("text", ["n't", "x n't", "(n't)", "don't, n't", "N't."])
def test_a_lone_ending_is_read_as_any_other_word(text: str) -> None:
    assert objection(text, f"The tokenizer keeps {text}") is not None
