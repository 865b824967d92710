"""Placeholders, private parts, and values whose names tell that they are secret."""

import json
import re
import subprocess
import sys
from copy import deepcopy
from threading import Lock
from typing import Any

import pytest
from builders.secrets import CORPUS, secrets, survives

from nous.domain.episode import CandidateFact, Decision
from nous.domain.errors import Retryable
from nous.redaction.error_text import folded, place, traced, whole
from nous.redaction.redactor import Redaction, Redactor, tells_secret
from nous.redaction.rules import Rule, RuleSet, built_in, default_rules

TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # noqa: S105


@pytest.fixture
def redaction() -> Redaction:
    return Redaction(Redactor(key=lambda: b"0123456789abcdef"))


def test_equal_secrets_have_equal_placeholders_and_different_ones_do_not(redaction: Redaction) -> None:
    text = redaction.text(f"{TOKEN} {TOKEN} {TOKEN[::-1]} ghp_Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4J3h2")
    first, second, *_, last = text.split()

    assert first == second == redaction.known[TOKEN]
    assert first.startswith("[secret:github-pat:")
    assert last != first


def test_another_installation_marks_the_same_secret_otherwise() -> None:
    one, other = (Redaction(Redactor(key=lambda key=key: key)).text(TOKEN) for key in (b"a" * 16, b"b" * 16))

    assert one != other
    assert Redaction(Redactor()).text(TOKEN) == "[secret:github-pat]"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("before <private>mine</private> after", "before  after"),
        ("before <private>mine", "before "),
        ("<PRIVATE reason='x'>mine</private >", ""),
        ("a <private>b <private>c</private> d</private> e", "a  e"),
        ("a stray </private> tag and a <privateer>", "a stray  tag and a <privateer>"),
    ],
)
def test_private_parts_are_dropped(redaction: Redaction, said: str, left: str) -> None:
    assert redaction.text(said) == left


def test_a_private_part_may_span_several_texts_of_a_message(redaction: Redaction) -> None:
    message = {"content": [{"text": "a <private>b"}, {"text": "c"}, {"text": "d</private> e"}]}

    assert redaction.value(message) == {"content": [{"text": "a "}, {"text": ""}, {"text": " e"}]}
    assert redaction.value({"content": "the next one"}) == {"content": "the next one"}
    assert redaction.counts == {"private-part": 1}


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ({"password": "correct-horse-7"}, {"password": "[secret:password]"}),
        ({"env": {"API_KEY": "q7Rt81mZ0pLx"}}, {"env": {"API_KEY": "[secret:credential]"}}),
        ({"headers": {"X-Auth-Token": ["q7Rt81mZ0pLx"]}}, {"headers": {"X-Auth-Token": ["[secret:credential]"]}}),
        ({"command": "ls", "timeout": 5, "env": None}, {"command": "ls", "timeout": 5, "env": None}),
        ({"max_tokens": "4096", "token_type": "bearer"}, {"max_tokens": "4096", "token_type": "bearer"}),
    ],
)
def test_a_value_is_judged_with_its_name(value: dict[str, Any], left: dict[str, Any]) -> None:
    assert Redaction(Redactor()).value(value) == left


def test_a_record_is_redacted_but_for_what_names_something(redaction: Redaction) -> None:
    decision = Decision(description=f"Use {TOKEN}", turns=(1, 2))
    facts = (CandidateFact(text="Port 80 is open."), CandidateFact(text=f"The CI uses {TOKEN}"))

    assert TOKEN not in str(redaction.record((decision, facts)))
    assert redaction.record(facts)[0] is facts[0]
    assert redaction.record(facts[0]) is facts[0]


def test_a_statement_of_what_a_secret_is_says_nothing() -> None:
    assert tells_secret("The password is [secret:password:1a2b].")
    assert not tells_secret("Deploy with `KEY=[secret:credential:1a2b] make deploy`.")


