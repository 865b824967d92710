"""Extract lessons from a record: corrections, mended failures, causes, lasting statements."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from nous.domain.episode import Category, Lesson
from nous.redaction.redactor import tells_secret
from nous.summary.heuristic.record import CommandRun, Purpose, RecordedTurn, SessionRecord
from nous.summary.heuristic.report import lead
from nous.summary.heuristic.sentences import POINTS_BACK, Sentence, distinct, is_go_ahead, names, telling_words
from nous.summary.heuristic.statements import BY_AGENT, REJECTED, rejected_call, standing_alone, stated
from nous.text.language import patterns, words
from nous.text.sentences import sentences, shortened
from nous.transcript.model import Kind
from nous.transcript.tool_actions import Action, writes, written_files

MOST = 7
_MOST_OF_KIND = 3
_LASTING = frozenset({Category.RULE, Category.PREFERENCE, Category.CONCEPT})
_LONGEST, _QUOTED, _LABEL, _COMMAND = 300, 240, 160, 80  # characters
_RESULT = 8_000  # characters at the end of a result in which its error is looked for
_FEWEST_WORDS, _FEWEST_WITHOUT_NAME, _FEWEST_QUOTED, _FEWEST_OF_REASON, _FEWEST_SHARED, _FEW = 4, 6, 3, 2, 2, 2
_PHRASE, _BRIEF = 4, 3  # words of a reason that need be no sentence; sentences of a message that say why it failed
_CORRECTED = "The user corrected the agent: "
_PATTERNS = patterns("nous.summary.heuristic", "patterns", "lessons")


def lessons(record: SessionRecord, most: int = MOST) -> list[Lesson]:
    """Return at most *most* distinct lessons: corrections first, and lasting statements last."""
    corrections = [lesson for lesson in _corrections(record) if names(lesson.text) or not record.is_talk]
    told = _best(corrections)
    taken = {turn for lesson in told for turn in lesson.turns}
    corrected = {lesson.turns for lesson in corrections if lesson.text.startswith(_CORRECTED)}
    explained = [lesson for lesson in _explained(record) if lesson.turns not in corrected]
    kinds = {Category.RULE} if record.is_service or record.is_talk else _LASTING  # the wishes of a talk are of it alone
    lasting = [fact for fact in stated(record) if fact.category in kinds and taken.isdisjoint(fact.turns)]
    lasting = [fact for fact in lasting if not (fact.category is Category.PREFERENCE and " want" in fact.text)]
    told += [*_best(_mended(record)), *_best(explained)]
    told += [*(Lesson(fact.text, fact.turns) for fact in lasting[:_MOST_OF_KIND]), *explained]
    return distinct((lesson for lesson in told if not tells_secret(lesson.text)), most, lambda lesson: lesson.text)


def _best(found: Iterable[Lesson]) -> list[Lesson]:
    best = sorted(found, key=lambda lesson: -worth(lesson.text))[:_MOST_OF_KIND]
    return sorted(best, key=lambda lesson: lesson.turns)


def _with_next(record: SessionRecord) -> Iterator[tuple[RecordedTurn, RecordedTurn | None]]:
    return zip(record.turns, (*record.turns[1:], None), strict=False)


def _said(record: SessionRecord, start: int, end: int) -> list[Sentence]:
    return [one for turn in record.turns for one in turn.said if start < one.place < end]


def _corrections(record: SessionRecord) -> Iterator[Lesson]:
    """Yield what the user rejected, and why, and what they corrected, with the agent's reply."""
    for turn, after in _with_next(record):
        heard = " ".join(one.text for one in turn.said).replace("`", "")
        said = [one.text for one in after.asked if one.text.replace("`", "") not in heard] if after else []
        rejected = None
        for entry in turn.decisions:
            rejected = REJECTED.fullmatch(" ".join(entry.text.split()))
            given = rejected["reason"] if rejected else None
            parts = [given[start:end] for start, end in sentences(given)] if given else said
            if rejected and (given or entry is turn.decisions[-1]) and _is_reason(why := _statement(parts)):
                turns = {turn.number, turn.number if given or not after else after.number}
                yield Lesson(f"The user rejected {rejected_call(rejected['what'])}: “{why}”", tuple(sorted(turns)))
        why = _statement(said) if heard and not rejected else ""
        objects = not record.is_service and _objects(after)
        if after and why and (objects or _is_accepted(after)):
            reply = _reply(after, why)
            is_clear = len(telling_words(why)) >= (_FEWEST_WORDS if objects else _FEWEST_WITHOUT_NAME)
            if reply or is_clear or (names(why) and not (why.endswith("?") or words().says("points_back", why))):
                answer = f" The agent then said: “{reply}”" if reply else ""
                yield Lesson(f"{_CORRECTED}“{why}”{answer}", (after.number,))


