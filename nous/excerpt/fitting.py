"""From a transcript to an excerpt that keeps within its budget, always."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from nous.errors import BadInput
from nous.excerpt.calls import edited_files, shortener
from nous.excerpt.choice import Choice, Strategy
from nous.excerpt.items import PERSONAL, Item, items_of
from nous.excerpt.layout import BETWEEN, laid_out, whole
from nous.excerpt.manifest import Manifest, manifest_of
from nous.excerpt.strategies import named
from nous.transcript.model import Transcript

BUDGET = 8000
"""Characters, unless told otherwise."""

FILES_SHARE = 0.10
"""How much of the budget the line of edited files may take."""

_FILES = "Files edited: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """What a summarizer may see of a session, and the account of what it may not."""

    text: str
    manifest: Manifest

    @property
    def chars(self) -> int:
        return len(self.text)

    @property
    def digest(self) -> str:
        """sha256 of the text, in hex."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


def fit(transcript: Transcript, budget: int = BUDGET, *, strategy: str = "default") -> Excerpt:
    """The most telling *budget* characters of *transcript*, labels and marks counted; all that can be shown if it fits.

    In order of time, with a mark for every gap. The same transcript, budget and strategy give the same excerpt.

    Raises:
        BadInput: the budget is negative, or there is no such strategy.
    """
    if budget < 0:
        raise BadInput(f"a budget of {budget} characters: it has to be 0 or more")
    choose = named(strategy)
    items, left_out = items_of(transcript)
    choice = Choice(whole(items), dict.fromkeys(range(len(items)), "everything fits"))
    text = laid_out(items, choice.spans)
    if len(text) > budget:
        heading = files_line(transcript, _room_for_files(items, budget))
        choice, text = _chosen(items, choose, budget=budget, heading=heading)
    return Excerpt(text=text, manifest=manifest_of(items, left_out, choice, strategy=strategy, budget=budget))


def files_line(transcript: Transcript, room: int) -> str:
    """Which files the session wrote to, in at most *room* characters; empty if none has room."""
    shorten = shortener(transcript)
    files = [shorten(path) for path in edited_files(transcript)]
    for count in range(len(files), 0, -1):
        rest = f" and {len(files) - count} more" if count < len(files) else ""
        line = f"{_FILES}{', '.join(files[:count])}{rest}"
        if len(line) <= room:
            return line
    return ""


def _room_for_files(items: Sequence[Item], budget: int) -> int:
    """A share of the budget, but nothing that what people said has need of."""
    said = {index: spans for index, spans in whole(items).items() if items[index].role in PERSONAL}
    spare = budget - len(laid_out(items, said))
    share = int(budget * FILES_SHARE)
    return min(share, spare) if spare > 0 else share


def _chosen(items: Sequence[Item], choose: Strategy, *, budget: int, heading: str) -> tuple[Choice, str]:
    """What *choose* chose, laid out; where it found the budget too small, the bare beginning of the first item."""
    room = budget - len(heading) - len(BETWEEN) * bool(heading)
    choice = choose(items, room)
    text = laid_out(items, choice.spans, heading=heading)
    if choice.spans and len(text) <= budget:
        return choice, text
    span = (0, min(budget, len(items[0].text)))
    reason = "the budget is too small for more"
    return Choice({0: (span,)} if budget else {}, {0: reason} if budget else {}), items[0].text[slice(*span)]