SENDGRID = "SG." + "aB3dE5gH7jK9mN1pQ2rS4t" + "." + "uV6wX8yZ0aB2cD4eF6gH8iJ0kL2mN4oP6qR8sT0uV2w"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"the key is ({SENDGRID}), use it", SENDGRID),
        (f"<code>{SENDGRID}</code>", SENDGRID),
        (f"密钥{SENDGRID}", SENDGRID),
        (f"out: \\n{SENDGRID}\\n", SENDGRID),
        (f"\x1b[32m{SENDGRID}\x1b[0m", SENDGRID),
        ("postgres://app:P@ssw0rd2024x@db:5432/shop", "ssw0rd2024x"),
        ("DB_PASSWORD=Sommer.2024", "Sommer.2024"),
        ("--password='!QAZ2wsx'", "QAZ2wsx"),
        ('"password": "@Berlin2024"', "Berlin2024"),
        ("DB_PASSWORD='w7(Sql]#Ne4ipWq:v'", "Ne4ipWq"),
        ('{"pass": "Wint3rmute!9k"}', "Wint3rmute"),
        ("PGPASS=Tr0ub4dor", "Tr0ub4dor"),
        ("API_TOKEN=PDiBghlkdarTUbxM", "PDiBghlk"),
        ('"client_secret": "tP{FT=2dQJ%-ojMD"', "2dQJ"),
        ("use Tr0ub4dor&3x as the password", "Tr0ub4dor"),
        ("await page.getByLabel('Password').fill('Tr0ub4dor&3x')", "Tr0ub4dor"),
        ("htpasswd -b .htpasswd ann Tr0ub4dor3", "Tr0ub4dor3"),
        ("dbPass: 'Wint3rmute9k'", "Wint3rmute9k"),
        (f"k.pem:1:-----BEGIN PRIVATE KEY-----\nk.pem:2:{'Ef5h' * 16}\nk.pem:3:-----END PRIVATE KEY-----", "Ef5h"),
        (f"-----BEGIN PRIVATE KEY-----\n-{'Ab3d' * 16}\n-{'Ef5h' * 16}\n------END PRIVATE KEY-----", "Ef5h"),
    ],
)
def test_a_secret_is_found_whatever_stands_around_it(text: str, secret: str) -> None:
    assert secret not in Redaction(Redactor()).text(text)


@pytest.mark.parametrize(
    "value",
    [
        {"env": [{"name": "DB_PASSWORD", "value": "Kx9pQ2mmZ8"}]},
        {"password": {"value": "Kx9pQ2mmZ8"}},
        {"args": ["mysql", "--password", "Kx9pQ2mmZ8"]},
        {"Key": "DB_PASSWORD", "Value": "Kx9pQ2mmZ8"},
        {"element": "Password field", "text": "Kx9pQ2mmZ8"},
        {"auth": {"user": "ann", "pass": "Kx9pQ2mmZ8"}},
        {"command": ["mysql", "-uroot", "-pKx9pQ2mmZ8", "shop"]},
        ["curl", "-u", "ann:Kx9pQ2mmZ8", "https://shop.example"],
    ],
)
def test_a_value_is_judged_by_what_stands_beside_it(value: Any) -> None:
    assert "Kx9pQ2mmZ8" not in str(Redaction(Redactor()).value(value))


@pytest.mark.parametrize(
    "value",
    [
        ["Password:", "SHA-256", "Argon2id"],
        ["src/auth", "src/handlers/UserV2Handler"],
        {"name": "password", "text": "at least 8 characters, 1 digit"},
        {"element": "Search box", "text": "hello2024"},
    ],
)
def test_words_beside_each_other_are_no_command(value: Any) -> None:
    assert Redaction(Redactor()).value(value) == value


def test_a_certificate_hides_no_secret_of_another_form(redaction: Redaction) -> None:
    said = f"-----BEGIN CERTIFICATE-----\n{TOKEN}\n-----END CERTIFICATE-----"

    assert TOKEN not in redaction.text(said)


def test_a_cut_placeholder_is_no_secret(redaction: Redaction) -> None:
    assert redaction.text("PASSWORD=[secret:url-pas...") == "PASSWORD=[secret:url-pas..."


def test_a_long_run_of_one_letter_does_not_hang() -> None:
    said = f'password: "{"x" * 60} (ask Ann)"'
    code = f"from nous.redaction.redactor import masked; print(masked({said!r}))"

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert shown.stdout == 'password: "[secret:password]"\n'


def test_a_rule_that_matches_nothing_replaces_nothing() -> None:
    empty = RuleSet([Rule(id="own", pattern="z*")])

    assert Redaction(Redactor(rules=lambda: empty)).text("some text") == "some text"


NOT_FOUND = {
    "kubernetes-secret-base64",  # base64 alone in a line, below a command
    "powershell-secure-string",  # `net use Z: \\files\share PASSWORD`
    "terraform-variable",  # the name stands in the line before
}
"""Kinds of the corpus that need more context than a line."""