def _objects(turn: RecordedTurn | None) -> bool:
    return turn is not None and any(words().says("objects", one.text) for one in turn.asked)


def _is_accepted(turn: RecordedTurn) -> bool:
    return any(words().opens("concedes", one.text) for one in turn.said[:1])


def _statement(said: Iterable[str]) -> str:
    """Return what the user states or orders; empty if little, or if they ask something first."""
    known = words()
    telling = [text for text in said if not is_go_ahead(text)]
    kept = [text for text in telling if not text.endswith(("?", ":")) or known.says("instructs", text)]
    whole = " ".join(kept)
    is_less = kept[:1] != telling[:1] or known.opens("waits", whole) or len(telling_words(whole)) < _FEWEST_OF_REASON
    return "" if is_less else shortened(whole, _QUOTED)


def _is_reason(text: str) -> bool:
    """Return whether a text says what to do instead, or what holds; a phrase may."""
    known = words()
    if known.says("instructs", text) or known.opens("wish", text) or known.opens("directive", text):
        return True
    is_less = known.says("points_back", text) or known.says("complaint", text) or _PATTERNS["narrative"].match(text)
    return not is_less and (0 < len(text.split()) <= _PHRASE or len(telling_words(text)) >= _FEWEST_WORDS)


def _reply(turn: RecordedTurn, said: str) -> str:
    """Return the agent's statement that takes up what the user *said*, preferably a cause."""
    known, asked = words(), {*telling_words(said)}
    bare = [one._replace(text=known.without("concedes", one.text).lstrip(" ,.:;!—\u2013-")) for one in turn.said]
    fits = [one for one in lead(bare) if len(asked & {*telling_words(one.text)}) >= _FEWEST_SHARED]
    fits = [one for one in fits if _stands_alone(one)]
    return standing_alone(max(fits, key=lambda one: _is_cause(one, of_session=True)).text) if fits else ""


def _mendings(record: SessionRecord) -> Iterator[tuple[list[CommandRun], list[Action], CommandRun]]:
    """Yield failed command lines, the changes after each, and the run that passed then."""
    lines = [list(runs) for _, runs in groupby(record.runs, key=lambda run: run.place)]
    before = list[Action]()
    for at, runs in enumerate(lines):
        failed = runs[-1]
        again = next((run for later in lines[at + 1 :] for run in later if run.command == failed.command), failed)
        changes = [change for place, change in record.changes if failed.place < place < again.place]
        if again.passed and not failed.passed and changes and changes != before:
            before = changes
            yield runs, changes, again


def _mended(record: SessionRecord) -> Iterator[Lesson]:
    """Yield what commands failed with before they passed, and the cause that the agent gave."""
    for runs, changes, again in _mendings(record):
        failed, is_test = runs[-1], runs[-1].purpose is Purpose.TEST
        result = record.results[record.entries[failed.place].id].text[-_RESULT:]
        said = _said(record, failed.place, again.place)
        bearing = [one for one in said if _bears_on(result, one, said) or (is_test and _is_cause(one))]
        causes = sorted(bearing, key=lambda one: (not _is_cause(one), -worth(one.text)))[:1]
        error = _error_in(result, is_test=is_test)
        told = [f"“{error}”"] if error and not _PATTERNS["slip"].search(error) else []
        told += [standing_alone(one.text) for one in causes]
        if told:
            command = shortened(" && ".join(run.command for run in runs), _COMMAND)
            files = {path.rpartition("/")[2]: None for change in changes for path in written_files(change)}
            is_named = not causes and 0 < len(files) <= _FEW
            until = f"`{'` and `'.join(files)}` changed" if is_named else "this was mended"
            turns = {failed.turn, again.turn, *(one.turn for one in causes)}
            yield Lesson(f"`{command}` failed until {until}: {' '.join(told)}", tuple(sorted(turns)))


def _bears_on(result: str, one: Sentence, said: Iterable[Sentence]) -> bool:
    """Return whether a sentence may be the cause of the failure that *result* shows."""
    is_named = any(name in result for name in names(one.text))
    if _is_cause(one):
        return is_named or "fail" in one.text
    is_brief = sum(other.place == one.place for other in said) <= _BRIEF
    return is_named and is_brief and _stands_alone(one) and not words().opens("tells_change", one.text)


def _error_in(result: str, *, is_test: bool = False) -> str:
    """Return the error that a result names: the first, or of tests the last that reads as one."""
    lines = (line["said"].strip() for line in _PATTERNS["error_line"].finditer(result))
    found = [said for said in lines if len(telling_words(said)) >= _FEWEST_QUOTED]
    if is_test:
        found = [said for said in reversed(found) if _PATTERNS["unmet"].search(said)]
    return shortened(found[0], _LABEL) if found else ""


