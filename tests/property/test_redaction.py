"""What is kept of an error's text, whatever it quotes."""

from hypothesis import example, given
from hypothesis import strategies as st

from nous.redaction.error_text import redacted
from nous.redaction.secrets import looks_secret, masked

SECRETS = (
    "sk-ant-abcdefghijklmnop1234",
    "ghp_abcdefghijklmnopqrst1234",
    "password = hunter22!x",
    "redis://user:geheim99@host:6379/0",
    "4111 1111 1111 1111",
    "eyJhbGciOiJIUzI1NiJ9.payload",
    "Zx81kQp09LmN7vB3cY6tR2wE",
    "-----BEGIN RSA PRIVATE KEY----- MIIEow",
)
SAID = "I want to tell my boss that it's over between us"
texts = st.lists(st.one_of(st.text(max_size=40), st.sampled_from(SECRETS)), max_size=6).map(" ".join)


@given(texts)
@example("\ud800 password: x1234 '")
def test_no_credential_is_left_and_what_is_redacted_stays_as_it_is(text: str) -> None:
    told = redacted(text)

    assert not looks_secret(told)
    assert redacted(told) == told


@given(texts)
def test_what_is_kept_is_one_line_of_bounded_length(text: str) -> None:
    told = redacted(text * 20, limit=100)

    assert len(told) <= 100
    assert "\n" not in told


@given(texts)
def test_what_is_masked_holds_no_credential(text: str) -> None:
    assert not looks_secret(masked(text))


@given(st.sampled_from(["{!r}", "'{}'", '"{}"', "`{}`", "line 3: {!r}, and more", "cut off: '{}"]))
def test_of_what_is_quoted_only_the_length_is_kept(form: str) -> None:
    told = redacted("ValueError: " + form.format(SAID))

    assert "boss" not in told
    assert "characters" in told


def test_names_numbers_and_paths_are_kept() -> None:
    text = "BadInput: line 7 of '/home/user/my sessions/s1.jsonl' has no field 'content', it isn't valid"

    assert redacted(text) == text
