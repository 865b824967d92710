"""Compose title, topics and summary text of a session, quoting the words said in it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from nous.domain.episode import Outcome
from nous.summary.heuristic.lessons import found_out, worth
from nous.summary.heuristic.outcome import Judgement
from nous.summary.heuristic.record import RecordedTurn, SessionRecord
from nous.summary.heuristic.report import OFFERED, answered, ended, lead, reply_of, result_of
from nous.summary.heuristic.sentences import content_words, is_go_ahead, names, telling_words
from nous.text.language import patterns, words
from nous.text.sentences import shortened

MOST_TOPICS = 6
_MOST_WORDS, _FEWEST_WORDS = 10, 5
# Turns from the beginning, and sentences of each, that are searched for the request that names the session.
_REQUESTS_READ, _SENTENCES_READ = 8, 10
_PATTERNS = patterns("nous.summary.heuristic", "patterns", "narrative")
_CLAUSE = _PATTERNS["clause"]
_NOISE = _PATTERNS["noise"]
_LEADS_UP = _PATTERNS["leads_up"]
_MANNER = _PATTERNS["manner"]

_ITEM_LABEL = re.compile(r"^(?:[A-Z]|\d+)\)\s+|^[A-Z]:\s+|^(?:Plan|Task|Goal|Title):\s+")
_TAIL = re.compile(r"[\s,:;.!?\u2013\u2014-]+$")
_HASH = re.compile(r"[0-9a-f]{7,40}|\d+|v?\d[\d.]*")
_BEFORE_WISH = frozenset(("to", "and", "also", "please", "then", "now", "no", "just"))


def title_of(record: SessionRecord, topics: Sequence[str]) -> str:
    """Return at most ten words that name the session."""
    own = record.transcript.header.title
    if own and own.strip():
        return _cut(own.split())
    weights = _weights(record)
    best = max(_proposed(record), key=lambda each: each[1] * _worth(each[0], weights), default=None)
    if best is None:
        first = next((one.text for turn in record.requests for one in (*turn.asked, *turn.brief)), "")
        return _with_topics(_TAIL.sub("", _without_preamble(_NOISE.sub(" ", first).strip())) or "Session", topics)
    return _with_topics(best[0], topics)


def _proposed(record: SessionRecord) -> Iterator[tuple[str, float]]:
    """Yield clauses that may name the session, each with the weight of its position."""
    is_one = len(record.commits) <= len(record.requests)
    for subject, _ in record.commits:
        yield from ((clause, 1.2 if is_one else 0.7) for clause in _clauses(subject))
    for rank, turn in enumerate(record.requests[:_REQUESTS_READ]):
        for one in (*turn.asked, *turn.brief)[:_SENTENCES_READ]:
            weight = (0.6 if one.is_item else 1.2 if one.is_heading else 1.0) / (1 + rank / 3)
            yield from ((clause, weight) for clause in _clauses(one.text))
    for turn in record.turns[-1:]:
        reported = (one.text for one in lead(turn.report) if words().opens("deed", one.text))
        yield from ((clause, 0.5) for text in reported for clause in _clauses(text))


def topics_of(record: SessionRecord) -> tuple[str, ...]:
    found: Counter[str] = Counter()
    for turn in record.turns:
        for said, weight in ((turn.asked, 3), (turn.brief[:12], 1), (turn.report[:12], 1)):
            for one in said:
                found.update({name: weight for name in map(_last_part, names(_NOISE.sub(" ", one.text))) if name})
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
    """Return the last part of a path, or the name itself; empty if it tells a reader nothing."""
    part = name.rstrip("/").rsplit("/", 1)[-1]
    return part if 2 < len(part) < 40 and " " not in part and not _HASH.fullmatch(part) else ""


def _weights(record: SessionRecord) -> Counter[str]:
    return Counter(
        word
        for turn in record.turns
        for said in (turn.asked, turn.report)
        for word in {word for one in said for word in content_words(one.text)}
    )


def _clauses(text: str) -> Iterator[str]:
    """Yield the clauses of *text* with content, and their parts that begin with a wish."""
    bare = _ITEM_LABEL.sub("", _NOISE.sub(" ", text))
    for part in _CLAUSE.split(bare)[:4]:
        clause = _TAIL.sub("", _without_preamble(" ".join(part.split())))
        tokens = clause.split()
        starts = [at for at in range(1, len(tokens) - 3) if words().opens("wish", tokens[at])]
        starts = [at for at in starts if tokens[at - 1].endswith(",") or tokens[at - 1].lower() in _BEFORE_WISH]
        for at in (0, *starts):
            if len(telling_words(found := " ".join(tokens[at:]))) > 1:
                yield found


def _without_preamble(text: str) -> str:
    while (rest := words().without("preamble", text)) != text and rest.strip():
        text = rest.lstrip(" ,:")
    return text


def _worth(clause: str, weights: Counter[str]) -> float:
    head = " ".join(clause.split()[:_MOST_WORDS])
    score = sum(min(weights[word], 4) for word in set(content_words(head))) + 2 * len(set(names(head))) + 1
    factor = 1.3 if words().opens("wish", clause) else 1.0
    return score * factor * (0.4 if _LEADS_UP.match(clause) else 1.0) * (0.4 if _MANNER.match(head) else 1.0)


def _with_topics(text: str, topics: Sequence[str]) -> str:
    found = _cut(text.split())
    room = _MOST_WORDS - len(found.split())
    missing = [topic for topic in topics if topic.lower() not in found.lower() and not _HASH.fullmatch(topic)]
    if len(found.split()) >= _FEWEST_WORDS + 2 or not missing or room < 1:
        return found
    return f"{found}: {', '.join(missing[: min(room, 3)])}"


def _cut(found: Sequence[str]) -> str:
    kept = [*found[:_MOST_WORDS]]
    dangling = words().sets["dangling"] if len(found) > _MOST_WORDS else ()
    while len(kept) > _FEWEST_WORDS and kept[-1].lower().strip(",.;:") in dangling:
        kept.pop()
    text = _TAIL.sub("", " ".join(kept))
    return text[:1].upper() + text[1:]


_SUMMARY_WORDS = 140
_LONGEST = 4_000  # characters: a word may be any length
_ASKED_WORDS = 18
# The most words of a result, by the number of requests; for more requests, 30.
_RESULT_WORDS = {1: 110, 2: 56, 3: 44, 4: 36}
_CAUSE_WORDS, _OPENING, _FEWEST_OF_REQUEST = 40, 40, 4

_LINK = re.compile(r"https?://\S+")
_COMMITS_TOLD, _FILES_TOLD = 3, 4
_BRIEF_SENTENCES = 12
_OPEN = frozenset({Outcome.PARTIAL, Outcome.UNRESOLVED})


def summary_of(record: SessionRecord, judgement: Judgement) -> str:
    """Return at most about 150 words on the session."""
    if not record.requests:
        return judgement.rationale
    ending = _ending(record, judgement)
    causes = (text for text in found_out(record) if len(text.split()) <= _CAUSE_WORDS and names(text))
    cause = max(causes, key=worth, default="")
    exchanges = _exchanges(record, _SUMMARY_WORDS - len(f"{cause} {ending}".split()))
    is_new = cause and not any(cause[:_OPENING] in each for each in exchanges)
    found = " ".join(filter(None, (*exchanges, f"Found: {ended(cause)}" if is_new else "", ending)))
    return shortened(found, _LONGEST) or judgement.rationale


def _exchanges(record: SessionRecord, room: int) -> Sequence[str]:
    """Return the requests with results that fit: last, first, then those that changed most."""
    turns = record.requests
    most = _RESULT_WORDS.get(len(turns), 30)
    answers = {one.turn: one.answer for one in answered(record)} if len(turns) > 1 else {}
    ranked = [turns[-1], turns[0], *sorted(turns[1:-1], key=lambda turn: -_weight(turn))]
    chosen: dict[int, str] = {}
    for turn in ranked:
        asked = request_of(turn)
        if turn.number in chosen or any(asked[:_OPENING] in text for text in chosen.values() if asked):
            continue
        result = answers.get(turn.number) or _result(record, turn, most)
        text = _exchange(asked, result) if result or turn in (turns[0], turns[-1]) else ""
        length = len(text.split())
        if text and (length <= room or not chosen):
            chosen[turn.number] = text
            room -= length
    return [chosen[number] for number in sorted(chosen)]


def _result(record: SessionRecord, turn: RecordedTurn, most: int) -> str:
    """Return the result of a turn; if it changed nothing, the reply, with short code."""
    result = result_of(record, turn, most)
    if turn.changes or turn.is_interim or result.startswith(OFFERED):
        return result
    return max(result, reply_of(turn, "", record.entries), key=lambda text: ("`" in text, len(text)))


def _weight(turn: RecordedTurn) -> float:
    said = [one.text for one in (*turn.asked, *turn.report[:6])]
    return 2 * min(turn.changes, 5) + len({name for text in said for name in names(text)}) + (not turn.is_interim)


def _exchange(asked: str, result: str) -> str:
    if not asked:
        return result
    if not result:
        return f"Asked: “{asked}”." if len(telling_words(asked)) >= _FEWEST_OF_REQUEST else ""
    return f"“{asked}”: {ended(result)}"


def request_of(turn: RecordedTurn, most: int = _ASKED_WORDS) -> str:
    """Return a request in the user's words from its first wish on; empty for a go-ahead."""
    said = [one for one in turn.asked or turn.brief[:_BRIEF_SENTENCES] if not is_go_ahead(one.text)]
    bare = (_LINK.sub("", one.text).strip() for one in said)
    texts = [text for text in bare if len(telling_words(text)) > 1]
    pasted = next((at for at, text in enumerate(texts, 1) if text.endswith(":")), len(texts))
    texts = texts[:pasted]
    wish = next((at for at, text in enumerate(texts) if words().opens("wish", text) or text.endswith("?")), 0)
    found = " ".join(texts[wish:]).split()
    return " ".join(found[:most]).rstrip(".:,; ") + ("…" if len(found) > most else "")


def _ending(record: SessionRecord, judgement: Judgement) -> str:
    commits = [subject for subject, _ in record.commits[-_COMMITS_TOLD:]]
    files = list(dict.fromkeys(path.rstrip("/").rsplit("/", 1)[-1] for path in record.files_left))
    more = f" and {len(files) - _FILES_TOLD} more" if len(files) > _FILES_TOLD else ""
    parts = (
        f"Committed: {'; '.join(commits)}." if commits else "",
        f"Files changed: {', '.join(files[:_FILES_TOLD])}{more}." if files else "",
        judgement.rationale if judgement.outcome in _OPEN else "",
    )
    return " ".join(filter(None, parts))
