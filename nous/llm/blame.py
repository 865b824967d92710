"""Whether it is the provider that fails, or a question that makes it fail. Pure."""

from dataclasses import dataclass, replace

_OFTEN = 3
"""Times that a question should have been answered, and was not, until it is to blame."""


@dataclass(frozen=True, slots=True)
class Calls:
    """How many calls of a model were answered by now, and how many failed, whoever made them."""

    answered: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """A question that has failed *failures* times, *chances* of them after others were answered since the time before.

    `first` and `last` are the calls that were over before its first and its last failure.
    """

    first: Calls
    last: Calls
    failures: int = 1
    chances: int = 0

    @property
    def is_to_blame(self) -> bool:
        """Had it been as likely to be answered as the others, it would have been, *_OFTEN* times.

        A provider that is overloaded answers some as well, but turns down more of the others than it answers.
        """
        answered = self.last.answered - self.first.answered
        others_failed = max(self.last.failed - self.first.failed - (self.failures - 1), 0)
        return answered > 0 and self.chances * answered >= _OFTEN * (answered + others_failed)


def failed_again(known: Failing | None, calls: Calls) -> Failing:
    """What is known of a question after it has failed, where *calls* were over before."""
    if known is None:
        return Failing(first=calls, last=calls)
    chances = known.chances + (calls.answered > known.last.answered)
    return replace(known, last=calls, failures=known.failures + 1, chances=chances)
