"""What a session left open: what its last words put off, ask or miss."""

from nous.episode import Outcome
from nous.language import words
from nous.summary.evidence import Evidence
from nous.summary.lessons import alike
from nous.summary.outcome import Judgement
from nous.summary.statements import Statement, shortened

MOST = 5
_LONGEST = 240


def open_threads(evidence: Evidence, judgement: Judgement) -> tuple[str, ...]:
    """At most `MOST`, in the order they came up; the reason of an outcome that is short of resolved is the last."""
    if evidence.is_conversation:
        return ()
    threads: list[str] = []
    for one in evidence.answer:
        if _is_open(one) and not any(alike(one.text, other) for other in threads):
            threads.append(shortened(one.text, _LONGEST))
    is_short = judgement.outcome in {Outcome.PARTIAL, Outcome.UNRESOLVED}
    if is_short and not any(thread.rstrip(".") in judgement.rationale for thread in threads):
        threads.append(judgement.rationale)
    return tuple(threads[-MOST:])


def _is_open(one: Statement) -> bool:
    known = words()
    is_offer = known.says("offers_more", one.text)
    return (
        not is_offer
        and not one.text.endswith(":")
        and (known.says("left_open", one.text) or known.says("put_off", one.text) or one.text.endswith("?"))
    )
