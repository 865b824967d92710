"""Load prompt templates from TOML; format a session's segments and decisions to fill them."""

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
from nous.domain.summary_input import BETWEEN, Segment
from nous.text.sentences import shortened

_MARK = 8
_MOST_DECISIONS, _LONGEST_DECISION = 40, 500
# Placeholders for the data that the model is asked about; every prompt must contain the one of its kind.
_SHOWN = frozenset({"transcript", "pairs"})
_NEEDED = {"version": str, "most_tokens": int, "system": str, "user": str}


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTemplate:
    version: str
    system: str
    user: str
    most_tokens: int

    def filled(self, **places: str) -> str:
        return Template(self.user).substitute(places).strip()


@cache
def built_in(name: str) -> PromptTemplate:
    return parsed((resources.files("nous.summary.llm") / "prompts" / f"{name}.toml").read_text("utf-8"), name=name)


def parsed(text: str, *, name: str, is_own: bool = False) -> PromptTemplate:
    """Parse the prompt *name*; the version of one *is_own* has its digest. Raises `BadInput`."""
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"it is not valid TOML: {error}") from None
    wrong = [key for key, kind in _NEEDED.items() if not isinstance(fields.get(key), kind)]
    if wrong:
        raise BadInput(f"{', '.join(wrong)}: missing, or of the wrong type")
    version = f"{name}-{fields['version']}" + (f"+{sha256(text.encode()).hexdigest()[:8]}" if is_own else "")
    prompt = PromptTemplate(
        version=version, system=fields["system"].strip(), user=fields["user"], most_tokens=fields["most_tokens"]
    )
    if prompt.most_tokens < 1:
        raise BadInput(f"most_tokens = {prompt.most_tokens}: an answer needs at least 1")
    if is_own:
        _check_places(_places(prompt), _places(built_in(name)))
    return prompt


def _check_places(found: set[str], known: set[str]) -> None:
    if unknown := found - known:
        raise BadInput(
            f"user: ${min(unknown)} is no place; there are {', '.join(f'${each}' for each in sorted(known))}"
        )
    if missing := (known & _SHOWN) - found:
        raise BadInput(f"user: ${min(missing)} is missing, so the model would not see what it is asked about")


def _places(prompt: PromptTemplate) -> set[str]:
    template: Any = Template(prompt.user)
    if not template.is_valid():
        raise BadInput("user: a dollar sign that begins no place has to be written $$")
    return set(template.get_identifiers())


def fenced(segments: Sequence[Segment], *, name: str = "transcript") -> str:
    """Return *segments* with turn numbers, in a fence that no text among them can close.

    The fence is marked with the digest of its content, which the author of a session cannot predict.
    """
    content = BETWEEN.join(_numbered(segments))
    mark = sha256(content.encode(errors="replace")).hexdigest()[:_MARK]
    return f"<{name} {mark}>\n{content}\n</{name} {mark}>"


def _numbered(segments: Sequence[Segment]) -> Iterator[str]:
    turn = 0
    for segment in segments:
        if segment.turn and segment.turn != turn:
            turn = segment.turn
            yield f"--- turn {turn} ---"
        yield segment.text


def heading(**named: str | None) -> str:
    """Return the first line that a model sees of a session: where and when it was."""
    return f"[Session] {', '.join(f'{name}: {value}' for name, value in named.items() if value)}"


def decisions_block(decisions: Sequence[Decision]) -> str:
    """Return the session's decisions, one per line, the latest if there are many; may be empty."""
    if not decisions:
        return ""
    latest = decisions[-_MOST_DECISIONS:]
    lines = [shortened(" ".join(decision.line.split()), _LONGEST_DECISION) for decision in latest]
    if len(decisions) > len(latest):
        lines.insert(0, f"({len(decisions) - len(latest)} before these)")
    return "\n".join(("Decisions made during this episode:", *lines, "", ""))
