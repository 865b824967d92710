"""Whether two facts that contradict each other are about one thing."""

from nous.learning.judge import Linked, Supersedes, Verdict
from nous.learning.known import Knowledge
from nous.learning.normalise import exact_form


def of_one_subject(verdict: Verdict, subject: str, known: Knowledge, *, is_ruled: bool = False) -> Verdict:
    """*verdict* on a fact about *subject*, unless it takes for one thing what was not called by one name.

    The rules alone need that name; whoever understands the texts (*is_ruled*) does without.
    """
    if not isinstance(verdict, Supersedes):
        return verdict
    one, other = exact_form(subject), exact_form(known[verdict.fact_id].fact.subject)
    if one == other != "" or (is_ruled and not (one and other)):
        return verdict
    reason = f"{verdict.reason}; but {_difference(one, other)}"
    return Linked(fact_id=verdict.fact_id, reason=reason, similarity=verdict.similarity)


def _difference(one: str, other: str) -> str:
    if one and other:
        return f"their subjects differ: about {one} / about {other}"
    return "only one names its subject" if one or other else "neither names its subject"
