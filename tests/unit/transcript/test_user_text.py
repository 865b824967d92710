import pytest

from nous.transcript import Kind
from nous.transcript.parsing.user_text import said_by_user, without_colour


@pytest.mark.parametrize(
    "text",
    [
        "<local-command-caveat>Caveat: The messages below were generated</local-command-caveat>",
        "<local-command-stdout>Bye!</local-command-stdout>",
        "<command-message>pr</command-message>",
        "<bash-stdout>ok</bash-stdout><bash-stderr></bash-stderr>",
        "<task-notification>done</task-notification>",
        "Base directory for this skill: /home/x",
        "<system-reminder>Do not forget.</system-reminder>",
        "<ide_opened_file>The user opened the file a.toml</ide_opened_file>",
        "  ",
        "",
    ],
)
def test_what_a_program_put_in_the_place_of_a_message_is_nobodys(text: str) -> None:
    assert said_by_user(text).kind is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fix the tests", "fix the tests"),
        ("why?\n<system-reminder>Be brief.</system-reminder>", "why?"),
        ("<command-name>/plan</command-name>\n<command-args>keep it small</command-args>", "/plan keep it small"),
        (
            "<command-message>x</command-message>\n<command-name>/x</command-name><command-args>\n a b </command-args>",
            "/x a b",
        ),
        ("<bash-input>git log -n 1</bash-input>", "! git log -n 1"),
        ("I said <b>bold</b>", "I said <b>bold</b>"),
    ],
)
def test_what_the_user_typed_is_the_users(text: str, words: str) -> None:
    assert said_by_user(text) == (Kind.USER, words)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[Request interrupted by user]", "[Request interrupted by user]"),
        ("<command-name>/exit</command-name><command-args></command-args>", "/exit"),
        ("<command-message>pr</command-message>\n<command-name>/pr</command-name>", "/pr"),
    ],
)
def test_acts_without_words_are_no_message(text: str, shown: str) -> None:
    assert said_by_user(text) == (Kind.SYSTEM, shown)


def test_the_summary_of_a_compacted_session_is_not_the_users() -> None:
    said = said_by_user("This session is being continued from a previous conversation that ran out of context. ...")

    assert said.kind is Kind.SUMMARY


def test_colours_are_taken_off() -> None:
    assert without_colour("Set \x1b[1mbold\x1b[22m \x1b]0;title\x07on") == "Set bold on"