def _explained(record: SessionRecord) -> Iterator[Lesson]:
    """Yield the causes that the agent gave of what the user reported, or how it was mended."""
    known, is_troubled = words(), False
    for turn, after in () if record.is_service else _with_next(record):
        trouble = next((one for one in (*turn.asked, *turn.brief) if known.says("trouble", one.text)), None)
        is_troubled = is_troubled or trouble is not None
        if not is_troubled or _objects(after):
            continue
        is_told = trouble in turn.asked and trouble and len(telling_words(trouble.text)) >= _FEWEST_QUOTED
        label = shortened(trouble.text, _LABEL).rstrip(":") if trouble and is_told else ""
        causes = [one for one in turn.said if _is_cause(one, of_session=True) and _is_final(one, turn, record)]
        causes = [one for one in causes if trouble or known.says("says_why", one.text)]
        causes = [one for one in causes if names(one.text) or not record.is_talk]
        fixes = [one.text for one in lead(turn.report) if label and turn.changes and _is_fix(one.text)]
        if causes:
            cause = standing_alone(max(causes, key=lambda one: worth(one.text)).text)
            yield Lesson(f"“{label}” came from this: {cause}" if label else cause, (turn.number,))
        elif fixes:
            yield Lesson(f"“{label}” was mended: {standing_alone(BY_AGENT.sub('', fixes[0]))}", (turn.number,))


def _is_final(one: Sentence, turn: RecordedTurn, record: SessionRecord) -> bool:
    """Return whether the agent ended its turn with a sentence, or changed something after it."""
    if turn.report and one.place == turn.report[-1].place and (len(turn.report) > _BRIEF or not turn.is_interim):
        return True
    following = next((action for place, action in record.actions if place > one.place), None)
    return following is not None and writes(following)


def _is_fix(text: str) -> bool:
    is_done = words().opens("deed", text) and words().says("done", text) and not text.endswith(":")
    return is_done and bool(names(text)) and len(text) <= _LONGEST


def found_out(record: SessionRecord) -> Iterator[str]:
    """Yield what fixed a failure, and the causes that the agent reported; nothing for a service."""
    if record.is_service:
        return
    for runs, _, again in _mendings(record):
        if causes := [one for one in _said(record, runs[-1].place, again.place) if _is_cause(one)]:
            cause = standing_alone(max(causes, key=lambda one: worth(one.text)).text)
            yield f"`{shortened(runs[-1].command, _COMMAND)}` failed until this was mended: {cause}"
    yield from _causes(record)


def _causes(record: SessionRecord) -> Iterator[str]:
    """Yield causes that the agent reported and the user did not object to, the best first."""
    ranked: list[tuple[int, float, str]] = []
    for turn, after in _with_next(record):
        reported = [] if _objects(after) else [one for one in lead(turn.report) if _is_cause(one)]
        found = sorted(reported, key=lambda one: -worth(one.text))
        ranked += [(rank, -worth(one.text), standing_alone(one.text)) for rank, one in enumerate(found)]
    return (text for _, _, text in sorted(ranked))


def _is_cause(one: Sentence, *, of_session: bool = False) -> bool:
    """Return whether a sentence explains something that it names, and is clear without context.

    A cause *of_session* may be of that session alone, if it names two things or says that it is the cause.
    """
    known, text = words(), one.text
    if not known.says("explains", text) or known.opens("tells_change", text) or not _stands_alone(one):
        return False
    is_deed = known.opens("deed", text)
    is_less = is_deed or _PATTERNS["first_person"].search(text) or _PATTERNS["one_off"].search(text)
    if of_session:
        is_less = is_less and not known.opens("diagnoses", text) and (is_deed or len(names(text)) < _FEWEST_SHARED)
        is_less = is_less or text.endswith(":") or _PATTERNS["of_agent"].search(text)
    return not is_less


def _stands_alone(one: Sentence) -> bool:
    """Return whether a sentence of the agent states something that is clear without context."""
    known, text = words(), one.text
    if one.speaker is not Kind.ASSISTANT or one.is_question or tells_secret(text) or len(text) > _LONGEST:
        return False
    is_less = any(known.says(name, text) for name in ("hedge", "proposes", "about_to"))
    is_less = is_less or known.opens("narrates", text) or known.opens("wish", text)
    fewest = _FEWEST_WORDS if names(text) else _FEWEST_WITHOUT_NAME
    return not (is_less or POINTS_BACK.match(standing_alone(text))) and len(telling_words(text)) >= fewest


def worth(text: str) -> float:
    """Return how much a text explains and names, as a rank of causes."""
    return len(words().contains["explains"].findall(text)) + 0.5 * min(len(set(names(text))), 4)
