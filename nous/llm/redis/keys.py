"""The keys of what is written down of a model's calls. `<p>` is the configured prefix, *kept* means without a TTL.

| key                                   | type   | life       | holds                                                  |
|---------------------------------------|--------|------------|--------------------------------------------------------|
| <p>:answer:<scope>:<subject>:<digest> | string | answer_ttl | a pinned reply, JSON; digest of the question and model |
| <p>:dropped:<digest>                  | hash   | 7 days     | subject, or "all" -> drops; digest of the scope        |
| <p>:tokens:<day>                      | hash   | 8 days     | spent:<scope>, reserved:<scope> -> tokens              |
| <p>:token-calls:<day>                 | hash   | a day      | <scope>/<reservation> -> tokens held, or "settled"     |
| <p>:outages                           | hash   | 2 days     | provider -> what is known of its failures, JSON        |
| <p>:failing:<digest>                  | string | 7 days     | how often a question has failed, JSON; digest of both  |
| <p>:calls                             | hash   | kept       | <count>:<model> -> how many                            |
| <p>:said:<name>                       | string | 10 minutes | empty: a failure or a count that was written           |

The lives of hashes begin anew with every change to them. `outages` is one hash, not a key for each provider: looking,
listing and forgetting are one command each then, and no index can disagree with it. `said` keeps what redis-py sends
again, because the reply was lost, from being done again.
"""

from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from urllib.parse import quote
from uuid import UUID

from nous.domain.scope import Scope
from nous.llm.base import Question


@dataclass(frozen=True, slots=True)
class LlmKeys:
    """Names of keys under a prefix. Scopes are percent-encoded, as those of the store, so no two names can meet."""

    prefix: str = "nous"

    def answer(self, question: Question, model: str) -> str:
        asked = sha256(f"{question.digest} {model}".encode()).hexdigest()
        return f"{self.prefix}:answer:{quote(str(question.matter.scope), safe='/')}:{question.matter.subject}:{asked}"

    def answers(self, scope: Scope, subject: UUID | None = None) -> str:
        """What all answers about *subject*, or all of *scope*, are called, as a pattern for SCAN."""
        about = "*" if subject is None else f"{subject}:*"
        return f"{self.prefix}:answer:{quote(str(scope), safe='/')}:{about}"

    def drops(self, scope: Scope) -> str:
        """A name that does not tell the scope, which may just have been forgotten."""
        return f"{self.prefix}:dropped:{sha256(str(scope).encode()).hexdigest()}"

    def tokens(self, day: date) -> str:
        return f"{self.prefix}:tokens:{day.isoformat()}"

    def token_calls(self, day: date) -> str:
        return f"{self.prefix}:token-calls:{day.isoformat()}"

    @property
    def outages(self) -> str:
        return f"{self.prefix}:outages"

    def failing(self, provider: str, question: str) -> str:
        return f"{self.prefix}:failing:{sha256(f'{question} {provider}'.encode()).hexdigest()}"

    @property
    def calls(self) -> str:
        return f"{self.prefix}:calls"

    def said(self, name: str) -> str:
        return f"{self.prefix}:said:{name}"
