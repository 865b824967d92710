"""The same for a text: a labelled dialogue, or a transcript file's content, within a number of characters."""

from nous.errors import BadInput
from nous.excerpt.fitting import BUDGET, fit
from nous.excerpt.spans import ends, shown
from nous.transcript.model import Transcript
from nous.transcript.read import parse_transcript


def truncate_transcript(text: str, max_chars: int = BUDGET) -> str:
    """*text* itself if it has at most *max_chars* characters, else what `fit` keeps of its turns.

    A text in which no turns are to be found keeps its beginning and its end.

    Raises:
        BadInput: *max_chars* is negative.
    """
    if len(text) <= max_chars:
        return text
    if max_chars < 0:
        raise BadInput(f"a budget of {max_chars} characters: it has to be 0 or more")
    transcript = _parsed(text)
    if transcript is not None and len(transcript.entries) > 1:
        return fit(transcript, max_chars).text
    return shown(text, spans) if (spans := ends(text, max_chars)) else text[:max_chars]


def _parsed(text: str) -> Transcript | None:
    try:
        return parse_transcript(text)
    except BadInput:
        return None
