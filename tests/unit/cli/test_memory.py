"""Episodes for the eye."""

from dataclasses import replace

from builders.episodes import episode

from nous.cli.memory_text import episode_lines


def test_what_is_open_and_shows_the_outcome_is_told_once() -> None:
    shown = episode()
    because = shown.summary.outcome_rationale
    summary = replace(shown.summary, open_threads=(because, "The tests are still red."))

    told = "\n".join(episode_lines(replace(shown, summary=summary)))

    assert told.count(because) == 1
    assert "open: The tests are still red." in told


def test_a_line_break_in_an_episode_forges_no_line() -> None:
    shown = episode()
    summary = replace(shown.summary, title="a\nb", outcome_rationale="a\nb")

    told = list(episode_lines(replace(shown, summary=summary, dataref="file:///x%0A%E2%80%A8y")))

    assert "  from /x y" in told
    assert not any("\n" in line for line in told)
