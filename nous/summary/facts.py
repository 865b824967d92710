"""What a session may teach: durable statements, each with the turns it rests on.

Every source below looks for one kind of statement. What they find is taken by confidence, and no two that say the same
are kept.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from nous.caps import MOST_CANDIDATES
from nous.episode import CandidateFact, Category
from nous.language import words
from nous.secrets import looks_secret
from nous.summary.answers import answers
from nous.summary.candidate import by_agent, by_user
from nous.summary.evidence import Evidence
from nous.summary.findings import findings
from nous.summary.lasting import lasts
from nous.summary.lessons import is_bound, standing_alone
from nous.summary.names import code_of, subject_of
from nous.summary.naming import title_of_call
from nous.summary.people import OTHER_PERSON, people
from nous.summary.repeats import distinct
from nous.summary.rules import orders, standing_rules
from nous.summary.services import services_done, services_told
from nous.summary.stale import is_changed, is_gone
from nous.summary.stated import circumstances, corrections, customs
from nous.summary.statements import Statement, without_wish
from nous.summary.third_person import in_third_person
from nous.summary.verdicts import verdict_in
from nous.transcript.model import Kind

_MOST_REPORTS = 2
_SHORTEST_REPORT = 40
_EARLY = 60
_FILE = re.compile(r"(?<![\w/.@-])(?!e\.g\b|i\.e\b)[\w./@-]*\w\.[a-z]{1,5}\b(?!\()")
_CLAUSE = re.compile(r",? (?:and|but|so) (?=I\b)")
_IMPORT = re.compile(r"\bimports?\b")
_PASSED_ON = re.compile(r" -- .*|`.*")
"""What a command passes on to another, and what was written behind it."""

_MANNER = re.compile(r" -(?:[vxs]|-?(?:count|timeout)(?:[= ]\w+)?)(?= |$)")
"""An option that changes how tests run, and not which."""

_PICKS = re.compile(
    r" (?:-(?:-?run|k|t|m|-grep|-testNamePattern|-filter|-lf|-ff|-last-failed)\b|\S*::"
    r"|\S+\.(?:py|[cm]?[jt]sx?|rb|go|rs|java|kt|php|exs?)\b)"
    r"|(?:pytest|jest|vitest|mocha|rspec|phpunit|test|run) (?:-\S+ )*(?:\./)?(?!tests?/|spec/)[\w-]+/[\w-]"
    r"|cargo test (?:-\S+ )*\w|\"[^\"]*$"
)
"""Picks some of the tests, by an option, a file or a directory below another one, or was cut within quotes."""

_DECIDED = re.compile(r"^(?:I|We)(?:['\u2019]ve| have)? (?:decided|chosen|opted) (?:to |that |on )?(?=\w)")
_BY_WHAT = re.compile(
    r"\bmy (?:(?:actual|real) )?((?:\w+ ){0,2}?(?:name|id|e-?mail|address|number|code|phone))\b", re.IGNORECASE
)
_WHERE = re.compile(r"\bI (live|work) (?:in|at|for|near|on)\b", re.IGNORECASE)
_INSTEAD = re.compile(r"\b(?:instead|in the end|after all)\b|\bchanged (?:my|our) mind\b", re.IGNORECASE)
_KIND_OF_TEST = re.compile(r"(?:(?<= )test[:-]|-tags[= ])(?!(?:ci|all|full)\b)(\w[\w-]*)")
_BY_AGENT = re.compile(
    r"^(?:(?:Done|Fixed)[\s.:!-]+)?(?:I(?:['\u2019]ve| have)? (?:also |now |successfully )*)?", re.IGNORECASE
)
_BEGINS_CLAUSE = re.compile(
    r"(?:\A\W*(?:\w+,? ){0,2}|[,;.!] (?:\w+ )?|[:(\u2013\u2014-] |\b(?:and|so|but|because|that|as) )\Z"
)
_BUT = re.compile(r",? but |; ")
_CITES = re.compile(r"(?!.*\b(?:my|me|mine|here|i|it)\b[^:]*: )[^:]*: ", re.IGNORECASE)
"""Announces what somebody else is, as in "a user: my name is ..."; but not what is announced as one's own."""

