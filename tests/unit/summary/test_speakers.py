"""Whose words a fact is, by who says it in the turns it rests on."""

import pytest

from nous.domain.episode import CandidateFact, Trust
from nous.domain.summary_input import Segment, SummaryInput
from nous.summary.llm.grounding import grounded


def whose(text: str, *said: Segment, turn: int = 1) -> Trust:
    """On whose word *text* stands, which has to be let through."""
    (fact,) = grounded(
        [CandidateFact(text=text, turns=(turn,))], SummaryInput(windows=(said,)), canary="", prompt=""
    ).facts
    return fact.trust


@pytest.mark.parametrize(
    ("role", "text", "trust"),
    [
        ("User", "[User] The cache expires after 15 minutes.", Trust.USER),
        ("Decision", "[Decision] Approved: the cache expires after 15 minutes.", Trust.USER),
        ("Assistant", "[Assistant] The cache expires after 15 minutes.", Trust.ASSISTANT),
        ("Sub-agent", "[Sub-agent] The cache expires after 15 minutes.", Trust.ASSISTANT),
        ("Teammate", "[Teammate] The cache expires after 15 minutes.", Trust.ASSISTANT),
        ("Summary", "[Summary] The cache expires after 15 minutes.", Trust.ASSISTANT),
        ("Error", "[Error] The cache expires after 15 minutes.", Trust.TOOL),
        ("Tools", "[Tools] Read: the cache expires after 15 minutes (1 call)", Trust.TOOL),
        ("Output", "[Output of Read] The cache expires after 15 minutes.", Trust.TOOL),
        ("Output", "[Output of WebFetch] The cache expires after 15 minutes.", Trust.WEB),
    ],
)
def test_a_fact_stands_on_the_word_of_who_says_it(role: str, text: str, trust: Trust) -> None:
    said = (Segment("[Assistant] Let me have a look at that.", "Assistant", 1), Segment(text, role, 1))

    assert whose("The cache expires after 15 minutes.", *said) is trust


@pytest.mark.parametrize(
    ("roles", "trust"),
    [
        (("Output", "Assistant", "User"), Trust.USER),
        (("Output", "Assistant"), Trust.ASSISTANT),
        (("Output", "Error"), Trust.TOOL),
    ],
)
def test_of_several_who_say_it_the_most_trusted_counts(roles: tuple[str, ...], trust: Trust) -> None:
    said = tuple(Segment(f"[{role}] The cache expires after 15 minutes.", role, 1) for role in roles)

    assert whose("The cache expires after 15 minutes.", *said) is trust


def test_only_the_turns_of_a_fact_say_whose_it_is() -> None:
    said = (
        Segment("[User] The cache expires after 15 minutes.", "User", 1),
        Segment("[Assistant] The cache expires after 15 minutes.", "Assistant", 2),
    )

    assert whose("The cache expires after 15 minutes.", *said, turn=2) is Trust.ASSISTANT


@pytest.mark.parametrize(("other", "trust"), [("Assistant", Trust.ASSISTANT), ("Output", Trust.TOOL)])
def test_what_nobody_says_alone_is_never_the_user_s(other: str, trust: Trust) -> None:
    said = (
        Segment("[User] The nightly import of prices is slow.", "User", 1),
        Segment(f"[{other}] Warehouse tables lock for 40 minutes of vacuuming.", other, 1),
    )

    assert whose("Nightly price imports wait 40 minutes because vacuuming locks warehouse tables.", *said) is trust
