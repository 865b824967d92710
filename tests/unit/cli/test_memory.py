"""Episodes for the eye."""

from dataclasses import replace

from builders.episodes import episode

from nous.cli.memory_text import episode_lines


def test_each_line_of_an_episode_is_told_once_and_a_line_break_forges_none() -> None:
    because = "It is a\nb"
    shown = episode()
    threads = (because, "The tests are still red.")
    summary = replace(shown.summary, title="a\nb", outcome_rationale=because, open_threads=threads)

    told = list(episode_lines(replace(shown, summary=summary, dataref="file:///x%0A%E2%80%A8y")))

    assert "  from /x y" in told
    assert "  open: The tests are still red." in told
    assert sum("It is a b" in line for line in told) == 1
    assert not any("\n" in line for line in told)
