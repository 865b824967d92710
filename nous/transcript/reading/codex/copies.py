"""What a file says in several ways: as an item of the conversation, as an event, and as the item of an event."""

from dataclasses import dataclass, field

_MOST = 64


@dataclass(slots=True)
class Told:
    """Words without their white space, whose they are, and the ways in which they came so far."""

    who: str
    words: str
    ways: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Copies:
    """Knows what was told in this turn. The same words are a copy in another way, and said anew in the same way."""

    told: list[Told] = field(default_factory=list[Told])

    def is_copy(self, who: str, text: str, way: str) -> bool:
        """Whether *text* was told already; it is told now."""
        words = "".join(text.split())
        for known in reversed(self.told):
            if known.who == who and known.words == words and way not in known.ways:
                known.ways.append(way)
                return True
        self.told.append(Told(who, words, [way]))
        del self.told[:-_MOST]
        return False

    def forget(self) -> None:
        """A turn is over: what is said from here on is said anew."""
        self.told.clear()
