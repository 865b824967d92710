"""Extract the user's lasting statements (rules, preferences, decisions) as candidate facts."""

import re
from collections.abc import Iterator
from dataclasses import replace

from nous.domain.episode import CandidateFact, Category, Decision, Quote, Trust
from nous.redaction.redactor import tells_secret
from nous.summary.heuristic.record import SessionRecord
from nous.summary.heuristic.sentences import Sentence, names, telling_words
from nous.text.language import words
from nous.text.sentences import shortened

_SHORTEST, _LONGEST = 12, 320
_FEWEST_WORDS, _FEWEST_OF_REASON, _FEWEST_OF_DECISION = 2, 3, 4
REJECTED = re.compile(r"Rejected (?P<what>[^(:]+(?:\(.*?\))?)(?:: (?P<reason>.+))?", re.DOTALL)
_ANSWERED = re.compile(r'"(?P<question>[^"]+)"="(?P<answer>[^"]+)"')
_PLAN = re.compile(r"Approved the plan:\s*(?:Plan:\s*)?", re.IGNORECASE)
_PLAN_CHARS, _QUOTED_WORDS = 200, 20
_LONGEST_QUOTE = 300  # characters
_PATHS = re.compile(r"/(?:[^/\s()]+/)+")
_DESCRIBED = re.compile(r'\w+\((?:desc|description)="(?P<description>[^"]+)".*', re.DOTALL)
_TIES = re.compile(
    r"^(?:[A-Z]\)\s+)?(?:\W*(?:so|and|nah|i think|i guess|i mean|but|also|then|ok|okay|yes|yeah|sure|hmm+|well|oh|ah"
    r"|please|btw|by the way|note|fyi|important|remember(?: that|:)|actually|again|sorry|wait|great|perfect|thanks"
    r"|thank you|cool|nice|good|alright|omfg|omg|i(?:['\u2019]ve| have) changed my mind"
    r"|(?:correction|oops|i was wrong|no)(?=[,:!]))\b[,:.!;]*\s*)+(?=\S)",
    re.IGNORECASE,
)
_CHANGED_MIND = re.compile(r"\bchanged my mind\b", re.IGNORECASE)
_DENIES_FIRST = re.compile(r"not? ", re.IGNORECASE)
_FILLER = re.compile(r"\bI (?:(?:do|just) (?!not))+")
_VERB = re.compile(
    r"\bI ((?:(?:also|really|always|never|still|only|usually|generally) )*)"
    r"(prefer|like|want|need|love|hate|use|think|work|live|dislike|expect)\b"
)
_FIRST_PERSON = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"\bI(?:'m| am)\b", "the user is"),
        (r"\bI(?:'d| would)\b", "the user would"),
        (r"\bI(?:'ve| have)\b", "the user has"),
        (r"\bI(?:'ll| will)\b", "the user will"),
        (r"\bI (?:do not|don't|dont)\b", "the user does not"),
        (r"\b[Mm]y\b", "the user's"),
        (r"\bme\b", "the user"),
    )
)
_I = re.compile(r"\bI(?:\b|m\b)", re.IGNORECASE)
_LEFT_OVER = re.compile(r"\b(?:I|I'?m|myself|mine)\b", re.IGNORECASE)


def stated(record: SessionRecord) -> Iterator[CandidateFact]:
    """Yield the user's lasting statements as facts, each with its turn, surest first."""
    found = [*rules(record), *_decided(record)]
    yield from sorted(found, key=lambda fact: -fact.confidence)


def rules(record: SessionRecord) -> Iterator[CandidateFact]:
    """Yield rules, preferences, decisions and corrections in the user's own sentences, in order."""
    for turn in record.turns:
        changed = any(_CHANGED_MIND.search(one.text) for one in turn.asked)
        for one in turn.asked:
            kind = _kind_of(one) if _can_stand(one) else None
            text = third_person(standing_alone(one.text)) if kind else ""
            if kind and text and not (record.is_service and words().says("wants_now", one.text)):
                category, confidence = kind
                text = f"The user has changed their mind: {text[:1].lower()}{text[1:]}" if changed else text
                yield fact_of(text, category, confidence, said=one.text, turns=(one.turn,), trust=Trust.USER)
        for one in turn.brief if turn.number <= 1 else ():
            if _can_stand(one) and words().says("obliges", one.text) and names(one.text):
                text = standing_alone(one.text)
                yield fact_of(text, Category.TECHNICAL, 0.6, said=one.text, turns=(one.turn,), trust=Trust.WEB)


def _can_stand(one: Sentence) -> bool:
    """Return whether a sentence is complete and refers to nothing that only its session shows."""
    known = words()
    text = one.text
    if not _SHORTEST <= len(text) <= _LONGEST or one.text.rstrip("\"')").endswith(("?", ":")) or tells_secret(text):
        return False
    is_bound = known.says("for_now", text) or known.says("points_back", text)
    return len(telling_words(text)) >= _FEWEST_WORDS and not is_bound


