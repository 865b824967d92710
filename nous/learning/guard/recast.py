"""Statements built in another way that say the same, brought to one: `is Kim's boss`, `replaced this with that`."""

from collections.abc import Sequence
from dataclasses import replace

from nous.learning.guard.lexicon import Lexicon
from nous.learning.guard.word import Role, Word

_RECEIVE = "receiv"


def recast(words: Sequence[Word], lexicon: Lexicon, *, is_past: bool) -> tuple[Word, ...]:
    """*words* in the one arrangement that stands for all that say the same."""
    told = tuple(words) if is_past else _agent(tuple(words), lexicon)
    return _received(_placed(_exchanged(told, lexicon)), lexicon)


def _agent(words: tuple[Word, ...], lexicon: Lexicon) -> tuple[Word, ...]:
    """`Erik is Judith's boss` as `Erik manages Judith`: one person is told what they are to one other."""
    if len(words) != 3:
        return words
    one, other, agent = words
    deed = lexicon.agents.get(agent.text.casefold())
    if not deed or one.marker or other.marker != "be" or agent.marker != "be" or other.role is not Role.NAME:
        return words
    verb = replace(agent, text=deed, key=lexicon.key(deed), root=lexicon.key(deed), marker="", is_told=False)
    return one, verb, replace(other, marker="")


def _exchanged(words: tuple[Word, ...], lexicon: Lexicon) -> tuple[Word, ...]:
    """`replaced this with that` as `moved from this to that`."""
    ways = lexicon.exchanging
    at = next((at for at, word in enumerate(words) if any(word.root in verbs for verbs in ways.values())), -1)
    verb = words[at] if at >= 0 else None
    rest = words[at + 1 :]
    end = next((n for n, word in enumerate(rest) if verb and verb.root in ways.get(word.marker, ())), 0)
    if verb is None or verb.role is not Role.WORD or verb.marker or not end or any(word.marker for word in rest[:end]):
        return words
    marker = rest[end].marker
    last = next((n for n, word in enumerate(rest) if n > end and word.marker != marker), len(rest))
    moved = replace(verb, key=lexicon.key("move"), root="move")
    gone = (replace(word, marker="from") for word in rest[:end])
    come = (replace(word, marker="to") for word in rest[end:last])
    return (*words[:at], moved, *gone, *come, *rest[last:])


def _placed(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """`the safe is where keys are kept` as `keys are kept in the safe`."""
    at = next((at for at, word in enumerate(words) if word.marker == "whereat"), 0)
    place, rest = words[:at], words[at:]
    if not at or any(word.marker for word in place):
        return words
    told = (replace(word, marker="" if word.marker == "whereat" else word.marker) for word in rest)
    return (*told, *(replace(word, marker="in") for word in place))


def _received(words: tuple[Word, ...], lexicon: Lexicon) -> tuple[Word, ...]:
    """`Jaeger receives traces` as `traces are sent to Jaeger`."""
    at = next((at for at, word in enumerate(words) if word.root == _RECEIVE and not word.marker), 0)
    taker, rest = words[:at], words[at + 1 :]
    end = next((n for n, word in enumerate(rest) if word.marker), len(rest))
    if not at or not end or any(word.marker for word in taker):
        return words
    sent = replace(words[at], text="sent", key=lexicon.key("send"), root="send", marker="be")
    return (*rest[:end], sent, *(replace(word, marker="to") for word in taker), *rest[end:])
