from nous.transcript import Entry, Kind, group_into_turns
from nous.transcript.model import ReadNotes
from nous.transcript.parsing.turns import Finishing
from nous.transcript.reader import Draft


def entries(*said: tuple[Kind, str]) -> list[Entry]:
    drafts = (
        Draft(kind=kind, text=text, id=str(number), tool=text if kind is Kind.TOOL_CALL else None)
        for number, (kind, text) in enumerate(said)
    )
    finishing = Finishing()
    return [*finishing.entries(drafts, ReadNotes()), *finishing.conclude()]


def test_a_turn_is_question_answer_tools_and_the_next_question() -> None:
    first, second = group_into_turns(
        entries(
            (Kind.USER, "Q1"),
            (Kind.ASSISTANT, "A1"),
            (Kind.TOOL_CALL, "a"),
            (Kind.TOOL_CALL, "b"),
            (Kind.USER, "Q2"),
            (Kind.ASSISTANT, "A2"),
        )
    )

    assert first.text == "[User] Q1\n\n[Assistant] A1\n\n[Tools] a | b\n\n[User] Q2"
    assert second.text == "[User] Q2\n\n[Assistant] A2"
    assert (first.is_provisional, second.is_provisional) == (False, True)


def test_a_turn_owns_everything_up_to_the_next_prompt() -> None:
    kinds = (
        Kind.USER,
        Kind.ASSISTANT,
        Kind.TOOL_CALL,
        Kind.TOOL_RESULT,
        Kind.ASSISTANT,
        Kind.TOOL_CALL,
        Kind.ERROR,
        Kind.ASSISTANT,
    )

    (turn,) = group_into_turns(entries(*((kind, f"{kind}{number}") for number, kind in enumerate(kinds))))

    assert len(turn.entries) == 8
    assert turn.text.count("assistant") == 3


def test_a_turn_of_tools_alone_is_kept() -> None:
    (turn,) = group_into_turns(entries((Kind.USER, "Fix CI"), (Kind.TOOL_CALL, "Edit")))

    assert turn.text == "[User] Fix CI\n\n[Tools] Edit"


def test_a_turn_of_bookkeeping_alone_is_dropped_but_its_question_is_what_followed() -> None:
    (turn,) = group_into_turns(
        entries((Kind.USER, "Q1"), (Kind.ASSISTANT, "A1"), (Kind.USER, "Q2"), (Kind.TOOL_CALL, "TodoWrite"))
    )

    assert turn.text == "[User] Q1\n\n[Assistant] A1\n\n[User] Q2"


def test_a_decision_is_part_of_its_turn() -> None:
    (turn,) = group_into_turns(entries((Kind.USER, "Q"), (Kind.TOOL_CALL, "Edit"), (Kind.DECISION, "Rejected Edit")))

    assert turn.text == "[User] Q\n\n[Decision] Rejected Edit\n\n[Tools] Edit"


def test_no_entries_make_no_turns() -> None:
    assert group_into_turns([]) == ()
