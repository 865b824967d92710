"""What a model is told, from a file of words and a brief."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from string import Template
from typing import Any

from nous.domain.episode import Decision
from nous.domain.errors import BadInput
from nous.domain.summary_input import BETWEEN, Passage
from nous.text.sentences import shortened

_MARK = 8
_MOST_DECISIONS, _LONGEST_DECISION = 40, 500
_SHOWN = frozenset({"transcript", "pairs"})
"""The places of what a model is asked about; no prompt of ours does without the one it has."""

_NEEDED = {"version": str, "canary": str, "most_tokens": int, "system": str, "user": str}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The words of a prompt: what a model is, and what it is asked, with the places that are filled in.

    `version` names them; `canary` is a name of the example that no session has.
    """

    version: str
    system: str
    user: str
    canary: str
    most_tokens: int

    def filled(self, **places: str) -> str:
        """What is asked, with each `$place` filled in."""
        return Template(self.user).substitute(places).strip()


@cache
def built_in(name: str) -> Prompt:
    """The prompt called *name* that comes with the package."""
    return parsed((resources.files("nous.summary.llm") / "prompts" / f"{name}.toml").read_text("utf-8"), name=name)


def parsed(text: str, *, name: str, is_own: bool = False) -> Prompt:
    """Read a prompt for *name*; the version of one that *is_own*, somebody's own words, tells it by its digest too.

    Raises:
        BadInput: it is no TOML, a field is missing or of the wrong type, or a place is unknown, or missing.
    """
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"it is not valid TOML: {error}") from None
    wrong = [key for key, kind in _NEEDED.items() if not isinstance(fields.get(key), kind)]
    if wrong:
        raise BadInput(f"{', '.join(wrong)}: missing, or of the wrong type")
    version = f"{name}-{fields['version']}" + (f"+{sha256(text.encode()).hexdigest()[:8]}" if is_own else "")
    prompt = Prompt(
        version=version,
        system=fields["system"].strip(),
        user=fields["user"],
        canary=fields["canary"],
        most_tokens=fields["most_tokens"],
    )
    if prompt.most_tokens < 1:
        raise BadInput(f"most_tokens = {prompt.most_tokens}: an answer needs at least 1")
    _check_places(prompt, built_in(name) if is_own else prompt)
    return prompt


def _check_places(prompt: Prompt, like: Prompt) -> None:
    known, found = _places(like), _places(prompt)
    if unknown := found - known:
        raise BadInput(
            f"user: ${min(unknown)} is no place; there are {', '.join(f'${each}' for each in sorted(known))}"
        )
    if missing := (known & _SHOWN) - found:
        raise BadInput(f"user: ${min(missing)} is missing, so the model would not see what it is asked about")


def _places(prompt: Prompt) -> set[str]:
    template: Any = Template(prompt.user)
    if not template.is_valid():
        raise BadInput("user: a dollar sign that begins no place has to be written $$")
    return set(template.get_identifiers())


def fenced(passages: Sequence[Passage], *, name: str = "transcript") -> str:
    """*passages* as data between two lines that nothing among them can be, each turn with its number above it.

    The lines are marked with the digest of what stands between them: who writes a session cannot foresee it.
    """
    told = BETWEEN.join(_numbered(passages))
    mark = sha256(told.encode(errors="replace")).hexdigest()[:_MARK]
    return f"<{name} {mark}>\n{told}\n</{name} {mark}>"


def _numbered(passages: Sequence[Passage]) -> Iterator[str]:
    turn = 0
    for passage in passages:
        if passage.turn and passage.turn != turn:
            turn = passage.turn
            yield f"--- turn {turn} ---"
        yield passage.text


def decisions_block(decisions: Sequence[Decision]) -> str:
    """The decisions of a session, a line each, of very many the latest; nothing where there are none."""
    if not decisions:
        return ""
    latest = decisions[-_MOST_DECISIONS:]
    lines = [shortened(" ".join(decision.line.split()), _LONGEST_DECISION) for decision in latest]
    if len(decisions) > len(latest):
        lines.insert(0, f"({len(decisions) - len(latest)} before these)")
    return "\n".join(("Decisions made during this episode:", *lines, "", ""))