_AND = re.compile(r",? and (?P<clause>(?:(?!,? and ).)+)")

Source = Callable[[Evidence], Iterable[CandidateFact]]


def candidate_facts(evidence: Evidence, most: int = MOST_CANDIDATES) -> tuple[CandidateFact, ...]:
    """At most *most* facts of a session: the surest, in the order they were said."""
    return _in_order(distinct(filter(lasts, _found(evidence, SOURCES)), most))


def wishes(evidence: Evidence) -> tuple[CandidateFact, ...]:
    """What the user wanted and decided, for good or for the session."""
    return _in_order(distinct(_found(evidence, (orders, choices, verdicts)), MOST_CANDIDATES))


def _found(evidence: Evidence, sources: Iterable[Source]) -> Iterator[CandidateFact]:
    return (fact for source in sources for fact in source(evidence) if not looks_secret(fact.text))


def _in_order(facts: Iterable[CandidateFact]) -> tuple[CandidateFact, ...]:
    return tuple(sorted(facts, key=lambda fact: fact.turns))


def preferences(evidence: Evidence) -> Iterator[CandidateFact]:
    """What the user likes, or would rather have, whatever the occasion."""
    for one in evidence.stated:
        is_own = words().says("preference", one.text) and not words().says("refers_back", one.text)
        is_own = is_own and not words().says("points_elsewhere", one.text)
        if is_own and not OTHER_PERSON.search(one.text) and not evidence.is_conversation:
            if not evidence.is_service and _is_reaction(one, evidence):
                continue
            for part in (part for part in _CLAUSE.split(one.text) if words().says("preference", part)):
                text = in_third_person(standing_alone(part))
                if not (evidence.is_service and _is_of_one_occasion(part, one, evidence)):
                    yield by_user(text, one.turn, Category.PREFERENCE, confidence=0.85)


def identities(evidence: Evidence) -> Iterator[CandidateFact]:
    """Names, addresses and numbers by which the user is known, each as it was told last.

    The number of a matter is none.
    """
    found: dict[str, CandidateFact] = {}
    for one in evidence.stated:
        for clause in _BUT.split(standing_alone(one.text)):
            if _is_of_the_speaker(clause, evidence) and not looks_secret(one.text):
                text = without_wish(_who_alone(clause[:1].upper() + clause[1:]))
                named = _BY_WHAT.search(text) or _WHERE.search(text)
                told = in_third_person(text)
                fact = by_user(told, one.turn, Category.PERSON, confidence=0.9)
                found[named[1].lower() if named else told] = fact
    yield from found.values()


def _is_of_the_speaker(clause: str, evidence: Evidence) -> bool:
    """Whether a *clause* says who its speaker is, or by what they are known."""
    is_own = _begins_clause("of_oneself", clause) and not evidence.is_conversation
    return (is_own or _begins_clause("identity", clause)) and not words().says("lacking", clause)


def choices(evidence: Evidence) -> Iterator[CandidateFact]:
    """What the user decided in so many words; what is chosen of a service's offers is of one matter.

    What is chosen "instead" takes the place of the choice before.
    """
    found: list[CandidateFact] = []
    for one in evidence.stated if not (evidence.is_conversation or evidence.is_service) else ():
        if words().says("chooses", one.text[:_EARLY]) and not words().says("refers_back", one.text):
            text = standing_alone(_DECIDED.sub("", standing_alone(one.text)))
            told, subject = f"The user decided: “{text}”", code_of(text, "user")
            found = found[:-1] if _INSTEAD.search(text) else found
            found.append(by_user(told, one.turn, Category.DECISION, confidence=0.8, subject=subject))
    yield from found


def verdicts(evidence: Evidence) -> Iterator[CandidateFact]:
    """What the user approved, rejected or answered when asked; of a plan that became commits those tell."""
    results, last_commit = evidence.results, max((turn for _, turn in evidence.commits), default=-1)
    put = {results[one.call.id].id: one.call for one in evidence.actions if one.call.id in results}
    for entry in evidence.transcript:
        title = title_of_call(put.get(entry.id))
        told = verdict_in(entry.text, title) if entry.kind is Kind.DECISION else None
        if told and not (told.approves and entry.turn <= last_commit):
            yield by_user(told.text, entry.turn, Category.DECISION, confidence=0.9, subject=told.subject)


