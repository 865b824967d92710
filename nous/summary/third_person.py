"""What somebody says of themselves, as somebody else would say it: "I like tea" becomes "The user likes tea".

English only, by simple rules: the speaker is named at first, and then "they". What is somebody's does not name them, so
that "my sister says I am late" is not said of a sister who is late. Where no rule applies the words stay
as they are, so that nothing is said that was not said.
"""

import re

from nous.language import words

_MENTION = re.compile(
    r"\b(?:"
    r"(?P<contracted>I['\u2019](?:m|ve|d|ll)|Im|i['\u2019](?:m|ve|d|ll)|im)\b"
    r"|(?P<subject>[Ii])"
    r"(?P<adverbs>(?: (?:also|really|just|only|always|never|usually|often|still|actually|currently|mostly))*)"
    r" (?P<verb>(?:[a-z]+|[A-Z]{2,})(?:['\u2019]t)?)\b"
    r"|(?<= and )(?P<joined>have(?= (?:been|never|always)\b)|am|haven['\u2019]t|don['\u2019]t)\b"
    r"|(?P<alone>I)\b"
    r"|(?P<own>[Mm]y|[Mm]ine)\b(?!-)"
    r"|(?P<object>me|myself)\b"
    r")"
)
_NAMED_CONTRACTIONS = {"m": "is", "ve": "has", "d": "would", "ll": "will"}
_LATER_CONTRACTIONS = {"m": "are", "ve": "have", "d": "would", "ll": "will"}
_IRREGULAR = {"am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't", "go": "goes"}
_PLURAL = {"am": "are", "was": "were", "wasn't": "weren't"}
_TOLD = {
    "your": "the user's",
    "yours": "the user's",
    "you are": "the user is",
    "you're": "the user is",
    "you have": "the user has",
    "you've": "the user has",
    "you were": "the user was",
    "you": "the user",
}
_ADDRESSED = re.compile(r"\b(?:yours?|you (?:are|have|were)|you['\u2019](?:re|ve)|you)\b", re.IGNORECASE)
_SHORT_IS = re.compile(
    r"\b(?P<whose>[Mm]y (?:\w+ )?\w+)['\u2019]s"
    r"(?= (?:an?|the|not|called|named|from|in|at|\w+ing)\b|(?<=name['\u2019]s) )"
)
"""Where 's stands for "is": after a name, an article follows or a word that says how or where something is."""

_HISSING = ("s", "x", "z", "ch", "sh", "o")


def in_third_person(text: str, who: str = "the user") -> str:
    """*text* with its speaker named *who*."""
    speaker = _Speaker(who)
    told = _MENTION.sub(speaker.mention, _SHORT_IS.sub(r"\g<whose> is", text))
    return told[:1].upper() + told[1:]


def of_the_user(text: str) -> str:
    """What somebody tells the user of the user, as it would be told to others: "your flight" is "the user's flight"."""
    told = _ADDRESSED.sub(lambda found: _TOLD[found[0].lower().replace("\u2019", "'")], text)
    return told[:1].upper() + told[1:]


class _Speaker:
    """Somebody who is named once, and then referred to."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._is_named = False
        self._is_subject = False

    def mention(self, found: re.Match[str]) -> str:
        """What stands for one mention."""
        if found["joined"]:
            return _IRREGULAR[_straight(found["joined"])] if self._is_subject else found["joined"]
        self._is_subject = not self._is_named and found["verb"] is not None
        if self._is_named:
            return self._referred(found)
        self._is_named = not found["own"]
        return self._named(found)

    def _named(self, found: re.Match[str]) -> str:
        if found["contracted"]:
            return f"{self._who} {_NAMED_CONTRACTIONS[_ending(found['contracted'])]}"
        if found["verb"]:
            return f"{self._who}{found['adverbs']} {_inflected(found['verb'])}"
        return f"{self._who}'s" if found["own"] else self._who

    def _referred(self, found: re.Match[str]) -> str:
        if found["contracted"]:
            return f"they {_LATER_CONTRACTIONS[_ending(found['contracted'])]}"
        if found["verb"]:
            return f"they{found['adverbs']} {_PLURAL.get(_straight(found['verb']), found['verb'])}"
        if found["own"]:
            return "theirs" if found["own"].lower() == "mine" else "their"
        return {"me": "them", "myself": "themselves"}.get(found["object"] or "", "they")


def _ending(contracted: str) -> str:
    return contracted.lower().lstrip("i").lstrip("'\u2019")


def _straight(verb: str) -> str:
    return verb.replace("\u2019", "'")


def _inflected(verb: str) -> str:
    """The third person of a present form; other forms as they are."""
    verb = _straight(verb).lower()
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    is_past = verb.endswith("ed") and not verb.endswith("eed")
    if is_past or verb.endswith("n't") or verb in words().sets["unchanged_verbs"] or verb in words().sets["adverbs"]:
        return verb
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(_HISSING) else f"{verb}s"
