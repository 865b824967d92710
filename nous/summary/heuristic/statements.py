"""Extract candidate facts by rules: statements of the user, answers, actions and commands.

For an episode without facts of its own, `facts_of` takes the key points of its summary.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from nous.domain.episode import CandidateFact, Category, Decision, Quote, Summary, Trust
from nous.domain.summary_input import MOST_CANDIDATES, SummaryInput
from nous.redaction.redactor import tells_secret
from nous.summary.heuristic.record import Purpose, SessionRecord, usual
from nous.summary.heuristic.report import answered, lead, passage_from
from nous.summary.heuristic.sentences import POINTS_BACK, Sentence, content_words, distinct, names, telling_words
from nous.summary.llm.evidence import quoting_nearest
from nous.summary.llm.grounding import grounded
from nous.summary.llm.source_index import SourceIndex
from nous.text.injection import aims
from nous.text.language import words
from nous.text.sentences import shortened
from nous.transcript.tool_actions import taken_away_by

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


# Turns up to which the reports of all turns still hold at the end; in longer sessions later work supersedes them.
_SHORT = 8
_MOST_ANSWERS, _MOST_ACTIONS, _MOST_STATED = 3, 3, 6
_FEWEST_OF_ACTION = 5
_MOSTLY_CODE = 0.65
_CODE = re.compile(r"`[^`]+`")
_SPEAKS_OF_SELF = re.compile(r"\b(?:I|[Yy]ou|[Rr]egarding)\b")
BY_AGENT = re.compile(r"^(?:Done[.:\u2014 -]+)?I(?:['\u2019]ve| have)? (?:also |now |successfully )*", re.IGNORECASE)
_LONGEST_ANSWER = 400
_ACTION_WORDS = 40
_RUN_AS = {
    Purpose.TEST: "Tests are run",
    Purpose.BUILD: "The build is run",
    Purpose.LINT: "The linter is run",
    Purpose.FORMAT: "The formatter is run",
}


def candidate_facts(record: SessionRecord, most: int = MOST_CANDIDATES) -> tuple[CandidateFact, ...]:
    facts = (*list(stated(record))[:_MOST_STATED], *answer_facts(record), *action_facts(record))
    found: dict[frozenset[str], CandidateFact] = {}
    for fact in facts:
        form = frozenset(telling_words(fact.text))
        if form and not tells_secret(fact.text) and not any(form <= other for other in found):
            found[form] = fact
    runs = [fact for fact in command_facts(record) if not tells_secret(fact.text)]
    return (*found.values(), *runs)[:most]


def answer_facts(record: SessionRecord) -> Iterator[CandidateFact]:
    """Yield the last answered questions; of a long session, those whose answer names a thing."""
    found = [one for one in answered(record) if one.is_clear and not one.answer.endswith(":")]
    if len(record.requests) > _SHORT:
        found = [one for one in found if words().says("asks_which", one.question)]
    for one in found[-_MOST_ANSWERS:]:
        text = f"“{shortened(one.question, 160)}” was answered: {shortened(one.answer, _LONGEST_ANSWER)}"
        yield fact_of(text, Category.TECHNICAL, 0.7, said=one.answer, turns=(one.turn,))


def action_facts(record: SessionRecord) -> Iterator[CandidateFact]:
    """Yield what the agent reports as done, if it names what it changed."""
    turns = [turn for turn in record.turns if turn.changes and turn.report]
    for turn in turns[-_MOST_ACTIONS:] if len(record.requests) <= _SHORT else turns[-1:]:
        said = lead(turn.report)
        first = next((one for one in said if _reports_action(one.text) and not _is_gone(one, record)), None)
        if first is None:
            continue
        text = BY_AGENT.sub("", _report(said[said.index(first) :]))
        text = shortened(text[:1].upper() + text[1:], _LONGEST_ANSWER)
        yield fact_of(text, Category.EVENT, 0.65, said=first.text, turns=(turn.number,))


def _report(said: Sequence[Sentence]) -> str:
    """Return the first of *said* with the items it introduces, or its successors with names."""
    if said[0].text.endswith(":"):
        return passage_from(said, said[0], _ACTION_WORDS)
    kept = takewhile(lambda one: names(one.text) and not _SPEAKS_OF_SELF.search(one.text), said[1:3])
    return passage_from([said[0], *kept], said[0], _ACTION_WORDS)


def _reports_action(text: str) -> bool:
    """Return whether *text* reports an action on a thing it names, in enough words to be clear."""
    known = words()
    is_less = any(known.says(name, text) for name in ("hedge", "undone", "proposes"))
    is_code = sum(map(len, _CODE.findall(text))) > len(text) * _MOSTLY_CODE
    return (
        known.opens("deed", text)
        and not (is_less or is_code)
        and bool(names(text))
        and len(set(content_words(text))) >= _FEWEST_OF_ACTION
    )


def _is_gone(one: Sentence, record: SessionRecord) -> bool:
    mentioned = set(names(one.text))
    removed = (path for place, action in record.done if place > one.place for path in taken_away_by(action.command))
    return any(path.endswith(name) or name.endswith(path) for path in removed for name in mentioned)


def command_facts(record: SessionRecord) -> Iterator[CandidateFact]:
    for run in usual(record.runs):
        where = f" in {run.directory}" if run.directory else ""
        yield CandidateFact(
            text=f"{_RUN_AS[run.purpose]} with `{run.command}`{where}",
            category=Category.TOOL,
            subject=f"{run.purpose} command{where}",
            confidence=0.8,
            turns=(run.turn,),
            quotes=(Quote(run.turn, run.command),),
        )


_LEAST, _MOST = 0.6, 0.7  # the confidence of key points, and the highest confidence of any such fact
_FEWEST_OF_POINT = 4


def facts_of(summary: Summary, summary_input: SummaryInput | None) -> tuple[CandidateFact, ...]:
    """Return the key points of *summary* as facts, grounded in *summary_input* if there is one."""
    points = list(_points(summary))
    if summary_input is None:
        return tuple(point for point in points if not aims(point.text, of_agent=True))
    return tuple(distinct(_sound(points, summary_input), MOST_CANDIDATES, lambda fact: fact.text))


def _points(summary: Summary) -> Iterator[CandidateFact]:
    """Yield the key points that are clear without context, and are no events or guesses."""
    known = words()
    for point in summary.key_points:
        is_less = known.says("hedge", point) or known.opens("deed", point) or known.opens("wish", point)
        if not (is_less or POINTS_BACK.match(point)) and len(content_words(point)) >= _FEWEST_OF_POINT:
            category = Category.TECHNICAL if names(point) else Category.CONCEPT
            yield fact_of(point, category, _LEAST)


def _sound(facts: Iterable[CandidateFact], summary_input: SummaryInput) -> Iterator[CandidateFact]:
    session = SourceIndex(summary_input)
    for fact in grounded((quoting_nearest(fact, session) for fact in facts), session, prompt="").facts:
        yield replace(fact, confidence=min(fact.confidence, _MOST))
