"""A session's title: five to ten words taken from what the user first asked for."""

import re
from collections.abc import Iterable, Iterator, Sequence

from nous.language import words
from nous.summary.evidence import Evidence

FEWEST, MOST = 5, 10
_PLAN = re.compile(r"^(?:Implementation )?Plan:? *")
_ASIDE = re.compile(r"(?<!\s)\s*\([^()]*\)")
_ADDRESS = re.compile(r"https?://\S+|(?<!\w)/(?:[\w.-]+/){2,}[\w.-]*")
_DASH = re.compile("[\u2013\u2014]")
_BREAK = re.compile(
    r"[,;:.!?\u2013\u2014]+$|^(?:and|but|so|because|since|when|while|which|that|if|as|after|before|then)$",
    re.IGNORECASE,
)
_END = " ,;:.!?\u2013\u2014-\u201c\u201d\"'"


def title_of(evidence: Evidence, topics: Sequence[str]) -> str:
    """The title that the session has already, or one made from its requests."""
    given = (evidence.transcript.header.title or "").split()
    if 3 <= len(given) <= 2 * MOST:
        return " ".join(given)
    if evidence.is_conversation:
        return f"Conversation about {', '.join(topics[:3])}" if topics else "Conversation between two people"
    title = _joined(_asked(text) for text in _wishes(evidence)) or _last_resort(evidence)
    return title if len(title.split()) >= FEWEST else _with_result(title, evidence)


def _with_result(title: str, evidence: Evidence) -> str:
    """A title that says too little, and the first commit if the session made one."""
    subject = next((subject for subject, _ in evidence.commits), "")
    added = _cut(subject.split()[: MOST - len(title.split())])
    return f"{title}: {added}" if added else title


def _wishes(evidence: Evidence) -> Iterator[str]:
    """What the user asked for, a document by its heading."""
    wishes = [asked for asked in evidence.asked if asked.is_wish or asked is evidence.asked[0]]
    return (_PLAN.sub("", asked.heading) if asked.heading else asked.text for asked in wishes)


def _joined(asked: Iterable[Sequence[str]]) -> str | None:
    """The first request, and the next ones as long as the title is too short."""
    title: list[str] = []
    for request in asked:
        if title and len(title) + len(request) > MOST:
            break
        if request:
            title += [*(["and"] if title else []), *(_lowered(request) if title else request)]
        if len(title) >= FEWEST:
            break
    return _cut(title) if title else None


def _asked(text: str) -> list[str]:
    """What is asked, without addresses, asides and what people say before they say what they want."""
    text = _DASH.sub(r" \g<0> ", _ASIDE.sub("", _ADDRESS.sub("", text)))
    text = text.replace('"', "") if text.count('"') % 2 else text
    while (bare := words().without("preamble", text).strip(_END)) != text:
        text = bare
    return text.split()


def _lowered(request: Sequence[str]) -> list[str]:
    return [request[0].lower() if request[0].istitle() else request[0], *request[1:]]


def _cut(title: Sequence[str]) -> str:
    """At most `MOST` words, ending where a clause ends if one does."""
    kept = list(title)
    if len(kept) > MOST:
        breaks = [end for end in range(FEWEST, MOST + 1) if _BREAK.search(kept[end]) or kept[end - 1][-1] in ",;:.!?"]
        kept = kept[: breaks[-1] if breaks else MOST]
        while len(kept) > FEWEST and kept[-1].strip(_END).lower() in words().sets["stopwords"]:
            kept.pop()
    text = " ".join(kept).strip(_END)
    text = text.replace('"', "") if text.count('"') % 2 else text
    return text[:1].upper() + text[1:]


def _last_resort(evidence: Evidence) -> str:
    said = next((one.text for one in evidence.said), "")
    return _cut(said.split()) or "Session without words"
