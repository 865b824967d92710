import pytest

from nous.transcript import Kind
from nous.transcript.parsing.user_text import said_by_user, without_colour

CONTINUED = "This session is being continued from a previous conversation that ran out of context. ..."
NOBODYS = (
    *("<local-command-caveat>Caveat: The messages below were generated</local-command-caveat>", "  ", ""),
    *("<local-command-stdout>Bye!</local-command-stdout>", "<task-notification>done</task-notification>"),
    *("<command-message>pr</command-message>", "<bash-stdout>ok</bash-stdout><bash-stderr></bash-stderr>"),
    *("Base directory for this skill: /home/x", "<system-reminder>Do not forget.</system-reminder>"),
    "<ide_opened_file>The user opened the file a.toml</ide_opened_file>",
)


@pytest.mark.parametrize("text", NOBODYS)
def test_what_a_program_put_in_the_place_of_a_message_is_nobodys(text: str) -> None:
    assert said_by_user(text).kind is None


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("fix the tests", Kind.USER, "fix the tests"),
        ("why?\n<system-reminder>Be brief.</system-reminder>", Kind.USER, "why?"),
        ("<command-name>/p</command-name>\n<command-args>keep it small</command-args>", Kind.USER, "/p keep it small"),
        (
            "<command-message>x</command-message>\n<command-name>/x</command-name><command-args>\n a b </command-args>",
            Kind.USER,
            "/x a b",
        ),
        ("<bash-input>git log -n 1</bash-input>", Kind.USER, "! git log -n 1"),
        ("I said <b>bold</b>", Kind.USER, "I said <b>bold</b>"),
        ("[Request interrupted by user]", Kind.SYSTEM, "[Request interrupted by user]"),
        ("<command-name>/exit</command-name><command-args></command-args>", Kind.SYSTEM, "/exit"),
        ("<command-message>pr</command-message>\n<command-name>/pr</command-name>", Kind.SYSTEM, "/pr"),
        (CONTINUED, Kind.SUMMARY, CONTINUED),
    ],
)
def test_words_are_the_users_and_acts_and_summaries_are_not(text: str, kind: Kind, words: str) -> None:
    assert said_by_user(text) == (kind, words)


def test_colours_are_taken_off() -> None:
    assert without_colour("Set \x1b[1mbold\x1b[22m \x1b]0;title\x07on") == "Set bold on"