KEPT_IN_VAIN = ("Linux-pip-02d6", "prod/db-Xk29aQ", "XoU3DlVeldJ99o")
"""Innocents that are replaced: a cache key with a hash, the name of a secret, and the x of a public key."""


def test_nearly_every_secret_of_the_corpus_is_replaced() -> None:
    known = secrets()

    missed = {kind for kind, text, secret in known if survives(secret, Redaction(Redactor()).text(text))}

    assert len(known) >= 470
    assert missed <= NOT_FOUND


def test_what_only_looks_like_a_secret_stays() -> None:
    innocent = (CORPUS / "innocent.txt").read_text("utf-8")

    found = [innocent[span.start : span.end] for span in default_rules().find(innocent)]

    assert [text for text in found if not text.startswith(KEPT_IN_VAIN)] == []


@pytest.mark.parametrize("rule", built_in(), ids=lambda rule: f"{rule.id}: {rule.pattern[:20]}")
def test_a_rule_has_a_name_for_placeholders_and_keywords_in_lower_case(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,60}", rule.id)
    assert rule.keywords == tuple(keyword.lower() for keyword in rule.keywords)
    assert rule.compiled.groups >= 0
    assert not rule.keywords or not rule.least


def test_a_rule_of_one_s_own_replaces_its_group() -> None:
    own = RuleSet([Rule(id="own", pattern=r"ticket (ACME-\d+)")])

    assert Redaction(Redactor(rules=lambda: own)).text("see ticket ACME-1234") == "see ticket [secret:own]"


def test_what_is_allowed_is_no_secret() -> None:
    redactor = Redactor(allow=re.compile("hunter[0-9]+"))

    assert Redaction(redactor).text("password=hunter22 password=geheim99") == (
        "password=hunter22 password=[secret:password]"
    )


def test_a_match_that_goes_on_behind_the_searched_stretch_is_found_whole() -> None:
    token = "ops_eyJ" + "a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuV" * 100

    assert Redaction(Redactor()).text(f"export X={token} # end") == (
        "export X=[secret:1password-service-account-token] # end"
    )


def test_letters_that_change_their_length_in_lower_case_shift_nothing() -> None:
    assert Redaction(Redactor()).text("İİİ password=hunter22") == "İİİ password=[secret:password]"


def _failure(depth: int = 0) -> Exception:
    try:
        _fail(depth)
    except ValueError as error:
        return error
    raise AssertionError


def _fail(depth: int) -> None:
    if depth:
        _fail(depth - 1)
    json.loads("{my password is hunter22}")


def test_frames_of_libraries_are_folded_into_one_line_and_ours_are_shown() -> None:
    lines = list(folded(traced(_failure())))

    assert [line.rpartition(" ")[2] for line in lines[:2]] == ["_failure", "_fail"]
    assert lines[2] == "  ... 3 frames in json"
    assert lines[3].startswith("JSONDecodeError: ")
    assert len(lines) == 4


def test_what_led_to_an_error_is_told_before_it() -> None:
    with pytest.raises(Retryable) as raised:
        _translate()

    errors = [line for line in whole(traced(raised.value)) if not line.startswith("  ")]
    assert [line.partition(":")[0] for line in errors] == ["JSONDecodeError", "Retryable"]


def _translate() -> None:
    try:
        _fail(0)
    except ValueError as cause:
        raise Retryable("not now") from cause


def test_a_deep_recursion_is_cut_and_says_so() -> None:
    trace = traced(_failure(depth=300))

    assert len(trace) <= 4000
    assert len(trace.splitlines()) <= 22
    assert "frames before" in trace


def test_the_place_is_the_last_line_that_is_no_library_s() -> None:
    assert place(_failure()).endswith("in _fail")
    assert place(ValueError("never raised")) == ""
    assert place(_failure_deep_in_a_library()) == ""


def _failure_deep_in_a_library() -> Exception:
    nested: object = Lock()
    for _ in range(20):
        nested = [nested]
    with pytest.raises(TypeError) as raised:
        deepcopy(nested)
    return raised.value


def test_the_texts_of_errors_are_redacted() -> None:
    trace = traced(ValueError("no good: 'I want to tell my boss that this is over', password=hunter22"))

    assert trace == "! ValueError: no good: '40 characters', password=[secret:password]"