def _kind_of(one: Sentence) -> tuple[Category, float] | None:
    known, text = words(), standing_alone(one.text)
    if known.says("from_now_on", text):
        return Category.RULE, 0.95
    if known.opens("directive", text) or known.says("obliges", text):
        return Category.RULE, 0.85
    if known.says("preference", text):
        return Category.PREFERENCE, 0.85
    if known.says("of_oneself", text):
        return Category.PERSON, 0.85
    if known.says("to_remember", one.text):
        return Category.CONCEPT, 0.85
    is_whole = len(telling_words(text)) >= _FEWEST_OF_DECISION and not text.endswith(",")
    if known.says("decides", text) and is_whole:
        return Category.DECISION, 0.8
    if known.says("corrects", text) and is_whole and not _DENIES_FIRST.match(text):
        return Category.CONCEPT, 0.75
    if known.opens("our_way", text) and not known.says("complaint", text):
        return Category.TECHNICAL, 0.75
    return None


def verdicts(record: SessionRecord) -> Iterator[Decision]:
    """Yield the user's verdicts that say more than yes or no, in order."""
    for entry in (entry for turn in record.turns for entry in turn.decisions):
        text = " ".join(entry.text.split())
        if answers := list(_ANSWERED.finditer(text)):
            exchange = "; ".join(
                f"asked “{each['question']}”, the user answered “{each['answer']}”" for each in answers
            )
            told = f"{exchange[:1].upper()}{exchange[1:]}"
            yield Decision(description=told, category="answer", turns=(entry.turn,))
        elif (rejected := REJECTED.fullmatch(text)) and _instructs(rejected["reason"] or ""):
            told = f"The user rejected {rejected_call(rejected['what'])}: “{shortened(rejected['reason'], _LONGEST)}”"
            yield Decision(description=told, category="rejection", turns=(entry.turn,))
        elif plan := _PLAN.match(text):
            told = f"The user approved the plan “{shortened(text[plan.end() :], _PLAN_CHARS)}”"
            yield Decision(description=told, category="approval", turns=(entry.turn,))


def _decided(record: SessionRecord) -> Iterator[CandidateFact]:
    """Yield the answers and rejections as facts; an approved plan is none, since its result is."""
    for verdict in verdicts(record):
        if verdict.category != "approval" and not tells_secret(verdict.description):
            told = verdict.description  # it ends with the words of the user
            own = told.rpartition("“")[2].rstrip("”…")
            fact = fact_of(told, Category.DECISION, 0.85, turns=verdict.turns, trust=Trust.USER)
            yield replace(fact, quotes=tuple(Quote(turn, own[:_LONGEST_QUOTE]) for turn in verdict.turns))


def _instructs(reason: str) -> bool:
    known = words()
    if known.says("points_back", reason):
        return False
    is_order = known.says("instructs", reason) or known.opens("wish", reason) or known.opens("directive", reason)
    return is_order and len(telling_words(reason)) >= _FEWEST_OF_REASON and not known.opens("waits", reason)


def rejected_call(rejected: str) -> str:
    """Return how to call a rejected call in a sentence."""
    bare = _PATHS.sub("", rejected)
    described = _DESCRIBED.match(bare)
    return f"“{described['description']}”" if described else shortened(bare, 80)


def fact_of(
    text: str,
    category: Category,
    confidence: float,
    *,
    said: str = "",
    turns: tuple[int, ...] = (),
    trust: Trust = Trust.ASSISTANT,
) -> CandidateFact:
    """Return a fact that quotes what was *said*; its subject is a name in that, or in *text*."""
    return CandidateFact(
        text=text,
        category=category,
        subject=next(iter(names(said or text)), ""),
        confidence=confidence,
        turns=turns,
        trust=trust,
        quotes=tuple(Quote(turn, said[:_LONGEST_QUOTE]) for turn in turns[:1] if said),
    )


def standing_alone(text: str) -> str:
    """Return *text* capitalized and without the words that tie it to the preceding text."""
    bare = _TIES.sub("", text) or text
    return bare[:1].upper() + bare[1:]


def third_person(text: str) -> str:
    """Return a statement as one about the user; if that is hard, quoted, or empty if long."""
    rewritten = _VERB.sub(r"the user \1\2s", _FILLER.sub("I ", text.replace("\u2019", "'")))
    for pattern, instead in _FIRST_PERSON:
        rewritten = pattern.sub(instead, rewritten)
    if len(_I.findall(text)) > 1 or _LEFT_OVER.search(rewritten):
        return f"The user said: “{text}”" if len(text.split()) <= _QUOTED_WORDS else ""
    return rewritten[:1].upper() + rewritten[1:]
