"""Who does something, told by a noun that is spelled as the deed: `Tom is Kim's mentor`, `Tom mentors Kim`."""

from collections.abc import Sequence
from dataclasses import replace

from nous.learning.guard.lexicon import Lexicon
from nous.learning.guard.word import Role, Word

_PRESENT = ("is was", "is")


def is_agent(words: Sequence[Word], at: int, lexicon: Lexicon) -> bool | None:
    """Whether the word at *at*, whose root some agent has, is the agent, not the deed; None if that is in doubt."""
    word, text = words[at], words[at].text.casefold()
    if not any(text.removesuffix(plural) in lexicon.agents for plural in ("", "s", "es")):
        return False  # mentored, mentoring
    following = words[at + 1] if at + 1 < len(words) else None
    is_governing = following is not None and following.marker in ("of", "be")
    if word.is_told or word.is_one or word.marker in ("of", "be") or is_governing:
        return True
    is_before_object = following is not None and not following.marker
    return False if at and not word.marker and is_before_object else None


def is_turned(left: Sequence[Word], at: int, right: Sequence[Word], other: int, lexicon: Lexicon) -> bool:
    """Whether one is the agent and the other the deed, which say the contrary: `Kim's host`, `Kim hosts`."""
    if left[at].role is not Role.WORD or left[at].root != right[other].root or left[at].root not in lexicon.doers:
        return False
    return {is_agent(left, at, lexicon), is_agent(right, other, lexicon)} == {True, False}


def as_deed(words: Sequence[Word], others: Sequence[Word], lexicon: Lexicon) -> tuple[Word, ...]:
    """`the car's owner is Tom`, and `the owner of the car is Tom`, as `Tom owns the car`, if *others* have it so."""
    end = next((at for at, word in enumerate(words) if word.marker == "be"), 0)
    named = words[end:]
    found = _agent_and_whose(words[:end])
    if not found or any(word.marker != "be" for word in named) or _PRESENT not in named[0].bound:
        return tuple(words)
    agent, whose = found
    deed = lexicon.agents.get(agent.text.casefold())
    is_named = any(word.role is Role.NAME for word in named)
    if not deed or not is_named or not any(word.text == deed and not word.marker for word in others):
        return tuple(words)
    key = lexicon.key(deed)
    verb = replace(agent, text=deed, key=key, root=key, is_told=False)
    bound = tuple(each for each in named[0].bound if each != _PRESENT)
    first, *rest = (replace(word, marker="") for word in named)
    return replace(first, bound=bound), *rest, verb, *(replace(word, marker="") for word in whose)


def _agent_and_whose(subject: Sequence[Word]) -> tuple[Word, Sequence[Word]] | None:
    """The parts of `the owner of the car`, or of `the car's owner`."""
    if len(subject) < 2 or any(word.is_one for word in subject):
        return None
    first, last = subject[0], subject[-1]
    if first.is_told and not first.marker and all(word.marker == "of" for word in subject[1:]):
        return first, subject[1:]
    return (last, subject[:-1]) if last.is_told and not any(word.marker for word in subject) else None
