"""The summary of a session in its own words: what was asked, what was done or answered, how it ended."""

import re
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from nous.language import words
from nous.summary.heuristic.outcome import Judgement
from nous.summary.heuristic.record import SessionRecord, Turn
from nous.summary.heuristic.sentences import Sentence, content_words, is_courtesy, joined, names

_MOST_WORDS = 150
_ASKED_WORDS, _TOLD_WORDS = 22, 34
_FILLER = re.compile(
    r"(?:all )?(?:done|perfect|great|good|excellent|fixed|yes|no|got it|you're (?:absolutely )?right|ok|okay|sure"
    r"|that's it|all green|understood)\b[^\w]*",
    re.IGNORECASE,
)
_LINK = re.compile(r"https?://\S+")
_COMMITS_TOLD = 3


def summary_of(record: SessionRecord, judgement: Judgement) -> str:
    """Return at most about 150 words on the session."""
    if not record.requests:
        return judgement.rationale
    asked = _asked(record)
    ended = judgement.rationale if judgement.outcome != "resolved" or not judgement.is_sure else ""
    commits = [subject for subject, _ in record.commits[-_COMMITS_TOLD:]]
    committed = f"Committed: {'; '.join(commits)}." if commits else ""
    room = _MOST_WORDS - sum(len(part.split()) for part in (asked, committed, ended))
    told = joined([one.text for one in _telling(record, room)])
    return " ".join(filter(None, (asked, told, committed, ended)))


def _asked(record: SessionRecord) -> str:
    """Return the first request, and the last one of another turn, in the user's words."""
    first, last = record.requests[0], record.requests[-1]
    told = [text for text in (_request(first), _request(last) if last is not first else "") if text]
    return f"Asked: {' Last asked: '.join(f'“{text}”.' for text in told)}" if told else ""


def _request(turn: Turn) -> str:
    said = [_LINK.sub("", one.text) for one in (*turn.asked, *turn.brief) if not is_courtesy(one.text)]
    told = " ".join(said).split()
    return " ".join(told[:_ASKED_WORDS]).rstrip(".:,; ") + ("…" if len(told) > _ASKED_WORDS else "")


def _telling(record: SessionRecord, room: int) -> Sequence[Sentence]:
    """Return the sentences of the turns' reports that say most for their length, in order, within *room* words.

    The last report comes first; then each turn has its best sentence before another has a second.
    """
    weights = Counter(
        word for turn in record.turns for one in (*turn.asked, *turn.report) for word in content_words(one.text)
    )
    ranked: list[tuple[float, Sentence]] = []
    turns = [turn for turn in record.turns if turn.report]
    for turn in turns:
        asked = {word for one in turn.asked for word in content_words(one.text)} if turn.is_question else set[str]()
        scored = sorted((-_worth(one, weights, asked), one.number, one) for one in lead(turn.report))
        is_last = turn is turns[-1]
        ranked += [(rank - (1.5 if is_last else 0) + worth / 100, one) for rank, (worth, _, one) in enumerate(scored)]
    chosen: list[Sentence] = []
    for _, one in sorted(ranked, key=lambda each: each[0]):
        length = len(one.text.split())
        if length <= min(room, _TOLD_WORDS):
            chosen.append(one)
            room -= length
    return sorted(chosen, key=lambda one: (one.place, one.number))


def lead(report: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences of a report that state something: no filler, question, heading or announcement."""
    known = words()
    return [
        one
        for one in report
        if not (one.is_question or one.is_heading or _FILLER.fullmatch(one.text) or one.text.endswith(":"))
        and not any(known.says(name, one.text) for name in ("about_to", "offers_more", "asks", "proposes"))
        and len(one.text.split()) > 3
    ]


def _worth(one: Sentence, weights: Counter[str], asked: AbstractSet[str]) -> float:
    """Return how much a sentence says for its length: words of the session, names, deeds, and what was asked."""
    told = set(content_words(one.text))
    said = sum(min(weights[word], 5) for word in told) + 3 * len(set(names(one.text)))
    said += 4 * words().says("done", one.text) + 4 * len(told & asked)
    return said / (6 + len(one.text.split())) ** 0.7
