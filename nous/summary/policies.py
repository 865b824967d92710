"""What a service says that it does for nobody, or only on a condition."""

import re
from dataclasses import replace

from nous.language import words
from nous.summary.evidence import Evidence
from nous.summary.heard import Claim, Heard
from nous.summary.lessons import is_durable
from nous.summary.statements import Statement
from nous.transcript.model import Kind

_ALIKE = 0.8
"""Which share of its words a policy has in common with the line of the instructions that it comes from."""

_EXAMPLE = re.compile(r",? (?:including|such as|like|for example|e\.g\.) [^.;]+(?=[.;]|\Z)")
"""What an agent thinks that a policy means for the case before it, and the policy does not say."""


def ruling(one: Statement) -> Statement | None:
    """The policy that *one* states, without examples, if it states one."""
    if not (is_durable(one) and words().says("policy", one.text)):
        return None
    return replace(one, text=_EXAMPLE.sub("", one.text))


def accords(text: str, evidence: Evidence) -> bool:
    """Whether the agent's instructions say *text* as well. Where none are known, the agent is taken at its word."""
    entries = (entry.text for entry in evidence.transcript if entry.kind is Kind.SYSTEM)
    lines = [line for told in entries for line in told.splitlines() if line.strip()]
    claim = Claim.of(text)
    return not lines or any(Heard(line).says(claim, _ALIKE) for line in lines)
