"""Whoever is asked whether to forget is shown what, and whoever has forgotten is not told it again."""

import json

from builders.command_line import Nous, on_terminal

KEY, TEA, LATE = "The garden key lies under the stone", "Tim drinks green tea in the morning", "The shop shuts at nine"


def learned(nous: Nous, *texts: str, session: str = "hand-made", scope: str = "home") -> list[str]:
    """The ids of the facts that *session* teaches."""
    lines = "\n".join(map(json.dumps, texts))
    told = nous("facts", "learn", "--scope", scope, "--session", session, "--json", stdin=lines)
    return [json.loads(line)["fact_id"] for line in told.stdout.splitlines()]


def facts(nous: Nous) -> list[str]:
    return [each["text"] for each in json.loads(nous("facts", "--scope", "home", "--json").stdout)]


def test_a_fact_that_would_be_forgotten_is_shown_by_its_text(nous: Nous) -> None:
    known, _ = learned(nous, KEY, TEA)

    unasked = nous("forget", "--fact", known, "--scope", "home")
    rehearsed = nous("forget", "--fact", known[:8], "--scope", "home", "--dry-run")

    for told in (unasked.stderr, rehearsed.stdout):
        assert f"1 fact:\n  {KEY}\n" in told
        assert TEA not in told
    assert unasked.stderr.endswith("nous: nothing was forgotten: say --yes; there is no terminal to ask on\n")
    assert facts(nous) == [KEY, TEA]


def test_who_says_no_is_told_that_nothing_was_forgotten(nous: Nous) -> None:
    learned(nous, KEY)

    for answer in ("n\n", "\n"):
        told, code = on_terminal("forget", "--session", "hand-made", "--scope", "home", answer=answer)

        assert KEY in told
        assert told.endswith("nous: nothing was forgotten\n")
        assert code == 6
    assert facts(nous) == [KEY]


def test_who_says_yes_has_forgotten(nous: Nous) -> None:
    learned(nous, KEY)

    told, code = on_terminal("forget", "--session", "hand-made", "--scope", "home", answer="y\n")

    assert "Forget session hand-made of default/default/home for good? [y/N]:" in told
    assert code == 0
    assert facts(nous) == []
