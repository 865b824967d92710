"""What is no session that somebody could learn from, though it can be read."""

from collections.abc import Mapping

from nous.transcript.input.tap import DAMAGED
from nous.transcript.model import Kind, Transcript

PLAIN_TEXT = "plain_text"
_ONE_SPEAKER = 0.5
"""How sure plain text is to be that where all its labels are those of one speaker, whom nobody has answered."""


def refusal(transcript: Transcript, *, was_told: bool = False) -> str | None:
    """Why *transcript* is not taken: it "holds nothing" or "looks like" none; None if it is.

    A text that tells no speaker is taken where it *was told* that it is a transcript.
    """
    if not transcript.entries:
        return f"holds nothing that anybody said{_in_words(transcript.skipped)}"
    if not was_told and _tells_no_speaker(transcript):
        if reason := damage(transcript.skipped):
            return f"tells no speaker before it breaks off: {reason}"
        return f"looks like no transcript: no speaker was found; publish it with --format {PLAIN_TEXT} if it is one"
    return None


def damage(skipped: Mapping[str, int]) -> str | None:
    """Of what was *skipped*, that the rest of a packed file could not be unpacked, and why; None if all of it was."""
    return next((reason for reason in skipped if reason.startswith(DAMAGED)), None)


def _tells_no_speaker(transcript: Transcript) -> bool:
    """Whether it is a mere text, all of which was taken for what a user said. A label in fenced code is none."""
    is_one_turn = [entry.kind for entry in transcript.entries] == [Kind.USER]
    return transcript.format == PLAIN_TEXT and is_one_turn and transcript.confidence != _ONE_SPEAKER


def _in_words(skipped: Mapping[str, int]) -> str:
    counted = ", ".join(f"{count} {reason}" for reason, count in skipped.items())
    return f" (skipped: {counted})" if counted else ""
