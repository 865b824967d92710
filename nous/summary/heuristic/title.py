"""A session's title: the file's own, what was committed or asked for, or what was reported; and its topics."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from nous.language import words
from nous.summary.heuristic.record import SessionRecord
from nous.summary.heuristic.sentences import content_words, names

MOST_TOPICS = 6
_MOST_WORDS, _FEWEST_WORDS = 10, 5
_REQUESTS_READ = 6
"""Turns from the beginning among which the request that names the session is looked for."""

_CLAUSE = re.compile(r"(?:[.;!?:](?=\s|\Z)| - | — |, (?:and|but|so|then|because) )\s*")
_NOISE = re.compile(r"https?://\S+|@\S*/|\"[^\"]*\"|“[^”]*”|\([^()]*\)|^/[\w-]+:?(?=\s|\Z)|\b[0-9a-f]{12,}\b")
_BEGINS_ELSEWHERE = re.compile(
    r"(?:you are|you're|i am|i'm testing|what i|if|when|for the|once|after|before|since|as|right now|this is)\b",
    re.IGNORECASE,
)
"""Opens a clause that leads up to what is wanted."""

_ITEM_LABEL = re.compile(r"^(?:[A-Z]|\d+)\)\s+|^[A-Z]:\s+")
_TAIL = re.compile(r"[\s,:;.!?\u2013\u2014-]+$")
_HASH = re.compile(r"[0-9a-f]{7,40}|\d+|v?\d[\d.]*")


def title_of(record: SessionRecord, topics: Sequence[str]) -> str:
    """Return at most ten words that name the session."""
    own = record.transcript.header.title
    if own and own.strip():
        return _cut(own.split())
    weights = _weights(record)
    requested = _best(_requests(record), weights)
    committed = _best((subject for subject, _ in record.commits), weights)
    reported = _best(_reports(record), weights)
    chosen = committed if committed and len(record.commits) <= len(record.requests) else ""
    for text in (chosen, requested, reported, committed):
        if text:
            return _with_topics(text, topics)
    first = next(iter(_requests(record)), "") or next(iter(_reports(record)), "")
    bare = _TAIL.sub("", _without_preamble(_NOISE.sub(" ", first).strip()))
    return _with_topics(bare or "Session", topics)


def topics_of(record: SessionRecord) -> tuple[str, ...]:
    """Return the names and words that most of the session is about: tickets, files, then frequent words of the user."""
    found: Counter[str] = Counter()
    for turn in record.turns:
        for said, weight in ((turn.asked, 3), (turn.brief[:12], 1), (turn.report[:12], 1)):
            for one in said:
                found.update({name: weight for name in map(_last_part, names(one.text)) if name})
    files = [path.rsplit("/", 1)[-1] for path in record.files]
    found.update(dict.fromkeys(files, 2))
    spoken = Counter(
        word for turn in record.turns for one in (*turn.asked, *turn.report) for word in content_words(one.text)
    )
    ranked = [name for name, count in found.most_common(MOST_TOPICS) if count > 1]
    taken = {name.lower() for name in ranked}
    ranked += [word for word, count in spoken.most_common(40) if count > 2 and not any(word in name for name in taken)]
    return tuple(ranked[:MOST_TOPICS])


def _last_part(name: str) -> str:
    """Return the last part of a path, and a name as it is; empty for what names nothing to a reader."""
    part = name.rstrip("/").rsplit("/", 1)[-1]
    return part if 2 < len(part) < 40 and " " not in part and not _HASH.fullmatch(part) else ""


def _weights(record: SessionRecord) -> Counter[str]:
    """Return in how many turns, requests and reports each content word is said."""
    return Counter(
        word
        for turn in record.turns
        for said in (turn.asked, turn.report)
        for word in {word for one in said for word in content_words(one.text)}
    )


def _requests(record: SessionRecord) -> Iterator[str]:
    for turn in record.requests[:_REQUESTS_READ]:
        for one in (*turn.asked, *turn.brief[:8]):
            if not one.is_heading or turn.brief:
                yield one.text


def _reports(record: SessionRecord) -> Iterator[str]:
    known = words()
    for turn in reversed(record.turns):
        yield from (
            one.text for one in turn.report if known.says("done", one.text) and not known.opens("narrates", one.text)
        )


def _best(said: Iterable[str], weights: Counter[str]) -> str:
    """Return the clause that says most of what the session is about, in few words; of equals, the first."""
    best, most = "", 0.0
    for rank, text in enumerate(said):
        for clause in _clauses(text):
            worth = _worth(clause, weights) / (1 + rank / 4)
            if worth > most:
                best, most = clause, worth
    return best


def _clauses(text: str) -> Iterator[str]:
    bare = _ITEM_LABEL.sub("", _NOISE.sub(" ", text))
    for part in _CLAUSE.split(bare)[:3]:
        clause = _TAIL.sub("", _without_preamble(" ".join(part.split())))
        if len(content_words(clause)) >= 2:
            yield clause


def _without_preamble(text: str) -> str:
    while (rest := words().without("preamble", text)) != text and rest.strip():
        text = rest.lstrip(" ,:")
    return text


def _worth(clause: str, weights: Counter[str]) -> float:
    told = content_words(" ".join(clause.split()[:_MOST_WORDS]))
    is_wish = words().opens("wish", clause)
    leads_up = _BEGINS_ELSEWHERE.match(clause) is not None
    return sum(min(weights[word], 4) for word in set(told)) * (1.3 if is_wish else 1.0) * (0.4 if leads_up else 1.0)


def _with_topics(text: str, topics: Sequence[str]) -> str:
    """Return *text* in at most ten words; a short one is followed by what the session is about."""
    found = _cut(text.split())
    room = _MOST_WORDS - len(found.split())
    missing = [topic for topic in topics if topic.lower() not in found.lower() and not _HASH.fullmatch(topic)]
    if len(found.split()) >= _FEWEST_WORDS + 2 or not missing or room < 1:
        return found
    return f"{found}: {', '.join(missing[: min(room, 3)])}"


def _cut(found: Sequence[str]) -> str:
    text = _TAIL.sub("", " ".join(found[:_MOST_WORDS]))
    return text[:1].upper() + text[1:]
