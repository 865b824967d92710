"""What a session is about: the words its user comes back to."""

import re
from collections import Counter, defaultdict

from nous.language import words
from nous.prose import without_code
from nous.summary.evidence import Evidence
from nous.transcript.model import Kind

MOST = 6
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9+#'\u2019-]{2,}")
_ADDRESS = re.compile(r"\b\w+://\S+|(?<![\w./-])(?:[\w.-]*/){2,}[\w.-]*")
_WEIGHTS = {Kind.USER: 3, Kind.DECISION: 3, Kind.ASSISTANT: 1}
_LONGEST_PROMPT = 4_000
_LEAST = 4
"""So that one mention by the user alone makes no topic."""

_FEWEST = 2


def topics_of(evidence: Evidence) -> tuple[str, ...]:
    """At most `MOST` words, the most frequent first; a word that the user used counts three times.

    A word and its plural are one, told as it was said most.
    """
    excluded = words().sets["stopwords"] | words().sets["general"] | words().sets["courtesy"]
    counts: Counter[str] = Counter()
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for entry in evidence.transcript:
        text = _ADDRESS.sub(" ", without_code(entry.text[:_LONGEST_PROMPT])) if entry.kind in _WEIGHTS else ""
        for found in _WORD.findall(text):
            word = found.lower().replace("\u2019", "'").removesuffix("'s")
            if not {word, _singular(word)} & excluded:
                counts[_singular(word)] += _WEIGHTS[entry.kind]
                forms[_singular(word)][word] += 1
    telling = [word for word, count in counts.most_common(MOST) if count >= _LEAST]
    telling = telling or [word for word, _ in counts.most_common(_FEWEST)]
    return tuple(forms[word].most_common(1)[0][0] for word in telling)


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 4 else word
