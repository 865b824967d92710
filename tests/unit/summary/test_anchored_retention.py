"""Nothing that an anchored summary said is gone, unless the new text says it."""

import pytest

from nous.domain.anchored_summary import AnchoredSummary, AnchoredSummarySection
from nous.summary.anchored.retention import kept


def summary(**contents: str) -> AnchoredSummary:
    return AnchoredSummary.of(contents, iteration=2)


HELD = {
    "the same line": ("- Use Redis for the queue", "- Use Redis for the queue"),
    "another mark, case and spacing": ("- Use **Redis** for the queue.", "3. use Redis  for the queue"),
    "within a longer line": ("Use Redis for the queue", "We agreed to use Redis for the job queue, since it was there"),
    "a clause beside another that negates": ("Use Redis for queues", "- Use Redis for queues, not Postgres"),
    "in other words": (
        "The importer reads every file of the archive twice, because checksums come last",
        "- The importer reads each archive file twice (checksums come last)",
    ),
    "a number with a separator": ("- 9,017 rows were imported", "- 9017 rows were imported"),
    "two bullets made one": ("- Port 8080\n- Host db1", "- Host db1 listens on port 8080"),
    "one bullet made two": ("- The port is 8080. The host is db1.", "- The port is 8080.\n- The host is db1."),
    "a path in code marks": ("- nous/summary/lines.py", "- wrote `nous/summary/lines.py` anew"),
}


@pytest.mark.parametrize(("line", "text"), HELD.values(), ids=HELD.keys())
def test_what_the_new_text_says_is_not_put_back(line: str, text: str) -> None:
    for new in (summary(intent=text), summary(decisions=text)):
        assert kept(summary(intent=line), new) == (new, ())


LOST = {
    "a number changed": ("- The port is 8080", "- The port is 8081"),
    "a number dropped": ("- Retry 3 times after errors", "- Retry after errors"),
    "a path changed": ("- nous/summary/lines.py", "- nous/summary/line.py"),
    "an identifier dropped": ("- Rename read_file in the reader", "- Rename a function in the reader"),
    "a name changed": ("- Keep Redis for queues of jobs", "- Keep Postgres for queues of jobs"),
    "a quote changed": ('- Say "no such file" in the error', '- Say "file missing" in the error, such as no file'),
    "a negation lost": ("- Never push to the main branch", "- Push to the main branch"),
    "numbers swapped": ("- Retries are 3, workers are 8", "- Retries are 8, workers are 3"),
    "too few of the words": ("- Deploy on friday after review by security", "- Deploy after lunch"),
    "one of three words changed": ("- The cache is enabled in production", "- The cache is disabled in production"),
    "half of the words": (
        "- Deploy weekly, careful review, slow rollout",
        "- Deploy weekly with careful thoughts aloud",
    ),
    "code in another order": ("```\nstop it\nthen start it\n```", "```\nthen start it\nstop it\n```"),
}


@pytest.mark.parametrize(("line", "text"), LOST.values(), ids=LOST.keys())
def test_what_the_new_text_does_not_say_is_put_back_and_reported(line: str, text: str) -> None:
    summary_, back = kept(summary(decisions=line), summary(decisions=text))

    assert back == (line,)
    assert summary_.content("decisions") == f"{line}\n{text}"


def test_lines_come_back_into_their_sections_in_their_old_order() -> None:
    previous = summary(intent="- one\n- two", decisions="- three", files_touched="- a.py\n- b.py", risks="- fire")

    mended, back = kept(previous, summary(intent="- new", files_touched="- b.py\n- c.py"))

    assert back == ("- one", "- two", "- three", "- a.py", "- fire")
    assert mended.content("intent") == "- one\n- two\n- new"
    assert mended.content("decisions") == "- three"
    assert mended.content("files_touched") == "- a.py\n- b.py\n- c.py"
    assert mended.section("risks") == AnchoredSummarySection("risks", "Risks", "- fire")


def test_what_passes_comes_back_as_what_was_earlier_the_newest_first() -> None:
    first = summary(pending_tasks="- write docs", current_state="Tests fail.")
    second, _ = kept(first, summary(current_state="Linting fails."))

    third, back = kept(second, summary(current_state="All is green."))

    assert third.content("current_state") == "All is green."
    assert third.content("pending_tasks") == ""
    assert third.content("earlier") == "Linting fails.\n- write docs\nTests fail."
    assert back == ("Linting fails.", "- write docs", "Tests fail.")


def test_a_bullet_comes_back_with_what_is_indented_below_it() -> None:
    bullet = "- Use Redis\n  because it is there already"

    mended, back = kept(summary(decisions=f"{bullet}\n- Use tabs"), summary(decisions="- Use tabs"))

    assert back == (bullet,)
    assert mended.content("decisions") == f"{bullet}\n- Use tabs"


def test_code_has_to_be_there_as_it_was_and_comes_back_whole() -> None:
    code = "```python\nretry(times=3)\nsleep(5)\n```"
    previous = summary(decisions=f"Run this:\n{code}")

    held = summary(decisions=f"Run this:\n{code}\nand wait")
    changed = summary(decisions="Run this:\n```python\nretry(times=3)\n```")

    assert kept(previous, held) == (held, ())
    assert kept(previous, changed)[1] == (code,)


def test_a_block_never_closed_is_closed_when_it_comes_back() -> None:
    mended, _ = kept(summary(decisions="```\nx = 1"), summary(decisions="- Use tabs"))

    assert mended.content("decisions") == "```\nx = 1\n```\n- Use tabs"


def test_thousands_of_numbers_in_a_line_are_compared_at_once() -> None:
    line = "- " + " ".join(f"row {number}" for number in range(8_000))

    assert kept(summary(intent=line), summary(intent=f"{line} more"))[1] == ()
