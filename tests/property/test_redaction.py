"""What is kept of an error's text, whatever it quotes."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from nous.redaction.error_text import redacted
from nous.redaction.redactor import Redaction, Redactor, masked
from nous.redaction.rules import default_rules
from nous.transcript.redact import redact_content

SECRETS = (
    "sk-ant-api03-abcdefGhijklmnop1234",
    "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "password = hunter22!x",
    "redis://user:geheim99@host:6379/0",
    "4111 1111 1111 1111",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "Zx81kQp09LmN7vB3cY6tR2wEqqTr5",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx8kQp09LmN7vB3cY6tR2",
)
SAID = "I want to tell my boss that it's over between us"
texts = st.lists(st.one_of(st.text(max_size=40), st.sampled_from(SECRETS)), max_size=6).map(" ".join)


@given(texts)
@example("\ud800 password: x1234 '")
def test_no_credential_is_left_and_what_is_redacted_stays_as_it_is(text: str) -> None:
    told = redacted(text)

    assert not default_rules().find(told)
    assert redacted(told) == told


@given(texts)
def test_what_is_kept_is_one_line_of_bounded_length(text: str) -> None:
    told = redacted(text * 20, limit=100)

    assert len(told) <= 100
    assert "\n" not in told


@given(texts)
def test_what_is_masked_holds_no_credential_and_masking_it_again_changes_nothing(text: str) -> None:
    once = masked(text)

    assert not default_rules().find(once)
    assert masked(once) == once


@given(texts)
def test_json_is_redacted_to_json(text: str) -> None:
    line = json.dumps({"said": text})

    assert list(json.loads(redact_content(f"{line}\n{line}\n".encode(), Redaction(Redactor())).splitlines()[1])) == [
        "said"
    ]


@given(st.sampled_from(["{!r}", "'{}'", '"{}"', "`{}`", "line 3: {!r}, and more", "cut off: '{}"]))
def test_of_what_is_quoted_only_the_length_is_kept(form: str) -> None:
    told = redacted("ValueError: " + form.format(SAID))

    assert "boss" not in told
    assert "characters" in told


def test_names_numbers_and_paths_are_kept() -> None:
    text = "BadInput: line 7 of '/home/user/my sessions/s1.jsonl' has no field 'content', it isn't valid"

    assert redacted(text) == text