def reports(evidence: Evidence) -> Iterator[CandidateFact]:
    """What the agent says it has made, by the end of a turn, where no commit says it: episodes tell those."""
    if not evidence.files or evidence.commits:
        return
    made = [(one, standing_alone(_BY_AGENT.sub("", one.text))) for one in evidence.reports]
    told = [(one, text) for one, text in made if _is_report(text, evidence) and not is_gone(text, one.place, evidence)]
    for one, text in told[-_MOST_REPORTS:]:
        yield by_agent(text, one.turn, Category.EVENT, subject=subject_of(text), confidence=0.65)


def ways_to_test(evidence: Evidence) -> Iterator[CandidateFact]:
    """How tests are run here: the shortest command that passed and picks none of them.

    Where a command is named for one kind of tests, so is the fact.
    """
    passed = [(_MANNER.sub("", _PASSED_ON.sub("", run.command)), run.turn) for run in evidence.tests if run.passed]
    whole = [(command, turn) for command, turn in passed if not _PICKS.search(command)]
    ranked = sorted(whole, key=lambda run: (_KIND_OF_TEST.search(run[0]) is not None, len(run[0])))
    for command, turn in ranked[:1]:
        kind = _KIND_OF_TEST.search(command)
        told, subject = (f"The {kind[1]} tests", f"{kind[1]} tests") if kind else ("Tests", "tests")
        text = f"{told} are run with `{command}`"
        yield by_agent(text, turn, Category.TOOL, subject=subject, confidence=0.8)


SOURCES: tuple[Source, ...] = (
    standing_rules,
    preferences,
    identities,
    answers,
    choices,
    verdicts,
    corrections,
    circumstances,
    customs,
    people,
    findings,
    services_done,
    services_told,
    reports,
    ways_to_test,
)


def _is_reaction(one: Statement, evidence: Evidence) -> bool:
    """Whether the user, at work, only says how they like what is before them."""
    known = words()
    if known.says("each_time", one.text) or known.says("of_each", one.text):
        return False
    return known.says("reacts", one.text) or without_wish(one.text) != one.text or is_changed(one, evidence)


def _begins_clause(name: str, text: str) -> bool:
    """Whether a phrase of the list *name* begins a clause, and is not cited in one."""
    before = (text[: found.start()] for found in words().contains[name].finditer(text))
    return any(_BEGINS_CLAUSE.search(each) and not _CITES.match(each) for each in before)


def _is_of_one_occasion(text: str, said: Statement, evidence: Evidence) -> bool:
    """Whether a service's user wants *text* of what is before them: it says so, or it was asked for that."""
    known = words()
    before = (one for one in evidence.said if one.turn == said.turn - 1 and one.is_question)
    is_answer = not all(known.says("serves", one.text) for one in before)
    is_lasting = known.says("each_time", text) or known.says("out_of_habit", text)
    is_bound = known.says("of_the_offers", text) or known.opens("one_occasion", text)
    return is_bound or ((is_answer or known.says("wanted_now", text)) and not is_lasting)


def _who_alone(text: str) -> str:
    """*text* up to where it goes on with something else than by what its speaker is known."""
    known = words()
    other = (
        found
        for found in _AND.finditer(text)
        if not known.says("names_oneself", found["clause"]) or known.says("names_a_matter", found["clause"])
    )
    joined = next(other, None)
    return text[: joined.start()] if joined else text


def _is_report(text: str, evidence: Evidence) -> bool:
    """Whether a report says what was made and where, to others: other changes only say what the code now shows."""
    known = words()
    is_new = known.opens("made", text) and not known.says("made_of_old", text)
    is_vague = text.endswith(":") or OTHER_PERSON.search(text) or _IMPORT.search(text) or is_bound(text)
    is_placed = _FILE.search(text) or any(path.rpartition("/")[2] in text for path in evidence.files)
    return is_new and bool(is_placed) and len(text) >= _SHORTEST_REPORT and not is_vague
