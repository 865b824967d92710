"""The exact form."""

import pytest

from nous.knowledge.normalize import exact_form
from nous.text.sanitize import readable


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The  team uses Redis.", "the team uses redis"),
        ('The project uses "ruff" for linting', "The project uses `ruff` for linting"),
        ("The team doesn\u2019t deploy", "The team doesn't deploy"),
        ("\uff34\uff45\uff41", "tea"),
        ("well\u2011known", "well-known"),
        ("(see the docs)", "see the docs!"),
        ("a **bold and <keen>** move", "a bold and keen move"),
        ("**`ruff`** is used", "ruff is used"),
        ('"it\u2019s on port 5"', "it's on port 5"),
        ("\u201eport 5\u201c", "port 5"),
        ("the <name> is set", "the name is set"),
        ("wait\u2026 then go \u2014 now...", "Wait... then go - now"),
        ("10 - 20 rows", "10\u201320 rows"),
        ("5\u2033 wide", '5" wide'),
        ("x\u00b2 + 1", "x^2 + 1"),
        ("5 \u338f", "5 kg"),
        ('the delimiter is ";"', 'the delimiter is ";".'),
        ("A cache is used", "a cache is used"),
        ("NEVER PUSH TO MAIN", "never push to main"),
        ("edit config.yaml.", "Edit `config.yaml`"),
        ("uses `ruff`, then pytest", "uses ruff, then pytest"),
        ("It runs. A cache is used", "it runs. a cache is used"),
        ("the default is 'true'", 'the default is "true"'),
        ("the default is `true`", "the default is true"),
        ("`128M` of memory", "128M of memory"),
    ],
)
def test_form_makes_no_difference(one: str, other: str) -> None:
    assert exact_form(one) == exact_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("port 3.5", "port 35"),
        ("-5 degrees", "5 degrees"),
        ("C++ is used", "C is used"),
        ("10² rows", "102 rows"),
        ("O(2ⁿ) steps", "O(2n) steps"),
        ("item nº 5", "item no 5"),
        ("edit .env", "edit env"),
        ("Is it on?", "Is it on"),
        ("a/b", "ab"),
        ("résumé", "resume"),
        ("latency < 5 ms", "latency > 5 ms"),
        ("latency <5", "latency 5"),
        ("latency ≤ 5 ms", "latency ≥ 5 ms"),
        ("a \uff1c b", "a \uff1e b"),
        ("if a != b", "if a = b"),
        ("if a ≠ b", "if a = b"),
        ("billing -> ledger", "billing <- ledger"),
        ("is !strict", "is strict"),
        ("Windows ✅", "Windows ❌"),
        ("costs € 500", "costs £ 500"),
        ("5' wide", '5" wide'),
        ("5'' wide", "5' wide"),
        ("5\u2019 wide", "5\u201d wide"),
        ("2*8 rows", "28 rows"),
        ("2 * 8 rows", "2 8 rows"),
        ("ignores *.py", "ignores .py"),
        ("remove foo*", "remove foo"),
        ('the delimiter is ";"', 'the delimiter is ","'),
        ("keys are joined with `:`", "keys are joined with `-`"),
        ("run it with -V", "run it with -v"),
        ("± 5 mm", "5 mm"),
        ("\u2212 5 mm", "5 mm"),
        ("1½ hours", "11\u20442 hours"),
        ("10₂ rows", "102 rows"),
        ("10 - 20 rows", "10 20 rows"),
        ("is []", "is {}"),
        ("use :5", "use 5"),
        ("memory is 128m", "memory is 128M"),
        ("the link has 100 Mbps", "the link has 100 MBps"),
        ("LIMIT 8 GB", "limit 8 Gb"),
        ("it takes 5 M", "it takes 5 m"),
        ("the variable is A", "the variable is a"),
        ("set API_TOKEN", "set api_token"),
        ("call getUserID", "call getUserId"),
        ("edit Config.yaml", "edit config.yaml"),
        ("see https://example.org/Docs/A", "see https://example.org/docs/a"),
        ("run ls -lA", "run ls -la"),
        (r"it is in C:\temp\new", r"it is in C:\temp\New"),
        ("the branch is `Main`", "the branch is `main`"),
        ("run `pip install -e .`", "run `pip install -e ..`"),
        ("run pip install -e .", "run pip install -e .."),
        ("run `go test ./...`", "run `go test ./`"),
        ("run go test ./...", "run go test ./"),
        ("run `git checkout -`", "run `git checkout`"),
        ("run git checkout -", "run git checkout"),
        ("run `git checkout -` after a rebase", "run `git checkout` after a rebase"),
        ("run `grep 'a  b'`", "run `grep 'a b'`"),
        ("x is in [0, 10)", "x is in [0, 10]"),
        ("x is in (a, b)", "x is in [a, b)"),
        ("the separator is ,", "the separator is ;"),
        ("call `save!`", "call `save`"),
        ("use save! for save", "use save for save!"),
        ("the pattern is `a.b.`", "the pattern is `a.b`"),
        ("the glob is *test*", "the glob is test"),
        ("the glob is `*test*`", "the glob is `test`"),
        ("the quote is `'`", 'the quote is `"`'),
        ('the quote is "\'"', 'the quote is "`"'),
        ("`-` is read", "is read"),
        ("bind it to `A` or `B`", "bind it to `B` or `A`"),
        ("No, interns can push", "No interns can push"),
        ("No; interns can push", "No interns can push"),
        ("No \u2014 interns can push", "No interns can push"),
        ("Never. Deploy on Friday", "Never deploy on Friday"),
        ("It runs. Not in prod", "It runs not. In prod"),
        ("If tests fail, always retry", "If tests fail always, retry"),
        ("Kim said: Lee is late", "Kim, said Lee, is late"),
        ("No, usa Redis", "No usa Redis"),
        ("the total is price - discount", "the total is price discount"),
        ("We'll test it", "Well test it"),
        ("the user's keys", "the users' keys"),
        ('the default is "true"', "the default is true"),
        ("Masse", "Ma\u00dfe"),
    ],
)
def test_what_carries_meaning_stays(one: str, other: str) -> None:
    assert exact_form(one) != exact_form(other)


@pytest.mark.parametrize("text", ["", "  \n", "...", "!!", "- ", "()", '""', "—", "` `"])
def test_nothing_is_left_of_what_says_nothing(text: str) -> None:
    assert exact_form(text) == ""


@pytest.mark.parametrize("sign", ["\u200e", "\x1b", "\x07", "\u202e", "\u2028"])
def test_signs_that_steer_a_terminal_count_as_in_facts(sign: str) -> None:
    assert exact_form(f"Run zebra{sign} on port 9") == exact_form(readable(f"Run zebra{sign} on port 9"))


@pytest.mark.parametrize("mark", ["\u200e", "\u202e", "\u2066", "\u200b", "\u2060", "\u00ad", "\ufeff"])
def test_marks_that_nobody_sees_make_no_other_fact_wherever_they_stand(mark: str) -> None:
    text = "Run zebra, and on port 9."

    assert {exact_form(f"{text[:at]}{mark}{text[at:]}") for at in range(len(text) + 1)} == {exact_form(text)}
